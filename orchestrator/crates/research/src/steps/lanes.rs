//! A search's lanes: full text, meaning, and every source that found pages. What each adds to a fragment's score, by either way
//! of mixing them.

use crate::config::RankingMethod;
use crate::ports::TaskFragment;
use lyra_domain::PageId;
use lyra_domain::ranking::{RankingConfig, min_max, mix, top_by};
use lyra_fusion::{Lane, Method, Pool, RankedDocs, Ranking};
use std::collections::{BTreeMap, HashMap};

/// Full text, and meaning, as lanes.
const TEXT: &str = "text";
const MEANING: &str = "meaning";
/// k of reciprocal rank fusion.
const K: f64 = 60.0;

/// Candidates of a search, and what speaks for them.
pub(crate) struct Candidates<'a> {
    pub(crate) fragments: &'a [&'a TaskFragment],
    /// BM25 of each.
    pub(crate) lexical: &'a [f64],
    /// Cosine of each with the query, when the model reads the language.
    pub(crate) cosine: Option<&'a [f64]>,
    /// Weight of each one's domain, in [0, 1].
    pub(crate) weights: &'a [f64],
    /// Which sources found which pages, at which rank.
    pub(crate) found_by: &'a [(PageId, String, usize)],
}

/// The score of every candidate in [0, 1], and the shares of the lanes in it.
pub(crate) fn mixed(
    candidates: &Candidates<'_>,
    method: RankingMethod,
    config: &RankingConfig,
) -> (Vec<f64>, Vec<BTreeMap<String, f64>>) {
    let (mut scores, shares) = match method {
        RankingMethod::Weighted => weighted(candidates, config.bm25_weight),
        RankingMethod::Rrf => fused(candidates),
    };
    for (score, weight) in scores.iter_mut().zip(candidates.weights) {
        *score *= weight;
    }
    (scores, shares)
}

fn weighted(candidates: &Candidates<'_>, bm25_weight: f64) -> (Vec<f64>, Vec<BTreeMap<String, f64>>) {
    let lexical = min_max(candidates.lexical);
    let (scores, meaning) = match candidates.cosine {
        Some(cosine) => {
            let cosine = min_max(cosine);
            (mix(&lexical, &cosine, bm25_weight), cosine.iter().map(|c| (1.0 - bm25_weight) * c).collect())
        }
        None => (lexical, vec![0.0; candidates.lexical.len()]),
    };
    let shares = scores
        .iter()
        .zip(&meaning)
        .map(|(score, meaning)| {
            let parts = [(TEXT, score - meaning), (MEANING, *meaning)];
            let part = |(name, part): (&str, f64)| (part > 0.0).then(|| (name.to_owned(), part / score));
            parts.into_iter().filter_map(part).collect()
        })
        .collect();
    (scores, shares)
}

/// Reciprocal rank fusion of the lanes, each of weight 1; 1 is a first place in every lane.
fn fused(candidates: &Candidates<'_>) -> (Vec<f64>, Vec<BTreeMap<String, f64>>) {
    let id = |index: usize| candidates.fragments[index].fragment.id.to_string();
    let listed =
        |order: Vec<usize>| RankedDocs { ids: order.into_iter().map(id).collect(), ..RankedDocs::default() };
    let mut lists: Vec<(String, RankedDocs)> = Vec::new();
    let mut by_text = top_by(candidates.lexical, candidates.lexical.len());
    by_text.retain(|&index| candidates.lexical[index] > 0.0);
    lists.push((TEXT.to_owned(), listed(by_text)));
    if let Some(cosine) = candidates.cosine {
        lists.push((MEANING.to_owned(), listed(top_by(cosine, cosine.len()))));
    }
    let mut of_page: HashMap<&PageId, Vec<usize>> = HashMap::new();
    for (index, fragment) in candidates.fragments.iter().enumerate() {
        of_page.entry(&fragment.fragment.page_id).or_default().push(index);
    }
    let mut sources: BTreeMap<&str, Vec<(usize, usize)>> = BTreeMap::new();
    for (page, source, rank) in candidates.found_by {
        for &index in of_page.get(page).into_iter().flatten() {
            sources.entry(source).or_default().push((*rank, index));
        }
    }
    for (source, mut found) in sources {
        found.sort_unstable();
        lists.push((source.to_owned(), listed(found.into_iter().map(|(_, index)| index).collect())));
    }
    let lanes: Vec<Lane<'_>> =
        lists.iter().map(|(name, docs)| Lane { name, docs, limit: usize::MAX }).collect();
    let pool = Pool::new(&lanes);
    let ranking = Ranking::new(&pool, &vec![1.0; lanes.len()], (Method::Rrf, K), None);
    let most = lanes.len() as f64 / (K + 1.0);
    let places: HashMap<&str, usize> = (0..pool.len()).map(|doc| (pool.id(doc), doc)).collect();
    let mut scores = vec![0.0; candidates.fragments.len()];
    let mut shares = vec![BTreeMap::new(); candidates.fragments.len()];
    for index in 0..candidates.fragments.len() {
        let Some(&doc) = places.get(id(index).as_str()) else { continue };
        scores[index] = ranking.scores[doc] / most;
        let parts = pool.names().iter().zip(ranking.shares(doc)).filter(|(_, share)| *share > 0.0);
        shares[index] = parts.map(|(name, share)| ((*name).to_owned(), share)).collect();
    }
    (scores, shares)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lyra_domain::Fragment;

    fn fragment(page: &str) -> TaskFragment {
        TaskFragment {
            fragment: Fragment::of_abstract(&PageId::derive(&[page]), page),
            title: String::new(),
            language: None,
            domain: String::new(),
            url: String::new(),
            domain_category: String::new(),
            source_key: String::new(),
        }
    }

    #[test]
    fn sources_are_lanes_and_their_shares_add_up() {
        let all = [fragment("a"), fragment("b"), fragment("c")];
        let fragments: Vec<&TaskFragment> = all.iter().collect();
        let page = |at: usize| all[at].fragment.page_id.clone();
        let found_by = [
            (page(0), "openalex".to_owned(), 1),
            (page(1), "openalex".to_owned(), 2),
            (page(1), "corpus:mine".to_owned(), 1),
        ];
        let candidates = Candidates {
            fragments: &fragments,
            lexical: &[1.0, 3.0, 0.0],
            cosine: Some(&[0.2, 0.9, 0.1]),
            weights: &[1.0, 1.0, 0.5],
            found_by: &found_by,
        };
        let config = RankingConfig::default();
        for method in [RankingMethod::Rrf, RankingMethod::Weighted] {
            let (scores, shares) = mixed(&candidates, method, &config);
            assert!(scores[1] > scores[0] && scores[0] > scores[2], "{method:?} {scores:?}");
            assert!(scores.iter().all(|score| (0.0..=1.0).contains(score)));
            for (score, shares) in scores.iter().zip(&shares) {
                let sum: f64 = shares.values().sum();
                assert!(
                    if *score > 0.0 { (sum - 1.0).abs() < 1e-9 } else { shares.is_empty() },
                    "{shares:?}"
                );
            }
        }
        let (scores, shares) = mixed(&candidates, RankingMethod::Rrf, &config);
        assert_eq!(shares[1].keys().collect::<Vec<_>>(), ["corpus:mine", "meaning", "openalex", "text"]);
        let expect = (3.0 / 61.0 + 1.0 / 62.0) / (4.0 / 61.0);
        assert!((scores[1] - expect).abs() < 1e-12);
        assert_eq!(shares[2].keys().collect::<Vec<_>>(), ["meaning"]);
    }
}
