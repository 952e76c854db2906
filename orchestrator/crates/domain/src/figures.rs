//! How good answers are: figures of labeled claims, with intervals.
//!
//! Every answer is one passage judged against one claim. Passages of one claim are not independent samples: intervals
//! of F1 resample claims, not passages.

mod counts;
mod interval;

pub use counts::{Counts, Tally};
pub use interval::{Estimate, Share, bootstrap, wilson};

use crate::calibration::CalibrationMetrics;
use crate::{CalibrationSample, NliScores, Relation};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Confidences at which coverage and risk are stated.
pub const THRESHOLDS: [f64; 7] = [0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95];

/// The relation of a passage to a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Label {
    /// The passage supports the claim.
    #[serde(rename = "SUPPORT")]
    Support,
    /// The passage contradicts the claim.
    #[serde(rename = "REFUTE")]
    Refute,
    /// Not enough information: neither.
    #[serde(rename = "NEI")]
    Neutral,
}

impl Label {
    /// All three, in the order of tables.
    pub const ALL: [Self; 3] = [Self::Support, Self::Refute, Self::Neutral];

    /// Its name in labeled files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Support => "SUPPORT",
            Self::Refute => "REFUTE",
            Self::Neutral => "NEI",
        }
    }

    /// Whether it takes a side.
    pub fn is_side(self) -> bool {
        self != Self::Neutral
    }

    /// The corresponding relation of an edge.
    pub fn relation(self) -> Relation {
        match self {
            Self::Support => Relation::Supports,
            Self::Refute => Relation::Refutes,
            Self::Neutral => Relation::Neutral,
        }
    }
}

impl From<Relation> for Label {
    /// The label of a relation; all but the two sides are neutral.
    fn from(relation: Relation) -> Self {
        match relation {
            Relation::Supports => Self::Support,
            Relation::Refutes => Self::Refute,
            Relation::Neutral | Relation::Origin | Relation::Cites => Self::Neutral,
        }
    }
}

/// One labeled passage and the model's judgment of it.
#[derive(Debug, Clone, PartialEq)]
pub struct LabeledAnswer {
    /// The right label.
    pub gold: Label,
    /// The label given; [`Label::Neutral`] when the passage was not judged.
    pub said: Label,
    /// Probabilities of the three labels; `None` when the passage was not judged.
    pub scores: Option<NliScores>,
    /// Probability of `said`, in 0..=1; 0 when the passage was not judged.
    pub confidence: f64,
    /// The claim that it belongs to: any number shared by its passages.
    pub claim: usize,
    /// Kind of the claim, where the labeled file states one.
    pub kind: Option<String>,
    /// Numbers of the sentences named as deciding; only the first three count toward a whole rationale.
    pub chosen: Vec<usize>,
    /// Sets of sentences, each of which suffices; `None` when the labeled file has no sentences for this passage.
    pub rationales: Option<Vec<Vec<usize>>>,
}

/// Figures of some answers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figures {
    /// Answers.
    pub n: usize,
    /// Claims among them.
    pub claims: usize,
    /// How many of them were not judged: empty, in an unsupported language, or with a claim that is too long.
    pub not_judged: usize,
    /// Right labels among the three.
    pub accuracy: Share,
    /// What always giving the most frequent label would reach.
    pub majority: Majority,
    /// Precision, recall and F1 of both sides together.
    pub sides: Scored,
    /// The same per label.
    pub labels: BTreeMap<&'static str, Scored>,
    /// Mean F1 of the three labels.
    pub macro_f1: Estimate,
    /// Answers by right label (rows) and label given (columns), both in the order of [`Label::ALL`].
    pub confusion: [[usize; 3]; 3],
    /// Per kind of claim; empty when the file has none.
    pub kinds: BTreeMap<String, Kind>,
    /// Claims with several passages that are all right; `None` when every claim has one passage.
    pub groups: Option<Share>,
    /// Rationale sentences; `None` when the file has none.
    pub rationale: Option<Rationale>,
    /// Calibration of the probabilities of judged passages.
    pub calibration: CalibrationMetrics,
    /// How many answers remain, and how many of them are wrong, when those below a confidence are dropped.
    pub risk: Vec<Risk>,
}

/// The most frequent label.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Majority {
    /// Which.
    pub label: Label,
    /// Accuracy of always giving it.
    pub accuracy: Share,
}

/// Precision, recall and F1 with their 95 % intervals.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Scored {
    /// What the numbers count.
    pub counts: Counts,
    /// Right of predicted.
    pub precision: Share,
    /// Right of gold.
    pub recall: Share,
    /// Harmonic mean of both.
    pub f1: Estimate,
}

/// Figures of one kind of claim.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Kind {
    /// Right labels among the three.
    pub accuracy: Share,
    /// F1 of the sides; `None` if the kind has no sides in labels or predictions.
    pub f1: Option<f64>,
}

/// Sentences chosen as rationale, as SciFact's scorer counts them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Rationale {
    /// Sentences; right when every sentence of their rationale was chosen.
    pub sentences: Scored,
    /// Correct sentences whose passage has the right label.
    pub with_label: Scored,
}

/// What remains at a least confidence.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Risk {
    /// Least probability of the label given, in 0..=1.
    pub threshold: f64,
    /// Answers that reach it, of all.
    pub coverage: Share,
    /// Wrong ones among these.
    pub risk: Share,
    /// Predicted sides that reach it, among all answers.
    pub sides: Share,
    /// Wrong ones among these.
    pub sides_risk: Share,
}

impl Figures {
    /// Figures for answers. The same seed draws the same resamples.
    pub fn of(answers: &[LabeledAnswer], seed: u64) -> Self {
        let n = answers.len();
        let by_claim = by_claim(answers);
        let tallies: Vec<Tally> =
            by_claim.values().map(|answers| answers.iter().map(|answer| Tally::of(answer)).sum()).collect();
        let all: Tally = tallies.iter().copied().sum();
        let scored = |counts: fn(&Tally) -> Counts| Scored::of(&tallies, counts, seed);
        let right = answers.iter().filter(|answer| answer.is_right()).count();
        let mut confusion = [[0; 3]; 3];
        for answer in answers {
            confusion[answer.gold as usize][answer.said as usize] += 1;
        }
        let samples: Vec<CalibrationSample> = answers
            .iter()
            .filter_map(|answer| CalibrationSample::new(answer.scores?, answer.gold.relation()))
            .collect();
        Self {
            n,
            claims: by_claim.len(),
            not_judged: n - samples.len(),
            accuracy: wilson(right, n),
            majority: Majority::of(answers),
            sides: scored(Tally::sides),
            labels: BTreeMap::from([
                (Label::Support.name(), scored(|tally| tally.labels[0])),
                (Label::Refute.name(), scored(|tally| tally.labels[1])),
                (Label::Neutral.name(), scored(|tally| tally.labels[2])),
            ]),
            macro_f1: bootstrap(&tallies, Tally::macro_f1, seed),
            confusion,
            kinds: kinds(answers),
            groups: groups(&by_claim),
            rationale: (all.sentences.gold > 0).then(|| Rationale {
                sentences: scored(|tally| tally.sentences),
                with_label: scored(|tally| tally.sentences_with_label),
            }),
            calibration: CalibrationMetrics::of(&samples, None),
            risk: THRESHOLDS.iter().map(|&threshold| Risk::at(threshold, answers)).collect(),
        }
    }
}

impl LabeledAnswer {
    /// Whether the label given is the right one.
    pub fn is_right(&self) -> bool {
        self.gold == self.said
    }
}

impl Majority {
    fn of(answers: &[LabeledAnswer]) -> Self {
        let count = |label: Label| answers.iter().filter(|answer| answer.gold == label).count();
        let (mut label, mut most) = (Label::Neutral, count(Label::Neutral));
        for side in [Label::Support, Label::Refute] {
            if count(side) > most {
                (label, most) = (side, count(side));
            }
        }
        Self { label, accuracy: wilson(most, answers.len()) }
    }
}

impl Scored {
    /// Figures for the counts that `counts` extracts from the tally of every claim.
    pub fn of(tallies: &[Tally], counts: fn(&Tally) -> Counts, seed: u64) -> Self {
        let all = counts(&tallies.iter().copied().sum());
        Self {
            counts: all,
            precision: wilson(all.right, all.predicted),
            recall: wilson(all.right, all.gold),
            f1: bootstrap(tallies, |tally| counts(tally).f1(), seed),
        }
    }
}

impl Risk {
    fn at(threshold: f64, answers: &[LabeledAnswer]) -> Self {
        let kept: Vec<&LabeledAnswer> =
            answers.iter().filter(|a| a.scores.is_some() && a.confidence >= threshold).collect();
        let wrong = |answers: &[&LabeledAnswer]| answers.iter().filter(|answer| !answer.is_right()).count();
        let sides: Vec<&LabeledAnswer> =
            kept.iter().copied().filter(|answer| answer.said.is_side()).collect();
        Self {
            threshold,
            coverage: wilson(kept.len(), answers.len()),
            risk: wilson(wrong(&kept), kept.len()),
            sides: wilson(sides.len(), answers.len()),
            sides_risk: wilson(wrong(&sides), sides.len()),
        }
    }
}

fn by_claim(answers: &[LabeledAnswer]) -> BTreeMap<usize, Vec<&LabeledAnswer>> {
    let mut by_claim: BTreeMap<usize, Vec<&LabeledAnswer>> = BTreeMap::new();
    for answer in answers {
        by_claim.entry(answer.claim).or_default().push(answer);
    }
    by_claim
}

fn kinds(answers: &[LabeledAnswer]) -> BTreeMap<String, Kind> {
    let kinds: BTreeSet<&String> = answers.iter().filter_map(|answer| answer.kind.as_ref()).collect();
    kinds
        .into_iter()
        .map(|kind| {
            let of: Vec<&LabeledAnswer> = answers.iter().filter(|a| a.kind.as_ref() == Some(kind)).collect();
            let right = of.iter().filter(|answer| answer.is_right()).count();
            let sides = of.iter().map(|answer| Tally::of(answer)).sum::<Tally>().sides();
            let f1 = (sides.predicted + sides.gold > 0).then(|| sides.f1());
            (kind.clone(), Kind { accuracy: wilson(right, of.len()), f1 })
        })
        .collect()
}

fn groups(by_claim: &BTreeMap<usize, Vec<&LabeledAnswer>>) -> Option<Share> {
    let several: Vec<&Vec<&LabeledAnswer>> = by_claim.values().filter(|answers| answers.len() > 1).collect();
    let whole = several.iter().filter(|answers| answers.iter().all(|answer| answer.is_right())).count();
    (!several.is_empty()).then(|| wilson(whole, several.len()))
}

#[cfg(test)]
mod tests;
