//! The precision-recall trade-off over reading depth by the formulas of the design. Everything here is a proxy: it predicted nothing
//! on judged collections. Estimates are in [`crate::estimate`].

use serde::{Deserialize, Serialize};

/// Share of the coverage of codes in R* when there is a target profile.
const RHO: f64 = 0.3;
/// Default depths of the frontier.
pub const DEFAULT_GRID: [usize; 10] = [10, 20, 30, 40, 50, 80, 100, 200, 400, 800];
/// Default weight of recall against precision.
pub const DEFAULT_BETA: f64 = 1.5;

/// One depth of reading.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct FrontierPoint {
    /// Documents read.
    pub k: usize,
    /// P*: mean π′ of those.
    pub p_star: f64,
    /// R*: their share of the coverage of codes and of the sum of π′.
    pub r_star: f64,
    /// Fβ* of the two.
    pub f_beta_star: f64,
}

/// The frontier at the depths of `grid`; depths beyond the ranking collapse to its length.
///
/// `relevance` is π′ in ranked order. `coverage`, where there is a target profile, is the weighted share of its codes seen in
/// the first 1, 2, … documents.
pub fn frontier(
    relevance: &[f64],
    coverage: Option<&[f64]>,
    beta: f64,
    grid: &[usize],
) -> Vec<FrontierPoint> {
    let mut sums = Vec::with_capacity(relevance.len());
    let mut sum = 0.0;
    for value in relevance {
        sum += value;
        sums.push(sum);
    }
    let mut depths: Vec<usize> = grid.iter().map(|&k| k.min(relevance.len())).filter(|&k| k > 0).collect();
    depths.sort_unstable();
    depths.dedup();
    depths
        .into_iter()
        .map(|k| {
            let p_star = sums[k - 1] / k as f64;
            let found = if sum > 0.0 { sums[k - 1] / sum } else { 0.0 };
            let r_star = match coverage.and_then(|coverage| coverage.get(k - 1)) {
                Some(seen) => RHO * seen + (1.0 - RHO) * found,
                None => found,
            };
            FrontierPoint { k, p_star, r_star, f_beta_star: f_beta(p_star, r_star, beta) }
        })
        .collect()
}

/// `(1 + β²) · P · R / (β² · P + R)`; 0 when both are.
pub fn f_beta(precision: f64, recall: f64, beta: f64) -> f64 {
    let square = beta * beta;
    let below = square * precision + recall;
    if below > 0.0 { (1.0 + square) * precision * recall / below } else { 0.0 }
}
