//! `POST /predict`: texts or pairs in, the scores of every label out.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{TruncationDirection, yes, yes_when_null};

/// Body of `POST /predict`, as TEI defines it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PredictRequest {
    /// A text, a pair, or a batch of both.
    pub inputs: PredictInputs,
    /// Answer with logits; with `false` with probabilities.
    #[serde(default)]
    pub raw_scores: bool,
    /// Cut inputs that are longer than the model reads; with `false` they are refused (422).
    #[serde(default = "yes", deserialize_with = "yes_when_null")]
    pub truncate: bool,
    /// Which end of a text to truncate; default `right`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truncation_direction: Option<TruncationDirection>,
}

/// What to classify. A plain list of strings is one input, not a batch: TEI distinguishes pairs from batches this way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "`inputs` must be a text, a pair [\"a\", \"b\"], or a batch of them [[\"a\"], [\"b\", \"c\"]]"
)]
pub enum PredictInputs {
    /// `"inputs": "text"`
    Text(String),
    /// `"inputs": ["text"]` or `"inputs": ["first", "second"]`
    Sequence(Vec<String>),
    /// `"inputs": [["text"], ["first", "second"], …]`
    Batch(Vec<Vec<String>>),
}

/// Answer of `POST /predict`: the labels of an input, the highest score first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum PredictResponse {
    /// For a text or a pair.
    One(Vec<Prediction>),
    /// For a batch, in the order of the inputs.
    Batch(Vec<Vec<Prediction>>),
}

/// One label with its score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Prediction {
    /// Probability, or logit if raw scores were requested.
    pub score: f32,
    /// Name as the model's configuration has it.
    pub label: String,
}
