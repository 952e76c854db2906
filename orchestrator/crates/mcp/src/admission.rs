//! Checks in front of rmcp over HTTP: bodies that are not JSON-RPC, too many sessions, sessions of other callers.

mod sessions;

use super::app;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use http_body_util::BodyExt;
use lyra_serve::body::{self, Fault};
use lyra_usecases::Caller;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, Implementation, InitializeRequestParams};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use sessions::{Sessions, Use};
use std::sync::Arc;

/// The header that names a session.
const SESSION: &str = "mcp-session-id";
/// Most bytes of an `initialize` request, which any caller may send as often as it likes.
const INITIALIZE_BYTES: usize = 8 * 1024;
/// Error codes of JSON-RPC, and of MCP for an unknown session.
const PARSE_ERROR: i32 = -32700;
const INVALID_REQUEST: i32 = -32600;
const NO_SESSION: i32 = -32001;

/// Admission to the MCP endpoint.
#[derive(Debug)]
pub(crate) struct Admission {
    max_body: usize,
    sessions: Sessions,
}

impl Admission {
    pub(super) fn new(max_body: usize, manager: Arc<LocalSessionManager>) -> Self {
        Self { max_body, sessions: Sessions::new(manager) }
    }
}

/// Lets a request pass to rmcp: with a body that is one JSON-RPC message within the limits, and within a session of the caller's own.
pub(crate) async fn admit(
    State(admission): State<Arc<Admission>>,
    Extension(caller): Extension<Caller>,
    request: Request,
    next: Next,
) -> Response {
    let sessions = &admission.sessions;
    let used = match session(request.headers()) {
        None => None,
        Some(id) => match sessions.enter(&id, &caller.actor).await {
            Use::Own(guard) => Some((id, guard)),
            Use::Other => return no_session(),
            Use::Unknown if request.method() == Method::DELETE => return no_session(),
            // rmcp says so where the revision of the request has sessions.
            Use::Unknown => None,
        },
    };
    if request.method() == Method::DELETE {
        let response = next.run(request).await;
        if response.status() != StatusCode::ACCEPTED {
            return response;
        }
        if let Some((id, _)) = used {
            sessions.forget(&id).await;
        }
        return StatusCode::NO_CONTENT.into_response();
    }
    if let Err(fault) = body::announced_within(request.headers(), admission.max_body) {
        return unread(&fault);
    }
    // rmcp refuses bodies with another content type without reading them.
    if request.method() != Method::POST || !is_json(request.headers()) {
        return holding(next.run(request).await, used);
    }
    let (parts, mut body) = request.into_parts();
    let bytes = match body::read(&parts.headers, &mut body, admission.max_body).await {
        Ok(bytes) => bytes,
        Err(fault) => {
            body::discard(&parts.headers, &mut body).await;
            return unread(&fault);
        }
    };
    match read(&bytes) {
        Err(refusal) => *refusal,
        Ok(Some(short)) if used.is_none() => {
            sessions.open(&caller.actor, next.run(with_body(parts, short))).await
        }
        Ok(_) => holding(next.run(with_body(parts, bytes)).await, used),
    }
}

/// Rewrites a body: most messages stay unchanged; an `initialize` loses the client's self-description, which a session
/// would keep, except that the client renders apps.
fn read(bytes: &[u8]) -> Result<Option<Vec<u8>>, Box<Response>> {
    let message = serde_json::from_slice::<ClientJsonRpcMessage>(bytes)
        .map_err(|error| Box::new(malformed(bytes, &error)))?;
    let ClientJsonRpcMessage::Request(mut request) = message else { return Ok(None) };
    let ClientRequest::InitializeRequest(initialize) = &mut request.request else { return Ok(None) };
    if bytes.len() > INITIALIZE_BYTES {
        return Err(Box::new(unread(&Fault::TooLarge(INITIALIZE_BYTES))));
    }
    let version = initialize.params.protocol_version.clone();
    let unnamed = Implementation::new("client", "0");
    let capabilities = app::kept(&initialize.params.capabilities);
    initialize.params = InitializeRequestParams::new(capabilities, unnamed).with_protocol_version(version);
    let short = serde_json::to_vec(&ClientJsonRpcMessage::Request(request));
    short.map(Some).map_err(|error| {
        tracing::error!(%error, "a message cannot be written");
        Box::new(StatusCode::INTERNAL_SERVER_ERROR.into_response())
    })
}

/// What can be read from a message that is not valid MCP.
#[derive(Deserialize)]
struct Envelope {
    #[serde(default)]
    id: Value,
}

/// The JSON-RPC error for an invalid body.
fn malformed(bytes: &[u8], error: &serde_json::Error) -> Response {
    let is_json = std::str::from_utf8(bytes).is_ok() && serde_json::from_slice::<IgnoredAny>(bytes).is_ok();
    if !is_json {
        return refuse(
            StatusCode::BAD_REQUEST,
            PARSE_ERROR,
            &Value::Null,
            &format!("the body is not JSON: {error}"),
        );
    }
    let id = serde_json::from_slice::<Envelope>(bytes).map_or(Value::Null, |envelope| envelope.id);
    let id = if id.is_number() || id.as_str().is_some_and(|id| id.len() <= 200) { id } else { Value::Null };
    let why = if bytes.trim_ascii_start().starts_with(b"[") {
        "MCP no longer has batches: send one message per request".to_owned()
    } else {
        format!("the body is not an MCP JSON-RPC message: {error}")
    };
    refuse(StatusCode::BAD_REQUEST, INVALID_REQUEST, &id, &why)
}

fn unread(fault: &Fault) -> Response {
    let status = match fault {
        Fault::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
        Fault::Slow(_) => StatusCode::REQUEST_TIMEOUT,
        Fault::Broken(_) => StatusCode::BAD_REQUEST,
    };
    refuse(status, INVALID_REQUEST, &Value::Null, &fault.to_string())
}

fn no_session() -> Response {
    refuse(StatusCode::NOT_FOUND, NO_SESSION, &Value::Null, "unknown session: send `initialize` to start one")
}

fn refuse(status: StatusCode, code: i32, id: &Value, message: &str) -> Response {
    let error = json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } });
    (status, Json(error)).into_response()
}

/// The session counts as in use until the answer is read.
fn holding(response: Response, used: Option<(String, sessions::InUse)>) -> Response {
    let Some((_, guard)) = used else { return response };
    response.map(|body| {
        Body::new(body.map_frame(move |frame| {
            let _ = &guard;
            frame
        }))
    })
}

fn with_body(mut parts: Parts, bytes: Vec<u8>) -> Request {
    parts.headers.remove(header::CONTENT_LENGTH);
    Request::from_parts(parts, Body::from(Bytes::from(bytes)))
}

fn session(headers: &HeaderMap) -> Option<String> {
    Some(headers.get(SESSION)?.to_str().ok()?.to_owned())
}

fn is_json(headers: &HeaderMap) -> bool {
    let sent = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    sent.is_some_and(|sent| sent.starts_with("application/json"))
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn refusal(body: &[u8]) -> (StatusCode, Value) {
        let response = read(body).expect_err("a refusal");
        let status = response.status();
        let bytes = response.into_body().collect().await.expect("a body").to_bytes();
        (status, serde_json::from_slice(&bytes).expect("JSON"))
    }

    #[tokio::test]
    async fn what_is_no_message_is_refused_as_json_rpc_says() {
        for body in [&b""[..], b"{", b"nonsense", b"{\"jsonrpc\":\"2.0\",}", b"{\"a\":\"\xff\"}", b"\0"] {
            let (status, error) = refusal(body).await;
            assert_eq!(status, StatusCode::BAD_REQUEST, "{body:?}");
            assert_eq!(error["error"]["code"], PARSE_ERROR, "{body:?}");
            assert_eq!(error["id"], Value::Null);
        }
        for (body, id) in [
            ("[]", Value::Null),
            ("{}", Value::Null),
            ("7", Value::Null),
            (r#"{"jsonrpc":"1.0","id":7,"method":"ping"}"#, json!(7)),
            (r#"{"jsonrpc":"2.0","id":"a"}"#, json!("a")),
            (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, Value::Null),
        ] {
            let (status, error) = refusal(body.as_bytes()).await;
            assert_eq!(status, StatusCode::BAD_REQUEST, "{body}");
            assert_eq!(error["error"]["code"], INVALID_REQUEST, "{body}");
            assert_eq!(error["id"], id, "{body}");
        }
    }

    fn initialize(name: &str) -> String {
        json!({
            "jsonrpc": "2.0", "id": 1, "method": "initialize",
            "params": {
                "protocolVersion": "2025-06-18",
                "capabilities": {
                    "experimental": { "kept": { "text": name } },
                    "extensions": {
                        "io.modelcontextprotocol/ui": { "mimeTypes": ["text/html;profile=mcp-app", name], "more": name },
                    },
                },
                "clientInfo": { "name": name, "version": "1" }
            }
        })
        .to_string()
    }

    #[tokio::test]
    async fn nothing_that_a_client_says_of_itself_is_kept_but_that_it_renders_apps() {
        let short = read(initialize("somebody").as_bytes()).expect("a message").expect("an initialize");
        let text = String::from_utf8(short).expect("text");
        assert!(!text.contains("somebody"), "{text}");
        assert!(text.contains("2025-06-18") && text.contains("profile=mcp-app"), "{text}");
        let (status, _) = refusal(initialize(&"x".repeat(INITIALIZE_BYTES)).as_bytes()).await;
        assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);
    }
}
