//! Every architecture on models made up on the spot, against numbers of `transformers`. Nothing outside the repository is
//! needed; `golden.rs` does the same with longer texts from the shared data.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::allow_attributes,
    reason = "helpers of tests may panic and print"
)]

mod common;
#[path = "common/tiny.rs"]
mod tiny;

use std::path::PathBuf;

use lyra_ml_server::model::quantize::{Metadata, quantize};
use lyra_ml_server::model::tokenizer::{Tokens, Truncation};
use lyra_ml_server::model::{Model, ModelSource};
use lyra_proto::TruncationDirection::Right;
use tiny::{difference, load};

const CUT: Truncation = Truncation::Cut(Right);

/// Premises and hypotheses: one text, a pair, a text with the padding token in it, and one that is cut at 16 tokens.
const PAIRS: [(&str, &str); 4] = [
    ("red stone green", ""),
    ("green stone blue red", "stone stone red"),
    ("red [PAD] blue", ""),
    ("red blue blue green stone red green green stone blue red red blue stone green blue red stone", ""),
];

/// Logits for [`PAIRS`] from `transformers` in f32; `reference.py` prints them.
const REFERENCE: [(&str, [[f32; 3]; 4]); 6] = [
    (
        "bert",
        [
            [0.100_628_3, 0.010_280_7, 0.158_102_6],
            [0.179_063_7, 0.055_462_3, 0.271_870_8],
            [0.100_085_2, 0.052_261_6, 0.067_167_4],
            [0.087_581_8, -0.040_395_3, 0.257_019_5],
        ],
    ),
    (
        "roberta",
        [
            [0.347_245_7, -0.121_230_9, -0.258_474_2],
            [0.319_222_3, -0.149_979_2, -0.274_555_5],
            [0.284_531_1, -0.144_247_2, -0.312_029_7],
            [0.270_163, -0.134_965_2, -0.326_407_7],
        ],
    ),
    (
        "xlm-roberta",
        [
            [0.347_245_7, -0.121_230_9, -0.258_474_2],
            [0.319_222_3, -0.149_979_2, -0.274_555_5],
            [0.284_531_1, -0.144_247_2, -0.312_029_7],
            [0.270_163, -0.134_965_2, -0.326_407_7],
        ],
    ),
    (
        "deberta-v2",
        [
            [-0.008_700_4, 0.247_402_3, -0.164_362],
            [-0.150_846_6, 0.126_208_8, -0.333_048_3],
            [-0.007_553, 0.274_026_9, -0.205_307],
            [0.028_168_2, 0.193_839, -0.257_365_4],
        ],
    ),
    (
        "modernbert",
        [
            [0.674_689_6, -0.408_796_5, -0.867_825_7],
            [0.774_001_9, -0.486_106_6, -0.718_846_5],
            [0.788_850_1, -0.591_887_4, -0.877_740_9],
            [1.158_456_4, -0.701_149_3, -0.743_261],
        ],
    ),
    (
        "mpnet",
        [
            [-0.318_980_4, 0.234_291, -0.427_908_7],
            [-0.377_965_4, 0.295_941_2, -0.484_561_1],
            [-0.325_393_2, 0.218_704_5, -0.400_756_4],
            [-0.356_319_1, 0.325_909, -0.457_365_5],
        ],
    ),
];

fn inputs(model: &Model) -> Vec<Tokens> {
    PAIRS
        .iter()
        .map(|(premise, hypothesis)| model.tokenizer.pair(premise, hypothesis, CUT).unwrap())
        .collect()
}

#[test]
fn logits_are_those_of_transformers() {
    for (family, (name, want)) in tiny::FAMILIES.into_iter().zip(REFERENCE) {
        assert_eq!(family.0, name);
        let (_parent, path) = tiny::folder(family, true);
        for device in common::devices() {
            let model = Model::load_on(&device, &ModelSource::Folder(path.clone()), None, 0).unwrap();
            let inputs = inputs(&model);
            let rows = model.run(&inputs.iter().collect::<Vec<_>>()).unwrap();
            for ((row, want), pair) in rows.iter().zip(want).zip(PAIRS) {
                let backend = model.backend;
                assert!(difference(row, &want) < 1e-5, "{name}, {backend}, {pair:?}: {row:?} vs {want:?}");
            }
        }
    }
}

#[test]
fn answers_do_not_depend_on_the_batch() {
    for family in tiny::FAMILIES {
        let (parent, path) = tiny::folder(family, false);
        let file = parent.path().join("tiny.gguf");
        quantize(&path, &file, &Metadata::default()).unwrap();
        for model in [load(&path).unwrap(), load(&file).unwrap()] {
            let inputs = inputs(&model);
            let batch: Vec<_> = inputs.iter().cycle().take(50).collect();
            for threads in [1, 2, 3] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let together = pool.install(|| model.run(&batch)).unwrap();
                for (input, row) in batch.iter().zip(&together) {
                    // Bit for bit, with any number of threads.
                    assert_eq!(&model.run(&[input]).unwrap()[0], row, "{family:?}, {}", model.dtype);
                }
            }
        }
    }
}

#[test]
fn gguf_files_give_nearly_the_same() {
    for (family, classifier) in
        tiny::FAMILIES.into_iter().flat_map(|family| [(family, false), (family, true)])
    {
        let (parent, path) = tiny::folder(family, classifier);
        let file = parent.path().join("tiny.gguf");
        let summary = quantize(&path, &file, &Metadata::default()).unwrap();
        assert!(summary.quantised > 8, "{family:?}: {summary:?}");
        let (original, quantised) = (load(&path).unwrap(), load(&file).unwrap());
        assert_eq!((original.spec.max_tokens, quantised.spec.max_tokens), (16, 16), "{family:?}");
        assert_eq!(quantised.spec.task, original.spec.task);
        for input in inputs(&original) {
            let (want, got) = (&original.run(&[&input]).unwrap()[0], &quantised.run(&[&input]).unwrap()[0]);
            let (scale, off) = (difference(want, &vec![0.0; want.len()]), difference(want, got));
            assert!(off > 0.0 && off < 0.05 * scale, "{family:?}: {off} of {scale}");
        }
    }
}

/// Writes the folders that `reference.py` reads.
#[test]
#[ignore = "only needed when the models or the texts change"]
fn write_folders_for_the_reference() {
    let folder = PathBuf::from(std::env::var_os("LYRA_TINY").unwrap());
    for (index, family) in tiny::FAMILIES.into_iter().enumerate() {
        let path = folder.join(format!("{index}-{}", family.0));
        std::fs::create_dir_all(&path).unwrap();
        tiny::write(&path, family, true);
    }
    std::fs::write(folder.join("pairs.json"), serde_json::to_vec(&PAIRS).unwrap()).unwrap();
}
