//! `POST /nli`.

use std::time::Instant;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use lyra_proto::{ModelKind, NliRequest, NliResponse, Usage};

use super::AppState;
use super::answer::cost_headers;
use super::body::JsonBody;
use super::vectors::truncation;
use crate::engine::refused;
use crate::error::RequestError;
use crate::model::labels::NliLabels;
use crate::model::spec::Task;
use crate::model::tokenizer::TextTokenizer;

pub(super) async fn nli(
    State(state): State<AppState>,
    JsonBody(request): JsonBody<NliRequest>,
) -> Result<Response, RequestError> {
    let received = Instant::now();
    let engine = state.engine(ModelKind::Nli)?;
    let model = engine.model(ModelKind::Nli)?;
    let names = match &model.spec.task {
        Task::Classify(names) => names.as_slice(),
        Task::Embed(_) => &[],
    };
    let labels = NliLabels::from_names(names).map_err(RequestError::Inference)?;
    state
        .check_batch(request.pairs.len(), "pairs is empty; send at least one premise with its hypothesis")?;
    let truncation = truncation(request.truncate, None);
    let tokenise = move |tokenizer: &TextTokenizer| {
        let tokens = request.pairs.iter().enumerate().map(|(index, pair)| {
            let tokens = tokenizer.pair(&pair.premise, &pair.hypothesis, truncation);
            tokens.map_err(|error| refused(index, error))
        });
        tokens.collect()
    };
    let answer = engine.infer(ModelKind::Nli, tokenise).await?;
    let response = NliResponse {
        model: model.spec.name.clone(),
        results: answer.rows.iter().map(|logits| labels.judge(logits)).collect(),
        usage: Usage::of(answer.cost.tokens),
    };
    Ok((cost_headers(&answer.cost, received), Json(response)).into_response())
}
