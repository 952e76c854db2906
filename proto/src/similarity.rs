//! `POST /similarity`: how close each of some sentences is to one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{TruncationDirection, yes, yes_when_null};

/// Body of `POST /similarity`, as TEI defines it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SimilarityRequest {
    /// What to compare.
    pub inputs: SimilarityInputs,
    /// How to read it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameters: Option<SimilarityParameters>,
}

/// One sentence and those that it is compared with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(expecting = "an object with source_sentence and sentences")]
pub struct SimilarityInputs {
    /// Compared with every other sentence.
    pub source_sentence: String,
    /// Compared with the source sentence.
    pub sentences: Vec<String>,
}

/// How the sentences are read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SimilarityParameters {
    /// Cut sentences that are longer than the model reads; with `false` they are refused (422).
    #[serde(default = "yes", deserialize_with = "yes_when_null")]
    pub truncate: bool,
    /// Which end of a sentence to truncate; default `right`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truncation_direction: Option<TruncationDirection>,
    /// Name of one of the model's prompts, prepended to every sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_name: Option<String>,
}

impl Default for SimilarityParameters {
    fn default() -> Self {
        Self { truncate: true, truncation_direction: None, prompt_name: None }
    }
}

/// Answer of `POST /similarity`: one cosine per sentence, in order.
pub type SimilarityResponse = Vec<f32>;
