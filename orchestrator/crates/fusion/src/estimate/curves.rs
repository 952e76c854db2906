//! The grid of curves that a query's relevance may follow, with the posterior weight of each.

use super::Prior;
use lyra_domain::calibration::logistic;

/// Shifts of the grid: first, last, number.
const LEVELS: (f64, f64, u32) = (-7.0, 7.0, 43);
/// Logarithms of its factors.
const STEEPNESSES: (f64, f64, u32) = (-1.8, 1.8, 13);
/// What a judgment counts in the likelihood (a power posterior). No query follows a curve exactly, so that judgments say less about
/// documents far away than the curve claims; with 1, the intervals of queries with many relevant documents are too narrow.
const JUDGMENT: f64 = 0.7;
/// Curves that are less likely than this, together below 0.1 %, are left out.
const LEAST: f64 = 3e-6;

/// Curves `logit p = center + s + e^t · (η − center)` over a grid of s and t.
#[derive(Debug, Clone)]
pub(super) struct Curves {
    center: f64,
    log_odds: Vec<f64>,
    /// s, the factor e^t, and the weight of each curve; the weights sum to 1.
    grid: Vec<(f64, f64, f64)>,
}

impl Curves {
    pub(super) fn new(prior: &Prior, log_odds: &[f64], labels: &[Option<f64>]) -> Self {
        let judged: Vec<(f64, f64)> =
            log_odds.iter().zip(labels).filter_map(|(&eta, label)| Some((eta, (*label)?))).collect();
        let mut grid = Vec::new();
        for level in steps(LEVELS) {
            for steepness in steps(STEEPNESSES) {
                let factor = steepness.exp();
                let fit = |&(eta, relevance): &(f64, f64)| {
                    let logit = prior.center + level + factor * (eta - prior.center);
                    relevance * ln_logistic(logit) + (1.0 - relevance) * ln_logistic(-logit)
                };
                let prior = normal(level, prior.level) + normal(steepness, prior.steepness);
                grid.push((level, factor, prior + JUDGMENT * judged.iter().map(fit).sum::<f64>()));
            }
        }
        let most = grid.iter().map(|curve| curve.2).fold(f64::NEG_INFINITY, f64::max);
        for curve in &mut grid {
            curve.2 = (curve.2 - most).exp();
        }
        let all: f64 = grid.iter().map(|curve| curve.2).sum();
        grid.retain(|curve| curve.2 > LEAST * all);
        let kept: f64 = grid.iter().map(|curve| curve.2).sum();
        for curve in &mut grid {
            curve.2 /= kept;
        }
        Self { center: prior.center, log_odds: log_odds.to_vec(), grid }
    }

    /// Weight and place of each curve.
    pub(super) fn weighted(&self) -> impl Iterator<Item = (f64, usize)> + '_ {
        self.grid.iter().enumerate().map(|(at, curve)| (curve.2, at))
    }

    /// Probabilities of the documents on one curve.
    pub(super) fn probabilities(&self, curve: usize) -> impl Iterator<Item = f64> + '_ {
        let (level, factor, _) = self.grid[curve];
        self.log_odds.iter().map(move |eta| logistic(self.center + level + factor * (eta - self.center)))
    }
}

fn steps((first, last, count): (f64, f64, u32)) -> impl Iterator<Item = f64> {
    (0..count).map(move |step| first + (last - first) * f64::from(step) / f64::from(count - 1))
}

/// Logarithm of a normal density, up to a constant.
fn normal(x: f64, of: super::Normal) -> f64 {
    -0.5 * ((x - of.mean) / of.deviation).powi(2)
}

/// `ln σ(x)` without overflow.
fn ln_logistic(x: f64) -> f64 {
    if x >= 0.0 { -(-x).exp().ln_1p() } else { x - x.exp().ln_1p() }
}
