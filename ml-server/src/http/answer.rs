//! Answers: cost headers on success, error bodies on failure.

use std::time::Instant;

use axum::Json;
use axum::http::header::{CONNECTION, CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{IntoResponse, Response};
use lyra_proto::ErrorBody;
use serde::Serialize;
use uuid::Uuid;

use crate::engine::Cost;
use crate::error::RequestError;

/// `x-compute-tokens`, and `x-queue-time`, `x-inference-time`, `x-total-time` in milliseconds.
pub(super) fn cost_headers(cost: &Cost, received: Instant) -> HeaderMap {
    let numbers = [
        ("x-compute-tokens", cost.tokens as u128),
        ("x-queue-time", cost.queued.as_millis()),
        ("x-inference-time", cost.inference.as_millis()),
        ("x-total-time", received.elapsed().as_millis()),
    ];
    let header = |(name, number): (&'static str, u128)| {
        (
            axum::http::HeaderName::from_static(name),
            HeaderValue::from(u64::try_from(number).unwrap_or(u64::MAX)),
        )
    };
    numbers.into_iter().map(header).collect()
}

/// More numbers than this are serialized on a worker thread: up to here it takes about half a millisecond.
const MANY: usize = 16 * 1_024;

/// A JSON answer with about this many numbers.
pub(super) async fn json<T: Serialize + Send + 'static>(
    value: T,
    numbers: usize,
) -> Result<Response, RequestError> {
    let write = move || serde_json::to_vec(&value);
    let written = if numbers > MANY { tokio::task::spawn_blocking(write).await } else { Ok(write()) };
    let failed = |error: &dyn std::fmt::Display| {
        RequestError::Inference(format!("the answer could not be written: {error}"))
    };
    let bytes = written.map_err(|error| failed(&error))?.map_err(|error| failed(&error))?;
    Ok(([(CONTENT_TYPE, HeaderValue::from_static("application/json"))], bytes).into_response())
}

impl IntoResponse for RequestError {
    fn into_response(self) -> Response {
        refusal(&self, |body| Json(body).into_response())
    }
}

/// The error answer for `error`, with a body from `write`.
pub(super) fn refusal(error: &RequestError, write: impl FnOnce(ErrorBody) -> Response) -> Response {
    let (status, error_type) = error.status();
    let body = ErrorBody { error: error.to_string(), error_type, error_id: Uuid::now_v7().to_string() };
    if status.is_server_error() || matches!(error, RequestError::Inference(_)) {
        tracing::warn!(
            status = status.as_u16(),
            error_id = body.error_id,
            error = body.error,
            "request failed"
        );
    } else {
        tracing::debug!(
            status = status.as_u16(),
            error_id = body.error_id,
            error = body.error,
            "request refused"
        );
    }
    let mut response = write(body);
    *response.status_mut() = status;
    // For the metrics.
    response.extensions_mut().insert(error_type);
    if matches!(error, RequestError::Draining) {
        // The client's next request must go to another server.
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    if let Some(wait) = error.retry_after() {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(wait.as_secs().max(1)));
    }
    response
}
