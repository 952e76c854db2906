//! What ties the log lines of a request together: its own id and the caller's trace.

use std::time::Duration;

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, StatusCode};
use lyra_telemetry::TraceParent;
use tower_http::classify::ServerErrorsFailureClass;
use tracing::Span;

/// Name of a request, chosen by the caller or by us; echoed.
pub(super) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The span of a request: method, path, request id, and the caller's trace where a valid `traceparent` names one.
pub(super) fn span(request: &Request) -> Span {
    let id = request.headers().get(&REQUEST_ID).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let (method, path) = (request.method(), request.uri().path());
    let parent = traceparent(request.headers());
    let trace_id = parent.map(|parent| format!("{:032x}", parent.trace));
    let parent_id = parent.map(|parent| format!("{:016x}", parent.step));
    let kind = lyra_telemetry::kind("server");
    let span = tracing::info_span!("request", %method, path, id, trace_id, parent_id, otel.kind = kind);
    if let Some(parent) = parent {
        lyra_telemetry::adopt(&span, parent);
    }
    span
}

/// Logs an answer of 500 or above. 503 is not an error: it tells a probe or a caller to come back later.
pub(super) fn failed(failure: ServerErrorsFailureClass, latency: Duration, _: &Span) {
    let milliseconds = latency.as_millis();
    match failure {
        ServerErrorsFailureClass::StatusCode(StatusCode::SERVICE_UNAVAILABLE) => {
            tracing::debug!(milliseconds, "not ready, or too busy");
        }
        failure => tracing::error!(%failure, milliseconds, "the request failed"),
    }
}

/// The caller's trace context. `None` without a header, with several, or with an invalid one.
fn traceparent(headers: &HeaderMap) -> Option<TraceParent> {
    let mut values = headers.get_all("traceparent").iter();
    let value = values.next()?.to_str().ok()?;
    if values.next().is_some() { None } else { TraceParent::parse(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_valid_parent_is_taken() {
        let value = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let taken = |values: &[&'static str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append("traceparent", value.parse().unwrap());
            }
            traceparent(&headers).map(|parent| parent.to_string())
        };
        assert_eq!(taken(&[value]).as_deref(), Some(value));
        for values in [&[][..], &["none"], &[value, value]] {
            assert_eq!(taken(values), None, "{values:?}");
        }
    }
}
