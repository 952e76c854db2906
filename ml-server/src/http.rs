//! The HTTP interface: routes, shared state, and middleware.

mod answer;
mod body;
mod embed;
mod metrics;
mod nli;
mod openai;
mod openapi;
mod predict;
mod similarity;
mod status;
mod tokenize;
mod trace;
mod vectors;
mod verify;

use std::sync::{Arc, OnceLock};

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request};
use axum::http::{Method, Uri};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::IntoResponse;
use axum::routing::{get, post};
use lyra_proto::{Limits, ModelKind};
use lyra_serve::names::{Allowed, Refused};
use tokio::sync::watch;
use tower::ServiceBuilder;
use tower_http::request_id::{MakeRequestUuid, PropagateRequestIdLayer, SetRequestIdLayer};
use tower_http::trace::TraceLayer;

use crate::engine::Engine;
use crate::engine::metrics::Metrics;
use crate::error::{Error, RequestError};

/// The handlers' shared state. Clones are cheap and refer to the same server.
#[derive(Clone)]
pub struct AppState(Arc<Inner>);

struct Inner {
    limits: Limits,
    engine: OnceLock<Engine>,
    phase: watch::Sender<Phase>,
    metrics: Arc<Metrics>,
}

/// The lifecycle phase of the server.
#[derive(Debug, Clone)]
pub enum Phase {
    /// These models are being read.
    Loading(Vec<String>),
    /// Requests are answered.
    Ready,
    /// A model could not be loaded.
    Failed(Arc<Error>),
    /// Only requests in progress are finished.
    Draining,
}

impl AppState {
    /// A server that is loading `models`.
    pub fn new(limits: Limits, models: Vec<String>) -> Self {
        let (phase, _) = watch::channel(Phase::Loading(models));
        Self(Arc::new(Inner { limits, engine: OnceLock::new(), phase, metrics: Arc::default() }))
    }

    /// Starts answering with `engine`, unless a shutdown has begun.
    pub fn serve_with(&self, engine: Engine) {
        if self.0.engine.set(engine).is_err() {
            unreachable!("a server loads its models once");
        }
        self.0.phase.send_if_modified(|phase| {
            let loading = matches!(phase, Phase::Loading(_));
            if loading {
                *phase = Phase::Ready;
            }
            loading
        });
    }

    /// Moves to another phase.
    pub fn set_phase(&self, phase: Phase) {
        self.0.phase.send_replace(phase);
    }

    /// The phase now, and news of later ones.
    pub fn phase(&self) -> watch::Receiver<Phase> {
        self.0.phase.subscribe()
    }

    /// The engine once it is loaded, in any phase.
    pub fn loaded(&self) -> Option<&Engine> {
        self.0.engine.get()
    }

    /// Limits for clients.
    pub fn limits(&self) -> &Limits {
        &self.0.limits
    }

    /// The metrics.
    pub fn metrics(&self) -> &Arc<Metrics> {
        &self.0.metrics
    }

    /// The engine, if it may be used now and hosts a model of this kind.
    ///
    /// # Errors
    /// Those of [`serving`](Self::serving); 424 when there is no such model.
    pub fn engine(&self, kind: ModelKind) -> Result<&Engine, RequestError> {
        let engine = self.serving()?;
        engine.model(kind).map(|_| engine)
    }

    /// The engine, if it may be used now.
    ///
    /// # Errors
    /// 503 while loading, after a failed load, and while draining.
    pub fn serving(&self) -> Result<&Engine, RequestError> {
        let phase = self.0.phase.borrow().clone();
        match (phase, self.0.engine.get()) {
            (Phase::Ready, Some(engine)) => Ok(engine),
            (Phase::Loading(models), _) => Err(RequestError::Loading(models.join(" and "))),
            (Phase::Failed(error), _) => Err(RequestError::LoadFailed(error.to_string())),
            (Phase::Ready | Phase::Draining, _) => Err(RequestError::Draining),
        }
    }

    /// Refuses an empty batch (400) and one over the limit (413).
    fn check_batch(&self, inputs: usize, empty: &'static str) -> Result<(), RequestError> {
        let limit = self.limits().max_client_batch_size;
        match inputs {
            0 => Err(RequestError::Empty(empty)),
            got if got > limit => Err(RequestError::BatchTooLarge { got, limit }),
            _ => Ok(()),
        }
    }
}

/// The same routes for requests that are addressed to `allowed` hosts and do not come from a page of another site;
/// others get 403.
pub(crate) fn admitting(routes: Router, allowed: Allowed) -> Router {
    let allowed = Arc::new(allowed);
    routes.layer(from_fn(move |request: Request, next: Next| {
        let refused = allowed.refused(request.uri(), request.headers());
        async move {
            match refused {
                None => next.run(request).await,
                Some(Refused { header, value }) => RequestError::Forbidden { header, value }.into_response(),
            }
        }
    }))
}

/// All routes over `state`.
pub fn router(state: AppState) -> Router {
    let layers = ServiceBuilder::new()
        .layer(SetRequestIdLayer::new(trace::REQUEST_ID, MakeRequestUuid))
        .layer(TraceLayer::new_for_http().make_span_with(trace::span).on_failure(trace::failed))
        .layer(PropagateRequestIdLayer::new(trace::REQUEST_ID))
        // The body extractor has the limit, and answers in our words.
        .layer(DefaultBodyLimit::disable());
    Router::new()
        .route("/", post(embed::root))
        .route("/embed", post(embed::embed))
        .route("/nli", post(nli::nli))
        .route("/verify", post(verify::verify))
        .route("/predict", post(predict::predict))
        .route("/similarity", post(similarity::similarity))
        .route("/tokenize", post(tokenize::tokenize))
        .route("/v1/embeddings", post(openai::embeddings))
        .route_layer(from_fn_with_state(state.clone(), metrics::observe))
        .route("/health", get(status::health))
        .route("/ready", get(status::ready))
        .route("/info", get(status::info))
        .route("/metrics", get(metrics::metrics))
        .route("/openapi.json", get(openapi::openapi))
        .route("/docs", get(openapi::docs))
        .fallback(|uri: Uri| async move { RequestError::NoRoute(uri.path().to_owned()) })
        .method_not_allowed_fallback(
            |method: Method| async move { RequestError::NoMethod(method.to_string()) },
        )
        .layer(layers)
        .with_state(state)
}
