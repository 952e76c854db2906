//! How far the NLI model's probabilities are trusted.

use crate::json::millionths;
use lyra_domain::calibration::ReliabilityBin;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

/// The calibration of one NLI model.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CalibrationStats {
    /// The NLI model, as in `edges.nli_model`.
    pub source: String,
    /// Judgments that a person corrected or confirmed.
    pub samples: usize,
    /// How many of them got another relation.
    pub corrected: usize,
    /// Version of the active parameters; 0 is the model's own probabilities.
    pub active_version: u32,
    /// Every version, the newest first.
    pub versions: Vec<CalibrationVersion>,
    /// The newest measurement, when there is one.
    pub latest_evaluation: Option<CalibrationEvaluation>,
}

/// Fitted parameters.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CalibrationVersion {
    /// Number of the version, from 1.
    pub version: u32,
    /// `method`, and either `temperature` or `slope` and `intercept` for each relation.
    pub parameters: Map<String, Value>,
    /// Whether it corrects new judgments.
    pub is_active: bool,
    /// Samples it was fitted to.
    pub samples: usize,
    /// Why it was fitted, if given.
    pub reason: Option<String>,
    /// When it was fitted, RFC 3339, UTC.
    pub created_at: String,
}

/// A measurement.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CalibrationEvaluation {
    /// Id of the measurement; `calibration_evaluations.id` in SQL.
    pub evaluation_id: String,
    /// The NLI model.
    pub source: String,
    /// Version measured; 0 is the model's own probabilities.
    pub version: u32,
    /// Brier score over the three relations, 0 to 2; smaller is better.
    pub brier: f64,
    /// Expected calibration error, 0 to 1; smaller is better.
    pub ece: f64,
    /// Judgments by confidence.
    pub bins: Vec<CalibrationBin>,
    /// Samples measured.
    pub samples: usize,
    /// When it was measured, RFC 3339, UTC.
    pub evaluated_at: String,
}

/// Judgments of similar confidence.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct CalibrationBin {
    /// Confidence above this,
    pub lower: f64,
    /// up to and with this.
    pub upper: f64,
    /// Judgments in the bin.
    pub count: usize,
    /// Share of them that are right; unknown in an empty bin.
    pub accuracy: Option<f64>,
    /// Their mean confidence; unknown in an empty bin.
    pub confidence: Option<f64>,
}

impl From<&ReliabilityBin> for CalibrationBin {
    fn from(bin: &ReliabilityBin) -> Self {
        Self {
            lower: millionths(bin.lower),
            upper: millionths(bin.upper),
            count: bin.count,
            accuracy: bin.accuracy.map(millionths),
            confidence: bin.confidence.map(millionths),
        }
    }
}
