//! `POST /nli`: does a premise support a hypothesis, refute it, or neither?

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Usage, yes};

/// Body of `POST /nli`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NliRequest {
    /// Pairs to judge.
    pub pairs: Vec<NliPair>,
    /// Cut pairs that are longer than the model reads, always from the longer side; with `false` they are refused (422).
    #[serde(default = "yes")]
    pub truncate: bool,
}

/// One premise (the evidence) and one hypothesis (the claim).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NliPair {
    /// The premise, assumed to be true.
    pub premise: String,
    /// The hypothesis to judge.
    pub hypothesis: String,
}

/// Answer of `POST /nli`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NliResponse {
    /// Name of the model that judged.
    pub model: String,
    /// One result per pair, in the order of the pairs.
    pub results: Vec<NliResult>,
    /// Tokens spent.
    pub usage: Usage,
}

/// The model's judgment of one pair.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NliResult {
    /// The label with the highest score.
    pub label: NliLabel,
    /// Score of that label, in 0..=1.
    pub confidence: f32,
    /// All three scores; they sum to 1.
    pub scores: NliScores,
}

/// Softmax probabilities of the three labels.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NliScores {
    /// Probability that the premise entails the hypothesis.
    pub supports: f32,
    /// Probability that the premise contradicts the hypothesis.
    pub refutes: f32,
    /// Probability that it does neither.
    pub neutral: f32,
}

impl NliScores {
    /// The label with the highest score; the more cautious one on a tie (neutral, then refutes).
    pub fn label(&self) -> NliLabel {
        if self.neutral >= self.supports && self.neutral >= self.refutes {
            NliLabel::Neutral
        } else if self.refutes >= self.supports {
            NliLabel::Refutes
        } else {
            NliLabel::Supports
        }
    }

    /// The score of `label`.
    pub const fn of(&self, label: NliLabel) -> f32 {
        match label {
            NliLabel::Supports => self.supports,
            NliLabel::Refutes => self.refutes,
            NliLabel::Neutral => self.neutral,
        }
    }
}

/// The relation of a premise to a hypothesis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum NliLabel {
    /// Entailment.
    Supports,
    /// Contradiction.
    Refutes,
    /// Neither.
    Neutral,
}

impl fmt::Display for NliLabel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Supports => "supports",
            Self::Refutes => "refutes",
            Self::Neutral => "neutral",
        })
    }
}
