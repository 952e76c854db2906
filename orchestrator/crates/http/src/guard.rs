//! Checks the `Host` and `Origin` of requests.

use super::refusal::refusal;
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;
use lyra_serve::names::{Allowed, Refused};
use std::sync::Arc;
use std::time::Duration;
use tower_http::cors::{AllowHeaders, AllowOrigin, CorsLayer};

/// Refuses a request whose `Host` or `Origin` is not allowed.
pub(super) async fn check(State(allowed): State<Arc<Allowed>>, request: Request, next: Next) -> Response {
    match allowed.refused(request.uri(), request.headers()) {
        None => next.run(request).await,
        Some(Refused { header, value }) => {
            tracing::warn!(header, value, "request refused");
            let error = format!(
                "{header} `{value}` is not allowed; an operator can add it to server.allowed_{}s",
                header.to_ascii_lowercase()
            );
            refusal(request.uri().path(), StatusCode::FORBIDDEN, "forbidden", &error)
        }
    }
}

/// Lets pages of the configured origins read the answers, and answers their preflight requests (CORS). Pages of this
/// machine's own names are not allowed: any local program could serve one.
pub(super) fn cors(allowed: &Arc<Allowed>) -> CorsLayer {
    let allowed = Arc::clone(allowed);
    let named = move |origin: &HeaderValue, _: &Parts| {
        origin.to_str().is_ok_and(|origin| allowed.names_origin(origin))
    };
    CorsLayer::new()
        .allow_origin(AllowOrigin::predicate(named))
        .allow_methods([Method::GET, Method::POST, Method::PUT, Method::DELETE])
        // MCP's own headers depend on the tool that is called.
        .allow_headers(AllowHeaders::mirror_request())
        .expose_headers([
            HeaderName::from_static("mcp-session-id"),
            header::ETAG,
            header::LOCATION,
            header::WWW_AUTHENTICATE,
            header::RETRY_AFTER,
        ])
        .max_age(Duration::from_hours(1))
}
