//! `POST /similarity`.

use std::time::Instant;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use lyra_proto::{EmbedInput, ModelKind, SimilarityRequest, SimilarityResponse};

use super::AppState;
use super::answer::cost_headers;
use super::body::JsonBody;
use super::vectors::{Options, truncation, vectors};
use crate::error::RequestError;

/// The cosine of each sentence with the source sentence, which is input 0 where an error names an input.
pub(super) async fn similarity(
    State(state): State<AppState>,
    JsonBody(request): JsonBody<SimilarityRequest>,
) -> Result<Response, RequestError> {
    let received = Instant::now();
    let engine = state.engine(ModelKind::Embed)?;
    let (inputs, parameters) = (request.inputs, request.parameters.unwrap_or_default());
    state.check_batch(inputs.sentences.len(), "sentences is empty; send at least one sentence to compare")?;
    let texts =
        std::iter::once(inputs.source_sentence).chain(inputs.sentences).map(EmbedInput::Text).collect();
    let options = Options {
        truncation: truncation(parameters.truncate, parameters.truncation_direction),
        prompt_name: parameters.prompt_name.as_deref(),
        dimensions: None,
        normalise: true,
    };
    let answer = vectors(engine, texts, options).await?;
    let similarities: SimilarityResponse = match answer.rows.split_first() {
        Some((source, rows)) => rows.iter().map(|row| dot(source, row)).collect(),
        None => Vec::new(),
    };
    Ok((cost_headers(&answer.cost, received), Json(similarities)).into_response())
}

/// The cosine of two vectors of length 1.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
