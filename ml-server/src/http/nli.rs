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
use crate::model::tokenizer::{TextTokenizer, TokenizeError, Tokens, Truncation};
use crate::model::verifier;

/// Tokenizes a premise and a hypothesis, in this order.
type PairEncoder = fn(&TextTokenizer, &str, &str, Truncation) -> Result<Tokens, TokenizeError>;

/// The encoding of pairs for this kind of classifier.
pub(super) fn pair_encoder(kind: ModelKind) -> PairEncoder {
    if kind == ModelKind::Verify { verifier::encode_pair } else { TextTokenizer::pair }
}

/// Judges pairs with the NLI model, or with the verifier if no NLI model is loaded.
pub(super) async fn nli(
    State(state): State<AppState>,
    JsonBody(request): JsonBody<NliRequest>,
) -> Result<Response, RequestError> {
    let received = Instant::now();
    let engine = state.serving()?;
    let (kind, model) = engine.classifier()?;
    let labels = NliLabels::from_names(model.spec.task.labels()).map_err(RequestError::Inference)?;
    state
        .check_batch(request.pairs.len(), "pairs is empty; send at least one premise with its hypothesis")?;
    let truncation = truncation(request.truncate, None);
    let encode = pair_encoder(kind);
    let tokenise = move |tokenizer: &TextTokenizer| {
        let tokens = request.pairs.iter().enumerate().map(|(index, pair)| {
            let tokens = encode(tokenizer, &pair.premise, &pair.hypothesis, truncation);
            tokens.map_err(|error| refused(index, error))
        });
        tokens.collect()
    };
    let answer = engine.infer(kind, tokenise).await?;
    let response = NliResponse {
        model: model.spec.name.clone(),
        results: answer.rows.iter().map(|row| labels.judge(&row[..labels.count()])).collect(),
        usage: Usage::of(answer.cost.tokens),
    };
    Ok((cost_headers(&answer.cost, received), Json(response)).into_response())
}
