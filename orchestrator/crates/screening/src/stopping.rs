//! When screening may stop: the test by Callaghan and Müller-Hansen (Statistical stopping criteria for automated screening
//! in systematic reviews, Systematic Reviews 9:273, 2020).
//!
//! The documents screened since some point are taken as a random sample of those that were unscreened then. They are not one:
//! they were the most promising ones, so that the sample holds more relevant documents than a random one, and the test
//! says "not yet" more often than it had to. It is made for the points after each included document, and the smallest
//! probability counts.

/// The recall that the test is about.
pub const TARGET: f64 = 0.95;

/// What the decisions say about stopping.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stopping {
    /// Excluded documents since the last included one.
    pub excluded_in_a_row: usize,
    /// The probability of so few included documents, were the recall below [`TARGET`]; 1 before the first decision.
    pub p_value: f64,
}

/// Tests the decisions, in their order, about some of `documents`.
pub fn stopping(included: &[bool], documents: usize) -> Stopping {
    let found = included.iter().filter(|is| **is).count();
    let excluded_in_a_row = included.iter().rev().take_while(|is| !**is).count();
    // Were the recall just below the target, at least so many would be unscreened.
    let missed = (found as f64 / TARGET).floor() as usize + 1 - found;
    let sampled = Samples::new(included, documents);
    Stopping { excluded_in_a_row, p_value: sampled.p_value(missed) }
}

/// The most relevant documents that may be unscreened, were each screened document after some point drawn at random: more
/// are refused by the test at this level.
pub(crate) fn most_missed(included: &[bool], documents: usize, level: f64) -> usize {
    let sampled = Samples::new(included, documents);
    let (mut held, mut refused) = (0, documents.saturating_sub(included.len()) + 1);
    while refused - held > 1 {
        let middle = held.midpoint(refused);
        if sampled.p_value(middle) >= level { held = middle } else { refused = middle }
    }
    held
}

/// The samples that the decisions are taken for, each from after an included document to the end.
struct Samples {
    logs: Vec<f64>,
    /// Unscreened documents before the sample, its size, and the included ones in it.
    all: Vec<(usize, usize, usize)>,
}

impl Samples {
    fn new(included: &[bool], documents: usize) -> Self {
        let documents = documents.max(included.len());
        let mut logs = vec![0.0; documents + 1];
        for n in 1..=documents {
            logs[n] = logs[n - 1] + (n as f64).ln();
        }
        let found = included.iter().filter(|is| **is).count();
        let mut all = vec![(documents, included.len(), found)];
        let mut before = 0;
        for (at, _) in included.iter().enumerate().filter(|(_, is)| **is) {
            before += 1;
            all.push((documents - at - 1, included.len() - at - 1, found - before));
        }
        all.retain(|(_, size, _)| *size > 0);
        Self { logs, all }
    }

    /// The smallest probability over all samples of no more included documents than there were, if `missed` relevant ones
    /// are unscreened.
    fn p_value(&self, missed: usize) -> f64 {
        let of =
            |&(pool, size, found): &(usize, usize, usize)| self.at_most(found, pool, found + missed, size);
        self.all.iter().map(of).fold(1.0, f64::min)
    }

    /// The probability of at most `found` of `relevant` in `size` of `pool` drawn without replacement.
    fn at_most(&self, found: usize, pool: usize, relevant: usize, size: usize) -> f64 {
        if relevant > pool {
            return 0.0;
        }
        let least = (size + relevant).saturating_sub(pool);
        let chance = |x: usize| {
            (self.choose(relevant, x) + self.choose(pool - relevant, size - x) - self.choose(pool, size))
                .exp()
        };
        (least..=found.min(size).min(relevant)).map(chance).sum::<f64>().min(1.0)
    }

    /// The logarithm of a binomial coefficient.
    fn choose(&self, n: usize, k: usize) -> f64 {
        self.logs[n] - self.logs[k] - self.logs[n - k]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_test_is_the_hypergeometric_one() {
        let samples = Samples::new(&[], 50);
        // 10 of 50 drawn, 5 relevant: scipy.stats.hypergeom.cdf(1, 50, 5, 10) = 0.7419…
        assert!((samples.at_most(1, 50, 5, 10) - 0.741_9).abs() < 1e-3, "{}", samples.at_most(1, 50, 5, 10));
        assert!((samples.at_most(5, 50, 5, 10) - 1.0).abs() < 1e-12);
        assert_eq!(samples.at_most(1, 50, 51, 10), 0.0);
    }

    #[test]
    fn nothing_screened_says_nothing_and_everything_screened_says_all() {
        assert_eq!(stopping(&[], 10), Stopping { excluded_in_a_row: 0, p_value: 1.0 });
        let all = [true, false, true, false, false];
        assert_eq!(stopping(&all, 5), Stopping { excluded_in_a_row: 2, p_value: 0.0 });
        assert_eq!(most_missed(&all, 5, 0.05), 0);
        assert_eq!(most_missed(&[], 10, 0.05), 10);
    }

    #[test]
    fn many_excluded_documents_after_the_last_included_one_lower_the_probability() {
        let run = |excluded: usize| {
            let mut labels = vec![true; 10];
            labels.extend(vec![false; excluded]);
            stopping(&labels, 500).p_value
        };
        assert!(run(10) > run(100) && run(100) > run(450), "{} {} {}", run(10), run(100), run(450));
        assert!(run(485) < 0.05);
    }
}
