//! Two rankings of one search on the same judgments.

use super::draws::{interval, relevances};
use super::{Interval, LABELS_FOR_DEPTH, Posterior, Prior};
use crate::pool::{Lane, Pool, RankedDocs};
use serde::{Deserialize, Serialize};

/// One measure of two rankings.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Pair {
    /// Of the first ranking.
    pub this: Interval,
    /// Of the second one.
    pub other: Interval,
    /// The first less the second. Documents that both have within the depth cancel, so that its interval is narrower than those
    /// of the two suggest.
    pub difference: Interval,
}

/// What the first documents of two rankings hold.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Paired {
    /// Judged documents of either ranking.
    pub judged: usize,
    /// Share of the first documents that is relevant.
    pub precision: Pair,
    /// Their share of the relevant documents of both rankings together.
    pub recall: Pair,
}

/// Compares the first `depth` documents of two rankings by the relevance of all documents of both, of which some were
/// judged: `label` gives their relevance in [0, 1]. `None` with fewer than [`LABELS_FOR_DEPTH`] judged documents, or
/// without any document: ranks alone do not tell which of two rankings is better.
pub fn paired(
    prior: &Prior,
    [this, other]: [&RankedDocs; 2],
    depth: usize,
    label: impl Fn(&str) -> Option<f64>,
) -> Option<Paired> {
    let lanes = [("this", this), ("other", other)].map(|(name, docs)| Lane { name, docs, limit: usize::MAX });
    let pool = Pool::new(&lanes);
    let judged: Vec<(usize, f64)> =
        (0..pool.len()).filter_map(|doc| Some((doc, label(pool.id(doc))?))).collect();
    if judged.len() < LABELS_FOR_DEPTH || depth == 0 {
        return None;
    }
    let posterior = Posterior::new(prior, &prior.log_odds(&pool, &[1.0, 1.0]), &judged);
    let heads = [0, 1].map(|lane| {
        let within = |doc: &usize| (1..=depth).contains(&(pool.ranks(*doc)[lane] as usize));
        (0..pool.len()).filter(within).collect::<Vec<usize>>()
    });
    let (mut precision, mut recall) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
    for relevance in relevances(&posterior) {
        let all: f64 = relevance.iter().sum();
        for (lane, head) in heads.iter().enumerate() {
            let found: f64 = head.iter().map(|&doc| relevance[doc]).sum();
            precision[lane].push(found / depth as f64);
            // Where nothing is relevant, nothing is missed.
            recall[lane].push(if all > 0.0 { found / all } else { 1.0 });
        }
    }
    let pair = |[this, other]: &[Vec<f64>; 2]| Pair {
        this: interval(this.iter().copied()),
        other: interval(other.iter().copied()),
        difference: interval(this.iter().zip(other).map(|(this, other)| this - other)),
    };
    Some(Paired { judged: judged.len(), precision: pair(&precision), recall: pair(&recall) })
}
