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
use common::server::{Server, dot, length};
use lyra_proto::{
    EmbeddingVector, EmbeddingsResponse, NliResponse, PredictResponse, Prediction, SimpleToken,
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
    let tokens = async |special: bool| -> Vec<Vec<u32>> {
        let body = json!({"inputs": texts, "add_special_tokens": special});
        let rows: Vec<Vec<SimpleToken>> = server.post("/tokenize", &body).await.json().await.unwrap();
        rows.iter().map(|row| row.iter().map(|token| token.id).collect()).collect()
    };
    for special in [false, true] {
        let tokens = tokens(special).await;
        for body in [json!({"input": tokens}), json!({"input": [tokens[0], texts[1]]})] {
            assert_eq!(ask(body).await.data, floats.data, "token ids, special tokens: {special}");
        }
        let one = server.embed(&json!({"inputs": tokens[1]})).await;
        assert_eq!(one, want[1..], "a list of numbers is one input");
    }
    ask(json!({"input": vec![2_000; 300]})).await;
    let short = ask(json!({"input": texts[0], "dimensions": 64})).await;
    let EmbeddingVector::Float(row) = &short.data[0].embedding else { panic!("float") };
    assert!(row.len() == 64 && (length(row) - 1.0).abs() < 1e-5);
    ask(json!({"input": "word ".repeat(300)})).await;
}
