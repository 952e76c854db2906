//! Retrieval measures over graded judgments.

use std::collections::{HashMap, HashSet};
use std::hash::BuildHasher;

/// nDCG@k with linear gains: `Σ rel/log2(rank + 1)` over the first `k`, divided by that of the best order
/// (Järvelin and Kekäläinen 2002, as `trec_eval` computes it). In [0, 1]; 0 when nothing is relevant.
///
/// `ranked` holds document ids, best first; an id that comes twice counts once. `judged` maps ids to grades; 0 and
/// absent mean not relevant.
pub fn ndcg_at<S: AsRef<str>, H: BuildHasher>(
    k: usize,
    ranked: &[S],
    judged: &HashMap<String, u32, H>,
) -> f64 {
    let mut seen = HashSet::new();
    let gains = ranked
        .iter()
        .map(AsRef::as_ref)
        .filter(|id: &&str| seen.insert(*id))
        .map(|id| judged.get(id).copied().unwrap_or(0));
    let mut best: Vec<u32> = judged.values().copied().collect();
    best.sort_unstable_by(|a, b| b.cmp(a));
    let ideal = dcg(k, best.into_iter());
    if ideal > 0.0 { dcg(k, gains) / ideal } else { 0.0 }
}

/// Share of the relevant documents that are among the first `k`, in [0, 1]; 0 when nothing is relevant.
pub fn recall_at<S: AsRef<str>, H: BuildHasher>(
    k: usize,
    ranked: &[S],
    judged: &HashMap<String, u32, H>,
) -> f64 {
    let relevant = judged.values().filter(|grade| **grade > 0).count();
    let first = &ranked[..k.min(ranked.len())];
    let found =
        judged.iter().filter(|(id, grade)| **grade > 0 && first.iter().any(|r| r.as_ref() == *id)).count();
    if relevant > 0 { found as f64 / relevant as f64 } else { 0.0 }
}

fn dcg(k: usize, grades: impl Iterator<Item = u32>) -> f64 {
    grades.take(k).enumerate().map(|(i, grade)| f64::from(grade) / (i as f64 + 2.0).log2()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn judged(grades: &[(&str, u32)]) -> HashMap<String, u32> {
        grades.iter().map(|(id, grade)| ((*id).to_owned(), *grade)).collect()
    }

    #[test]
    fn by_hand() {
        let judged = judged(&[("a", 1), ("b", 1), ("c", 0)]);
        let expect = (1.0 + 1.0 / 2.0) / (1.0 + 1.0 / 3_f64.log2());
        assert!((ndcg_at(10, &["a", "c", "b"], &judged) - expect).abs() < 1e-12);
        assert_eq!(ndcg_at(10, &["b", "a"], &judged), 1.0);
        assert_eq!(recall_at(1, &["a", "b"], &judged), 0.5);
        assert_eq!(recall_at(10, &["x"], &judged), 0.0);
        assert_eq!(ndcg_at(10, &[""; 0], &judged), 0.0);
        assert_eq!(ndcg_at(10, &["a"], &HashMap::<String, u32>::new()), 0.0);
    }

    proptest! {
        #[test]
        fn shares(ranked in prop::collection::vec("[a-f]", 0..20), grades in prop::collection::hash_map("[a-f]", 0_u32..4, 0..6), k in 0_usize..12) {
            for value in [ndcg_at(k, &ranked, &grades), recall_at(k, &ranked, &grades)] {
                prop_assert!((0.0..=1.0 + 1e-12).contains(&value));
            }
        }
    }
}
