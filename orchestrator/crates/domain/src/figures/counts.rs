//! Predicted, correct and actual counts.

use super::{Label, LabeledAnswer};
use serde::Serialize;
use std::collections::BTreeSet;
use std::iter::Sum;
use std::ops::Add;

/// The inputs of precision, recall and F1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Predicted and right.
    pub right: usize,
    /// Predicted.
    pub predicted: usize,
    /// There in truth.
    pub gold: usize,
}

impl Counts {
    /// One prediction that may be right, or one truth that was or was not found.
    pub fn one(predicted: bool, gold: bool, right: bool) -> Self {
        Self { right: right.into(), predicted: predicted.into(), gold: gold.into() }
    }

    /// Right of predicted, 0 without any.
    pub fn precision(self) -> f64 {
        self.right as f64 / self.predicted.max(1) as f64
    }

    /// Right of gold, 0 without any.
    pub fn recall(self) -> f64 {
        self.right as f64 / self.gold.max(1) as f64
    }

    /// `2·right / (predicted + gold)`, 0 without any.
    pub fn f1(self) -> f64 {
        2.0 * self.right as f64 / (self.predicted + self.gold).max(1) as f64
    }

    /// The sentences chosen from one passage. A sentence is right when all sentences of its rationale were chosen
    /// (SciFact: Wadden et al. 2020, section 5).
    pub fn of_sentences(chosen: &[usize], rationales: &[Vec<usize>]) -> Self {
        let chosen: BTreeSet<usize> = chosen.iter().copied().collect();
        let gold: BTreeSet<usize> = rationales.iter().flatten().copied().collect();
        let complete = rationales.iter().filter(|rationale| rationale.iter().all(|s| chosen.contains(s)));
        let right: BTreeSet<usize> = complete.flatten().copied().collect();
        Self { right: right.len(), predicted: chosen.len(), gold: gold.len() }
    }
}

impl Add for Counts {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            right: self.right + other.right,
            predicted: self.predicted + other.predicted,
            gold: self.gold + other.gold,
        }
    }
}

/// Everything that is counted of one claim. Tallies add up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Per label, in the order of [`Label::ALL`].
    pub labels: [Counts; 3],
    /// Rationale sentences.
    pub sentences: Counts,
    /// Rationale sentences; right only where the label is.
    pub sentences_with_label: Counts,
    /// Sides; right only where a whole rationale is among the first three sentences chosen.
    pub sides_with_rationale: Counts,
}

/// Sentences of a passage that SciFact's scorer considers when it requires a whole rationale.
const SENTENCES_SCORED: usize = 3;

impl Tally {
    /// Counts one answer. Without sentences in the labeled file only its label counts.
    pub fn of(answer: &LabeledAnswer) -> Self {
        let is_right = answer.is_right();
        let labels = Label::ALL.map(|label| {
            Counts::one(answer.said == label, answer.gold == label, is_right && answer.gold == label)
        });
        let Some(rationales) = &answer.rationales else { return Self { labels, ..Self::default() } };
        let sentences = Counts::of_sentences(&answer.chosen, rationales);
        let first = &answer.chosen[..answer.chosen.len().min(SENTENCES_SCORED)];
        let whole = rationales.iter().any(|rationale| rationale.iter().all(|s| first.contains(s)));
        let is_side_right = is_right && answer.gold.is_side() && whole;
        Self {
            labels,
            sentences,
            sentences_with_label: if is_right { sentences } else { Counts { right: 0, ..sentences } },
            sides_with_rationale: Counts::one(answer.said.is_side(), answer.gold.is_side(), is_side_right),
        }
    }

    /// Both sides together.
    pub fn sides(&self) -> Counts {
        self.labels[0] + self.labels[1]
    }

    /// Mean F1 of the three labels.
    pub fn macro_f1(&self) -> f64 {
        self.labels.iter().map(|counts| counts.f1()).sum::<f64>() / 3.0
    }
}

impl Add for Tally {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            labels: std::array::from_fn(|i| self.labels[i] + other.labels[i]),
            sentences: self.sentences + other.sentences,
            sentences_with_label: self.sentences_with_label + other.sentences_with_label,
            sides_with_rationale: self.sides_with_rationale + other.sides_with_rationale,
        }
    }
}

impl Sum for Tally {
    fn sum<I: Iterator<Item = Self>>(tallies: I) -> Self {
        tallies.fold(Self::default(), Add::add)
    }
}
