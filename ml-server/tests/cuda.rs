//! The GPU's code without a GPU: its kernels through NVIDIA's compiler where that is there, and all of it, host code and
//! kernels, over stand-ins for CUDA's libraries that compute on the processor (`cuda/emulator`).

#![cfg(feature = "cuda")]
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::allow_attributes,
    reason = "helpers of tests may panic and print"
)]

mod common;
#[path = "cuda/emulator.rs"]
mod emulator;
#[path = "common/random.rs"]
mod random;
#[path = "common/tiny.rs"]
mod tiny;
#[path = "common/verdicts.rs"]
mod verdicts;

use std::path::Path;

use lyra_ml_server::ServerConfig;
use lyra_ml_server::error::ComputeError;
use lyra_ml_server::model::cuda::{Device, Encoder, Scores, Variant, compile};
use lyra_ml_server::model::device::{BackendChoice, Candidates, DeviceChoice, Precision};
use lyra_ml_server::model::encoder::{Order, States};
use lyra_ml_server::model::head::{Head, Pooling};
use lyra_ml_server::model::ops::{Activation, Linear};
use lyra_ml_server::model::tokenizer::{Tokens, Truncation};
use lyra_ml_server::model::{Model, ModelSource};
use lyra_proto::TruncationDirection::Right;
use lyra_proto::{Backend, InfoResponse, ModelKind, PassedOverCause, VerifyResponse};
use random::{LONGEST, Shape};

/// Numbers of tokens around the sizes of tiles and of blocks of keys. Without tensor cores those are smaller, and emulating
/// them takes longer.
const LENGTHS: [usize; 8] = [1, 2, 31, 64, 65, 129, 17, 200];
const PLAIN_LENGTHS: [usize; 6] = [1, 2, 16, 33, 17, 70];

const PRECISIONS: [Precision; 3] = [Precision::F32, Precision::Bf16, Precision::F16];

#[test]
fn kernels_compile_for_several_generations() {
    let Some(folder) = std::env::var_os("LYRA_NVRTC") else {
        println!("skipped: LYRA_NVRTC does not name a folder with libnvrtc.so.13 and its builtins");
        return;
    };
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "nvidia_compiles", "--nocapture"])
        .env("LD_LIBRARY_PATH", folder)
        .output()
        .unwrap();
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

#[test]
#[ignore = "run by the test above, with NVRTC on the library path"]
fn nvidia_compiles() {
    for architecture in ["sm_80", "sm_90"] {
        for precision in PRECISIONS {
            for (hidden, head_dim, scores) in [
                (384, 32, Scores::Plain),
                (1024, 64, Scores::Plain),
                (768, 64, Scores::Relative),
                (768, 128, Scores::Plain),
                (64, 16, Scores::Relative),
                (96, 24, Scores::Relative),
                (384, 32, Scores::Distance),
                (768, 64, Scores::Distance),
                (96, 24, Scores::Distance),
            ] {
                let variant = Variant { precision, hidden, head_dim, scores };
                let code = compile(variant, architecture).unwrap();
                assert_eq!(&code[..4], b"\x7fELF", "{variant:?} for {architecture}");
            }
        }
    }
}

#[test]
fn plain_attention_is_the_processors() {
    emulator::run("plain", &[]);
}

#[test]
#[ignore = "run by the test above, over the emulator"]
fn plain() {
    for shape in [Shape::plain(64, 4), Shape::plain(96, 3), Shape::plain(64, 1), Shape::plain(128, 1)] {
        compare(shape, &PRECISIONS);
    }
    // Heads of 24 are not for tensor cores; the other activations.
    compare(Shape { activation: Activation::GeluTanh, ..Shape::plain(72, 3) }, &PRECISIONS);
    compare(Shape { activation: Activation::Relu, ..Shape::plain(64, 4) }, &PRECISIONS);
}

#[test]
fn windows_and_rotations_are_the_processors() {
    emulator::run("windowed", &[]);
}

#[test]
#[ignore = "run by the test above, over the emulator"]
fn windowed() {
    let shape = Shape { order: Order::Before, ..Shape::plain(64, 4) };
    for window in [None, Some(0), Some(5), Some(64), Some(100)] {
        compare(Shape { window, ..shape }, &[Precision::Bf16]);
    }
    compare(Shape { window: Some(16), hidden: 64, heads: 1, ..shape }, &PRECISIONS);
}

#[test]
fn distances_and_convolutions_are_the_processors() {
    emulator::run("relative", &[]);
}

#[test]
#[ignore = "run by the test above, over the emulator"]
fn relative() {
    let shape = Shape::plain(64, 4);
    for terms in [(true, true), (true, false), (false, true)] {
        compare(Shape { relative: Some((terms.0, terms.1, 16)), ..shape }, &[Precision::F16]);
    }
    compare(Shape { relative: Some((true, true, 32)), convolution: true, ..shape }, &PRECISIONS);
}

#[test]
fn biases_by_distance_are_the_processors() {
    emulator::run("biased", &[]);
}

#[test]
#[ignore = "run by the test above, over the emulator"]
fn biased() {
    let shape = Shape { bias: true, ..Shape::plain(64, 4) };
    for shape in [shape, Shape { hidden: 64, heads: 1, ..shape }] {
        compare(shape, &PRECISIONS);
    }
    // Heads of 24 are not for tensor cores; a window leaves out keys.
    compare(Shape { hidden: 72, heads: 3, ..shape }, &[Precision::F16]);
    compare(Shape { window: Some(5), ..shape }, &[Precision::Bf16]);

    let longer = Encoder::check(&random::encoder(shape), Precision::Bf16, LONGEST + 1).unwrap_err();
    assert!(longer.contains("321 tokens") && longer.contains("320"), "{longer}");
}

#[test]
fn marks_have_the_processors_vectors() {
    emulator::run("marked", &[]);
}

#[test]
#[ignore = "run by the test above, over the emulator"]
fn marked() {
    let shape = Shape { bias: true, ..Shape::plain(64, 4) };
    let mut texts = random::numbers().texts(&[12, 1, 40, 9, LONGEST, 30]);
    for (text, marks) in [(0, vec![5, 11]), (2, (1..40).collect()), (4, vec![1, LONGEST - 1]), (5, vec![7])] {
        texts[text].marks = marks;
    }
    for precision in PRECISIONS {
        compare_marks(shape, precision, &texts, LONGEST);
    }
    // More vectors than are received in one piece, from one pass.
    let mut texts = random::numbers().texts(&[40; 30]);
    for text in &mut texts {
        text.marks = (1..40).collect();
    }
    compare_marks(shape, Precision::Bf16, &texts, 2_048);
}

/// The vectors of sequences and marks against the processor's, with room for `batch_tokens` tokens.
fn compare_marks(shape: Shape, precision: Precision, texts: &[Tokens], batch_tokens: usize) {
    let batch: Vec<&Tokens> = texts.iter().collect();
    let hidden = random::encoder(shape).pack(Linear::pack).forward(&batch);
    let device = Device::open(0).unwrap();
    let plain = random::encoder(shape);
    let encoder = Encoder::upload(&device, precision, plain, Pooling::Cls, LONGEST, batch_tokens).unwrap();
    let states = encoder.forward(&batch).unwrap();
    assert_eq!(states.len(), texts.len());
    for ((states, want), text) in states.iter().zip(hidden.sequences()).zip(texts) {
        assert_eq!(states.marks.len(), text.marks.len() * shape.hidden);
        let got = std::iter::once(states.pooled.as_slice()).chain(states.marks.chunks_exact(shape.hidden));
        for (got, at) in got.zip(std::iter::once(&0).chain(&text.marks)) {
            let off = error(got, &want[at * shape.hidden..][..shape.hidden]);
            assert!(off < most_error(precision), "{precision}: token {at} of {}: {off}", text.len());
        }
    }
}

#[test]
fn verifiers_are_those_of_torch() {
    emulator::run("verifier", &[]);
}

#[test]
#[ignore = "run by the test above, over the emulator"]
fn verifier() {
    for family in tiny::VERIFIERS {
        let file = format!("ml-server/tests/golden/tiny-verify-{}.json", family.0);
        let golden = verdicts::read(&common::root().join(file));
        let (_parent, folder) = tiny::verifier(family);
        for (precision, most) in [(Precision::F32, 1e-5), (Precision::Bf16, 3e-2)] {
            let device = Candidates::open(DeviceChoice::Cuda(0), BackendChoice::Native, precision).unwrap();
            let source = ModelSource::Folder(folder.clone());
            verdicts::compare_on(&device.accelerated()[0], &golden, &source, most, 0.9);
        }
    }
}

#[test]
fn a_server_verifies_on_the_gpu() {
    emulator::run("verifying", &[]);
}

#[test]
#[ignore = "run by the test above, over the emulator"]
fn verifying() {
    let (_parent, folder) = tiny::verifier(tiny::VERIFIERS[1]);
    on_the_gpu(Some(ModelSource::Folder(folder)), async |server| {
        let info: InfoResponse = server.get("/info").await.json().await.unwrap();
        for kind in [ModelKind::Embed, ModelKind::Verify] {
            let model = info.model(kind).unwrap();
            assert!(model.device.starts_with("cuda:0") && model.passed_over.is_empty(), "{model:?}");
        }
        let items = serde_json::json!({"items": [
            {"claim": "red stone", "title": "blue", "sentences": ["green stone", "red"]},
            {"claim": "green stone", "sentences": ["red stone blue"]},
        ]});
        let answer: VerifyResponse = server.post("/verify", &items).await.json().await.unwrap();
        let shares: Vec<usize> = answer.results.iter().map(|result| result.rationale.len()).collect();
        assert_eq!(shares, [2, 1]);
    });
}

#[test]
fn full_memory_makes_batches_smaller() {
    // Room for the weights and for some hundred tokens.
    emulator::run("crowded", &[("LYRA_EMULATED_MEMORY", "40000000")]);
}

#[test]
#[ignore = "run by the test above, over the emulator"]
fn crowded() {
    let device = Device::open(0).unwrap();
    let upload = |tokens, batch| {
        let plain = random::encoder(Shape::plain(64, 4));
        Encoder::upload(&device, Precision::Bf16, plain, Pooling::Mean, tokens, batch)
    };
    let encoder = upload(LONGEST, 1 << 20).unwrap();
    let texts = random::numbers().texts(&[40; 300]);
    assert_eq!(encoder.forward(&texts.iter().collect::<Vec<_>>()).unwrap().len(), 300);
    // An input that could not run at all is no reason to start with less.
    assert!(matches!(upload(1 << 20, 1 << 20), Err(ComputeError::OutOfMemory)));
    let long = random::numbers().texts(&[2 << 16]);
    assert!(
        matches!(encoder.forward(&[&long[0]]), Err(ComputeError::Failed(reason)) if reason.contains("131072 tokens"))
    );
}

#[test]
fn a_dead_gpu_is_said_to_be_lost() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("dead");
    emulator::run("lost", &[("LYRA_EMULATED_FAILS_ONCE", file.to_str().unwrap())]);
}

#[test]
#[ignore = "run by the test above, over the emulator"]
fn lost() {
    on_the_gpu(None, async |server| {
        let health = async || server.get("/health").await;
        assert_eq!(health().await.status(), 200);
        std::fs::write(std::env::var_os("LYRA_EMULATED_FAILS_ONCE").unwrap(), "").unwrap();
        let last = server.post("/embed", &serde_json::json!({"inputs": ["red", "green"]})).await;
        assert_eq!(last.status(), 424);
        let text = last.text().await.unwrap();
        assert!(text.contains("lost") && text.contains("ILLEGAL_ADDRESS"), "{text}");
        assert_eq!(health().await.status(), 503);
    });
}

#[test]
fn a_gpu_that_computes_wrongly_is_not_used() {
    emulator::run("wrong", &[("LYRA_EMULATED_WRONG", "1")]);
}

#[test]
#[ignore = "run by the test above, over the emulator"]
fn wrong() {
    let (_parent, verifier) = tiny::verifier(tiny::VERIFIERS[0]);
    narrow_heads(&verifier);
    on_the_gpu(Some(ModelSource::Folder(verifier)), async |server| {
        let info: InfoResponse = server.get("/info").await.json().await.unwrap();
        let of = |kind| {
            let model = info.model(kind).unwrap();
            assert_eq!((model.device.as_str(), model.backend), ("cpu", Backend::Native));
            let [passed] = model.passed_over.as_slice() else { panic!("{:?}", model.passed_over) };
            assert!(passed.device.starts_with("cuda:0"), "{passed:?}");
            (passed.cause, passed.reason.clone())
        };
        let (cause, reason) = of(ModelKind::Embed);
        assert_eq!(cause, PassedOverCause::Wrong);
        assert!(reason.contains("cosine") && reason.contains("0.999") && reason.contains("bf16"), "{reason}");
        let (cause, reason) = of(ModelKind::Verify);
        assert!(cause == PassedOverCause::Unsupported && reason.contains("heads of width 1"), "{reason}");

        let metrics = server.get("/metrics").await.text().await.unwrap();
        let states =
            [("embed", "cpu", "serving"), ("embed", "cuda:0", "wrong"), ("verify", "cuda:0", "unsupported")];
        for (kind, device, state) in states {
            let labels = format!("kind=\"{kind}\",backend=\"native\",device=\"{device}\",state=\"{state}\"");
            assert!(metrics.contains(&format!("lyra_ml_backend{{{labels}}} 1")), "{labels} in {metrics}");
        }
        // The answers are those of the CPU.
        let answer =
            server.post("/embed", &serde_json::json!({"inputs": "red stone", "normalize": false})).await;
        let rows: Vec<Vec<f32>> = answer.json().await.unwrap();
        let (_parent, folder) = tiny::folder(tiny::FAMILIES[0], false);
        let model = tiny::load(&folder).unwrap();
        let tokens = model.tokenizer.text("red stone", Truncation::Cut(Right)).unwrap();
        assert!(tiny::difference(&rows[0], &model.run(&[&tokens]).unwrap()[0]) < 1e-6);
    });
}

/// Gives the model in `folder` heads of a width that does not run on a GPU.
fn narrow_heads(folder: &Path) {
    let file = folder.join("config.json");
    let mut config: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    config["num_attention_heads"] = config["hidden_size"].clone();
    std::fs::write(file, config.to_string()).unwrap();
}

/// A server of a made-up embedder, and a verifier if one is given, that is asked for GPU 0.
fn on_the_gpu(verify: Option<ModelSource>, test: impl AsyncFnOnce(&common::server::Server)) {
    let (_parent, folder) = tiny::folder(tiny::FAMILIES[0], false);
    let config = ServerConfig {
        verify,
        device: DeviceChoice::Cuda(0),
        ..ServerConfig::new(Some(ModelSource::Folder(folder)), None)
    };
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let server = common::server::Server::start(config).await;
        test(&server).await;
        server.handle.shutdown().await;
    });
}

#[test]
fn golden_models_agree_on_the_emulated_gpu() {
    if common::shared("models/parity").is_some() {
        emulator::run("golden", &[]);
    }
}

#[test]
#[ignore = "run by the test above, over the emulator"]
fn golden() {
    for (name, least) in [(Precision::F32, 0.999_999), (Precision::Bf16, 0.999), (Precision::F16, 0.999)]
        .into_iter()
        .flat_map(|(precision, least)| {
            let names = [
                "bert-embed-mean",
                "xlmr-embed-cls",
                "modernbert-embed-cls",
                "mpnet-embed-mean",
                "deberta-v3-nli",
                "roberta-nli",
                "mpnet-nli",
            ];
            names.map(|name| ((name, precision), least))
        })
    {
        let (name, precision) = name;
        let folder = common::shared(&format!("models/parity/{name}")).unwrap();
        let golden: serde_json::Value =
            serde_json::from_slice(&std::fs::read(folder.join("golden.json")).unwrap()).unwrap();
        let device = Candidates::open(DeviceChoice::Cuda(0), BackendChoice::Native, precision).unwrap();
        let device = &device.accelerated()[0];
        let limit = golden["max_length"].as_u64().map(|limit| limit as usize);
        let model = Model::load_on(device, &ModelSource::Folder(folder), limit, 2_048).unwrap();
        let cut = Truncation::Cut(Right);
        let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
        let (inputs, want): (Vec<Tokens>, Vec<&serde_json::Value>) = match golden["embeddings"].as_array() {
            Some(texts) => texts
                .iter()
                .map(|one| (model.tokenizer.text(&text(&one["text"]), cut).unwrap(), &one["embedding"]))
                .unzip(),
            None => golden["pairs"]
                .as_array()
                .unwrap()
                .iter()
                .map(|one| {
                    let (premise, hypothesis) = (text(&one["premise"]), text(&one["hypothesis"]));
                    (model.tokenizer.pair(&premise, &hypothesis, cut).unwrap(), &one["logits"])
                })
                .unzip(),
        };
        // A sample of texts that are not too long: the emulator is slow, and without tensor cores more so.
        let limit = if precision == Precision::F32 { 64 } else { 200 };
        let short: Vec<usize> = (0..inputs.len()).filter(|&at| inputs[at].len() <= limit).collect();
        let sample: Vec<usize> = short.iter().copied().step_by(short.len().div_ceil(4)).collect();
        assert!(!sample.is_empty(), "{name}: no text of at most {limit} tokens");
        let rows = model.run(&sample.iter().map(|&at| &inputs[at]).collect::<Vec<_>>()).unwrap();
        let worst = rows.iter().zip(&sample).map(|(row, &at)| {
            let want: Vec<f32> =
                want[at].as_array().unwrap().iter().map(|value| value.as_f64().unwrap() as f32).collect();
            // Logits of random models are near zero, where their direction says nothing.
            if golden["pairs"].is_array() { 1.0 - logit_error(row, &want) } else { cosine(row, &want) }
        });
        let worst = worst.fold(1.0, f64::min);
        println!("{name} {precision}: smallest cosine, or 1 − |Δlogit|: {worst:.8}");
        let least = match (golden["pairs"].is_array(), precision) {
            (false, _) => least,
            (true, Precision::F32) => 0.9999,
            (true, _) => 0.99,
        };
        assert!(worst >= least, "{name} {precision}: {worst}");
    }
}

/// The emulated GPU's vectors against the processor's, together and one by one.
fn compare(shape: Shape, precisions: &[Precision]) {
    let plain = random::encoder(shape).pack(Linear::pack);
    let device = Device::open(0).unwrap();
    for &precision in precisions {
        let tensor_cores = precision != Precision::F32 && (shape.hidden / shape.heads).is_multiple_of(16);
        let texts = random::numbers().texts(if tensor_cores { &LENGTHS } else { &PLAIN_LENGTHS });
        let batch: Vec<&Tokens> = texts.iter().collect();
        for pooling in [Pooling::Mean, Pooling::Cls] {
            let want = Head::<Linear>::Pool(pooling).apply(&plain.forward(&batch));
            // Small passes: a batch takes several.
            let encoder =
                Encoder::upload(&device, precision, random::encoder(shape), pooling, LONGEST, LONGEST)
                    .unwrap();
            let together = encoder.forward(&batch).unwrap();
            let alone: Vec<States> = batch
                .iter()
                .skip(4)
                .step_by(2)
                .map(|text| encoder.forward(&[text]).unwrap().remove(0))
                .collect();
            let pairs = together.iter().zip(&want).chain(alone.iter().zip(want.iter().skip(4).step_by(2)));
            let worst = pairs.map(|(got, want)| error(&got.pooled, want)).fold(0.0, f64::max);
            println!("{shape:?} {precision} {pooling}: largest relative error {worst:.2e}");
            assert!(worst < most_error(precision), "{shape:?} {precision} {pooling}: {worst}");
        }
    }
}

/// Of a vector, see [`error`].
fn most_error(precision: Precision) -> f64 {
    match precision {
        Precision::F32 => 1e-5,
        Precision::F16 => 4e-3,
        Precision::Bf16 => 3e-2,
    }
}

/// ‖got − want‖ / ‖want‖; infinite where a number is not one.
fn error(got: &[f32], want: &[f32]) -> f64 {
    let squares = |values: &mut dyn Iterator<Item = f32>| values.map(|x| f64::from(x).powi(2)).sum::<f64>();
    let off = squares(&mut got.iter().zip(want).map(|(got, want)| got - want));
    let ratio = (off / squares(&mut want.iter().copied())).sqrt();
    if ratio.is_nan() { f64::INFINITY } else { ratio }
}

fn logit_error(got: &[f32], want: &[f32]) -> f64 {
    got.iter().zip(want).map(|(got, want)| f64::from((got - want).abs())).fold(0.0, f64::max)
}

fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}
