//! The routes that other servers' clients know, over a real socket: TEI's, OpenAI's, metrics and the description.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::allow_attributes,
    reason = "helpers of tests may panic and print"
)]

mod common;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use common::server::{Server, dot, error, length};
use lyra_proto::{
    EmbeddingVector, EmbeddingsErrorBody, EmbeddingsResponse, ErrorType, NliResponse, PredictResponse,
    Prediction, SimpleToken,
};
use reqwest::StatusCode;
use serde_json::{Value, json};

async fn predict(server: &Server, body: &Value) -> PredictResponse {
    let response = server.post("/predict", body).await;
    assert_eq!(response.status(), StatusCode::OK);
    response.json().await.unwrap()
}

fn labels(predictions: &[Prediction]) -> Vec<&str> {
    predictions.iter().map(|prediction| prediction.label.as_str()).collect()
}

fn sum(predictions: &[Prediction]) -> f32 {
    predictions.iter().map(|prediction| prediction.score).sum()
}

#[tokio::test(flavor = "multi_thread")]
async fn predict_ranks_labels() {
    let server = Server::lite(|_| {}).await;
    let (premise, hypothesis) = ("All cats sleep.", "Some cats sleep.");
    let pair = predict(&server, &json!({"inputs": [premise, hypothesis]})).await;
    let PredictResponse::One(pair) = pair else { panic!("two strings are a pair, as in TEI: {pair:?}") };
    assert_eq!(labels(&pair)[0], "entailment");
    assert!((sum(&pair) - 1.0).abs() < 1e-5 && pair.is_sorted_by(|a, b| a.score >= b.score), "{pair:?}");

    let body = json!({"pairs": [{"premise": premise, "hypothesis": hypothesis}]});
    let nli: NliResponse = server.post("/nli", &body).await.json().await.unwrap();
    assert!((nli.results[0].scores.supports - pair[0].score).abs() < 1e-5, "the same as /nli");

    let batch = json!({"inputs": [["One text."], [premise, hypothesis]], "raw_scores": true});
    let PredictResponse::Batch(rows) = predict(&server, &batch).await else { panic!("a batch") };
    assert_eq!((rows.len(), labels(&rows[1])[0]), (2, "entailment"));
    assert!((sum(&rows[1]) - 1.0).abs() > 1e-2, "logits: {rows:?}");

    for one in [json!({"inputs": "One text."}), json!({"inputs": ["One text."]})] {
        let PredictResponse::One(one) = predict(&server, &one).await else { panic!("one input") };
        assert_eq!(labels(&one), labels(&rows[0]));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn similarity_is_the_cosine_of_embeddings() {
    let server = Server::lite(|_| {}).await;
    let rows = server.embed(&json!({"inputs": ["a cat", "a kitten", "a rock"]})).await;
    let inputs = json!({"source_sentence": "a cat", "sentences": ["a kitten", "a rock"]});
    for body in [json!({"inputs": inputs}), json!({"inputs": inputs, "parameters": {"truncate": false}})] {
        let cosines: Vec<f32> = server.post("/similarity", &body).await.json().await.unwrap();
        assert_eq!(cosines.len(), 2);
        for (cosine, row) in cosines.iter().zip(&rows[1..]) {
            assert!((cosine - dot(&rows[0], row)).abs() < 1e-5, "{cosines:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tokenize_shows_what_the_model_reads() {
    let server = Server::lite(|_| {}).await;
    let tokens = async |body: Value| -> Vec<Vec<SimpleToken>> {
        server.post("/tokenize", &body).await.json().await.unwrap()
    };
    let rows = tokens(json!({"inputs": ["Two cats", "é cats"]})).await;
    let texts: Vec<_> = rows[0].iter().map(|token| (token.text.as_str(), token.special)).collect();
    assert_eq!(texts, [("[CLS]", true), ("Two", false), ("cats", false), ("[SEP]", true)]);
    assert_eq!((rows[0][0].id, rows[0][0].start, rows[0][0].stop), (101, None, None));
    let cats = &rows[1][2];
    assert_eq!((cats.start, cats.stop, cats.text.as_str()), (Some(3), Some(7), "cats"), "bytes, as in TEI");

    let plain = tokens(json!({"inputs": "Two cats", "add_special_tokens": false})).await;
    assert_eq!(plain[0], rows[0][1..3]);
    let long = tokens(json!({"inputs": "word ".repeat(300)})).await;
    assert_eq!(long[0].len(), 302, "nothing is cut");

    let alone = Server::lite(|config| config.embed = None).await;
    let body = json!({"inputs": "Two cats"});
    assert_eq!(alone.post("/tokenize", &body).await.status(), StatusCode::OK, "of the classifier");
    let root = alone.post("/", &json!({"inputs": ["Two cats", "Some cats"]})).await;
    assert!(matches!(root.json().await.unwrap(), PredictResponse::One(_)), "/ is /predict here");
    assert!(
        alone
            .refused("/similarity", &json!({"inputs": {"source_sentence": "a", "sentences": ["b"]}}), 424)
            .await
            .error
            .contains("--embed-model")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn openai_embeddings_agree_with_embed() {
    let server = Server::lite(|_| {}).await;
    let texts = ["Aspirin lowers fever.", "Basalt is a volcanic rock."];
    let want = server.embed(&json!({"inputs": texts})).await;
    assert_eq!(
        server.post("/", &json!({"inputs": texts})).await.json::<Vec<Vec<f32>>>().await.unwrap(),
        want,
        "/ is /embed"
    );
    let ask = async |body: Value| -> EmbeddingsResponse {
        let response = server.post("/v1/embeddings", &body).await;
        assert_eq!(response.status(), StatusCode::OK);
        assert!(response.headers().contains_key("x-compute-tokens"));
        response.json().await.unwrap()
    };
    let floats = ask(json!({"input": texts, "model": "any", "user": "u", "unknown": 1})).await;
    assert_eq!((floats.object.as_str(), floats.model.as_str()), ("list", "all-MiniLM-L6-v2"));
    assert!(floats.usage.prompt_tokens > 10 && floats.usage.prompt_tokens == floats.usage.total_tokens);
    let coded = ask(json!({"input": texts, "encoding_format": "base64"})).await;
    for (index, row) in want.iter().enumerate() {
        assert_eq!(floats.data[index].index, index);
        assert_eq!(floats.data[index].embedding, EmbeddingVector::Float(row.clone()));
        let EmbeddingVector::Base64(text) = &coded.data[index].embedding else { panic!("base64") };
        let bytes = STANDARD.decode(text).unwrap();
        assert_eq!(bytes, row.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<_>>());
    }
    let short = ask(json!({"input": texts[0], "dimensions": 64})).await;
    let EmbeddingVector::Float(row) = &short.data[0].embedding else { panic!("float") };
    assert!(row.len() == 64 && (length(row) - 1.0).abs() < 1e-5);
    ask(json!({"input": "word ".repeat(300)})).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_requests_say_what_is_wrong() {
    let server = Server::lite(|config| config.limits.max_client_batch_size = 4).await;
    let check = async |path: &str, body: Value, status: u16, kind: ErrorType, says: &str| {
        let answer = server.refused(path, &body, status).await;
        assert_eq!(answer.error_type, kind, "{answer}");
        assert!(answer.error.contains(says), "{answer}");
    };
    let long = "word ".repeat(300);
    let (empty, malformed) = (ErrorType::Empty, ErrorType::Malformed);
    check("/predict", json!({"inputs": []}), 400, empty, "at least one text or pair").await;
    check("/predict", json!({"inputs": [["a"], []]}), 400, malformed, "input 1 has 0 texts").await;
    check("/predict", json!({"inputs": ["a", "b", "c"]}), 400, malformed, "input 0 has 3 texts").await;
    check("/predict", json!({"inputs": [["a"], "b"]}), 400, malformed, "or a batch of them").await;
    check("/predict", json!({"inputs": 1}), 400, malformed, "must be a text, a pair").await;
    check("/predict", json!({}), 400, malformed, "missing field `inputs`").await;
    check("/predict", json!({"inputs": vec![["a"]; 5]}), 413, ErrorType::TooLarge, "the limit is 4").await;
    let refuse = json!({"inputs": [long, "a"], "truncate": false});
    check("/predict", refuse, 422, ErrorType::Validation, "input 0 has 304 tokens, the limit is 256").await;

    let similarity = |source: Value, sentences: Value| json!({"inputs": {"source_sentence": source, "sentences": sentences}, "parameters": {"truncate": false}});
    check("/similarity", similarity(json!("a"), json!([])), 400, empty, "at least one sentence").await;
    check("/similarity", similarity(json!(1), json!(["b"])), 400, malformed, "expected a string").await;
    check("/similarity", similarity(json!("a"), json!("b")), 400, malformed, "expected a sequence").await;
    check("/similarity", json!({"inputs": ["a"]}), 400, malformed, "source_sentence and sentences").await;
    check("/similarity", similarity(json!("a"), json!(vec!["b"; 5])), 413, ErrorType::TooLarge, "4").await;
    check("/similarity", similarity(json!("a"), json!([long])), 422, ErrorType::Validation, "input 1").await;
    let prompt =
        json!({"inputs": {"source_sentence": "a", "sentences": ["b"]}, "parameters": {"prompt_name": "q"}});
    check("/similarity", prompt, 400, malformed, "`q` is unknown").await;

    check("/tokenize", json!({"inputs": []}), 400, empty, "at least one").await;
    check("/tokenize", json!({"inputs": {"a": 1}}), 400, malformed, "a text or a list of texts").await;
    check("/tokenize", json!({"inputs": vec!["a"; 5]}), 413, ErrorType::TooLarge, "split it").await;
    check("/tokenize", json!({"inputs": "a", "prompt_name": "q"}), 400, malformed, "`q` is unknown").await;
    for path in ["/predict", "/similarity", "/tokenize", "/v1/embeddings"] {
        assert_eq!(error(server.get(path).await, 405).await.error_type, ErrorType::NotFound);
    }
    server.embed(&json!({"inputs": "still there"})).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn openai_clients_get_errors_in_their_form() {
    let server = Server::lite(|config| config.limits.max_body_bytes = 10_000).await;
    let check = async |body: Value, status: u16, kind: ErrorType, says: &str| {
        let response = server.post("/v1/embeddings", &body).await;
        assert_eq!(response.status().as_u16(), status);
        let EmbeddingsErrorBody { error } = response.json().await.unwrap();
        assert_eq!(error.error_type, kind, "{}", error.message);
        assert!(error.message.contains(says) && !error.error_id.is_empty(), "{}", error.message);
    };
    let malformed = ErrorType::Malformed;
    check(json!({"input": []}), 400, ErrorType::Empty, "at least one text").await;
    check(json!({"input": [1, 2]}), 400, malformed, "token ids are not accepted").await;
    check(json!({"input": [[1, 2]]}), 400, malformed, "token ids are not accepted").await;
    check(json!({"model": "m"}), 400, malformed, "missing field `input`").await;
    check(json!({"input": "a", "encoding_format": "hex"}), 400, malformed, "`float` or `base64`").await;
    check(json!({"input": "a", "dimensions": 0}), 400, malformed, "1 to 384").await;
    check(json!({"input": "a", "dimensions": -1}), 400, malformed, "-1").await;
    check(json!({"input": vec!["a"; 1_025]}), 413, ErrorType::TooLarge, "the limit is 1024").await;
    check(json!({"input": "a".repeat(10_000)}), 413, ErrorType::TooLarge, "10000 bytes").await;
    let url = format!("{}/v1/embeddings", server.handle.url());
    let text = server.client.post(url).body("input").send().await.unwrap();
    assert_eq!(text.status(), StatusCode::UNSUPPORTED_MEDIA_TYPE);
    text.json::<EmbeddingsErrorBody>().await.unwrap();
}
