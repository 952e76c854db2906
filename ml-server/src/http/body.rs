//! JSON bodies, refused with our own error bodies.

use axum::body::Body;
use axum::extract::{FromRequest, Request};
use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use lyra_serve::body::{self, Fault};
use serde::de::DeserializeOwned;

use super::AppState;
use crate::error::RequestError;

/// Longer bodies are parsed on a worker thread: up to here it takes about half a millisecond.
const LONG: usize = 64 * 1_024;

/// A JSON body. 503 and 429 before any of it is read, 408 when it does not arrive, 413 when it is too large, 415 when
/// it is not JSON, 400 when it does not match `T`. Unknown fields are ignored, as in TEI, so that clients of servers
/// with more options still work.
pub(super) struct JsonBody<T>(pub(super) T);

impl<T: DeserializeOwned + Send + 'static> FromRequest<AppState> for JsonBody<T> {
    type Rejection = RequestError;

    async fn from_request(request: Request, state: &AppState) -> Result<Self, Self::Rejection> {
        let (parts, mut body) = request.into_parts();
        let read = read(&parts.headers, &mut body, state).await;
        if read.is_err() {
            body::discard(&parts.headers, &mut body).await;
        }
        let bytes = read?;
        let long = bytes.len() > LONG;
        let parse = move || serde_json::from_slice(&bytes).map(Self);
        let parsed = if long {
            let parsed = tokio::task::spawn_blocking(parse).await;
            parsed.map_err(|error| RequestError::Malformed(format!("the body could not be read: {error}")))?
        } else {
            parse()
        };
        parsed.map_err(|error| RequestError::Malformed(error.to_string()))
    }
}

/// The bytes of a body that may be read now.
async fn read(headers: &HeaderMap, body: &mut Body, state: &AppState) -> Result<Vec<u8>, RequestError> {
    state.serving()?.room()?;
    let media_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("nothing");
    if !is_json(media_type) {
        return Err(RequestError::MediaType(media_type.to_owned()));
    }
    let bytes = body::read(headers, body, state.limits().max_body_bytes).await;
    let bytes = bytes.map_err(|fault| match fault {
        Fault::TooLarge(limit) => RequestError::BodyTooLarge(limit),
        Fault::Slow(seconds) => RequestError::SlowBody(seconds),
        Fault::Broken(_) => RequestError::Malformed(fault.to_string()),
    })?;
    if bytes.is_empty() { Err(RequestError::Empty("the body is empty")) } else { Ok(bytes) }
}

fn is_json(media_type: &str) -> bool {
    let essence = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    essence == "application/json" || (essence.starts_with("application/") && essence.ends_with("+json"))
}
