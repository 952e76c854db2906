//! `POST /verify`.

use std::time::Instant;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use lyra_proto::{ModelKind, Usage, VerifyItem, VerifyRequest, VerifyResponse};

use super::AppState;
use super::answer::cost_headers;
use super::body::JsonBody;
use crate::engine::refused;
use crate::error::RequestError;
use crate::model::labels::NliLabels;
use crate::model::tokenizer::TextTokenizer;
use crate::model::verifier;

/// The relation of each passage to its claim, and its rationale sentences.
pub(super) async fn verify(
    State(state): State<AppState>,
    JsonBody(request): JsonBody<VerifyRequest>,
) -> Result<Response, RequestError> {
    let received = Instant::now();
    let engine = state.engine(ModelKind::Verify)?;
    let model = engine.model(ModelKind::Verify)?;
    let labels = NliLabels::from_names(model.spec.task.labels()).map_err(RequestError::Inference)?;
    let items = request.items;
    state.check_batch(items.len(), "items is empty; send at least one claim with its sentences")?;
    items.iter().enumerate().try_for_each(|(index, item)| check_item(index, item))?;
    let tokenise = move |tokenizer: &TextTokenizer| {
        let tokens = items.iter().enumerate().map(|(index, item)| {
            let tokens = verifier::encode(tokenizer, &item.claim, item.title.as_deref(), &item.sentences);
            tokens.map_err(|error| refused(index, error))
        });
        tokens.collect()
    };
    let answer = engine.infer(ModelKind::Verify, tokenise).await?;
    let response = VerifyResponse {
        model: model.spec.name.clone(),
        results: answer.rows.iter().map(|row| verifier::verdict(&labels, row)).collect(),
        usage: Usage::of(answer.cost.tokens),
    };
    Ok((cost_headers(&answer.cost, received), Json(response)).into_response())
}

/// An item is a claim and at least one sentence. Sentences may be empty: they keep the numbers of the others right.
fn check_item(index: usize, item: &VerifyItem) -> Result<(), RequestError> {
    let problem = if item.claim.trim().is_empty() {
        "an empty claim; send the statement to judge"
    } else if item.sentences.is_empty() {
        "no sentences; send at least one"
    } else {
        return Ok(());
    };
    Err(RequestError::Malformed(format!("item {index} has {problem}")))
}
