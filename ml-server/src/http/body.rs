//! JSON bodies, refused with our own error bodies.

use axum::body::to_bytes;
use axum::extract::{FromRequest, Request};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderName};
use serde::de::DeserializeOwned;

use super::AppState;
use crate::error::RequestError;

/// A JSON body. 413 when it is too large, 415 when it is not JSON, 400 when it does not fit `T`. Unknown fields are
/// ignored, so that a client made for another server with more options still works.
pub(super) struct JsonBody<T>(pub(super) T);

impl<T: DeserializeOwned> FromRequest<AppState> for JsonBody<T> {
    type Rejection = RequestError;

    async fn from_request(request: Request, state: &AppState) -> Result<Self, Self::Rejection> {
        let limit = state.limits().max_body_bytes;
        let media_type = text(request.headers(), &CONTENT_TYPE).unwrap_or("nothing").to_owned();
        if !is_json(&media_type) {
            return Err(RequestError::MediaType(media_type));
        }
        let announced =
            text(request.headers(), &CONTENT_LENGTH).and_then(|length| length.parse::<usize>().ok());
        if announced.is_some_and(|length| length > limit) {
            return Err(RequestError::BodyTooLarge(limit));
        }
        let bytes = to_bytes(request.into_body(), limit).await.map_err(|error| {
            let error = error.into_inner();
            if error.is::<http_body_util::LengthLimitError>() {
                RequestError::BodyTooLarge(limit)
            } else {
                RequestError::Malformed(format!("the body could not be read: {error}"))
            }
        })?;
        if bytes.is_empty() {
            return Err(RequestError::Empty("the body is empty"));
        }
        let value =
            serde_json::from_slice(&bytes).map_err(|error| RequestError::Malformed(error.to_string()))?;
        Ok(Self(value))
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

fn is_json(media_type: &str) -> bool {
    let essence = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    essence == "application/json" || (essence.starts_with("application/") && essence.ends_with("+json"))
}
