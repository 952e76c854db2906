//! How many of the relevant documents have been found.
//!
//! The estimate takes the included documents for a Poisson process whose rate falls exponentially with the number
//! of screened documents (Sneyd and Stevenson, Stopping Criteria for Technology Assisted Reviews based on Counting
//! Processes, SIGIR 2021). The lower bound inverts the test of [`crate::stopping()`]. An upper bound below 1 was
//! measured and was wrong too often (`docs/screening.md`), so Lyra states none.

use crate::stopping::most_missed;

/// Level of the test for each of its samples. Taking the smallest of several probabilities costs some of it, and an order
/// that is better than a random one gains more: `docs/screening.md` says how often the bound held.
const LEVEL: f64 = 0.05;
/// Decisions and included documents without which there is no estimate.
const LEAST_DECIDED: usize = 20;
const LEAST_FOUND: usize = 3;

/// What is known about the recall.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Recall {
    /// The estimated share of the relevant documents that was found, 0 to 1; `None` while too little was decided.
    pub estimate: Option<f64>,
    /// The share is at least this, at 95 % confidence.
    pub at_least: f64,
}

/// Estimates the recall of decisions, in their order, about some of `documents`. `None` before the first included one.
pub fn estimate(included: &[bool], documents: usize) -> Option<Recall> {
    let found = included.iter().filter(|is| **is).count() as f64;
    if found == 0.0 {
        return None;
    }
    let most = most_missed(included, documents, LEVEL) as f64;
    let at_least = found / (found + most);
    let enough = included.len() >= LEAST_DECIDED && found as usize >= LEAST_FOUND;
    let estimate = enough.then(|| found / (found + missed(included, documents).min(most)));
    Some(Recall { estimate, at_least })
}

/// The included documents to be expected among the unscreened ones.
fn missed(included: &[bool], documents: usize) -> f64 {
    let (screened, all) = (included.len() as f64, documents.max(included.len()) as f64);
    let places = included.iter().enumerate().filter(|(_, is)| **is).map(|(at, _)| at as f64 + 0.5);
    let (found, sum) = places.fold((0.0, 0.0), |(found, sum), place| (found + 1.0, sum + place));
    let mean = sum / found;
    if mean >= screened / 2.0 * 0.999 {
        // The rate does not fall.
        return found * (all - screened) / screened;
    }
    // The fall under which the mean place is the observed one: the maximum of the likelihood.
    let expected = |fall: f64| 1.0 / fall - screened / ((fall * screened).exp() - 1.0);
    let (mut slow, mut fast) = (1e-9 / screened, 50.0 / screened * found.max(1.0));
    for _ in 0..100 {
        let middle = slow.midpoint(fast);
        if expected(middle) > mean { slow = middle } else { fast = middle }
    }
    let fall = slow.midpoint(fast);
    found / (1.0 - (-fall * screened).exp()) * ((-fall * screened).exp() - (-fall * all).exp())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_steady_rate_goes_on_and_a_falling_one_ends() {
        let steady: Vec<bool> = (0..100).map(|at| at % 10 == 5).collect();
        let recall = estimate(&steady, 200).and_then(|recall| recall.estimate).unwrap_or_default();
        assert!((recall - 0.5).abs() < 0.05, "{recall}");
        let falling: Vec<bool> = (0..100).map(|at| at < 12 || at == 20).collect();
        let recall = estimate(&falling, 200).and_then(|recall| recall.estimate).unwrap_or_default();
        assert!(recall > 0.999, "{recall}");
        assert_eq!(estimate(&[false, false], 9), None);
        let early = estimate(&[true, false], 9).expect("one was included");
        assert!(early.estimate.is_none() && early.at_least < 0.2);
        let all = estimate(&[true, false, true], 3).expect("some were included");
        assert_eq!(all.at_least, 1.0);
    }

    proptest! {
        #[test]
        fn recalls_are_shares(included in prop::collection::vec(any::<bool>(), 0..80), open in 0..200_usize) {
            if let Some(recall) = estimate(&included, included.len() + open) {
                prop_assert!((0.0..=1.0).contains(&recall.at_least));
                if let Some(estimate) = recall.estimate {
                    prop_assert!((recall.at_least - 1e-9..=1.0 + 1e-9).contains(&estimate), "{recall:?}");
                }
            }
        }
    }
}
