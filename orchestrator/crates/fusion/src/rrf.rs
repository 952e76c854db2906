//! Weighted fusion of ranked lists, by scores or by ranks, with a boost for classification codes.

use crate::pool::Pool;
use serde::{Deserialize, Serialize};

/// The name of the boost by codes among the lanes.
pub const CODE: &str = "code";

/// What of a document's places in the lanes is added up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// Scores, each lane's from 0 to 1 (`CombSUM` with min-max normalization; Fox and Shaw 1994). Where a lane has no scores, ranks.
    #[default]
    MinMax,
    /// Ranks: reciprocal rank fusion (Cormack, Clarke, Büttcher 2009).
    Rrf,
}

impl Method {
    /// Recipes that were stored before there was a choice.
    pub(crate) fn of_old_recipes() -> Self {
        Self::Rrf
    }

    /// What the lanes of a pool allow.
    #[must_use]
    pub fn within(self, pool: &Pool<'_>) -> Self {
        if pool.is_scored() { self } else { Self::Rrf }
    }

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::MinMax => "minmax",
            Self::Rrf => "rrf",
        }
    }
}

impl std::str::FromStr for Method {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let named = [Self::MinMax, Self::Rrf].into_iter().find(|method| method.as_str() == text);
        named.ok_or_else(|| format!("`{text}` is not one of minmax, rrf"))
    }
}

/// Documents of a pool in the order of their fused scores.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    /// Documents of the pool, best first; equal scores by id.
    pub order: Vec<usize>,
    /// The score of every document, in the pool's order.
    pub scores: Vec<f64>,
    /// The contribution of every lane, and last of the codes, to each document's score; one row per document in the
    /// pool's order.
    contributions: Vec<f64>,
    width: usize,
}

impl Ranking {
    /// By scores: `score(d) = Σ w · (s(d) − min) / (max − min) + w_code · c(d)`. By ranks, from 1:
    /// `score(d) = Σ w / (k + rank(d)) + w_code · c(d) / (k + 1)`. In both, `w_code` counts as much as the first place of a
    /// lane with that weight.
    ///
    /// `weights` has one weight per lane of the pool, `codes` the match of every document with a target profile in [0, 1].
    pub fn new(
        pool: &Pool<'_>,
        weights: &[f64],
        (method, k): (Method, f64),
        codes: Option<(&[f64], f64)>,
    ) -> Self {
        let method = method.within(pool);
        let first_place = match method {
            Method::MinMax => 1.0,
            Method::Rrf => 1.0 / (k + 1.0),
        };
        let lanes = pool.names().len();
        let width = lanes + 1;
        let mut contributions = vec![0.0; pool.len() * width];
        let mut scores = vec![0.0; pool.len()];
        let mut parts = vec![0.0; width];
        for (doc, row) in contributions.chunks_exact_mut(width).enumerate() {
            for (lane, (cell, weight)) in row.iter_mut().zip(weights).enumerate() {
                let rank = pool.ranks(doc)[lane];
                *cell = match method {
                    Method::MinMax => weight * pool.scores(doc)[lane],
                    Method::Rrf if rank > 0 => weight / (k + f64::from(rank)),
                    Method::Rrf => 0.0,
                };
            }
            if let Some((matches, weight)) = codes {
                row[lanes] = weight * matches[doc] * first_place;
            }
            // Summed from the largest down, so that the order of lanes cannot break a tie.
            parts.copy_from_slice(row);
            parts.sort_unstable_by(|a, b| b.total_cmp(a));
            scores[doc] = parts.iter().sum();
        }
        let mut order: Vec<usize> = (0..pool.len()).collect();
        order.sort_unstable_by(|&a, &b| {
            scores[b].total_cmp(&scores[a]).then_with(|| pool.id(a).cmp(pool.id(b)))
        });
        Self { order, scores, contributions, width }
    }

    /// The contribution of every lane, in the pool's order, and last of the codes, to a document's score.
    pub fn contributions(&self, doc: usize) -> &[f64] {
        &self.contributions[doc * self.width..][..self.width]
    }

    /// The contributions to a document's score as shares that sum to 1; all 0 where the score is.
    pub fn shares(&self, doc: usize) -> Vec<f64> {
        shares(self.contributions(doc).to_vec())
    }

    /// Shares of the lanes and the codes in the scores of the first `top` documents together.
    pub fn total_shares(&self, top: usize) -> Vec<f64> {
        let mut sums = vec![0.0; self.width];
        for &doc in self.order.iter().take(top) {
            for (sum, part) in sums.iter_mut().zip(self.contributions(doc)) {
                *sum += part;
            }
        }
        shares(sums)
    }

    /// Scores from the best down.
    pub fn sorted_scores(&self) -> impl Iterator<Item = f64> + '_ {
        self.order.iter().map(|&doc| self.scores[doc])
    }
}

fn shares(mut parts: Vec<f64>) -> Vec<f64> {
    let sum: f64 = parts.iter().sum();
    if sum > 0.0 {
        for part in &mut parts {
            *part /= sum;
        }
    }
    parts
}
