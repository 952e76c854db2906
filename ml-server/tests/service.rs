//! For operators and developers: metrics, the API description, the page to try it.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::allow_attributes,
    reason = "helpers of tests may panic and print"
)]

mod common;
#[path = "common/tiny.rs"]
mod tiny;

use common::server::Server;
use lyra_ml_server::model::ModelSource;
use reqwest::StatusCode;
use serde_json::{Value, json};

/// The value of one series, 0 when it is not there.
fn value(metrics: &str, series: &str) -> f64 {
    let line = metrics.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
    line.map_or(0.0, |value| value.parse().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn metrics_count_what_happened() {
    let server = Server::lite(|config| config.max_batch_tokens = Some(100)).await;
    server.embed(&json!({"inputs": ["one", "two words"]})).await;
    server.post("/nli", &json!({"pairs": [{"premise": "p", "hypothesis": "h"}]})).await;
    server.refused("/embed", &json!({"inputs": []}), 400).await;
    server.refused("/predict", &json!({"inputs": 1}), 400).await;

    let response = server.get("/metrics").await;
    assert_eq!(response.headers()["content-type"], "text/plain; version=0.0.4; charset=utf-8");
    let metrics = response.text().await.unwrap();
    for (series, want) in [
        (r#"te_request_count{route="/embed"}"#, 2.0),
        (r#"te_request_success{route="/embed"}"#, 1.0),
        (r#"te_request_success{route="/nli"}"#, 1.0),
        (r#"te_request_failure{err="empty"}"#, 1.0),
        (r#"te_request_failure{err="malformed"}"#, 1.0),
        ("te_request_duration_count", 2.0),
        ("te_request_tokenization_duration_count", 2.0),
        ("te_request_queue_duration_count", 2.0),
        ("te_request_inference_duration_count", 2.0),
        ("te_embed_duration_count", 2.0),
        ("te_embed_tokenization_duration_count", 2.0),
        ("te_predict_queue_duration_count", 1.0),
        ("te_predict_inference_duration_count", 1.0),
        ("te_request_input_length_sum", 12.0),
        ("te_embed_count", 2.0),
        ("te_embed_success", 2.0),
        ("te_predict_success", 1.0),
        ("te_queue_size", 0.0),
        ("te_batch_next_size_sum", 3.0),
        ("te_batch_next_tokens_sum", 12.0),
        (r#"te_batch_next_size_bucket{le="2.0"}"#, 2.0),
        (r#"lyra_ml_tokens_total{kind="embed"}"#, 7.0),
        (r#"lyra_ml_tokens_total{kind="nli"}"#, 5.0),
        ("lyra_ml_batch_fill_ratio_sum", 0.12),
        ("lyra_ml_batch_duration_count", 2.0),
    ] {
        assert!((value(&metrics, series) - want).abs() < 1e-9, "{series} is not {want} in\n{metrics}");
    }
    // Every series belongs to a family whose type is said.
    for line in metrics.lines().filter(|line| !line.starts_with('#')) {
        let name = line.split(['{', ' ']).next().unwrap();
        let family = ["_bucket", "_sum", "_count"].iter().find_map(|end| name.strip_suffix(end));
        let typed = |name: &str| metrics.contains(&format!("# TYPE {name} "));
        assert!(typed(name) || family.is_some_and(typed), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_metric_is_described_in_one_place() {
    // A family is written once it has a series: one server answers, the other refuses.
    let [open, full] =
        [512, 0].map(|limit| Server::lite(move |config| config.limits.max_concurrent_requests = limit));
    let mut metrics = String::new();
    for server in [open.await, full.await] {
        server.post("/embed", &json!({"inputs": "a"})).await;
        metrics += &server.get("/metrics").await.text().await.unwrap();
    }
    let mut written: Vec<_> = metrics.lines().filter_map(|line| line.strip_prefix("# TYPE ")).collect();
    let page = include_str!("../METRICS.md");
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `"));
    let mut described: Vec<_> = rows
        .flat_map(|row| {
            let cells: Vec<_> = row.split(" | ").collect();
            let names = cells[0].trim_end_matches('`').split("`, `");
            names.map(|name| format!("{name} {}", cells[1])).collect::<Vec<_>>()
        })
        .collect();
    written.sort_unstable();
    written.dedup();
    described.sort_unstable();
    assert_eq!(written, described);
}

#[tokio::test(flavor = "multi_thread")]
async fn metrics_count_what_was_refused() {
    let server = Server::lite(|config| config.limits.max_concurrent_requests = 0).await;
    server.refused("/embed", &json!({"inputs": "a"}), 429).await;
    server.post("/v1/embeddings", &json!({"input": "a"})).await;
    let metrics = server.get("/metrics").await.text().await.unwrap();
    assert_eq!(value(&metrics, r#"te_request_failure{err="overloaded"}"#), 2.0);
    assert_eq!(value(&metrics, r#"lyra_ml_rejected_total{limit="too many requests in work"}"#), 2.0);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_described_route_answers_its_example() {
    let (_parent, verifier) = tiny::verifier(tiny::VERIFIERS[1]);
    let server = Server::lite(|config| config.verify = Some(ModelSource::Folder(verifier))).await;
    let api: Value = server.get("/openapi.json").await.json().await.unwrap();
    assert_eq!(api["openapi"], "3.1.0");
    let mut routes = Vec::new();
    for (path, operations) in api["paths"].as_object().unwrap() {
        for (method, operation) in operations.as_object().unwrap() {
            let response = if method == "get" {
                server.get(path).await
            } else {
                let content = &operation["requestBody"]["content"]["application/json"];
                server.post(path, &content["example"]).await
            };
            assert_eq!(response.status(), StatusCode::OK, "{path}");
            let statuses: Vec<_> =
                operation["responses"].as_object().unwrap().keys().map(String::as_str).collect();
            routes.push(format!("{method} {path}: {}", statuses.join(" ")));
        }
    }
    assert_eq!(
        routes,
        [
            "post /embed: 200 400 413 415 422 424 429 503",
            "get /health: 200",
            "get /info: 200",
            "get /metrics: 200",
            "post /nli: 200 400 413 415 422 424 429 503",
            "post /predict: 200 400 413 415 422 424 429 503",
            "get /ready: 200 503",
            "post /similarity: 200 400 413 415 422 424 429 503",
            "post /tokenize: 200 400 413 415 422 424 429 503",
            "post /v1/embeddings: 200 400 413 415 422 424 429 503",
            "post /verify: 200 400 413 415 422 424 429 503",
        ]
    );
    let text = api.to_string();
    for reference in text.split("\"#/components/schemas/").skip(1) {
        let name = reference.split('"').next().unwrap();
        assert!(api["components"]["schemas"][name].is_object(), "{name} is not described");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_needs_nothing_from_elsewhere() {
    let server = Server::lite(|_| {}).await;
    let response = server.get("/docs").await;
    assert_eq!(response.headers()["content-type"], "text/html; charset=utf-8");
    let page = response.text().await.unwrap();
    assert!(page.contains("openapi.json") && !page.contains("http://") && !page.contains("https://"));
}
