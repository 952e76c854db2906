//! JSON bodies, refused with our own error bodies.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, Request};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, EXPECT};
use axum::http::{HeaderMap, HeaderName};
use http_body_util::BodyExt;
use serde::de::DeserializeOwned;

use super::AppState;
use crate::error::RequestError;

/// Longest time that a body may take to arrive. Who sends slowly on purpose would hold memory for as long as it likes.
const PATIENCE: Duration = Duration::from_secs(30);
/// Most bytes of a refused body that are read, and the longest time.
const DISCARD: usize = 16 * 1_024 * 1_024;
const DISCARD_PATIENCE: Duration = Duration::from_secs(2);
/// Longer bodies are parsed on a worker thread: up to here it takes about half a millisecond.
const LONG: usize = 64 * 1_024;

/// A JSON body. 503 and 429 before anything of it is read, 408 when it does not arrive, 413 when it is too large, 415 when
/// it is not JSON, 400 when it does not fit `T`. Unknown fields are ignored, as TEI does, so that a client made for another
/// server with more options still works.
pub(super) struct JsonBody<T>(pub(super) T);

impl<T: DeserializeOwned + Send + 'static> FromRequest<AppState> for JsonBody<T> {
    type Rejection = RequestError;

    async fn from_request(request: Request, state: &AppState) -> Result<Self, Self::Rejection> {
        let (parts, mut body) = request.into_parts();
        let read = read(&parts.headers, &mut body, state).await;
        if read.is_err() && !parts.headers.contains_key(EXPECT) {
            discard(&mut body).await;
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
    let limit = state.limits().max_body_bytes;
    let media_type = text(headers, &CONTENT_TYPE).unwrap_or("nothing");
    if !is_json(media_type) {
        return Err(RequestError::MediaType(media_type.to_owned()));
    }
    let announced = text(headers, &CONTENT_LENGTH).and_then(|length| length.parse::<usize>().ok());
    if announced.is_some_and(|length| length > limit) {
        return Err(RequestError::BodyTooLarge(limit));
    }
    let all = async {
        let mut bytes = Vec::with_capacity(announced.unwrap_or(0).min(LONG));
        while let Some(frame) = body.frame().await {
            let broken = |error| RequestError::Malformed(format!("the body could not be read: {error}"));
            let Ok(data) = frame.map_err(broken)?.into_data() else { continue };
            if bytes.len() + data.len() > limit {
                return Err(RequestError::BodyTooLarge(limit));
            }
            bytes.extend_from_slice(&data);
        }
        Ok(bytes)
    };
    let bytes = tokio::time::timeout(PATIENCE, all).await;
    let bytes = bytes.map_err(|_| RequestError::SlowBody(PATIENCE.as_secs()))??;
    if bytes.is_empty() { Err(RequestError::Empty("the body is empty")) } else { Ok(bytes) }
}

/// Reads on without keeping anything, within limits. A connection that is closed with bytes unread is reset, and its client
/// may see that instead of the answer.
async fn discard(body: &mut Body) {
    let mut left = DISCARD;
    let rest = async {
        while let Some(Ok(frame)) = body.frame().await {
            left = left.saturating_sub(frame.data_ref().map_or(0, Bytes::len));
            if left == 0 {
                break;
            }
        }
    };
    // Who is slower than that is not waited for.
    let _ = tokio::time::timeout(DISCARD_PATIENCE, rest).await;
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

fn is_json(media_type: &str) -> bool {
    let essence = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    essence == "application/json" || (essence.starts_with("application/") && essence.ends_with("+json"))
}
