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
/// judged: `label` gives their relevance in [0, 1]. `None` with fewer than [`LABELS_FOR_DEPTH`] judged documents, or without any document: ranks alone do not tell
/// which of two rankings is better.
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
    let places = pool.names().iter().map(|name| usize::from(*name == "other")).collect::<Vec<_>>();
    let mut draws: [[Vec<f64>; 2]; 2] = Default::default();
    for relevance in relevances(&posterior) {
        let all: f64 = relevance.iter().sum();
        for (lane, &place) in places.iter().enumerate() {
            let within = |doc: &usize| (1..=depth).contains(&(pool.ranks(*doc)[lane] as usize));
            let found: f64 = (0..pool.len()).filter(within).map(|doc| relevance[doc]).sum();
            draws[0][place].push(found / depth as f64);
            // Where nothing is relevant, nothing is missed.
            draws[1][place].push(if all > 0.0 { found / all } else { 1.0 });
        }
    }
    let pair = |[this, other]: &[Vec<f64>; 2]| Pair {
        this: interval(this.iter().copied()),
        other: interval(other.iter().copied()),
        difference: interval(this.iter().zip(other).map(|(this, other)| this - other)),
    };
    Some(Paired { judged: judged.len(), precision: pair(&draws[0]), recall: pair(&draws[1]) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::Normal;

    const PRIOR: Prior = Prior {
        intercept: 3.92,
        slope: 1.7,
        offset: 5.0,
        absent: 1000.0,
        center: -2.2,
        level: Normal { mean: -0.5, deviation: 1.5 },
        steepness: Normal { mean: 0.1, deviation: 0.6 },
    };

    fn ranked(docs: impl Iterator<Item = usize>) -> RankedDocs {
        RankedDocs::new(docs.map(|doc| (format!("d{doc}"), 1.0, Vec::new())))
    }

    #[test]
    fn the_better_ranking_is_better_and_equal_ones_are_equal() {
        // Even documents are relevant; the first ranking has them on top.
        let (good, bad) = (ranked((0..40).map(|n| n * 2)), ranked((0..40).map(|n| n * 2 + 1)));
        let first = |count: usize| {
            move |id: &str| {
                let doc: usize = id[1..].parse().unwrap();
                (doc < count).then_some(1.0 - (doc % 2) as f64)
            }
        };
        let compared = paired(&PRIOR, [&good, &bad], 20, first(20)).unwrap();
        assert!(compared.judged == 20 && compared.precision.difference.low > 0.0, "{compared:?}");
        let turned = paired(&PRIOR, [&bad, &good], 20, first(20)).unwrap();
        assert!(turned.precision.difference.high < 0.0 && turned.recall.difference.high < 0.0, "{turned:?}");
        let same = paired(&PRIOR, [&good, &good], 20, first(20)).unwrap();
        assert_eq!(same.precision.difference, Interval::default());
        assert_eq!(paired(&PRIOR, [&good, &bad], 20, first(9)), None);
    }
}
