//! How far probabilities can be believed.

use super::{Calibration, CalibrationSample, FLOOR, probabilities};
use serde::{Deserialize, Serialize};

/// Bins of the expected calibration error.
pub const BINS: usize = 15;

/// Judgments of about the same confidence.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ReliabilityBin {
    /// Confidence above this,
    pub lower: f64,
    /// up to and with this.
    pub upper: f64,
    /// Samples in the bin.
    pub count: usize,
    /// Share of correct ones; null without samples.
    pub accuracy: Option<f64>,
    /// Their mean confidence; null without samples.
    pub confidence: Option<f64>,
}

/// Measures over samples; all 0 without any.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CalibrationMetrics {
    /// Samples.
    pub samples: usize,
    /// Brier score over the three classes, `mean Σ_k (p_k − y_k)²`, in [0, 2]; smaller is better.
    pub brier: f64,
    /// Expected calibration error: difference of accuracy and confidence over the bins, weighted by their samples.
    pub ece: f64,
    /// Mean negative log-likelihood, in nats.
    pub nll: f64,
    /// Share of samples whose likeliest relation is right.
    pub accuracy: f64,
    /// [`BINS`] bins of equal width over (0, 1].
    pub bins: Vec<ReliabilityBin>,
}

impl CalibrationMetrics {
    /// Measures the samples' scores, corrected first when a calibration is given.
    pub fn of(samples: &[CalibrationSample], calibration: Option<&Calibration>) -> Self {
        let (mut brier, mut nll, mut right) = (0.0, 0.0, 0);
        // Per bin: samples, right ones, sum of confidences.
        let mut bins = [(0_usize, 0_usize, 0.0_f64); BINS];
        for sample in samples {
            let scores = calibration.map_or(sample.scores, |calibration| calibration.apply(sample.scores));
            let p = probabilities(scores);
            brier += p
                .iter()
                .enumerate()
                .map(|(class, p)| (p - f64::from(u8::from(class == sample.label))).powi(2))
                .sum::<f64>();
            nll -= p[sample.label].max(FLOOR).ln();
            // Ties go to the more cautious class, as in a judgment.
            let predicted = if p[2] >= p[0] && p[2] >= p[1] { 2 } else { usize::from(p[1] >= p[0]) };
            let correct = usize::from(predicted == sample.label);
            right += correct;
            let bin = &mut bins[bin_of(p[predicted])];
            *bin = (bin.0 + 1, bin.1 + correct, bin.2 + p[predicted]);
        }
        let n = samples.len().max(1) as f64;
        let ece = bins.iter().map(|(_, right, sum)| (*right as f64 - sum).abs()).sum::<f64>() / n;
        Self {
            samples: samples.len(),
            brier: brier / n,
            ece,
            nll: nll / n,
            accuracy: right as f64 / n,
            bins: bins
                .iter()
                .enumerate()
                .map(|(i, &(count, right, sum))| ReliabilityBin {
                    lower: edge(i),
                    upper: edge(i + 1),
                    count,
                    accuracy: (count > 0).then(|| right as f64 / count as f64),
                    confidence: (count > 0).then(|| sum / count as f64),
                })
                .collect(),
        }
    }
}

fn edge(bin: usize) -> f64 {
    bin as f64 / BINS as f64
}

/// The bin (lower, upper] of a confidence.
fn bin_of(confidence: f64) -> usize {
    (0..BINS).find(|&bin| confidence <= edge(bin + 1)).unwrap_or(BINS - 1)
}
