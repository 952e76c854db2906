//! The JSON API below `/api/v1`.
//!
//! One table of [`Route`]s makes both the router and the `OpenAPI` document. [`dispatch`] answers every route alike:
//! it checks the scope, records changes and searches in the audit log, repeats stored answers, and gives reads an `ETag`.

mod backup;
mod body;
mod call;
mod claims;
mod corpora;
mod dispatch;
mod events;
mod evidence;
mod explore;
mod fusion;
mod graph;
mod once;
mod openapi;
mod operations;
mod packed;
mod route;
mod screening;
mod session;
mod sources;
mod tasks;
mod upload;

#[cfg(test)]
mod tests;

use crate::problem::Failure;
use crate::session::Sessions;
use axum::Router;
use axum::extract::{Path, Request};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, MethodRouter};
use lyra_usecases::{App, ErrorCode};
use once::Once;
use route::Route;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, LazyLock};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// Where the API is.
const BASE: &str = "/api/v1";
/// The route of sessions.
const SESSION: &str = "/api/v1/session";
/// Most streams of events at a time, and the share of the connections that they may take.
const STREAMS: usize = 100;
const SHARE: usize = 2;

/// Every route.
static ROUTES: LazyLock<Vec<Route>> = LazyLock::new(|| {
    let groups = [
        tasks::routes(),
        claims::routes(),
        evidence::routes(),
        graph::routes(),
        screening::routes(),
        corpora::routes(),
        sources::routes(),
        explore::routes(),
        fusion::routes(),
        operations::routes(),
        vec![backup::route()],
        session::routes(),
        events::routes(),
        openapi::routes(),
    ];
    groups.into_iter().flatten().collect()
});

/// What the routes share.
pub(crate) struct Api {
    app: App,
    sessions: Arc<Sessions>,
    once: Once,
    streams: Arc<Semaphore>,
    stop: CancellationToken,
}

impl Api {
    pub(crate) fn new(app: App, sessions: Arc<Sessions>, stop: CancellationToken) -> Self {
        let streams = (app.config().server.max_connections / SHARE).clamp(1, STREAMS);
        Self { app, sessions, once: Once::default(), streams: Arc::new(Semaphore::new(streams)), stop }
    }
}

/// Whether a path belongs to the API.
pub(crate) fn is_below(path: &str) -> bool {
    path.strip_prefix(BASE).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Whether a request opens a session, for which no token is needed but the one in its body.
pub(crate) fn opens_session(method: &Method, path: &str) -> bool {
    method == Method::POST && path == SESSION
}

/// The router of the API, with whole paths.
pub(crate) fn router(api: Api) -> Router {
    let api = Arc::new(api);
    let mut paths: BTreeMap<&'static str, Vec<&'static Route>> = BTreeMap::new();
    for route in ROUTES.iter() {
        paths.entry(route.path).or_default().push(route);
    }
    let mut router = Router::new();
    for (path, routes) in paths {
        router = router.route(path, methods(&api, &routes));
    }
    Router::new().nest(BASE, router.fallback(unknown))
}

/// The methods of one path.
fn methods(api: &Arc<Api>, routes: &[&'static Route]) -> MethodRouter {
    let mut methods = MethodRouter::new();
    let mut allowed: Vec<&str> = routes.iter().map(|route| route.method.as_str()).collect();
    if allowed.contains(&"GET") {
        allowed.push("HEAD");
    }
    for &route in routes {
        let api = Arc::clone(api);
        let answer = move |path: Result<Path<HashMap<String, String>>, _>, request: Request| {
            let api = Arc::clone(&api);
            async move {
                match path {
                    Ok(Path(path)) => dispatch::answer(api, route, path, request).await,
                    Err::<_, axum::extract::rejection::PathRejection>(error) => {
                        Failure::invalid(error.body_text()).into_response()
                    }
                }
            }
        };
        let method = MethodFilter::try_from(route.method.clone()).unwrap_or(MethodFilter::GET);
        methods = methods.on(method, answer);
    }
    let allowed = allowed.join(", ");
    methods.fallback(move |method: Method| {
        let allowed = allowed.clone();
        async move { not_allowed(&method, &allowed) }
    })
}

fn not_allowed(method: &Method, allowed: &str) -> Response {
    let message = format!("{method} is not a method of this route; it has {allowed}");
    let failure = Failure::new(StatusCode::METHOD_NOT_ALLOWED, ErrorCode::InvalidArgument, message);
    match HeaderValue::from_str(allowed) {
        Ok(value) => failure.header(header::ALLOW, value),
        Err(_) => failure,
    }
    .into_response()
}

async fn unknown(request: Request) -> Response {
    let message = format!("there is no route {BASE}{}", request.uri().path());
    Failure::new(StatusCode::NOT_FOUND, ErrorCode::NotFound, message)
        .hint("GET /api/v1/openapi.json describes every route")
        .into_response()
}
