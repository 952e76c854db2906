//! Kneedle: where a falling curve of scores stops falling steeply.
//!
//! Satopää, Albrecht, Irwin, Raghavan, "Finding a Kneedle in a Haystack" (2011), in the variant of the
//! `kneed` library for x = 0..n−1, curve convex, direction decreasing, no smoothing.

/// How many of these scores to keep: the knee, at least `min`, at most `max`, never more than there are.
///
/// `scores` are sorted from best to worst. Without a knee (or with one at the first score) everything up to `max` is
/// kept.
pub fn cutoff(scores: &[f64], sensitivity: f64, min: usize, max: usize) -> usize {
    let kept = knee(scores, sensitivity).filter(|&at| at > 0).unwrap_or(scores.len());
    kept.max(min).min(max).min(scores.len())
}

/// Index of the first knee of a convex decreasing curve, if it has one.
///
/// `sensitivity` is the paper's S: how far the difference curve must fall below a local maximum, in steps of x.
pub fn knee(scores: &[f64], sensitivity: f64) -> Option<usize> {
    let difference = difference_curve(scores)?;
    let last = difference.len() - 1;
    let step = 1.0 / last as f64;
    let mut active = false;
    let mut threshold = 0.0;
    let mut candidate = None;
    for i in 0..last {
        if is_extremum(&difference, i, |a, b| a >= b) {
            threshold = difference[i] - sensitivity * step;
            candidate = Some(i);
            active = true;
        }
        if candidate.is_some() && is_extremum(&difference, i, |a, b| a <= b) {
            threshold = 0.0;
            active = false;
        }
        if active && difference[i + 1] < threshold {
            return candidate;
        }
    }
    None
}

/// `(1 − normalised score) − normalised x`; `None` for fewer than two scores or a flat curve.
fn difference_curve(scores: &[f64]) -> Option<Vec<f64>> {
    let min = scores.iter().copied().fold(f64::INFINITY, f64::min);
    let max = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if scores.len() < 2 || !(max - min).is_finite() || max <= min {
        return None;
    }
    let normal: Vec<f64> = scores.iter().map(|score| (score - min) / (max - min)).collect();
    let top = normal.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let last = (scores.len() - 1) as f64;
    Some(normal.iter().enumerate().map(|(i, y)| (top - y) - i as f64 / last).collect())
}

/// Both neighbors compare; a missing neighbor does not object.
fn is_extremum(curve: &[f64], i: usize, beats: fn(&f64, &f64) -> bool) -> bool {
    let left = curve.get(i.wrapping_sub(1)).is_none_or(|left| beats(&curve[i], left));
    let right = curve.get(i + 1).is_none_or(|right| beats(&curve[i], right));
    left && right
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_step_is_a_knee() {
        let mut scores = vec![1.0, 0.5, 0.25, 0.12];
        scores.extend((0..16).map(|i| 0.1 - f64::from(i) * 0.005));
        assert_eq!(knee(&scores, 1.0), Some(3));
        assert_eq!(cutoff(&scores, 1.0, 5, 50), 5);
    }

    #[test]
    fn without_a_knee_everything_stays_up_to_the_maximum() {
        assert_eq!(cutoff(&[0.5; 80], 1.0, 3, 50), 50);
        assert_eq!(cutoff(&[0.5, 0.4], 1.0, 3, 50), 2);
        assert_eq!(cutoff(&[], 1.0, 3, 50), 0);
    }

    proptest! {
        #[test]
        fn never_panics_and_stays_in_bounds(scores in prop::collection::vec(prop::num::f64::ANY, 0..80), s in 0.0_f64..5.0) {
            prop_assert!(cutoff(&scores, s, 3, 50) <= scores.len().min(50));
        }

        #[test]
        fn scaling_the_scores_changes_nothing(scores in prop::collection::vec(0_u32..1000, 2..60)) {
            let mut scores: Vec<f64> = scores.into_iter().map(f64::from).collect();
            scores.sort_by(|a, b| b.total_cmp(a));
            // Powers of two are exact, so the two curves are the same numbers.
            let scaled: Vec<f64> = scores.iter().map(|s| s * 4.0).collect();
            prop_assert_eq!(knee(&scores, 1.0), knee(&scaled, 1.0));
        }
    }
}
