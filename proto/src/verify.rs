//! `POST /verify`: the relation of a whole passage to a claim, and its rationale sentences.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{NliLabel, NliScores, Usage};

/// Body of `POST /verify`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VerifyRequest {
    /// Claims, each with the passage to read.
    pub items: Vec<VerifyItem>,
}

/// One claim and one passage, cut into sentences.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VerifyItem {
    /// The claim to judge. Truncated if it exceeds the space that the model reserves for it.
    pub claim: String,
    /// Title of the work that the passage is from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The passage's sentences in order; at least one. Sentences that no longer fit are not read.
    pub sentences: Vec<String>,
}

/// Answer of `POST /verify`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VerifyResponse {
    /// Name of the model that judged.
    pub model: String,
    /// One result per item, in the order of the items.
    pub results: Vec<VerifyResult>,
    /// Tokens spent.
    pub usage: Usage,
}

/// The model's judgment of one passage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VerifyResult {
    /// The label with the highest score.
    pub label: NliLabel,
    /// Score of that label, in 0..=1.
    pub confidence: f32,
    /// All three scores; they sum to 1.
    pub scores: NliScores,
    /// For each sentence that was read, the probability that it belongs to the rationale, in 0..=1. Shorter than
    /// `sentences` if the rest did not fit; a sentence beyond the model's limit was read in part.
    pub rationale: Vec<f32>,
}
