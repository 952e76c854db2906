//! The client against servers that misbehave.

#![allow(clippy::unwrap_used, clippy::allow_attributes, reason = "helpers of tests may panic")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use axum::Router;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use lyra_ml_client::{ClientConfig, Error, MlClient};
use lyra_proto::{InfoResponse, Limits};
use lyra_research::ports::Inference;

fn quick() -> ClientConfig {
    ClientConfig { first_pause: Duration::from_millis(1), retries: 3, ..ClientConfig::default() }
}

/// A server that answers its n-th request (from 0) with `answer(n)`, and a count of requests.
async fn server(
    answer: impl Fn(usize) -> Response + Clone + Send + Sync + 'static,
) -> (String, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&count);
    let app = Router::new().fallback(move || {
        let answer = answer(counter.fetch_add(1, Ordering::SeqCst));
        async move { answer }
    });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, app).await });
    (url, count)
}

fn vector() -> Response {
    ([("x-embedding-shape", "1,2")], [1.0f32, 0.0].map(f32::to_le_bytes).concat()).into_response()
}

fn texts(count: usize) -> Vec<String> {
    vec!["text".to_owned(); count]
}

#[tokio::test]
async fn busy_servers_are_asked_again_when_they_say() {
    let (url, count) = server(|n| match n {
        0 => (StatusCode::TOO_MANY_REQUESTS, [("retry-after", "1")], "").into_response(),
        1 => StatusCode::SERVICE_UNAVAILABLE.into_response(),
        _ => vector(),
    })
    .await;
    let started = Instant::now();
    let rows = MlClient::with_config(url, quick()).unwrap().embed(&texts(1)).await.unwrap();
    assert_eq!(rows, [[1.0, 0.0]]);
    assert_eq!(count.load(Ordering::SeqCst), 3);
    assert!(started.elapsed() >= Duration::from_secs(1));
}

#[tokio::test]
async fn refusals_are_not_repeated() {
    let (url, count) = server(|_| {
        let body = r#"{"error": "too long", "error_type": "validation", "error_id": "7"}"#;
        (StatusCode::UNPROCESSABLE_ENTITY, [("content-type", "application/json")], body).into_response()
    })
    .await;
    let error = MlClient::with_config(url, quick()).unwrap().embed(&texts(1)).await.unwrap_err();
    assert!(matches!(&error, Error::Refused { status: 422, body } if body.error == "too long"), "{error}");
    assert_eq!(count.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn answers_that_do_not_fit_are_refused() {
    let (url, _) = server(|_| vector()).await;
    let client = MlClient::with_config(url, quick()).unwrap();
    let error = client.embed(&texts(2)).await.unwrap_err();
    assert!(matches!(&error, Error::Protocol { .. }) && error.to_string().contains("2 texts"), "{error}");
    assert!(matches!(client.info().await.unwrap_err(), Error::Protocol { .. }));
    assert!(client.embed(&[]).await.unwrap().is_empty(), "nothing to ask");
}

#[tokio::test]
async fn a_dead_server_is_left_alone_for_a_while() {
    let (url, count) = server(|_| StatusCode::INTERNAL_SERVER_ERROR.into_response()).await;
    let config = ClientConfig { failures_to_open: 2, open_for: Duration::from_millis(300), ..quick() };
    let client = MlClient::with_config(url, config).unwrap();
    assert!(matches!(client.info().await.unwrap_err(), Error::CircuitOpen { .. }));
    assert_eq!(count.load(Ordering::SeqCst), 2);
    tokio::time::sleep(Duration::from_millis(350)).await;
    assert!(client.info().await.is_err());
    assert_eq!(count.load(Ordering::SeqCst), 3, "one probe");
}

#[tokio::test]
async fn nobody_there() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let client = MlClient::with_config(&url, quick()).unwrap();
    let error = client.info().await.unwrap_err();
    assert!(matches!(error, Error::Unreachable { .. }) && error.to_string().contains(&url), "{error}");
    let error = client.wait_ready(Duration::from_millis(120)).await.unwrap_err();
    assert!(matches!(error, Error::NotReady { .. }), "{error}");
}

#[tokio::test]
async fn a_server_that_is_still_loading_is_not_one_without_models() {
    let (url, _) = server(|_| {
        let info = InfoResponse { version: "1".to_owned(), models: Vec::new(), limits: Limits::default() };
        axum::Json(info).into_response()
    })
    .await;
    let error = MlClient::with_config(url, quick()).unwrap().models().await.unwrap_err();
    assert!(error.is_transient(), "{error}");
}
