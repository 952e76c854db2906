//! How many of the first documents are relevant: a posterior that a few judgments shift, with intervals.
//!
//! A document's ranks give its log odds up to two numbers that differ from query to query: how much there is to find, and how
//! fast it thins out. Both have a prior that was fitted to judged collections (`config/relevance.yaml`); judgments of a
//! query's documents narrow them. Without judgments, the intervals are wide: nothing in the ranks tells a query with one
//! relevant document from a query with fifty.

mod curves;
mod draws;
mod next;
mod paired;

pub use next::{Proposal, proposed, stratified};
pub use paired::{Pair, Paired, paired};

use crate::pool::Pool;
use curves::Curves;
use serde::{Deserialize, Serialize};

/// Fewest judged documents from which a depth is named.
pub const LABELS_FOR_DEPTH: usize = 10;

/// A normal distribution.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Normal {
    /// Its mean.
    pub mean: f64,
    /// Its standard deviation, above 0.
    pub deviation: f64,
}

/// What is known of relevance before any judgment.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prior {
    /// Log odds of a document whose mean logarithm of ranks is 0.
    pub intercept: f64,
    /// By how much they fall with that mean.
    pub slope: f64,
    /// Added to each rank before the logarithm.
    pub offset: f64,
    /// The rank in a lane that does not have the document.
    pub absent: f64,
    /// Log odds around which queries differ in steepness.
    pub center: f64,
    /// Shift of a query's log odds.
    pub level: Normal,
    /// Logarithm of the factor by which its log odds are steeper.
    pub steepness: Normal,
}

impl Prior {
    /// The log odds η of every document of a pool: `intercept − slope · Σ w · ln(rank + offset) / Σ w` over the lanes. Lanes
    /// without a weight do not count; without any weight, all count the same.
    pub fn log_odds(&self, pool: &Pool<'_>, weights: &[f64]) -> Vec<f64> {
        let total = sorted_sum(weights.iter().copied());
        let even = vec![1.0; weights.len()];
        let (weights, total) =
            if total > 0.0 { (weights, total) } else { (&even[..], weights.len().max(1) as f64) };
        let of = |doc: usize| {
            let logs = pool.ranks(doc).iter().zip(weights).map(|(&rank, weight)| {
                let rank = if rank == 0 { self.absent } else { f64::from(rank) };
                weight * (rank + self.offset).ln()
            });
            self.intercept - self.slope * sorted_sum(logs) / total
        };
        (0..pool.len()).map(of).collect()
    }
}

/// The sum, whatever the order of the values.
fn sorted_sum(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_unstable_by(f64::total_cmp);
    values.iter().sum()
}

/// A number with a 90 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Interval {
    /// Expected value.
    pub mean: f64,
    /// 5 % are below it.
    pub low: f64,
    /// 5 % are above it.
    pub high: f64,
}

/// What to expect after reading to a depth.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Expected {
    /// Documents read.
    pub k: usize,
    /// Share of them that is relevant.
    pub precision: Interval,
    /// Their share of the relevant documents of the pool.
    pub recall: Interval,
    /// Fβ of the two.
    pub f_beta: Interval,
}

/// Depths of which one has the highest Fβ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Depths {
    /// It is less deep with a probability of 5 %.
    pub from: usize,
    /// It is deeper with a probability of 5 %.
    pub to: usize,
    /// The depth with the highest expected Fβ.
    pub middle: usize,
}

/// Estimates of a ranking.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Judged documents of the pool.
    pub labels: usize,
    /// Relevant documents of the pool.
    pub relevant: Interval,
    /// Where to stop; `None` with fewer than [`LABELS_FOR_DEPTH`] judged documents.
    pub depths: Option<Depths>,
    /// By depth.
    pub points: Vec<Expected>,
    /// After reading to `depths.middle`.
    pub at_middle: Option<Expected>,
}

/// The posterior of a ranking's relevance.
#[derive(Debug, Clone)]
pub struct Posterior {
    curves: Curves,
    /// In ranked order: what a document was judged to be, 0 to 1.
    labels: Vec<Option<f64>>,
}

impl Posterior {
    /// From the log odds of documents in ranked order, and judgments as places with a relevance from 0 to 1. A document that is
    /// half relevant counts as half a judgment for and half against.
    pub fn new(prior: &Prior, log_odds: &[f64], judged: &[(usize, f64)]) -> Self {
        let mut labels = vec![None; log_odds.len()];
        for &(place, relevance) in judged {
            if let Some(label) = labels.get_mut(place) {
                *label = Some(relevance.clamp(0.0, 1.0));
            }
        }
        Self { curves: Curves::new(prior, log_odds, &labels), labels }
    }

    /// The probability that each document is relevant; a judged one is what it was judged to be.
    pub fn probabilities(&self) -> Vec<f64> {
        let mut mean = vec![0.0; self.labels.len()];
        for (weight, curve) in self.curves.weighted() {
            for (sum, relevance) in mean.iter_mut().zip(self.relevance(curve)) {
                *sum += weight * relevance;
            }
        }
        mean
    }

    /// Estimates for the depths of `grid`; depths beyond the ranking collapse to its length. `beta` weighs recall against
    /// precision. The same ranking with the same judgments has the same estimates.
    pub fn estimate(&self, beta: f64, grid: &[usize]) -> Estimate {
        let mut depths: Vec<usize> =
            grid.iter().map(|&k| k.min(self.labels.len())).filter(|&k| k > 0).collect();
        let labels = self.labels.iter().flatten().count();
        let middle = (labels >= LABELS_FOR_DEPTH).then(|| self.best_depth(beta)).flatten();
        depths.extend(middle);
        depths.sort_unstable();
        depths.dedup();
        let draws = draws::draw(self, beta, &depths);
        let expected = |at: usize| {
            let column = |values: &[Vec<f64>]| draws::interval(values.iter().map(|draw| draw[at]));
            Expected {
                k: depths[at],
                precision: column(&draws.precision),
                recall: column(&draws.recall),
                f_beta: column(&draws.f_beta),
            }
        };
        let mut points: Vec<Expected> = (0..depths.len()).map(expected).collect();
        let at_middle = points.iter().find(|point| Some(point.k) == middle).copied();
        points.retain(|point| grid.iter().any(|&k| k.min(self.labels.len()) == point.k));
        Estimate {
            labels,
            relevant: draws::interval(draws.relevant.iter().copied()),
            depths: middle.map(|middle| {
                let best = draws::interval(draws.best.iter().map(|&k| k as f64));
                let (from, to) = (best.low.round() as usize, best.high.round() as usize);
                Depths { from: from.min(middle), to: to.max(middle), middle }
            }),
            points,
            at_middle,
        }
    }

    /// The depth with the highest expected Fβ, `(1 + β²) · TP / (β² · N + k)`, the smallest of equal ones.
    fn best_depth(&self, beta: f64) -> Option<usize> {
        let square = beta * beta;
        let mut expected = vec![0.0; self.labels.len()];
        for (weight, curve) in self.curves.weighted() {
            let relevance: Vec<f64> = self.relevance(curve).collect();
            let all: f64 = relevance.iter().sum();
            let mut found = 0.0;
            for (k, (sum, relevance)) in (1..).zip(expected.iter_mut().zip(relevance)) {
                found += relevance;
                *sum += weight * (1.0 + square) * found / (square * all + f64::from(k));
            }
        }
        let best = (1..).zip(expected).reduce(|best, point| if point.1 > best.1 { point } else { best });
        best.map(|(k, _): (usize, f64)| k)
    }

    /// Relevance by one curve, judged documents as they were judged.
    fn relevance(&self, curve: usize) -> impl Iterator<Item = f64> + '_ {
        self.labels.iter().zip(self.curves.probabilities(curve)).map(|(label, p)| label.unwrap_or(p))
    }
}
