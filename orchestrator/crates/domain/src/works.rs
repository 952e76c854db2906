//! Several passages of one work are one observation: which of them counts.

use crate::{ClaimReport, Evidence, Probability, Relation};
use std::collections::BTreeMap;

/// Of the judged passages of each work, the one that counts: the surest that takes a side; when both sides are equally
/// sure, the refuting one; without a side, the surest neutral one. `judgment` gives the key of a passage's work, the
/// relation, and its probability. Other relations are no judgments. Of equal passages, the first counts.
pub fn that_count<K: Ord, P>(
    passages: impl IntoIterator<Item = P>,
    judgment: impl Fn(&P) -> (K, Relation, Probability),
) -> BTreeMap<K, P> {
    let mut counting: BTreeMap<K, (Rank, P)> = BTreeMap::new();
    for passage in passages {
        let (work, relation, weight) = judgment(&passage);
        let Some(rank) = Rank::of(relation, weight) else { continue };
        match counting.get_mut(&work) {
            Some(known) if !rank.goes_before(known.0) => {}
            Some(known) => *known = (rank, passage),
            None => {
                counting.insert(work, (rank, passage));
            }
        }
    }
    counting.into_iter().map(|(work, (_, passage))| (work, passage)).collect()
}

/// How a judgment stands among those of its work.
#[derive(Clone, Copy)]
struct Rank {
    takes_side: bool,
    weight: f64,
    refutes: bool,
}

impl Rank {
    fn of(relation: Relation, weight: Probability) -> Option<Self> {
        let takes_side = match relation {
            Relation::Supports | Relation::Refutes => true,
            Relation::Neutral => false,
            Relation::Origin | Relation::Cites => return None,
        };
        Some(Self { takes_side, weight: weight.get(), refutes: relation == Relation::Refutes })
    }

    fn goes_before(self, other: Self) -> bool {
        let order = self
            .takes_side
            .cmp(&other.takes_side)
            .then(self.weight.total_cmp(&other.weight))
            .then(self.refutes.cmp(&other.refutes));
        order.is_gt()
    }
}

impl ClaimReport {
    /// The passage that counts of each judged work, by the key of the work.
    pub fn by_work(&self) -> BTreeMap<&str, &Evidence> {
        that_count(&self.evidence, |passage| (passage.work_key(), passage.relation, passage.nli_confidence))
    }
}

#[cfg(test)]
mod tests {
    use super::that_count;
    use crate::{Probability, Relation};
    use proptest::prelude::*;

    const RELATIONS: [Relation; 5] =
        [Relation::Supports, Relation::Refutes, Relation::Neutral, Relation::Origin, Relation::Cites];

    #[track_caller]
    fn check(passages: &[(Relation, f64)], expect: Option<(Relation, f64)>) {
        let passages =
            passages.iter().map(|(relation, weight)| ((), *relation, Probability::clamped(*weight)));
        let found = that_count(passages, |passage| *passage).remove(&());
        assert_eq!(found.map(|((), relation, weight)| (relation, weight.get())), expect);
    }

    #[test]
    fn the_surest_side_of_a_work_counts() {
        use Relation::{Neutral, Origin, Refutes, Supports};
        check(&[], None);
        check(&[(Origin, 1.0)], None);
        check(&[(Neutral, 0.4), (Neutral, 0.9)], Some((Neutral, 0.9)));
        check(&[(Neutral, 1.0), (Supports, 0.0)], Some((Supports, 0.0)));
        check(&[(Supports, 0.6), (Refutes, 0.7), (Supports, 0.9)], Some((Supports, 0.9)));
        check(&[(Supports, 0.8), (Refutes, 0.8)], Some((Refutes, 0.8)));
        check(&[(Refutes, 0.8), (Supports, 0.8)], Some((Refutes, 0.8)));
    }

    proptest! {
        #[test]
        fn the_order_of_passages_decides_nothing(
            passages in prop::collection::vec((0_u8..4, 0_usize..5, 0.0_f64..=1.0), 0..40),
        ) {
            let passages: Vec<_> =
                passages.into_iter().map(|(work, r, w)| (work, RELATIONS[r], Probability::clamped(w))).collect();
            let forward = that_count(passages.iter().copied(), |passage| *passage);
            let backward = that_count(passages.iter().rev().copied(), |passage| *passage);
            prop_assert_eq!(forward, backward);
        }
    }
}
