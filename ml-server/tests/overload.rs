//! More clients than the server admits: each of them gets an answer, and none gets a 5xx. `cargo make load` measures
//! the same at length.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::allow_attributes,
    reason = "helpers of tests may panic and print"
)]

mod common;

use std::sync::Arc;

use common::server::Server;
use reqwest::StatusCode;
use serde_json::json;
use tokio::task::JoinSet;

/// Requests of one client, one after the other.
async fn client(server: Arc<Server>, number: usize) -> Vec<StatusCode> {
    let mut statuses = Vec::new();
    for round in 0..6 {
        let texts = vec!["word ".repeat(1 + (number * 31 + round * 17) % 200); 1 + (number + round) % 8];
        let response = if number.is_multiple_of(4) {
            let pairs: Vec<_> =
                texts.iter().map(|text| json!({"premise": text, "hypothesis": "word"})).collect();
            server.post("/nli", &json!({ "pairs": pairs })).await
        } else {
            server.post("/embed", &json!({ "inputs": texts })).await
        };
        let status = response.status();
        assert_eq!(status == StatusCode::TOO_MANY_REQUESTS, response.headers().contains_key("retry-after"));
        statuses.push(status);
        response.bytes().await.unwrap();
    }
    statuses
}

#[tokio::test(flavor = "multi_thread")]
async fn everybody_is_answered_or_told_when_to_come_back() {
    let server = Arc::new(
        Server::lite(|config| {
            config.limits.max_concurrent_requests = 8;
            config.limits.max_queued_tokens = 2_000;
            config.max_connections = 48;
        })
        .await,
    );
    let mut clients: JoinSet<Vec<StatusCode>> =
        (0..64).map(|number| client(Arc::clone(&server), number)).collect();
    let mut statuses = Vec::new();
    while let Some(ended) = clients.join_next().await {
        statuses.extend(ended.unwrap());
    }
    let count = |wanted: StatusCode| statuses.iter().filter(|status| **status == wanted).count();
    let (answered, refused) = (count(StatusCode::OK), count(StatusCode::TOO_MANY_REQUESTS));
    assert_eq!(answered + refused, 64 * 6, "{statuses:?}");
    assert!(answered > 0 && refused > 0, "{answered} answered, {refused} refused");

    assert_eq!(server.get("/health").await.status(), StatusCode::OK);
    let metrics = server.get("/metrics").await.text().await.unwrap();
    for series in [
        "te_queue_size 0".to_owned(),
        "lyra_ml_queue_tokens 0".to_owned(),
        format!("te_request_failure{{err=\"overloaded\"}} {refused}"),
    ] {
        assert!(metrics.lines().any(|line| line == series), "{series} is not in\n{metrics}");
    }
}
