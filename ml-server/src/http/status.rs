//! `GET /health`, `/ready` and `/info`.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use lyra_proto::{InfoResponse, ModelInfo, ModelKind, ReadyResponse, ReadyState};

use super::{AppState, Phase};
use crate::error::RequestError;
use crate::model::spec::Task;
use crate::model::{Model, prompts};

/// A success older than this does not prove that the device still works.
const STALE: Duration = Duration::from_mins(1);

/// A probe that takes longer has failed.
const PATIENCE: Duration = Duration::from_secs(10);

/// 200 while the process can serve, or is still loading; runs a short inference when the last success is old.
pub(super) async fn health(State(state): State<AppState>) -> Result<StatusCode, RequestError> {
    let phase = state.phase().borrow().clone();
    match (phase, state.loaded()) {
        (Phase::Failed(error), _) => Err(RequestError::LoadFailed(error.to_string())),
        (Phase::Ready, Some(engine)) => engine.probe(STALE, PATIENCE).await.map(|()| StatusCode::OK),
        _ => Ok(StatusCode::OK),
    }
}

/// 200 once requests are answered; 503 with the reason before that and while draining.
pub(super) async fn ready(State(state): State<AppState>) -> Response {
    let (status, loading, error) = match state.phase().borrow().clone() {
        Phase::Ready => (ReadyState::Ready, Vec::new(), None),
        Phase::Loading(models) => (ReadyState::Loading, models, None),
        Phase::Failed(error) => (ReadyState::Failed, Vec::new(), Some(error.to_string())),
        Phase::Draining => (ReadyState::Draining, Vec::new(), None),
    };
    let code = if status == ReadyState::Ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (code, Json(ReadyResponse { status, loading, error })).into_response()
}

pub(super) async fn info(State(state): State<AppState>) -> Json<InfoResponse> {
    let models = state.loaded().map_or(&[][..], |engine| engine.models());
    Json(InfoResponse {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        models: models.iter().map(|(kind, model)| describe(*kind, model)).collect(),
        limits: state.limits().clone(),
    })
}

fn describe(kind: ModelKind, model: &Model) -> ModelInfo {
    let spec = &model.spec;
    let pooling = match &spec.task {
        Task::Embed(pooling) => Some(pooling.to_string()),
        Task::Classify(_) | Task::Verify(_) => None,
    };
    let verifies = matches!(spec.task, Task::Verify(_));
    ModelInfo {
        id: spec.name.clone(),
        revision: spec.revision.clone(),
        kind,
        architecture: spec.architecture.name().to_owned(),
        dimension: model.dimension(),
        pooling,
        labels: spec.task.labels().to_vec(),
        threshold: spec.threshold().filter(|_| verifies),
        threshold_precision: spec.threshold_precision().filter(|_| verifies),
        prompts: prompts::of(spec),
        max_tokens: spec.max_tokens,
        dtype: model.dtype.clone(),
        device: model.device.clone(),
        backend: model.backend,
        passed_over: model.passed_over.clone(),
        languages: spec.languages.clone(),
        license: spec.license.clone(),
    }
}
