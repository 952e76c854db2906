//! A client of several servers: one that is slow, wrong, dying, or another's changes no result.

#![allow(clippy::unwrap_used, clippy::allow_attributes, reason = "helpers of tests may panic")]

use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::Body;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use lyra_ml_client::{ClientConfig, Error, MlClient};
use lyra_proto::{
    Backend, InfoResponse, Limits, ModelInfo, ModelKind, NliScores, ReadyResponse, ReadyState, Usage,
    VerifyItem, VerifyRequest, VerifyResponse, VerifyResult,
};
use serde_json::Value;

/// How a server behaves; it may change while it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Behavior {
    Good,
    /// Answers after a minute.
    Slow,
    /// Well-formed answers that are wrong.
    Wrong,
    /// Breaks the connection.
    Dying,
    /// Answers with something else.
    Garbage,
    /// Refuses every request as invalid.
    Refusing,
    /// Its queue is full.
    Busy,
    /// Vectors of another length.
    Longer,
}

impl Behavior {
    const ALL: [Self; 8] = [
        Self::Good,
        Self::Slow,
        Self::Wrong,
        Self::Dying,
        Self::Garbage,
        Self::Refusing,
        Self::Busy,
        Self::Longer,
    ];
}

#[derive(Debug)]
struct StandIn {
    model: Mutex<&'static str>,
    behavior: AtomicU8,
    answered: AtomicUsize,
}

impl StandIn {
    fn behavior(&self) -> Behavior {
        Behavior::ALL[usize::from(self.behavior.load(Ordering::SeqCst))]
    }

    fn become_(&self, behavior: Behavior) {
        self.behavior.store(behavior as u8, Ordering::SeqCst);
    }

    fn model(&self) -> &'static str {
        *self.model.lock().unwrap()
    }

    /// As if it were started again with another embedder.
    fn host(&self, model: &'static str) {
        *self.model.lock().unwrap() = model;
    }

    /// Requests for vectors and verdicts that it answered well.
    fn answered(&self) -> usize {
        self.answered.load(Ordering::SeqCst)
    }

    /// What it does in place of an answer.
    async fn instead(&self) -> Option<Response> {
        match self.behavior() {
            Behavior::Good | Behavior::Wrong | Behavior::Longer => {
                self.answered.fetch_add(1, Ordering::SeqCst);
                None
            }
            Behavior::Slow => {
                tokio::time::sleep(Duration::from_mins(1)).await;
                None
            }
            Behavior::Dying => {
                let broken = futures::stream::iter([Err::<Vec<u8>, _>(std::io::Error::other("died"))]);
                Some(Response::new(Body::from_stream(broken)))
            }
            Behavior::Garbage => Some("hello".into_response()),
            Behavior::Refusing => {
                let body = r#"{"error": "invalid", "error_type": "malformed", "error_id": "7"}"#;
                let json = [("content-type", "application/json")];
                Some((StatusCode::BAD_REQUEST, json, body).into_response())
            }
            Behavior::Busy => {
                Some((StatusCode::TOO_MANY_REQUESTS, [("retry-after", "60")], "").into_response())
            }
        }
    }
}

/// A direction that a text alone decides.
fn direction(text: &str) -> [f32; 2] {
    let angle = text.bytes().fold(0.0f32, |sum, byte| sum + f32::from(byte));
    [angle.sin(), angle.cos()]
}

async fn embed(State(state): State<Arc<StandIn>>, Json(request): Json<Value>) -> Response {
    if let Some(instead) = state.instead().await {
        return instead;
    }
    let texts = request["inputs"].as_array().unwrap();
    let vector = |text: &Value| -> Vec<f32> {
        let [x, y] = direction(text.as_str().unwrap());
        match state.behavior() {
            Behavior::Wrong => vec![-y, x],
            Behavior::Longer => vec![x, y, 0.0],
            _ => vec![x, y],
        }
    };
    let rows: Vec<Vec<f32>> = texts.iter().map(vector).collect();
    let shape = format!("{},{}", rows.len(), rows[0].len());
    let bytes: Vec<u8> = rows.iter().flatten().flat_map(|value| value.to_le_bytes()).collect();
    ([("x-embedding-shape", shape)], bytes).into_response()
}

async fn verify(State(state): State<Arc<StandIn>>, Json(request): Json<VerifyRequest>) -> Response {
    if let Some(instead) = state.instead().await {
        return instead;
    }
    let result = |item: &VerifyItem| {
        let share = direction(&item.claim)[0].abs();
        let supports = if state.behavior() == Behavior::Wrong { 1.0 - share } else { share };
        let scores = NliScores { supports, refutes: 0.0, neutral: 1.0 - supports };
        let (label, confidence) = (scores.label(), scores.of(scores.label()));
        VerifyResult { label, confidence, scores, rationale: vec![0.5; item.sentences.len()] }
    };
    let results = request.items.iter().map(result).collect();
    Json(VerifyResponse { model: state.model().to_owned(), results, usage: Usage::of(1) }).into_response()
}

fn hosted(id: &str, kind: ModelKind) -> ModelInfo {
    ModelInfo {
        id: id.to_owned(),
        revision: None,
        kind,
        architecture: "bert".to_owned(),
        dimension: 2,
        pooling: None,
        labels: Vec::new(),
        threshold: None,
        threshold_precision: None,
        prompts: None,
        max_tokens: 512,
        dtype: "f32".to_owned(),
        device: "cpu".to_owned(),
        backend: Backend::Native,
        passed_over: Vec::new(),
        languages: Vec::new(),
        license: None,
    }
}

async fn info(State(state): State<Arc<StandIn>>) -> Json<InfoResponse> {
    let models = vec![hosted(state.model(), ModelKind::Embed), hosted("judge", ModelKind::Verify)];
    Json(InfoResponse { version: "1".to_owned(), models, limits: Limits::default() })
}

async fn ready() -> Json<ReadyResponse> {
    Json(ReadyResponse { status: ReadyState::Ready, loading: Vec::new(), error: None })
}

async fn listen() -> (tokio::net::TcpListener, String) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    (listener, url)
}

fn serve(listener: tokio::net::TcpListener, model: &'static str, behavior: Behavior) -> Arc<StandIn> {
    let state = Arc::new(StandIn {
        model: Mutex::new(model),
        behavior: AtomicU8::new(behavior as u8),
        answered: AtomicUsize::new(0),
    });
    let app = Router::new()
        .route("/embed", post(embed))
        .route("/verify", post(verify))
        .route("/info", get(info))
        .route("/ready", get(ready))
        .with_state(Arc::clone(&state));
    tokio::spawn(async move { axum::serve(listener, app).await });
    state
}

async fn servers(behaviors: &[Behavior]) -> (Vec<Arc<StandIn>>, Vec<String>) {
    let mut started = (Vec::new(), Vec::new());
    for &behavior in behaviors {
        let (listener, url) = listen().await;
        started.0.push(serve(listener, "embedder", behavior));
        started.1.push(url);
    }
    started
}

fn quick() -> ClientConfig {
    ClientConfig {
        batch_size: 2,
        verify_batch_size: 2,
        first_pause: Duration::from_millis(1),
        retries: 3,
        second_after: Duration::from_millis(40),
        ..ClientConfig::default()
    }
}

fn texts() -> Vec<String> {
    (0..40).map(|number| format!("text number {number}")).collect()
}

/// Asks for vectors and verdicts, and compares them with the right ones.
async fn asked(client: &MlClient) -> Result<(), Error> {
    let (vectors, expected) = (client.embed(&texts(), None).await?, texts());
    assert_eq!(vectors, expected.iter().map(|text| direction(text).to_vec()).collect::<Vec<_>>());
    let item =
        |text: String| VerifyItem { claim: text, title: None, sentences: vec!["a sentence".to_owned()] };
    let verdicts = client.verify(&texts().into_iter().map(item).collect::<Vec<_>>()).await?;
    for (text, verdict) in expected.iter().zip(verdicts) {
        assert!((verdict.scores.supports - direction(text)[0].abs()).abs() < 1e-6, "{text}");
    }
    Ok(())
}

#[tokio::test]
async fn one_bad_server_of_three_changes_no_result() {
    for behavior in Behavior::ALL {
        if behavior == Behavior::Refusing {
            continue;
        }
        for at_start in [true, false] {
            let first = if at_start { behavior } else { Behavior::Good };
            let (states, urls) = servers(&[first, Behavior::Good, Behavior::Good]).await;
            // An examination is valid for no time: a server that begins to compute wrongly is found by the next one.
            let client =
                MlClient::of_servers(&urls, ClientConfig { examined_for: Duration::ZERO, ..quick() });
            let client = client.unwrap();
            if !at_start {
                asked(&client).await.unwrap();
                states[0].become_(behavior);
            }
            asked(&client).await.unwrap_or_else(|error| panic!("{behavior:?} ({at_start}): {error}"));
        }
    }
}

#[tokio::test]
async fn work_is_shared() {
    let (states, urls) = servers(&[Behavior::Good; 3]).await;
    let client = MlClient::of_servers(&urls, quick()).unwrap();
    for _ in 0..5 {
        asked(&client).await.unwrap();
    }
    for state in states {
        assert!(state.answered() > 10, "{}", state.answered());
    }
}

#[tokio::test]
async fn a_server_that_computes_wrongly_is_used_again_when_it_does_not() {
    let (states, urls) = servers(&[Behavior::Wrong, Behavior::Good, Behavior::Good]).await;
    let client =
        MlClient::of_servers(&urls, ClientConfig { examined_for: Duration::from_millis(300), ..quick() });
    let client = client.unwrap();
    asked(&client).await.unwrap();
    let examined = states[0].answered();
    assert!(examined <= 2, "one vector and one verdict are asked for to examine it: {examined}");
    states[0].become_(Behavior::Good);
    tokio::time::sleep(Duration::from_millis(350)).await;
    asked(&client).await.unwrap();
    assert!(states[0].answered() > examined + 2);
}

#[tokio::test]
async fn refusals_are_not_repeated_elsewhere() {
    let (states, urls) = servers(&[Behavior::Good; 2]).await;
    let client = MlClient::of_servers(&urls, quick()).unwrap();
    asked(&client).await.unwrap();
    let before: usize = states.iter().map(|state| state.answered()).sum();
    for state in &states {
        state.become_(Behavior::Refusing);
    }
    let error = client.embed(&["text".to_owned()], None).await.unwrap_err();
    assert!(matches!(error, Error::Refused { status: 400, .. }), "{error}");
    assert_eq!(states.iter().map(|state| state.answered()).sum::<usize>(), before);
}

#[tokio::test]
async fn different_models_are_refused() {
    let (one, one_url) = listen().await;
    let (other, other_url) = listen().await;
    serve(one, "all-MiniLM-L6-v2", Behavior::Good);
    serve(other, "bge-m3", Behavior::Good);
    let client = MlClient::of_servers(&[one_url.clone(), other_url.clone()], quick()).unwrap();
    let error = asked(&client).await.unwrap_err();
    assert!(matches!(error, Error::Different { .. }), "{error}");
    let said = error.to_string();
    for part in [&one_url, &other_url, "all-MiniLM-L6-v2 (2 dimensions)", "bge-m3", "the same models"] {
        assert!(said.contains(part), "{said}");
    }
}

#[tokio::test]
async fn no_one_can_tell_which_of_two_is_right() {
    let (states, urls) = servers(&[Behavior::Good, Behavior::Wrong]).await;
    let client = MlClient::of_servers(&urls, quick()).unwrap();
    let error = asked(&client).await.unwrap_err();
    assert!(
        matches!(error, Error::Different { .. }) && error.to_string().contains("computes wrongly"),
        "{error}"
    );
    states[1].become_(Behavior::Good);
    asked(&client).await.unwrap();
}

#[tokio::test]
async fn a_server_that_comes_back_with_other_models_is_not_used() {
    let (listener, late) = listen().await;
    drop(listener);
    let (_states, mut urls) = servers(&[Behavior::Good]).await;
    urls.insert(0, late.clone());
    let client = MlClient::of_servers(&urls, quick()).unwrap();
    client.wait_ready(Duration::from_secs(5)).await.unwrap();
    asked(&client).await.unwrap();
    assert!(client.states().await[0].is_err());

    let listener = tokio::net::TcpListener::bind(late.trim_start_matches("http://")).await.unwrap();
    let state = serve(listener, "bge-m3", Behavior::Wrong);
    asked(&client).await.unwrap();
    assert!(state.answered() <= 2, "{}", state.answered());
}

#[tokio::test]
async fn servers_that_all_come_back_with_other_models_are_used() {
    let (states, urls) = servers(&[Behavior::Good; 2]).await;
    let client = MlClient::of_servers(&urls, ClientConfig { examined_for: Duration::ZERO, ..quick() });
    let client = client.unwrap();
    let embedder = async || client.info().await.unwrap().models[0].id.clone();
    asked(&client).await.unwrap();
    // Each in turn: while one is as it was, the others are not used.
    states[0].host("bge-m3");
    asked(&client).await.unwrap();
    assert_eq!(embedder().await, "embedder");
    states[1].host("bge-m3");
    asked(&client).await.unwrap();
    assert_eq!(embedder().await, "bge-m3");
    states[0].host("embedder");
    asked(&client).await.unwrap();
    assert_eq!(embedder().await, "bge-m3");
    // With different models, none is used.
    states[1].host("all-MiniLM-L6-v2");
    let error = asked(&client).await.unwrap_err();
    assert!(matches!(error, Error::Different { .. }), "{error}");
    // Where one cannot be reached, wrong answers of the other do not become right.
    for state in &states {
        state.host("bge-m3");
    }
    asked(&client).await.unwrap();
    states[0].become_(Behavior::Dying);
    states[1].become_(Behavior::Wrong);
    assert!(asked(&client).await.is_err());
}

#[tokio::test]
async fn when_all_are_unreachable_the_error_says_so() {
    let (listener, url) = listen().await;
    drop(listener);
    let client = MlClient::of_servers(&[url.clone(), url.clone()], quick()).unwrap();
    let error = client.embed(&["text".to_owned()], None).await.unwrap_err();
    assert!(matches!(error, Error::Unreachable { .. } | Error::CircuitOpen { .. }), "{error}");
    let error = client.wait_ready(Duration::from_millis(120)).await.unwrap_err();
    assert!(matches!(error, Error::NotReady { .. }) && error.to_string().contains(&url), "{error}");
}
