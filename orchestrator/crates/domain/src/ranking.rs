//! Ranking of fragments for a query: BM25 and cosine, normalized, mixed, cut at the knee.

use crate::cutoff;

/// How fragments are ranked (evidence design, section 2, step 6).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankingConfig {
    /// Candidates that BM25 selects for embedding.
    pub bm25_top: usize,
    /// Share of BM25 in the mixed score; the cosine gets the rest.
    pub bm25_weight: f64,
    /// Kneedle's S.
    pub sensitivity: f64,
    /// Fewest fragments kept.
    pub min_kept: usize,
    /// Most fragments kept.
    pub max_kept: usize,
}

impl Default for RankingConfig {
    fn default() -> Self {
        Self { bm25_top: 150, bm25_weight: 0.3, sensitivity: 1.0, min_kept: 3, max_kept: 50 }
    }
}

/// One ranked candidate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranked {
    /// Index into the candidates.
    pub index: usize,
    /// Mixed score in [0, 1].
    pub score: f64,
    /// Above the cut-off.
    pub relevant: bool,
}

/// Place of each value among all, in [0, 1]: the share of the others that are smaller, equal ones counting half
/// (percentile rank). 0.5 for a single value.
pub fn percentile_ranks(values: &[f64]) -> Vec<f64> {
    let others = values.len().saturating_sub(1) as f64;
    let place = |value: &f64| {
        let smaller = values.iter().filter(|other| *other < value).count() as f64;
        let equal = values.iter().filter(|other| *other == value).count().saturating_sub(1) as f64;
        if others > 0.0 { (smaller + equal / 2.0) / others } else { 0.5 }
    };
    values.iter().map(place).collect()
}

/// How much a work is cited among candidates, in [0, 1]: the percentile rank of `ln(1 + citations)`; an unknown count
/// is 0.
pub fn impacts(citation_counts: &[Option<u32>]) -> Vec<f64> {
    let logs: Vec<f64> = citation_counts.iter().map(|count| f64::from(count.unwrap_or(0)).ln_1p()).collect();
    percentile_ranks(&logs)
}

/// Indices of the `top` best scores, best first, ties by index.
pub fn top_by(scores: &[f64], top: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]).then(a.cmp(&b)));
    order.truncate(top);
    order
}

/// Ranks candidates by `(w·bm25 + (1−w)·cosine) · weight`, the first two min-max normalized over the candidates, best
/// first. `weights`, one in [0, 1] per candidate, come from the categories of their domains (evidence design, section
/// 5); the cut-off depends on the shape of the scores, so equal weights change nothing.
///
/// Without cosines (an embedder that does not support the language), only BM25 ranks.
pub fn rank(bm25: &[f64], cosine: Option<&[f64]>, weights: &[f64], config: &RankingConfig) -> Vec<Ranked> {
    let lexical = min_max(bm25);
    let mut mixed: Vec<f64> = match cosine {
        Some(cosine) => mix(&lexical, &min_max(cosine), config.bm25_weight),
        None => lexical,
    };
    for (score, weight) in mixed.iter_mut().zip(weights) {
        *score *= weight;
    }
    ranked(&mixed, config)
}

/// Candidates by their scores, best first, those above the cut-off marked.
pub fn ranked(mixed: &[f64], config: &RankingConfig) -> Vec<Ranked> {
    let order = top_by(mixed, mixed.len());
    let sorted: Vec<f64> = order.iter().map(|&i| mixed[i]).collect();
    let kept = cutoff(&sorted, config.sensitivity, config.min_kept, config.max_kept);
    order
        .into_iter()
        .enumerate()
        .map(|(place, index)| Ranked { index, score: mixed[index], relevant: place < kept })
        .collect()
}

/// `w·a + (1−w)·b`, element by element.
pub fn mix(a: &[f64], b: &[f64], weight_of_a: f64) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| weight_of_a * a + (1.0 - weight_of_a) * b).collect()
}

/// Scales to [0, 1]; equal scores become 1 when they are positive and 0 otherwise, so that they do not vanish.
pub fn min_max(scores: &[f64]) -> Vec<f64> {
    let min = scores.iter().copied().fold(f64::INFINITY, f64::min);
    let max = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let range = max - min;
    scores
        .iter()
        .map(|score| if range > 0.0 { (score - min) / range } else { f64::from(u8::from(*score > 0.0)) })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_mix_decides_the_order() {
        let order = |cosine: Option<&[f64]>, weights: &[f64]| {
            let ranked = rank(&[10.0, 0.0, 5.0], cosine, weights, &RankingConfig::default());
            ranked.iter().map(|r| r.index).collect::<Vec<_>>()
        };
        assert_eq!(order(Some(&[0.1, 0.9, 0.2]), &[1.0; 3]), [1, 0, 2]);
        assert_eq!(order(None, &[1.0; 3]), [0, 2, 1]);
        assert_eq!(order(None, &[0.3, 0.9, 0.9]), [2, 0, 1]);
        assert_eq!(order(None, &[0.0, 1.0, 1.0])[0], 2);
    }

    proptest! {
        #[test]
        fn every_candidate_is_ranked_once_and_the_relevant_come_first(
            scores in prop::collection::vec((0.0_f64..30.0, -1.0_f64..1.0), 0..120)
        ) {
            let (bm25, cosine): (Vec<f64>, Vec<f64>) = scores.into_iter().unzip();
            let weights = vec![1.0; bm25.len()];
            let ranked = rank(&bm25, Some(&cosine), &weights, &RankingConfig::default());
            let halves = vec![0.5; bm25.len()];
            let kept = |ranked: &[Ranked]| ranked.iter().filter(|r| r.relevant).count();
            prop_assert_eq!(kept(&rank(&bm25, Some(&cosine), &halves, &RankingConfig::default())), kept(&ranked));
            let mut seen: Vec<usize> = ranked.iter().map(|r| r.index).collect();
            seen.sort_unstable();
            prop_assert_eq!(seen, (0..bm25.len()).collect::<Vec<_>>());
            prop_assert!(ranked.windows(2).all(|w| w[0].score >= w[1].score && w[0].relevant >= w[1].relevant));
            prop_assert!(ranked.iter().all(|r| (0.0..=1.0 + 1e-12).contains(&r.score)));
            prop_assert!(ranked.iter().filter(|r| r.relevant).count() <= 50);
        }
    }

    #[test]
    fn impact_is_a_place_among_candidates() {
        assert_eq!(impacts(&[Some(7)]), [0.5]);
        assert_eq!(impacts(&[Some(1_000_000), None, Some(3)]), [1.0, 0.0, 0.5]);
        assert_eq!(impacts(&[Some(5), Some(5), Some(5)]), [0.5, 0.5, 0.5]);
        assert_eq!(impacts(&[Some(1), Some(1), Some(9)]), [0.25, 0.25, 1.0]);
        assert!(impacts(&[]).is_empty());
    }
}
