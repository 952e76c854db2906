//! 95 % intervals.

use super::Tally;
use serde::Serialize;

/// Resamples of a bootstrap.
const RESAMPLES: usize = 1000;
/// The normal distribution's 97.5 % quantile.
const Z: f64 = 1.959_963_984_540_054;

/// Some of many, with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Share {
    /// How many.
    pub count: usize,
    /// Of how many.
    pub of: usize,
    /// `count / of`, in 0..=1; 0 when `of` is 0.
    pub value: f64,
    /// Lower end, in 0..=1.
    pub low: f64,
    /// Upper end, in 0..=1; 1 when `of` is 0.
    pub high: f64,
}

/// A number with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// The number.
    pub value: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// A share with Wilson's score interval (Wilson 1927), which takes trials as independent.
pub fn wilson(count: usize, of: usize) -> Share {
    if of == 0 {
        return Share { count, of, value: 0.0, low: 0.0, high: 1.0 };
    }
    let n = of as f64;
    let p = count as f64 / n;
    let z2 = Z * Z;
    let middle = (p + z2 / (2.0 * n)) / (1.0 + z2 / n);
    let half = Z / (1.0 + z2 / n) * (p * (1.0 - p) / n + z2 / (4.0 * n * n)).sqrt();
    // At 0 and 1, rounding must not move an end past the share.
    let (low, high) = ((middle - half).clamp(0.0, p), (middle + half).clamp(p, 1.0));
    Share { count, of, value: p, low, high }
}

/// A statistic of claims with the percentile interval of 1,000 resamples, drawn with replacement. The same seed draws the
/// same resamples.
pub fn bootstrap(claims: &[Tally], statistic: impl Fn(&Tally) -> f64, seed: u64) -> Estimate {
    let value = statistic(&claims.iter().copied().sum());
    if claims.is_empty() {
        return Estimate { value, low: value, high: value };
    }
    let mut random = fastrand::Rng::with_seed(seed);
    let mut drawn: Vec<f64> = (0..RESAMPLES)
        .map(|_| statistic(&(0..claims.len()).map(|_| claims[random.usize(..claims.len())]).sum()))
        .collect();
    drawn.sort_by(f64::total_cmp);
    Estimate { value, low: drawn[RESAMPLES / 40], high: drawn[RESAMPLES - 1 - RESAMPLES / 40] }
}
