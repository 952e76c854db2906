//! The measures of SciFact's own evaluation: labels of abstracts, and sentences chosen as rationale.

use lyra_text::normalise;
use std::collections::BTreeSet;

/// Precision, recall and F1 from what was predicted, what was right, and what there was.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) right: usize,
    pub(crate) predicted: usize,
    pub(crate) gold: usize,
}

impl Counts {
    pub(crate) fn precision(self) -> f64 {
        self.right as f64 / self.predicted.max(1) as f64
    }

    pub(crate) fn recall(self) -> f64 {
        self.right as f64 / self.gold.max(1) as f64
    }

    /// `2·right / (predicted + gold)`
    pub(crate) fn f1(self) -> f64 {
        2.0 * self.right as f64 / (self.predicted + self.gold).max(1) as f64
    }

    /// ` 0.912  0.701  0.793`
    pub(crate) fn row(self) -> String {
        format!("{:.3}      {:.3}    {:.3}", self.precision(), self.recall(), self.f1())
    }
}

/// Which sentences of an abstract a window is: those that it holds at least half of, and those that hold at least half of
/// it.
pub(crate) fn sentences_of(window: &str, sentences: &[String]) -> BTreeSet<usize> {
    let squeezed =
        |text: &str| -> Vec<char> { normalise(text).chars().filter(|c| !c.is_whitespace()).collect() };
    let (mut all, mut owner) = (Vec::new(), Vec::new());
    for (i, sentence) in sentences.iter().enumerate() {
        let sentence = squeezed(sentence);
        owner.extend(std::iter::repeat_n(i, sentence.len()));
        all.extend(sentence);
    }
    let window = squeezed(window);
    if window.is_empty() {
        return BTreeSet::new();
    }
    let Some(at) = all.windows(window.len()).position(|part| part == window) else { return BTreeSet::new() };
    let covered = &owner[at..at + window.len()];
    let held = |i: usize| covered.iter().filter(|&&owner| owner == i).count();
    let whole = |i: usize| owner.iter().filter(|&&owner| owner == i).count();
    covered.iter().copied().filter(|&i| 2 * held(i) >= whole(i) || 2 * held(i) >= window.len()).collect()
}

/// Adds the chosen sentences of one abstract. A sentence is right when it belongs to a rationale of which every sentence was
/// chosen.
pub(crate) fn add_rationale(counts: &mut Counts, chosen: &BTreeSet<usize>, rationales: &[Vec<usize>]) {
    let gold: BTreeSet<usize> = rationales.iter().flatten().copied().collect();
    let complete = rationales.iter().filter(|rationale| rationale.iter().all(|s| chosen.contains(s)));
    let right: BTreeSet<usize> = complete.flatten().copied().collect();
    counts.right += right.len();
    counts.predicted += chosen.len();
    counts.gold += gold.len();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures() {
        let counts = Counts { right: 3, predicted: 4, gold: 6 };
        assert_eq!((counts.precision(), counts.recall(), counts.f1()), (0.75, 0.5, 0.6));
        assert_eq!(Counts::default().f1(), 0.0);
    }

    #[test]
    fn windows_are_found_in_their_abstract() {
        let sentences =
            ["One is  here.", "Two is here.", "Three is long and has many words."].map(str::to_owned);
        let check = |window: &str, expect: &[usize]| {
            assert_eq!(sentences_of(window, &sentences).into_iter().collect::<Vec<_>>(), expect, "{window}");
        };
        check("Two is here.", &[1]);
        check("One is here. Two is here.", &[0, 1]);
        check("has many words.", &[2]);
        check("Four is here.", &[]);
        check("", &[]);
    }

    #[test]
    fn a_rationale_counts_as_a_whole() {
        let check = |chosen: &[usize], rationales: &[Vec<usize>], expect: (usize, usize, usize)| {
            let mut counts = Counts::default();
            add_rationale(&mut counts, &chosen.iter().copied().collect(), rationales);
            assert_eq!((counts.right, counts.predicted, counts.gold), expect);
        };
        check(&[1, 2], &[vec![1]], (1, 2, 1));
        check(&[1], &[vec![1, 2]], (0, 1, 2));
        check(&[1, 2], &[vec![1, 2], vec![5]], (2, 2, 3));
        check(&[], &[vec![3]], (0, 0, 1));
    }
}
