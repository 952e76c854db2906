//! The HTTP edge: the workbench, `/api/v1`, `/mcp`, `/health`, `/ready` and `/metrics`, for this machine unless configured otherwise.

mod access;
mod api;
mod guard;
mod problem;
mod refusal;
mod remedy;
mod session;

use access::Gate;
use api::Api;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get};
use axum::{Json, Router, middleware};
use lyra_serve::names::Allowed;
use lyra_usecases::App;
use serde_json::json;
use session::Sessions;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;
use tokio_util::sync::CancellationToken;

/// Every route, with `mcp` as the one at `/mcp`, behind the checks of `Host`, `Origin`, size, token and rate.
///
/// `Host` and `Origin` may name this machine's loopback addresses, the address that is listened on, and what
/// `server.allowed_hosts` and `server.allowed_origins` of the configuration name; pages of the latter may also read the
/// answers. With `token_required`, only `/health`, `/ready`, `/login`, and what that page needs answer without a token,
/// and `POST /api/v1/session`, which exchanges a token for a session. `stop` ends streams of events, which would keep
/// the server from stopping.
pub fn router(
    app: App,
    mcp: MethodRouter,
    listening: IpAddr,
    token_required: bool,
    stop: CancellationToken,
) -> Router {
    let server = &app.config().server;
    let allowed = Allowed::new(&server.allowed_hosts, &server.allowed_origins, listening);
    let sessions: Arc<Sessions> = Arc::default();
    let gate = Arc::new(Gate::new(app.clone(), token_required, Arc::clone(&sessions)));
    let routes = Router::new()
        .route("/ready", get(ready))
        .route("/metrics", get(metrics))
        .with_state(app.clone())
        .route(refusal::MCP, mcp)
        .route("/health", get(health))
        .merge(lyra_workbench::router(app.clone()))
        .merge(api::router(Api::new(app.clone(), sessions, stop)))
        .layer(middleware::from_fn_with_state(gate, access::admit));
    // Outermost, so that refusals are counted as well.
    guarded(routes, allowed)
        .layer(middleware::map_response(as_declared))
        .layer(middleware::from_fn_with_state(app, observe))
}

fn guarded(routes: Router, allowed: Allowed) -> Router {
    let allowed = Arc::new(allowed);
    routes.layer(guard::cors(&allowed)).layer(middleware::from_fn_with_state(allowed, guard::check))
}

/// Keeps browsers from guessing another type than an answer declares.
async fn as_declared(mut response: Response) -> Response {
    response.headers_mut().insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// The process answers.
async fn health() -> Response {
    Json(json!({ "status": "ok", "version": env!("CARGO_PKG_VERSION") })).into_response()
}

/// The store answers as well, so calls can be served.
async fn ready(State(app): State<App>) -> Response {
    match app.list_tasks(1).await {
        Ok(_) => Json(json!({ "status": "ready" })).into_response(),
        Err(error) => {
            tracing::error!(%error, "not ready");
            let body =
                Json(json!({ "status": "not_ready", "error_code": error.code, "error": error.message }));
            (StatusCode::SERVICE_UNAVAILABLE, body).into_response()
        }
    }
}

/// Everything measured, in the text format of Prometheus.
async fn metrics(State(app): State<App>) -> Response {
    match app.metrics_text().await {
        Ok(text) => {
            ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response()
        }
        Err(error) => {
            tracing::error!(%error, "the store's metrics could not be read");
            (StatusCode::SERVICE_UNAVAILABLE, error.message).into_response()
        }
    }
}

/// Counts a request and how it was answered, and whether a web page sent it.
async fn observe(State(app): State<App>, request: Request, next: Next) -> Response {
    let started = Instant::now();
    let route = request.extensions().get::<MatchedPath>().map_or("other", MatchedPath::as_str).to_owned();
    let from_page = request.headers().contains_key(header::ORIGIN);
    let response = next.run(request).await;
    let status = response.status().as_u16();
    app.metrics().request(&route, status, started.elapsed());
    if from_page {
        app.metrics().page_request(status);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;
    use axum::http::Request;
    use axum::routing::post;
    use tower::ServiceExt;

    #[test]
    fn the_configuration_and_the_check_have_one_name_for_any_host() {
        assert_eq!(lyra_usecases::config::ANY_HOST, lyra_serve::names::ANY);
    }

    #[tokio::test]
    async fn a_request_for_another_host_or_from_another_page_is_refused() {
        let status = async |headers: &[(&str, &str)]| {
            let allowed = Allowed::new(&["lyra.example".to_owned()], &[], IpAddr::from([192, 0, 2, 7]));
            let mut request = Request::post("/");
            for (name, value) in headers {
                request = request.header(*name, *value);
            }
            let request = request.body(Body::empty()).expect("a request");
            let routes = guarded(Router::new().route("/", post(|| async { "done" })), allowed);
            routes.oneshot(request).await.expect("an answer").status()
        };
        for host in ["127.0.0.1:8420", "lyra.example:443", "192.0.2.7:8420"] {
            assert_eq!(status(&[("host", host)]).await, StatusCode::OK, "{host}");
        }
        for host in ["attacker.example", "[::1].attacker.example"] {
            assert_eq!(status(&[("host", host)]).await, StatusCode::FORBIDDEN, "{host}");
        }
        assert_eq!(status(&[]).await, StatusCode::FORBIDDEN);
        let page = |origin| [("host", "localhost"), ("origin", origin)];
        assert_eq!(status(&page("http://localhost:3000")).await, StatusCode::OK);
        assert_eq!(status(&page("https://attacker.example")).await, StatusCode::FORBIDDEN);
    }

    /// A browser's preflight request for a page of this origin.
    async fn preflight(origin: &str) -> Response {
        let allowed = Allowed::new(&[], &["https://app.example/".to_owned()], IpAddr::from([127, 0, 0, 1]));
        let routes = Router::new().route("/", post(|| async { "done" }));
        let request = Request::options("/")
            .header("host", "localhost")
            .header("origin", origin)
            .header("access-control-request-method", "POST")
            .header("access-control-request-headers", "authorization,mcp-method")
            .body(Body::empty())
            .expect("a request");
        guarded(routes, allowed).oneshot(request).await.expect("an answer")
    }

    #[tokio::test]
    async fn only_pages_of_named_origins_may_read_answers() {
        let named = preflight("https://app.example").await;
        assert_eq!(named.status(), StatusCode::OK);
        for (header, value) in [
            ("access-control-allow-origin", "https://app.example"),
            ("access-control-allow-methods", "GET,POST,PUT,DELETE"),
            ("access-control-allow-headers", "authorization,mcp-method"),
        ] {
            assert_eq!(named.headers()[header], value);
        }
        let own = preflight("http://localhost:3000").await;
        assert_eq!(own.status(), StatusCode::OK);
        assert!(!own.headers().contains_key("access-control-allow-origin"));
        let other = preflight("https://attacker.example").await;
        assert_eq!(other.status(), StatusCode::FORBIDDEN);
        assert!(!other.headers().contains_key("access-control-allow-origin"));
    }
}
