//! An estimate of relevance without labels: four signals, mixed and standardized.

use lyra_domain::calibration::{PlattCurve, logistic};
use serde::{Deserialize, Serialize};

/// Steepness of the logistic curve over standardized signals.
const GAMMA: f64 = 1.5;
/// Fewest labeled documents that the curve is fitted to.
pub const MIN_REPRESENTATIVES: usize = 10;

/// The share of each signal in the mix. Shares of absent signals go to the present ones.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PiWeights {
    /// Match with the target profile.
    pub code: f64,
    /// Coverage of the facets.
    pub facet: f64,
    /// Agreement of the lanes.
    pub lane: f64,
    /// Facets close together.
    pub structure: f64,
}

impl Default for PiWeights {
    fn default() -> Self {
        Self { code: 0.35, facet: 0.30, lane: 0.20, structure: 0.15 }
    }
}

/// The signals of every document of a pool, each in [0, 1]; `None` for a missing signal.
#[derive(Debug, Clone, Default)]
pub(crate) struct Signals {
    /// Match with the target profile.
    pub code: Option<Vec<f64>>,
    /// Coverage of the facets.
    pub facet: Option<Vec<f64>>,
    /// Agreement of the lanes.
    pub lane: Option<Vec<f64>>,
    /// Facets close together.
    pub structure: Option<Vec<f64>>,
}

impl Signals {
    /// The weighted mean of the signals that exist, for each of `count` documents.
    pub(crate) fn mix(&self, weights: &PiWeights, count: usize) -> Vec<f64> {
        let present: Vec<(&[f64], f64)> = [
            (&self.code, weights.code),
            (&self.facet, weights.facet),
            (&self.lane, weights.lane),
            (&self.structure, weights.structure),
        ]
        .into_iter()
        .filter_map(|(signal, weight)| Some((signal.as_deref()?, weight)))
        .collect();
        let total: f64 = present.iter().map(|(_, weight)| weight).sum();
        if total <= 0.0 {
            return vec![0.0; count];
        }
        (0..count).map(|doc| present.iter().map(|(s, weight)| s[doc] * weight).sum::<f64>() / total).collect()
    }
}

/// Agreement of the lanes on a document: `Σ w / (rank + 1)`, over the largest such sum.
pub(crate) fn lane_consistency(pool: &crate::Pool<'_>, weights: &[f64]) -> Vec<f64> {
    let sum = |doc: usize| {
        let mut parts: Vec<f64> = pool
            .ranks(doc)
            .iter()
            .zip(weights)
            .filter(|(rank, _)| **rank > 0)
            .map(|(&rank, weight)| weight / (f64::from(rank) + 1.0))
            .collect();
        parts.sort_unstable_by(|a, b| b.total_cmp(a));
        parts.iter().sum()
    };
    over_most((0..pool.len()).map(sum).collect())
}

/// Values divided by the largest one; unchanged when it is 0.
pub(crate) fn over_most(mut values: Vec<f64>) -> Vec<f64> {
    let most = values.iter().copied().fold(0.0, f64::max);
    if most > 0.0 {
        for value in &mut values {
            *value /= most;
        }
    }
    values
}

/// π′ of every document, and how it came about.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Relevance {
    /// In (0, 1), in the pool's order.
    pub values: Vec<f64>,
    /// How it was computed.
    pub method: ProxyMethod,
}

/// How π′ was computed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "method", rename_all = "snake_case")]
pub enum ProxyMethod {
    /// `σ(γ · z)` of the standardized mix z: a proxy, no estimate of relevance.
    Standardised {
        /// γ.
        gamma: f64,
    },
    /// `σ(slope · z + intercept)`, fitted to representatives.
    Platt {
        /// Factor of z.
        slope: f64,
        /// Shift.
        intercept: f64,
        /// Labeled documents that it was fitted to.
        representatives: usize,
    },
}

/// π′ from mixed signals. `labels` are documents with a label in [0, 1]; [`MIN_REPRESENTATIVES`] of them replace the
/// fixed curve by one fitted to them. A mix in [0, 1] is standardized first, because a logistic curve over [0, 1] only
/// yields 0.50 to 0.73.
pub(crate) fn relevance(mixed: &[f64], labels: &[(usize, f64)]) -> Relevance {
    let z = standardize(mixed);
    let points: Vec<(f64, f64)> =
        labels.iter().filter_map(|&(doc, label)| Some((*z.get(doc)?, label))).collect();
    if points.len() >= MIN_REPRESENTATIVES {
        let curve = PlattCurve::fit(&points);
        let PlattCurve { slope, intercept } = curve;
        let values = z.iter().map(|z| logistic(slope * z + intercept)).collect();
        let method = ProxyMethod::Platt { slope, intercept, representatives: points.len() };
        return Relevance { values, method };
    }
    let values = z.iter().map(|z| logistic(GAMMA * z)).collect();
    Relevance { values, method: ProxyMethod::Standardised { gamma: GAMMA } }
}

/// `(x − mean) / standard deviation`; all 0 when every value is the same. Sums run over sorted values, so the order of
/// documents does not matter.
fn standardize(values: &[f64]) -> Vec<f64> {
    if values.is_empty() {
        return Vec::new();
    }
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let count = values.len() as f64;
    let mean = sorted.iter().sum::<f64>() / count;
    let deviation = (sorted.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count).sqrt();
    if deviation <= f64::EPSILON {
        return vec![0.0; values.len()];
    }
    values.iter().map(|x| (x - mean) / deviation).collect()
}
