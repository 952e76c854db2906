//! The server over a real socket, with the repository's models.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::allow_attributes,
    reason = "helpers of tests may panic and print"
)]

mod common;

use common::server::{Server, client, dot, error, length};
use lyra_ml_server::model::ModelSource;
use lyra_ml_server::{ServerConfig, start};
use lyra_proto::{ErrorType, InfoResponse, ModelKind, NliLabel, NliResponse, ReadyResponse, ReadyState};
use reqwest::StatusCode;
use serde_json::json;

#[tokio::test(flavor = "multi_thread")]
async fn embed_answers_rows_in_order() {
    let server = Server::lite(|_| {}).await;
    let texts = ["Aspirin lowers fever.", "The drug reduces body temperature.", "Basalt is a volcanic rock."];
    let rows = server.embed(&json!({ "inputs": texts })).await;
    assert_eq!(rows.iter().map(Vec::len).collect::<Vec<_>>(), [384, 384, 384]);
    assert!(rows.iter().all(|row| (length(row) - 1.0).abs() < 1e-5));
    assert!(dot(&rows[0], &rows[1]) > dot(&rows[0], &rows[2]) + 0.2);

    let one = server.embed(&json!({ "inputs": texts[2] })).await;
    assert!(dot(&one[0], &rows[2]) > 0.999_999, "one text is answered like a list of one");

    let raw = server.embed(&json!({ "inputs": texts, "normalize": false })).await;
    assert!((length(&raw[0]) - 1.0).abs() > 1e-3);
    let short = server.embed(&json!({ "inputs": texts, "dimensions": 64 })).await;
    assert_eq!(short[0].len(), 64);
    assert!((length(&short[0]) - 1.0).abs() < 1e-5);
    server.handle.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn octet_stream_holds_the_same_numbers() {
    let server = Server::lite(|_| {}).await;
    let body = json!({"inputs": ["one", "two words"]});
    let rows = server.embed(&body).await;
    let response = server
        .client
        .post(format!("{}/embed", server.handle.url()))
        .header("accept", "application/octet-stream")
        .header("x-request-id", "my-own-id")
        .json(&body)
        .send()
        .await
        .unwrap();
    let headers = response.headers().clone();
    assert_eq!(headers["x-embedding-shape"], "2,384");
    assert_eq!(headers["content-type"], "application/octet-stream");
    assert_eq!(headers["x-request-id"], "my-own-id");
    assert_eq!(headers["x-compute-tokens"], "7", "[CLS] one [SEP] and [CLS] two words [SEP]");
    for name in ["x-queue-time", "x-inference-time", "x-total-time"] {
        headers[name].to_str().unwrap().parse::<u64>().unwrap();
    }
    let bytes = response.bytes().await.unwrap();
    let values: Vec<f32> = bytes.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect();
    assert_eq!(values, rows.concat());
}

#[tokio::test(flavor = "multi_thread")]
async fn nli_names_labels() {
    let server = Server::lite(|_| {}).await;
    let premise = "The trial found that the vaccine prevented infection in most participants.";
    let pairs = json!({"pairs": [
        {"premise": premise, "hypothesis": "The vaccine prevented infection."},
        {"premise": premise, "hypothesis": "The vaccine did not prevent infection."},
        {"premise": premise, "hypothesis": "The participants were healthy adults."},
    ]});
    let answer: NliResponse = server.post("/nli", &pairs).await.json().await.unwrap();
    let labels: Vec<_> = answer.results.iter().map(|result| result.label).collect();
    assert_eq!(labels, [NliLabel::Supports, NliLabel::Refutes, NliLabel::Neutral]);
    for result in &answer.results {
        let scores = result.scores;
        assert!((scores.supports + scores.refutes + scores.neutral - 1.0).abs() < 1e-5);
        assert_eq!(result.confidence, scores.of(result.label));
    }
    assert_eq!(answer.model, "lyra-lite-nli");
    assert!(answer.usage.total_tokens > 30);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_does_not_depend_on_its_batch() {
    let server = Server::lite(|_| {}).await;
    let texts: Vec<String> = (0..32).map(|i| format!("text {i} ").repeat(1 + 7 * (i % 9))).collect();
    let together = server.embed(&json!({ "inputs": texts })).await;
    for (text, row) in texts.iter().zip(&together) {
        let alone = server.embed(&json!({ "inputs": text })).await;
        let largest = alone[0].iter().zip(row).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(largest < 1e-5, "{largest}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn large_batches_are_split_and_merged() {
    let server = Server::lite(|config| config.max_batch_tokens = Some(64)).await;
    let texts: Vec<String> = (0..1_024).map(|i| format!("w{}", i % 3)).collect();
    let rows = server.embed(&json!({ "inputs": texts })).await;
    assert_eq!(rows.len(), 1_024);
    assert!(dot(&rows[0], &rows[3]) > 0.999_999 && dot(&rows[0], &rows[1]) < 0.999);
}

#[tokio::test(flavor = "multi_thread")]
async fn overload_is_refused_at_once_with_a_time_to_come_back() {
    let server = Server::lite(|config| config.limits.max_concurrent_requests = 1).await;
    let body = json!({"inputs": vec!["word ".repeat(250); 64]});
    let (first, second) = tokio::join!(server.post("/embed", &body), async {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        server.post("/embed", &json!({"inputs": "a"})).await
    });
    assert_eq!(first.status(), StatusCode::OK);
    let wait: u64 = second.headers()["retry-after"].to_str().unwrap().parse().unwrap();
    assert!((1..=60).contains(&wait));
    assert_eq!(error(second, 429).await.error_type, ErrorType::Overloaded);
    server.embed(&json!({"inputs": "a"})).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn too_many_queued_tokens_are_refused() {
    let server = Server::lite(|config| config.limits.max_queued_tokens = 1_000).await;
    let body = json!({"inputs": vec!["word ".repeat(250); 32]});
    let answers = tokio::join!(
        server.post("/embed", &body),
        server.post("/embed", &body),
        server.post("/embed", &body)
    );
    let statuses = [answers.0.status(), answers.1.status(), answers.2.status()];
    assert!(statuses.contains(&StatusCode::OK), "{statuses:?}");
    assert!(statuses.contains(&StatusCode::TOO_MANY_REQUESTS), "{statuses:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn status_routes() {
    let server = Server::lite(|_| {}).await;
    assert_eq!(server.get("/health").await.status(), StatusCode::OK);
    let ready: ReadyResponse = server.get("/ready").await.json().await.unwrap();
    assert_eq!(ready.status, ReadyState::Ready);

    let info: InfoResponse = server.get("/info").await.json().await.unwrap();
    let embed = info.model(ModelKind::Embed).unwrap();
    assert_eq!((embed.id.as_str(), embed.dimension, embed.max_tokens), ("all-MiniLM-L6-v2", 384, 256));
    assert_eq!((embed.pooling.as_deref(), embed.dtype.as_str()), (Some("mean"), "q8_0"));
    assert_eq!(
        (embed.languages.as_slice(), embed.license.as_deref()),
        (&["en".to_owned()][..], Some("Apache-2.0"))
    );
    let nli = info.model(ModelKind::Nli).unwrap();
    assert_eq!((nli.architecture.as_str(), nli.max_tokens), ("bert", 256));
    assert_eq!(nli.labels, ["contradiction", "entailment", "neutral"]);
    assert_eq!(info.limits.max_client_batch_size, 1_024);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_cannot_load_shows_in_ready() {
    let config = ServerConfig::new(Some(ModelSource::Gguf("no-such-file.gguf".into())), None);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let handle = start(config, listener).unwrap();
    assert!(handle.ready().await.unwrap_err().to_string().contains("no-such-file.gguf"));
    let server = Server { handle, client: client() };
    let response = server.get("/ready").await;
    assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
    let ready: ReadyResponse = response.json().await.unwrap();
    assert_eq!(ready.status, ReadyState::Failed);
    assert!(ready.error.unwrap().contains("no-such-file.gguf"));
    assert_eq!(
        server.refused("/embed", &json!({"inputs": "a"}), 503).await.error_type,
        ErrorType::Unavailable
    );
    assert_eq!(error(server.get("/health").await, 503).await.error_type, ErrorType::Unavailable);
}

#[tokio::test(flavor = "multi_thread")]
async fn shutdown_finishes_requests_in_work() {
    let server = Server::lite(|_| {}).await;
    let url = format!("{}/embed", server.handle.url());
    let body = json!({"inputs": vec!["word ".repeat(250); 48]});
    let request = tokio::spawn(server.client.post(&url).json(&body).send());
    tokio::time::sleep(std::time::Duration::from_millis(150)).await;
    server.handle.shutdown().await;
    let rows: Vec<Vec<f32>> = request.await.unwrap().unwrap().json().await.unwrap();
    assert_eq!(rows.len(), 48);
    assert!(client().post(&url).json(&body).send().await.is_err(), "the port is closed");
}
