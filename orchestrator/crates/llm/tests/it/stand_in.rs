//! A server that returns scripted answers in order, and records its requests.

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use lyra_llm::{Client, LlmConfig, Prompts, Provider};
use lyra_research::ports::{LanguageModel, Purpose, Reply};
use lyra_research::{check_answer, sample_prompt};
use secrecy::SecretString;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The API key of all clients here.
pub(crate) const KEY: &str = "key-that-must-stay-secret";

/// What the server does with one request.
#[derive(Clone)]
pub(crate) enum Act {
    /// The model wrote this.
    Writes(&'static str),
    /// The API's own answer.
    Answers(Value),
    /// A status, headers and a body.
    Fails(u16, Vec<(&'static str, String)>, String),
    /// No answer for longer than any client waits.
    Sleeps,
}

/// A request as it came.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) path: String,
    pub(crate) authorization: Option<String>,
    pub(crate) body: Value,
}

#[derive(Clone)]
pub(crate) struct StandIn {
    pub(crate) url: String,
    provider: Provider,
    script: Arc<Mutex<VecDeque<Act>>>,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl StandIn {
    /// Starts a server that plays this script; after its end it answers 418. It stops with the test's runtime.
    pub(crate) async fn start(provider: Provider, script: impl IntoIterator<Item = Act>) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let this = Self {
            url: format!("http://{}/base", listener.local_addr().unwrap()),
            provider,
            script: Arc::new(Mutex::new(script.into_iter().collect())),
            asked: Arc::default(),
        };
        let app = Router::new().fallback(answer).with_state(this.clone());
        tokio::spawn(async move { axum::serve(listener, app).await });
        this
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    pub(crate) fn config(&self) -> LlmConfig {
        LlmConfig {
            provider: self.provider,
            base_url: Some(self.url.clone()),
            model: "small".to_owned(),
            api_key: Some(SecretString::from(KEY)),
            timeout: Duration::from_secs(20),
            max_concurrent: 2,
        }
    }

    pub(crate) fn client(&self) -> Client {
        Client::new(self.config(), Prompts::open(None).unwrap()).unwrap()
    }

    /// Asks how useful the sample work is.
    pub(crate) async fn ask(&self) -> Reply {
        ask(&self.client()).await
    }
}

/// Asks how useful the sample work is.
pub(crate) async fn ask(client: &Client) -> Reply {
    let accept = |value: &Value| check_answer(Purpose::Relevance, value);
    client.ask(&sample_prompt(Purpose::Relevance), &accept).await
}

/// The API's answer around what a model wrote.
pub(crate) fn around(provider: Provider, content: &str) -> Value {
    match provider {
        Provider::Ollama => json!({
            "model": "small", "created_at": "2026-11-20T12:00:00Z", "done": true, "done_reason": "stop",
            "message": {"role": "assistant", "content": content}, "eval_count": 7,
        }),
        Provider::OpenAi => json!({
            "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "small",
            "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}}],
            "usage": {"total_tokens": 7},
        }),
    }
}

async fn answer(State(this): State<StandIn>, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    let authorization = headers.get("authorization").and_then(|value| value.to_str().ok()).map(str::to_owned);
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    this.asked.lock().unwrap().push(Asked { path: uri.path().to_owned(), authorization, body });
    let next = this.script.lock().unwrap().pop_front();
    match next {
        Some(Act::Writes(content)) => axum::Json(around(this.provider, content)).into_response(),
        Some(Act::Answers(value)) => axum::Json(value).into_response(),
        Some(Act::Fails(status, headers, body)) => {
            let mut response = (StatusCode::from_u16(status).unwrap(), body).into_response();
            for (name, value) in headers {
                response.headers_mut().insert(name, value.parse().unwrap());
            }
            response
        }
        Some(Act::Sleeps) => {
            tokio::time::sleep(Duration::from_hours(1)).await;
            StatusCode::IM_A_TEAPOT.into_response()
        }
        None => (StatusCode::IM_A_TEAPOT, "the script is over").into_response(),
    }
}
