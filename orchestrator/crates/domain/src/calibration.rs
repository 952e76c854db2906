//! Calibration of NLI probabilities: how far they can be believed, and two ways to correct them.
//!
//! A model that says 0.9 should be right nine times in ten. Samples are judgments that a person corrected or confirmed.

mod metrics;
mod platt;
mod temperature;

pub use metrics::{BINS, CalibrationMetrics, ReliabilityBin};

use crate::{NliScores, Relation, named_enum};
use serde::{Deserialize, Serialize};

/// Relative increase of the Brier score that counts as a degradation.
pub const DEGRADATION: f64 = 0.05;
/// Fewest samples that parameters are fitted from.
pub const MIN_FIT_SAMPLES: usize = 10;
/// Parts of the cross-validation.
const FOLDS: usize = 5;
/// Least probability: logarithms of less would let one sample decide everything.
const FLOOR: f64 = 1e-40;
/// Number of classes, in the order supports, refutes, neutral.
const CLASSES: usize = 3;

/// Probabilities of the three relations, and the one that is right.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CalibrationSample {
    /// The model's output, before any calibration.
    pub scores: NliScores,
    /// Class that is right, in the order supports, refutes, neutral.
    label: usize,
}

impl CalibrationSample {
    /// A sample; `None` when `correct` is not an NLI label.
    pub fn new(scores: NliScores, correct: Relation) -> Option<Self> {
        let label = match correct {
            Relation::Supports => 0,
            Relation::Refutes => 1,
            Relation::Neutral => 2,
            Relation::Origin | Relation::Cites => return None,
        };
        Some(Self { scores, label })
    }
}

named_enum! {
    /// A way to correct probabilities.
    pub enum CalibrationMethod {
        /// One number that softens or sharpens all probabilities; the order of classes stays.
        Temperature = "temperature",
        /// A logistic curve per class, normalized; the order of classes can change.
        Platt = "platt",
    }
}

/// Fitted parameters.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "method", rename_all = "snake_case")]
pub enum Calibration {
    /// `p' = softmax(ln p / T)` (Guo, Pleiss, Sun, Weinberger 2017).
    Temperature {
        /// T, in [0.05, 20]; 1 changes nothing.
        temperature: f64,
    },
    /// `p' ∝ σ(slope · logit p + intercept)` for each class against the others (Platt 1999).
    Platt {
        /// For `supports`.
        supports: PlattCurve,
        /// For `refutes`.
        refutes: PlattCurve,
        /// For `neutral`.
        neutral: PlattCurve,
    },
}

/// A logistic curve over log odds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PlattCurve {
    /// Factor of the log odds; 1 with an intercept of 0 changes nothing.
    pub slope: f64,
    /// Shift of the log odds.
    pub intercept: f64,
}

impl PlattCurve {
    /// The curve that fits these pairs of a feature and a label in [0, 1] best, with Platt's smoothed targets: it stays
    /// finite when few or perfectly separated pairs are given.
    pub fn fit(points: &[(f64, f64)]) -> Self {
        platt::fit_points(points)
    }
}

/// The logistic function `1 / (1 + e^−x)`, without overflow.
pub fn logistic(x: f64) -> f64 {
    platt::sigmoid(x)
}

impl Calibration {
    /// Parameters that fit these samples best: least negative log-likelihood for a temperature, and for each of Platt's
    /// curves with his smoothed targets. Without samples they change nothing.
    pub fn fit(method: CalibrationMethod, samples: &[CalibrationSample]) -> Self {
        match method {
            CalibrationMethod::Temperature => Self::Temperature { temperature: temperature::fit(samples) },
            CalibrationMethod::Platt => {
                let [supports, refutes, neutral] = [0, 1, 2].map(|class| platt::fit(samples, class));
                Self::Platt { supports, refutes, neutral }
            }
        }
    }

    /// Which way it is.
    pub fn method(&self) -> CalibrationMethod {
        match self {
            Self::Temperature { .. } => CalibrationMethod::Temperature,
            Self::Platt { .. } => CalibrationMethod::Platt,
        }
    }

    /// Whether every parameter is a number that can be applied.
    pub fn is_sound(&self) -> bool {
        match self {
            Self::Temperature { temperature } => temperature.is_finite() && *temperature > 0.0,
            Self::Platt { supports, refutes, neutral } => [supports, refutes, neutral]
                .iter()
                .all(|curve| curve.slope.is_finite() && curve.intercept.is_finite()),
        }
    }

    /// The corrected probabilities, summing to 1.
    pub fn apply(&self, scores: NliScores) -> NliScores {
        match self {
            Self::Temperature { temperature } => {
                of_classes(softmax(log_probabilities(scores).map(|z| z / temperature)))
            }
            Self::Platt { supports, refutes, neutral } => {
                let p = probabilities(scores);
                let raw = [(supports, p[0]), (refutes, p[1]), (neutral, p[2])]
                    .map(|(curve, p)| platt::sigmoid(curve.slope * platt::logit(p) + curve.intercept));
                of_classes(normalize(raw))
            }
        }
    }
}

/// The Brier score of parameters on samples that they were not fitted from: five parts in turn are held out, every fifth
/// sample each, and their errors averaged. `None` with fewer samples than parts.
pub fn cross_validated_brier(method: CalibrationMethod, samples: &[CalibrationSample]) -> Option<f64> {
    if samples.len() < FOLDS {
        return None;
    }
    let mut sum = 0.0;
    for fold in 0..FOLDS {
        let part = |held_out: bool| {
            samples.iter().enumerate().filter(move |(i, _)| (i % FOLDS == fold) == held_out).map(|(_, s)| *s)
        };
        let calibration = Calibration::fit(method, &part(false).collect::<Vec<_>>());
        let held_out: Vec<CalibrationSample> = part(true).collect();
        sum += CalibrationMetrics::of(&held_out, Some(&calibration)).brier * held_out.len() as f64;
    }
    Some(sum / samples.len() as f64)
}

/// By what share a Brier score is worse than another, when that is more than [`DEGRADATION`].
pub fn degradation(before: f64, after: f64) -> Option<f64> {
    let share = if before > 0.0 { (after - before) / before } else { after };
    (share > DEGRADATION).then_some(share)
}

/// In the order of classes, each in [0, 1], summing to 1. Scores without information become a third each.
fn probabilities(scores: NliScores) -> [f64; CLASSES] {
    let usable = |p: f64| if p.is_finite() { p.clamp(0.0, 1.0) } else { 0.0 };
    normalize([scores.supports, scores.refutes, scores.neutral].map(usable))
}

fn normalize(p: [f64; CLASSES]) -> [f64; CLASSES] {
    let sum: f64 = p.iter().sum();
    if sum > 0.0 { p.map(|p| p / sum) } else { [1.0 / CLASSES as f64; CLASSES] }
}

/// A substitute for the logits: equal up to a shift, to which softmax is invariant.
fn log_probabilities(scores: NliScores) -> [f64; CLASSES] {
    probabilities(scores).map(|p| p.max(FLOOR).ln())
}

fn softmax(z: [f64; CLASSES]) -> [f64; CLASSES] {
    let most = z.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    normalize(z.map(|z| (z - most).exp()))
}

fn of_classes([supports, refutes, neutral]: [f64; CLASSES]) -> NliScores {
    NliScores { supports, refutes, neutral }
}

#[cfg(test)]
mod tests;
