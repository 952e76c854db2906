//! `POST /predict`.

use std::time::Instant;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use lyra_proto::{
    ModelKind, PredictInputs, PredictRequest, PredictResponse, Prediction, TruncationDirection,
};

use super::AppState;
use super::answer::cost_headers;
use super::body::JsonBody;
use super::nli::pair_encoder;
use super::vectors::truncation;
use crate::engine::refused;
use crate::error::RequestError;
use crate::model::ops::softmax;
use crate::model::tokenizer::TextTokenizer;

/// All labels of the hosted classifier with their scores, the highest first.
pub(super) async fn predict(
    State(state): State<AppState>,
    JsonBody(request): JsonBody<PredictRequest>,
) -> Result<Response, RequestError> {
    let received = Instant::now();
    let engine = state.serving()?;
    let (kind, model) = engine.classifier()?;
    let labels = model.spec.task.labels();
    let (batch, inputs) = match request.inputs {
        PredictInputs::Text(text) => (false, vec![vec![text]]),
        PredictInputs::Sequence(texts) if texts.is_empty() => (true, Vec::new()),
        PredictInputs::Sequence(texts) => (false, vec![texts]),
        PredictInputs::Batch(inputs) => (true, inputs),
    };
    state.check_batch(inputs.len(), "inputs is empty; send at least one text or pair")?;
    inputs.iter().enumerate().try_for_each(|(index, texts)| check_input(kind, index, texts))?;
    if kind == ModelKind::Verify && request.truncation_direction == Some(TruncationDirection::Left) {
        let reason = "truncation_direction is left, but a verifier is hosted, which truncates only at the end; omit it";
        return Err(RequestError::Malformed(reason.to_owned()));
    }
    let truncation = truncation(request.truncate, request.truncation_direction);
    let encode = pair_encoder(kind);
    let tokenise = move |tokenizer: &TextTokenizer| {
        let tokenise = |(index, texts): (usize, &Vec<String>)| {
            let tokens = match texts.as_slice() {
                [first, second] => encode(tokenizer, first, second, truncation),
                texts => tokenizer.text(texts.first().map_or("", String::as_str), truncation),
            };
            tokens.map_err(|error| refused(index, error))
        };
        inputs.iter().enumerate().map(tokenise).collect()
    };
    let answer = engine.infer(kind, tokenise).await?;
    let mut rows: Vec<_> =
        answer.rows.into_iter().map(|logits| ranked(labels, logits, request.raw_scores)).collect();
    let response = if batch {
        PredictResponse::Batch(rows)
    } else {
        PredictResponse::One(rows.pop().unwrap_or_default())
    };
    Ok((cost_headers(&answer.cost, received), Json(response)).into_response())
}

/// An input is one text or two, and two for a verifier.
fn check_input(kind: ModelKind, index: usize, texts: &[String]) -> Result<(), RequestError> {
    match texts.len() {
        1 if kind == ModelKind::Verify => Err(RequestError::Malformed(format!(
            "input {index} is one text, but a verifier is hosted, which judges pairs of premise and hypothesis: \
             [\"a\", \"b\"]"
        ))),
        1 | 2 => Ok(()),
        count => Err(RequestError::Malformed(format!(
            "input {index} has {count} texts; a list of strings is one text or one pair, and a batch is a list of such \
             lists: [[\"a\"], [\"b\", \"c\"]]"
        ))),
    }
}

/// Labels with logits or probabilities, the highest first.
fn ranked(labels: &[String], mut scores: Vec<f32>, raw: bool) -> Vec<Prediction> {
    // A verifier's scores of sentences follow.
    scores.truncate(labels.len());
    match scores.as_mut_slice() {
        _ if raw => {}
        // A single output is an independent yes or no.
        [logit] => *logit = 1.0 / (1.0 + (-*logit).exp()),
        logits => softmax(logits),
    }
    let named = labels.iter().zip(scores).map(|(label, score)| Prediction { score, label: label.clone() });
    let mut predictions: Vec<_> = named.collect();
    predictions.sort_by(|a, b| b.score.total_cmp(&a.score));
    predictions
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(logits: &[f32], raw: bool, want: &[(&str, f32)]) {
        let labels: Vec<_> = ["a", "b", "c"][..logits.len()].iter().map(|&label| label.to_owned()).collect();
        let got = ranked(&labels, logits.to_vec(), raw);
        assert_eq!(got.len(), want.len());
        for (got, (label, score)) in got.iter().zip(want) {
            assert!(got.label == *label && (got.score - score).abs() < 1e-3, "{got:?}, not {label} {score}");
        }
    }

    #[test]
    fn labels_are_ranked() {
        check(&[0.0, 2.0, 1.0], true, &[("b", 2.0), ("c", 1.0), ("a", 0.0)]);
        check(&[0.0, 2.0, 1.0], false, &[("b", 0.665), ("c", 0.245), ("a", 0.090)]);
        check(&[1.0], false, &[("a", 0.731)]);
    }
}
