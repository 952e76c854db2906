//! Which document comes next.

use crate::model::logistic;
use crate::{Features, MOST_TRAINED, Model};

/// Errors against the penalty, chosen on the collections of `tests/simulation.rs`.
const COST: f64 = 0.1;
/// One document in so many is the one that the model is least sure of; the others are the most promising ones.
const UNSURE_EVERY: usize = 10;

/// Why a document comes where it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Because {
    /// By its rank in the search: there is no model yet, or the document is beyond what a model reads.
    Search,
    /// The model takes it for the most promising one.
    Promising,
    /// The model is least sure of it.
    Unsure,
}

/// A document to be screened.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Next {
    /// Its number among the features.
    pub document: usize,
    /// How promising the model takes it for, 0 to 1; 0.5 is where it cannot tell. It ranks; it is no probability, because
    /// included documents weigh more in the model than excluded ones. `None` without a model.
    pub score: Option<f64>,
    /// Why it comes here.
    pub because: Because,
}

/// The order of documents that are not decided.
#[derive(Debug, Clone, PartialEq)]
pub struct Order(pub Vec<Next>);

impl Order {
    /// Orders the documents of `open`, which are given in the order of the search. `decided` are documents with whether they
    /// were included, in the order of the decisions. Before one was included and one was not, the order of the search stays.
    pub fn new(features: &Features, decided: &[(usize, bool)], open: &[usize]) -> Self {
        let by_search =
            |document: &usize| Next { document: *document, score: None, because: Because::Search };
        let Some(model) = trained(features, decided) else {
            return Self(open.iter().map(by_search).collect());
        };
        let (read, beyond): (Vec<usize>, Vec<usize>) =
            open.iter().partition(|document| **document < features.len());
        let mut ranked: Vec<(usize, f64)> =
            read.into_iter().map(|document| (document, model.margin(features, document))).collect();
        // The sort is stable: equally promising documents keep the order of the search.
        ranked.sort_by(|a, b| b.1.total_cmp(&a.1));
        let mut order = mixed(&ranked, decided.len());
        order.extend(beyond.iter().map(by_search));
        Self(order)
    }
}

/// The model of these decisions; `None` before there are both kinds.
fn trained(features: &Features, decided: &[(usize, bool)]) -> Option<Model> {
    let included = decided.iter().filter(|(_, is)| *is).count();
    let excluded = decided.len() - included;
    if included == 0 || excluded == 0 {
        return None;
    }
    let mut passed = excluded.saturating_sub(MOST_TRAINED);
    let labels: Vec<(usize, bool)> = decided
        .iter()
        .copied()
        .filter(|(_, is)| {
            let old = !is && passed > 0;
            passed -= usize::from(old);
            !old
        })
        .collect();
    let balance = (excluded.min(MOST_TRAINED) as f64 / included as f64).max(1.0);
    Some(Model::fit(features, &labels, COST, balance))
}

/// The most promising first, and at each tenth decision the one whose score is nearest to the middle.
fn mixed(ranked: &[(usize, f64)], decided: usize) -> Vec<Next> {
    let next =
        |(document, margin): (usize, f64), because| Next { document, score: Some(logistic(margin)), because };
    // Scores fall along the list: unsure documents are around the place where they pass the middle.
    let middle = ranked.partition_point(|(_, margin)| *margin > 0.0);
    let (mut below, mut above, mut first) = (middle, middle, 0);
    let mut taken = vec![false; ranked.len()];
    let mut order = Vec::with_capacity(ranked.len());
    while order.len() < ranked.len() {
        let unsure = (decided + order.len()) % UNSURE_EVERY == UNSURE_EVERY - 1;
        while first < ranked.len() && taken[first] {
            first += 1;
        }
        while below > 0 && taken[below - 1] {
            below -= 1;
        }
        while above < ranked.len() && taken[above] {
            above += 1;
        }
        let nearest = match (below.checked_sub(1), ranked.get(above)) {
            (Some(before), Some(after)) if ranked[before].1 <= -after.1 => before,
            (Some(before), None) => before,
            (_, Some(_)) => above,
            (None, None) => first,
        };
        let (at, because) = if unsure { (nearest, Because::Unsure) } else { (first, Because::Promising) };
        taken[at] = true;
        order.push(next(ranked[at], because));
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn features() -> Features {
        let texts = [
            "nap memory",
            "tea caffeine",
            "nap memory adults",
            "tea caffeine adults",
            "adults nap",
            "adults tea",
        ];
        Features::new(&texts.map(|text| text.split(' ').collect::<Vec<_>>()))
    }

    #[test]
    fn the_search_orders_until_both_kinds_were_seen() {
        let open = [5, 3, 4];
        let by_search = Order::new(&features(), &[(0, true)], &open).0;
        assert!(by_search.iter().all(|next| next.because == Because::Search && next.score.is_none()));
        assert_eq!(by_search.iter().map(|next| next.document).collect::<Vec<_>>(), open);
        let learned = Order::new(&features(), &[(0, true), (1, false)], &[5, 3, 4, 2]).0;
        assert_eq!(learned.iter().map(|next| next.document).collect::<Vec<_>>(), [2, 4, 5, 3]);
        assert!(learned[0].score > Some(0.5) && learned[3].score < Some(0.5), "{learned:?}");
    }

    #[test]
    fn every_tenth_document_is_the_least_certain_one() {
        let ranked: Vec<(usize, f64)> = (0..30).map(|at| (at, 9.6 - at as f64)).collect();
        let order = mixed(&ranked, 8);
        let unsure: Vec<usize> =
            (0..30).filter(|at| order[*at].because == Because::Unsure).map(|at| order[at].document).collect();
        assert_eq!(unsure, [10, 11, 21]);
        assert_eq!(order[0].document, 0);
    }

    proptest! {
        #[test]
        fn every_open_document_comes_once(
            decided in prop::collection::vec(any::<bool>(), 0..6),
            mut open in Just((0..9_usize).collect::<Vec<_>>()).prop_shuffle(),
        ) {
            let decided: Vec<(usize, bool)> = decided.into_iter().enumerate().collect();
            open.retain(|document| *document >= decided.len());
            let order = Order::new(&features(), &decided, &open);
            prop_assert_eq!(&order, &Order::new(&features(), &decided, &open));
            let mut all: Vec<usize> = order.0.iter().map(|next| next.document).collect();
            all.sort_unstable();
            open.sort_unstable();
            prop_assert_eq!(all, open);
        }

        #[test]
        fn the_mix_keeps_every_document(margins in prop::collection::vec(-5.0..5.0_f64, 0..60), decided in 0..20_usize) {
            let mut ranked: Vec<(usize, f64)> = margins.into_iter().enumerate().collect();
            ranked.sort_by(|a, b| b.1.total_cmp(&a.1));
            let mut all: Vec<usize> = mixed(&ranked, decided).iter().map(|next| next.document).collect();
            all.sort_unstable();
            prop_assert_eq!(all, (0..ranked.len()).collect::<Vec<_>>());
        }
    }
}
