//! Platt's logistic curve, fitted by Newton's method as in Lin, Lin, Weng 2007, "A note on Platt's probabilistic
//! outputs for support vector machines".

use super::{CalibrationSample, FLOOR, PlattCurve, probabilities};

const MAX_ROUNDS: usize = 200;
/// Newton's method ends when both derivatives are below this.
const GRADIENT: f64 = 1e-10;
/// Keeps the Hessian invertible when all scores are the same.
const RIDGE: f64 = 1e-12;

/// Log odds of a probability, finite for 0 and 1.
pub(super) fn logit(p: f64) -> f64 {
    p.max(FLOOR).ln() - (1.0 - p).max(f64::EPSILON / 2.0).ln()
}

/// The logistic function, without overflow.
pub(super) fn sigmoid(x: f64) -> f64 {
    if x >= 0.0 { 1.0 / (1.0 + (-x).exp()) } else { x.exp() / (1.0 + x.exp()) }
}

/// The curve of one class against the others. Targets are `(n₊+1)/(n₊+2)` and `1/(n₋+2)` instead of 1 and 0, so that
/// few or perfectly separated samples do not give an infinite slope.
pub(super) fn fit(samples: &[CalibrationSample], class: usize) -> PlattCurve {
    if samples.is_empty() {
        return PlattCurve { slope: 1.0, intercept: 0.0 };
    }
    let positives = samples.iter().filter(|sample| sample.label == class).count() as f64;
    let negatives = samples.len() as f64 - positives;
    let (high, low) = ((positives + 1.0) / (positives + 2.0), 1.0 / (negatives + 2.0));
    let points: Vec<(f64, f64)> = samples
        .iter()
        .map(|s| (logit(probabilities(s.scores)[class]), if s.label == class { high } else { low }))
        .collect();
    newton(&points, ((positives + 1.0) / (negatives + 1.0)).ln())
}

/// The curve over any feature, for labels in [0, 1] that may be between: Platt's smoothed targets, mixed in the label's
/// proportion.
pub(super) fn fit_points(points: &[(f64, f64)]) -> PlattCurve {
    let positives: f64 = points.iter().map(|(_, label)| label).sum();
    let negatives = points.len() as f64 - positives;
    let (high, low) = ((positives + 1.0) / (positives + 2.0), 1.0 / (negatives + 2.0));
    let points: Vec<(f64, f64)> =
        points.iter().map(|&(feature, label)| (feature, label * high + (1.0 - label) * low)).collect();
    newton(&points, ((positives + 1.0) / (negatives + 1.0)).ln())
}

/// Least cross-entropy over features and targets, from a slope of 0 and this intercept.
fn newton(points: &[(f64, f64)], mut intercept: f64) -> PlattCurve {
    let mut slope = 0.0;
    let mut loss = loss_of(points, slope, intercept);
    for _ in 0..MAX_ROUNDS {
        let (mut g1, mut g2, mut h11, mut h12, mut h22) = (0.0, 0.0, RIDGE, 0.0, RIDGE);
        for &(f, target) in points {
            let p = sigmoid(slope * f + intercept);
            let (error, weight) = (p - target, p * (1.0 - p));
            g1 += error * f;
            g2 += error;
            h11 += weight * f * f;
            h12 += weight * f;
            h22 += weight;
        }
        if g1.abs() < GRADIENT && g2.abs() < GRADIENT {
            break;
        }
        let determinant = h11 * h22 - h12 * h12;
        let (d1, d2) = ((h12 * g2 - h22 * g1) / determinant, (h12 * g1 - h11 * g2) / determinant);
        // The step is halved until it gains something.
        let mut step = 1.0;
        let next = loop {
            let candidate = loss_of(points, slope + step * d1, intercept + step * d2);
            if candidate < loss {
                break Some(candidate);
            }
            step /= 2.0;
            if step < 1e-10 {
                break None;
            }
        };
        let Some(next) = next else { break };
        slope += step * d1;
        intercept += step * d2;
        loss = next;
    }
    PlattCurve { slope, intercept }
}

/// Cross-entropy with the targets.
fn loss_of(points: &[(f64, f64)], slope: f64, intercept: f64) -> f64 {
    points
        .iter()
        .map(|&(f, target)| {
            let x = slope * f + intercept;
            // ln(1 + e^x) − target·x, without overflow.
            x.max(0.0) + (-x.abs()).exp().ln_1p() - target * x
        })
        .sum()
}
