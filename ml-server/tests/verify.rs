//! Verifiers: numbers against torch, the encoding, `POST /verify`, and the other routes that a verifier answers. The models are made
//! up on the spot.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::allow_attributes,
    reason = "helpers of tests may panic and print"
)]

mod common;
#[path = "common/tiny.rs"]
mod tiny;
#[path = "common/verdicts.rs"]
mod verdicts;

use std::path::{Path, PathBuf};

use common::server::Server;
use lyra_ml_server::model::quantize::{Metadata, quantize};
use lyra_ml_server::model::spec::Task;
use lyra_ml_server::model::tokenizer::Truncation;
use lyra_ml_server::model::{ModelSource, verifier};
use lyra_ml_server::{ServerConfig, start};
use lyra_proto::{
    InfoResponse, ModelKind, NliLabel, NliResponse, PredictResponse, TruncationDirection, VerifyResponse,
    VerifyResult,
};
use serde_json::{Value, json};

fn golden(family: tiny::Family) -> verdicts::Golden {
    let file = format!("ml-server/tests/golden/tiny-verify-{}.json", family.0);
    verdicts::read(&common::root().join(file))
}

fn folder(path: &Path) -> ModelSource {
    ModelSource::Folder(path.to_owned())
}

#[test]
fn tokens_and_logits_are_those_of_torch() {
    for family in tiny::VERIFIERS {
        let (_parent, path) = tiny::verifier(family);
        verdicts::compare(&golden(family), &folder(&path), 1e-5, 1.0);
    }
}

#[test]
fn gguf_files_give_nearly_the_same() {
    for family in tiny::VERIFIERS {
        let (parent, path) = tiny::verifier(family);
        let file = parent.path().join("tiny.gguf");
        quantize(&path, &file, &Metadata::default()).unwrap();
        let model = tiny::load(&file).unwrap();
        assert_eq!(model.dtype, "q8_0");
        assert!(matches!(model.spec.task, Task::Verify(_)));
        assert_eq!((model.spec.threshold(), model.spec.threshold_precision()), (Some(0.625), Some(0.9)));
        verdicts::compare(&golden(family), &ModelSource::Gguf(file), 0.05, 0.8);
    }
}

#[test]
fn what_does_not_fit_is_cut_in_order() {
    for family in tiny::VERIFIERS {
        let model = tiny::load(&tiny::verifier(family).1).unwrap();
        let encode = |claim: &str, title: Option<&str>, sentences: &[String]| {
            verifier::encode(&model.tokenizer, claim, title, sentences).unwrap()
        };
        let words = |count: usize| "red ".repeat(count);
        let frame = if family.0 == "mpnet" { 4 } else { 3 };

        let whole = encode("red", Some("blue"), &[words(3), words(2)]);
        assert_eq!((whole.len(), whole.marks.len()), (frame + 1 + 1 + 3 + 1 + 2 + 1, 2));
        // One token less than what is left, then as many.
        let left = 256 - (frame - 1) - 1 - 10 - 1;
        assert_eq!(encode("red", None, &[words(10), words(left - 1)]).len(), 256);
        assert_eq!(encode("red", None, &[words(10), words(left)]).marks.len(), 1);
        let cut = encode("red", None, &[words(10), words(left), words(1)]);
        assert_eq!(cut.len(), frame - 1 + 1 + 10 + 1, "what follows is not read, though it would fit");
        let first = encode("red", None, &[words(1_000), words(1)]);
        assert_eq!((first.len(), first.marks.as_slice()), (256, &[255][..]));
        let long = encode(&words(1_000), Some(&words(1_000)), &[words(1)]);
        assert_eq!(long.len(), frame + verifier::CLAIM_TOKENS + verifier::TITLE_TOKENS + 1 + 1);

        let spelled = encode("red </s> [SEP]", Some("[SEP] </s>"), &["<s> [CLS] blue".to_owned()]);
        let separators = spelled.ids.iter().filter(|id| spelled.ids.last() == Some(id)).count();
        let unknown_title = 1;
        assert_eq!(separators, frame - 1 + unknown_title, "{:?}", spelled.ids);
    }
}

#[test]
fn models_that_cannot_be_verifiers_are_refused() {
    let (_parent, path) = tiny::verifier(tiny::VERIFIERS[1]);
    let error = |path: &Path| tiny::load(path).map(|_| ()).unwrap_err();

    let tokenizer = std::fs::read_to_string(path.join("tokenizer_config.json")).unwrap();
    std::fs::write(path.join("tokenizer_config.json"), tokenizer.replace("256", "128")).unwrap();
    assert!(error(&path).contains("at least 192 tokens, the limit is 128"), "{}", error(&path));
    std::fs::write(path.join("tokenizer_config.json"), tokenizer).unwrap();

    let classifier = tiny::folder(tiny::FAMILIES[0], true).1;
    let (_parent, classifier) = (classifier, tiny::folder(tiny::FAMILIES[0], true));
    let config = std::fs::read_to_string(classifier.1.join("config.json")).unwrap();
    let config = config.replacen('{', "{\"lyra_task\": \"verifier\",", 1);
    std::fs::write(classifier.1.join("config.json"), config).unwrap();
    assert!(error(&classifier.1).contains("rationale.weight"), "{}", error(&classifier.1));
}

/// A server of these models and whatever has to live as long.
struct Hosted {
    server: Server,
    _folders: Vec<tempfile::TempDir>,
}

async fn hosted(family: tiny::Family, nli: bool) -> Hosted {
    let (parent, verify) = tiny::verifier(family);
    let mut folders = vec![parent];
    let mut config = ServerConfig { verify: Some(folder(&verify)), ..ServerConfig::new(None, None) };
    if nli {
        let (parent, path) = tiny::folder(tiny::FAMILIES[0], true);
        folders.push(parent);
        config.nli = Some(folder(&path));
    }
    Hosted { server: Server::start(config.with_threads(2)).await, _folders: folders }
}

impl Hosted {
    async fn verify(&self, items: &[Value]) -> Vec<VerifyResult> {
        let response = self.server.post("/verify", &json!({ "items": items })).await;
        assert_eq!(response.status(), 200);
        assert!(response.headers()["x-compute-tokens"].to_str().unwrap().parse::<usize>().unwrap() > 4);
        let answer: VerifyResponse = response.json().await.unwrap();
        assert_eq!(answer.model, "tiny");
        assert_eq!(answer.results.len(), items.len());
        answer.results
    }
}

fn items(family: tiny::Family) -> Vec<Value> {
    let item = |item: &verdicts::Item| json!({"claim": item.claim, "title": item.title, "sentences": item.sentences});
    golden(family).items.iter().map(item).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_do_not_depend_on_what_else_is_asked() {
    for family in tiny::VERIFIERS {
        let hosted = hosted(family, false).await;
        let items = items(family);
        let together = hosted.verify(&items).await;
        let asked: Vec<Value> = items.iter().cycle().take(200).cloned().collect();
        let (many, again) = tokio::join!(hosted.verify(&asked), hosted.verify(&items));
        assert_eq!(again, together);
        assert_eq!(many[..items.len()], together);
        for ((item, result), golden) in items.iter().zip(&together).zip(golden(family).items) {
            assert_eq!(hosted.verify(std::slice::from_ref(item)).await, std::slice::from_ref(result));
            assert_eq!(result.rationale.len(), golden.marks.len());
            assert!(result.rationale.iter().all(|share| (0.0..=1.0).contains(share)), "{result:?}");
            let scores = result.scores;
            assert!((scores.supports + scores.refutes + scores.neutral - 1.0).abs() < 1e-5);
            assert_eq!((result.label, result.confidence), (scores.label(), scores.of(result.label)));
        }
        // The labels are in the order neutral, contradiction, entailment.
        let labels: Vec<_> = together.iter().map(|result| result.label).collect();
        assert!(labels.contains(&NliLabel::Neutral) || labels.contains(&NliLabel::Refutes), "{labels:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_verifier_judges_pairs_where_there_is_no_nli_model() {
    let hosted = hosted(tiny::VERIFIERS[0], false).await;
    let item = json!({"claim": "green stone", "sentences": ["red stone blue"]});
    let verified = hosted.verify(&[item]).await.remove(0);

    let body = json!({"pairs": [{"premise": "red stone blue", "hypothesis": "green stone"}]});
    let nli: NliResponse = hosted.server.post("/nli", &body).await.json().await.unwrap();
    let judged = nli.results[0];
    assert_eq!(
        (judged.label, judged.confidence, judged.scores),
        (verified.label, verified.confidence, verified.scores)
    );

    for path in ["/predict", "/"] {
        let body = json!({"inputs": ["red stone blue", "green stone"]});
        let response = hosted.server.post(path, &body).await;
        let PredictResponse::One(predicted) = response.json().await.unwrap() else { panic!("one pair") };
        assert_eq!(predicted.len(), 3);
        let supports = predicted.iter().find(|prediction| prediction.label == "entailment").unwrap();
        assert!((supports.score - verified.scores.supports).abs() < 1e-6, "{predicted:?}");
    }

    let long = "red ".repeat(300);
    for (premise, hypothesis, says) in [
        (long.as_str(), "red", "has 304 tokens, the limit is 256"),
        ("red", long.as_str(), "the claim of input 0 has 300 tokens, the limit is 128"),
    ] {
        let mut body = json!({"pairs": [{"premise": premise, "hypothesis": hypothesis}], "truncate": false});
        let refused = hosted.server.refused("/nli", &body, 422).await;
        assert!(refused.error.contains(says), "{refused}");
        body["truncate"] = json!(true);
        assert_eq!(hosted.server.post("/nli", &body).await.status(), 200);
    }
    for (body, says) in [
        (json!({"inputs": "red"}), "pairs of premise and hypothesis"),
        (json!({"inputs": [["red", "blue"], ["red"]]}), "input 1 is one text"),
        (json!({"inputs": ["red", "blue"], "truncation_direction": "left"}), "truncates only at the end"),
    ] {
        let refused = hosted.server.refused("/predict", &body, 400).await;
        assert!(refused.error.contains(says), "{refused}");
    }
    let tokens = hosted.server.post("/tokenize", &json!({"inputs": "red"})).await;
    assert_eq!(tokens.status(), 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_nli_model_judges_pairs_where_there_is_one() {
    let both = hosted(tiny::VERIFIERS[0], true).await;
    let body = json!({"pairs": [{"premise": "red stone blue", "hypothesis": "green stone"}]});
    let judged: NliResponse = both.server.post("/nli", &body).await.json().await.unwrap();
    let item = json!({"claim": "green stone", "sentences": ["red stone blue"]});
    let verified = both.verify(&[item]).await.remove(0);
    assert_ne!(judged.results[0].scores, verified.scores);
    // It reads 16 tokens.
    let long = json!({"pairs": [{"premise": "red ".repeat(20), "hypothesis": "red"}], "truncate": false});
    both.server.refused("/nli", &long, 422).await;

    let metrics = both.server.get("/metrics").await.text().await.unwrap();
    for line in [
        r#"te_request_success{route="/verify"} 1"#,
        r#"te_request_success{route="/nli"} 1"#,
        "lyra_ml_verify_count 1",
        "lyra_ml_verify_success 1",
        "te_predict_count 1",
        r#"lyra_ml_tokens_total{kind="verify"}"#,
    ] {
        assert!(metrics.contains(line), "{line} is not in {metrics}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn info_names_the_verifier_and_its_threshold() {
    let both = hosted(tiny::VERIFIERS[1], true).await;
    let info: InfoResponse = both.server.get("/info").await.json().await.unwrap();
    let model = info.model(ModelKind::Verify).unwrap();
    assert_eq!((model.architecture.as_str(), model.max_tokens, model.dimension), ("mpnet", 256, 3));
    assert_eq!((model.threshold, model.threshold_precision), (Some(0.625), Some(0.9)));
    assert_eq!(model.labels, ["neutral", "contradiction", "entailment"]);
    assert_eq!(model.pooling, None);
    let classifier = info.model(ModelKind::Nli).unwrap();
    assert_eq!((classifier.threshold, classifier.threshold_precision), (None, None));
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_items_are_named() {
    let hosted = hosted(tiny::VERIFIERS[1], false).await;
    let good = json!({"claim": "red", "sentences": ["blue"]});
    for (items, status, says) in [
        (json!([]), 400, "items is empty"),
        (json!([good, {"claim": "red", "sentences": []}]), 400, "item 1 has no sentences"),
        (json!([{"claim": "", "sentences": ["blue"]}]), 400, "item 0 has an empty claim"),
        (json!([good, good, {"claim": " \n", "sentences": ["blue"]}]), 400, "item 2 has an empty claim"),
        (json!([{"claim": "red"}]), 400, "missing field `sentences`"),
        (json!([{"sentences": ["red"]}]), 400, "missing field `claim`"),
        (json!([{"claim": "red", "sentences": "blue"}]), 400, "expected a sequence"),
        (json!([{"claim": "red", "sentences": [1]}]), 400, "expected a string"),
        (json!([{"claim": "red", "title": 1, "sentences": ["blue"]}]), 400, "expected a string"),
        (json!("red"), 400, "expected a sequence"),
        (json!(vec![good.clone(); 1_025]), 413, "the limit is 1024"),
    ] {
        let refused = hosted.server.refused("/verify", &json!({ "items": items }), status).await;
        assert!(refused.error.contains(says), "{refused}");
        assert_eq!(hosted.verify(std::slice::from_ref(&good)).await.len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn models_in_the_wrong_place_are_named() {
    let (_verifier, verifier) = tiny::verifier(tiny::VERIFIERS[0]);
    let (_classifier, classifier) = tiny::folder(tiny::FAMILIES[0], true);
    let none = || ServerConfig::new(None, None);
    for (config, says) in [
        (
            ServerConfig { verify: Some(folder(&classifier)), ..none() },
            "is a classifier, but a verifier is needed",
        ),
        (
            ServerConfig { nli: Some(folder(&verifier)), ..none() },
            "is a verifier, but a classifier is needed",
        ),
        (
            ServerConfig { embed: Some(folder(&verifier)), ..none() },
            "is a verifier, but an embedder is needed",
        ),
    ] {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = start(config, listener).unwrap();
        let error = server.ready().await.unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
    let server = Server::start(none()).await;
    let item = json!({"items": [{"claim": "red", "sentences": ["blue"]}]});
    let refused = server.refused("/verify", &item, 424).await;
    assert!(refused.error.contains("no verifier model; start it with --verify-model"), "{refused}");
}

#[test]
fn pairs_are_cut_or_refused() {
    let model = tiny::load(&tiny::verifier(tiny::VERIFIERS[1]).1).unwrap();
    let pair = |premise: &str, hypothesis: &str, truncation| {
        verifier::encode_pair(&model.tokenizer, premise, hypothesis, truncation)
    };
    let (cut, sentences) = (Truncation::Cut(TruncationDirection::Right), ["red blue".to_owned()]);
    let item = verifier::encode(&model.tokenizer, "stone", None, &sentences).unwrap();
    assert_eq!(pair("red blue", "stone", cut).unwrap(), item);
    assert_eq!(pair("red blue", "stone", Truncation::Refuse).unwrap(), item);
    // <s> stone </s> </s> … </s>
    let most = "red ".repeat(256 - 5);
    assert_eq!(pair(&most, "stone", Truncation::Refuse).unwrap().len(), 256);
    assert!(pair(&format!("{most} red"), "stone", Truncation::Refuse).is_err());
    assert_eq!(pair("", "", Truncation::Refuse).unwrap().marks, [4 - 1 + 1 - 1]);
}

/// Writes the folders and items that `training/golden_verify.py` reads to make the golden files.
#[test]
#[ignore = "only needed when the models or the texts change"]
fn write_folders_for_the_golden_files() {
    let folder = PathBuf::from(std::env::var_os("LYRA_TINY").unwrap());
    for family in tiny::VERIFIERS {
        let path = folder.join(family.0);
        std::fs::create_dir_all(&path).unwrap();
        tiny::write_verifier(&path, family);
    }
    let words = |word: &str, count: usize| format!("{word} ").repeat(count);
    let items = json!([
        {"claim": "red stone", "title": "blue", "sentences": ["green stone", "red"]},
        {"claim": "red stone", "sentences": ["green stone", "red"]},
        {"claim": "blue", "title": "", "sentences": ["stone blue red"]},
        {"claim": "blue", "title": " ", "sentences": ["", "stone blue red", " "]},
        {"claim": "green stone", "sentences": ["red stone blue"]},
        {"claim": "basalt", "title": "marble", "sentences": ["slate", "stone", "slate green"]},
        {"claim": "red </s> [SEP] stone", "title": "[SEP] </s>", "sentences": ["<s> [CLS] blue", "[SEP]", "</s>"]},
        {"claim": "red", "sentences": vec!["green stone blue"; 100]},
        {"claim": "red", "title": "blue", "sentences": [words("stone", 1_000), "red"]},
        {"claim": "red", "sentences": ["blue", words("stone", 300), "red"]},
        {"claim": words("red", 200), "title": words("blue", 100), "sentences": [words("green", 60), words("stone", 60)]},
        {"claim": words("green red stone", 30), "sentences": [words("blue stone", 30), words("red", 50), "green"]},
    ]);
    std::fs::write(folder.join("items.json"), items.to_string()).unwrap();
}
