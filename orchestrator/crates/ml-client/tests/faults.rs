//! The client against servers that misbehave.

#![allow(clippy::unwrap_used, clippy::allow_attributes, reason = "helpers of tests may panic")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use axum::Router;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use lyra_ml_client::{ClientConfig, Error, MlClient};
use lyra_proto::{InfoResponse, Limits, VerifyItem, VerifyRequest, VerifyResponse, VerifyResult};
use lyra_research::ports::{Inference, Verify};

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
    let rows = MlClient::with_config(url, quick()).unwrap().embed(&texts(1), None).await.unwrap();
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
    let error = MlClient::with_config(url, quick()).unwrap().embed(&texts(1), None).await.unwrap_err();
    assert!(matches!(&error, Error::Refused { status: 422, body } if body.error == "too long"), "{error}");
    assert_eq!(count.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn answers_that_do_not_fit_are_refused() {
    let (url, _) = server(|_| vector()).await;
    let client = MlClient::with_config(url, quick()).unwrap();
    let error = client.embed(&texts(2), None).await.unwrap_err();
    assert!(matches!(&error, Error::Protocol { .. }) && error.to_string().contains("2 texts"), "{error}");
    assert!(matches!(client.info().await.unwrap_err(), Error::Protocol { .. }));
    assert!(client.embed(&[], None).await.unwrap().is_empty(), "nothing to ask");
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

fn item(number: usize) -> VerifyItem {
    VerifyItem { claim: format!("claim {number}"), title: None, sentences: vec!["a sentence".to_owned(); 2] }
}

/// A verifier's answer for each of `items`, with this many sentence scores.
fn verdicts(items: &[VerifyItem], sentences: usize) -> Response {
    let result = |item: &VerifyItem| {
        // Tells the items apart.
        let neutral = item.claim.trim_start_matches("claim ").parse::<f32>().unwrap() / 100.0;
        let scores = lyra_proto::NliScores { supports: 1.0 - neutral, refutes: 0.0, neutral };
        let (label, confidence) = (scores.label(), scores.of(scores.label()));
        VerifyResult { label, confidence, scores, rationale: vec![0.5; sentences] }
    };
    let results = items.iter().map(result).collect();
    let usage = lyra_proto::Usage::of(1);
    axum::Json(VerifyResponse { model: "m".to_owned(), results, usage }).into_response()
}

#[tokio::test]
async fn items_go_out_in_batches_and_are_asked_again() {
    let sizes = Arc::new(std::sync::Mutex::new(Vec::new()));
    let (noted, failures) = (Arc::clone(&sizes), Arc::new(AtomicUsize::new(0)));
    let app = Router::new().fallback(move |axum::Json(request): axum::Json<VerifyRequest>| {
        let answer = if failures.fetch_add(1, Ordering::SeqCst) < 2 {
            StatusCode::SERVICE_UNAVAILABLE.into_response()
        } else {
            noted.lock().unwrap().push(request.items.len());
            verdicts(&request.items, 1)
        };
        async move { answer }
    });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, app).await });

    let config = ClientConfig { verify_batch_size: 3, ..quick() };
    let client = MlClient::with_config(url, config).unwrap();
    let items: Vec<_> = (0..10).map(item).collect();
    let results = client.verify(&items).await.unwrap();
    for (number, result) in results.iter().enumerate() {
        assert!((result.scores.neutral - number as f32 / 100.0).abs() < 1e-6, "{number}: {result:?}");
    }
    let mut sizes = sizes.lock().unwrap().clone();
    sizes.sort_unstable();
    assert_eq!(sizes, [1, 3, 3, 3]);
    assert!(client.verify(&[]).await.unwrap().is_empty(), "nothing to ask");
}

#[tokio::test]
async fn verdicts_that_do_not_fit_are_refused() {
    for (answered, sentences, says) in [
        (1, 2, "2 items gave 1 results"),
        (2, 0, "2 sentences gave 0 scores"),
        (2, 3, "2 sentences gave 3 scores"),
    ] {
        let items: Vec<_> = (0..answered).map(item).collect();
        let (url, _) = server(move |_| verdicts(&items, sentences)).await;
        let client = MlClient::with_config(url, quick()).unwrap();
        let error = client.verify(&[item(0), item(1)]).await.unwrap_err();
        assert!(matches!(error, Error::Protocol { .. }) && error.to_string().contains(says), "{error}");
    }
}

#[tokio::test]
async fn a_failing_verifier_opens_the_circuit() {
    let (url, count) = server(|_| StatusCode::INTERNAL_SERVER_ERROR.into_response()).await;
    let config = ClientConfig { failures_to_open: 2, ..quick() };
    let client = MlClient::with_config(url, config).unwrap();
    let asked = Verify { claim: "c".to_owned(), title: None, sentences: vec!["s".to_owned()] };
    let error = Inference::verify(&client, &[asked]).await.unwrap_err();
    assert!(error.is_transient(), "{error}");
    assert_eq!(count.load(Ordering::SeqCst), 2);
}
