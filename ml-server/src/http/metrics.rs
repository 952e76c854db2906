//! `GET /metrics`, and the metrics of inference requests.

use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use lyra_proto::ErrorType;

use super::AppState;

/// Everything measured, in the text format of Prometheus.
pub(super) async fn metrics(State(state): State<AppState>) -> impl IntoResponse {
    ([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], state.metrics().render())
}

/// Counts a request and how it ended. Every refusal carries its [`ErrorType`] as an extension.
pub(super) async fn observe(
    State(state): State<AppState>,
    route: MatchedPath,
    request: Request,
    next: Next,
) -> Response {
    let started = Instant::now();
    state.metrics().request(route.as_str());
    let response = next.run(request).await;
    let failure = response.extensions().get::<ErrorType>().copied();
    state.metrics().answered(route.as_str(), failure, started.elapsed());
    response
}
