//! How the confidence of a claim moved, as judgments were stored and people corrected them.

use crate::{BetaConfidence, EdgeId, Probability, Relation, works};
use std::collections::{BTreeMap, HashMap};

/// A judgment as the model gave it.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// The edge.
    pub edge: EdgeId,
    /// Key of the passage's work.
    pub work: String,
    /// The model's relation.
    pub relation: Relation,
    /// The model's probability.
    pub weight: Probability,
    /// When it was stored, RFC 3339.
    pub at: String,
}

/// What changed later.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// A person set the relation of a judgment, which counts in full from then on.
    Corrected(EdgeId, Relation),
    /// A person confirmed a judgment.
    Reviewed(EdgeId),
    /// A person took corrections back: the model's own judgment counts again.
    Undone(EdgeId),
    /// A person took the claim out of its task.
    Rejected,
    /// A person put it back.
    Restored,
    /// A work behind the evidence was reported as retracted. No number depends on it.
    Retracted(String),
}

/// Something that happened to a claim.
#[derive(Debug, Clone, PartialEq)]
pub enum Occurrence {
    /// A judgment was stored, with this relation.
    Judged(EdgeId, Relation),
    /// It changed.
    Changed(Change),
}

/// The posterior after something happened.
#[derive(Debug, Clone, PartialEq)]
pub struct Moment {
    /// When, RFC 3339.
    pub at: String,
    /// What.
    pub what: Occurrence,
    /// The posterior from then on.
    pub posterior: BetaConfidence,
}

/// Judgments and changes of a claim, each in the order that they were stored.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Chronicle {
    /// The judgments.
    pub judged: Vec<Judged>,
    /// The changes with their time, RFC 3339.
    pub changes: Vec<(String, Change)>,
}

impl Chronicle {
    /// Every moment in order; of one time, judgments come before changes. Changes of edges that are not among the
    /// judgments leave the posterior as it is.
    pub fn moments(&self) -> Vec<Moment> {
        let mut judged = self.judged.iter().peekable();
        let mut changes = self.changes.iter().peekable();
        let mut numbers = Numbers::new(&self.judged);
        let mut moments = Vec::with_capacity(self.judged.len() + self.changes.len());
        loop {
            let next_is_judged = match (judged.peek(), changes.peek()) {
                (Some(judged), Some((at, _))) => judged.at <= *at,
                (Some(_), None) => true,
                (None, Some(_)) => false,
                (None, None) => return moments,
            };
            let (at, what) = if next_is_judged {
                let Some(new) = judged.next() else { return moments };
                numbers.set(&new.edge, Some((new.relation, new.weight)));
                (&new.at, Occurrence::Judged(new.edge.clone(), new.relation))
            } else {
                let Some((at, change)) = changes.next() else { return moments };
                numbers.change(change);
                (at, Occurrence::Changed(change.clone()))
            };
            moments.push(Moment { at: at.clone(), what, posterior: numbers.posterior });
        }
    }
}

/// The judgments that are stored so far, by work, and their posterior.
struct Numbers<'a> {
    own: HashMap<&'a EdgeId, &'a Judged>,
    works: HashMap<&'a str, BTreeMap<&'a EdgeId, (Relation, Probability)>>,
    posterior: BetaConfidence,
}

impl<'a> Numbers<'a> {
    fn new(judged: &'a [Judged]) -> Self {
        Self {
            own: judged.iter().map(|judged| (&judged.edge, judged)).collect(),
            works: HashMap::new(),
            posterior: BetaConfidence { alpha: 1.0, beta: 1.0 },
        }
    }

    fn change(&mut self, change: &Change) {
        match change {
            Change::Corrected(edge, relation) => self.set(edge, Some((*relation, Probability::ONE))),
            Change::Undone(edge) => self.set(edge, None),
            Change::Reviewed(_) | Change::Rejected | Change::Restored | Change::Retracted(_) => {}
        }
    }

    /// Makes this the judgment of an edge, or the model's own for `None`, and counts its work again.
    fn set(&mut self, edge: &EdgeId, judgment: Option<(Relation, Probability)>) {
        let Some(own) = self.own.get(edge).copied() else { return };
        let work = self.works.entry(&own.work).or_default();
        let before = counting(work);
        work.insert(&own.edge, judgment.unwrap_or((own.relation, own.weight)));
        let after = counting(work);
        self.posterior.alpha += after.alpha - before.alpha;
        self.posterior.beta += after.beta - before.beta;
    }
}

/// The posterior of one work alone.
fn counting(work: &BTreeMap<&EdgeId, (Relation, Probability)>) -> BetaConfidence {
    let surest = works::that_count(work.values().copied(), |(relation, weight)| ((), *relation, *weight));
    BetaConfidence::from_edges(surest.into_values())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SIDES: [Relation; 3] = [Relation::Supports, Relation::Refutes, Relation::Neutral];

    fn edge(n: usize) -> EdgeId {
        format!("edge_{n}").parse().unwrap()
    }

    fn judged(n: usize, work: &str, relation: Relation, weight: f64, at: &str) -> Judged {
        let weight = Probability::clamped(weight);
        Judged { edge: edge(n), work: work.to_owned(), relation, weight, at: at.to_owned() }
    }

    #[test]
    fn the_numbers_move_as_things_happen() {
        let chronicle = Chronicle {
            judged: vec![
                judged(1, "a", Relation::Supports, 0.9, "1"),
                judged(2, "a", Relation::Supports, 0.6, "1"),
                judged(3, "b", Relation::Refutes, 0.8, "2"),
                judged(4, "c", Relation::Neutral, 0.7, "6"),
            ],
            changes: vec![
                ("2".to_owned(), Change::Corrected(edge(1), Relation::Neutral)),
                ("3".to_owned(), Change::Reviewed(edge(3))),
                ("4".to_owned(), Change::Corrected(edge(9), Relation::Supports)),
                ("5".to_owned(), Change::Undone(edge(1))),
            ],
        };
        let found: Vec<(String, f64, f64)> = chronicle
            .moments()
            .into_iter()
            .map(|moment| (moment.at, moment.posterior.alpha, moment.posterior.beta))
            .collect();
        let expect = [
            ("1", 1.9, 1.0),
            ("1", 1.9, 1.0),
            ("2", 1.9, 1.8),
            ("2", 1.6, 1.8),
            ("3", 1.6, 1.8),
            ("4", 1.6, 1.8),
            ("5", 1.9, 1.8),
            ("6", 1.9, 1.8),
        ];
        assert_eq!(found.len(), expect.len());
        for ((at, alpha, beta), (when, a, b)) in found.iter().zip(expect) {
            assert_eq!(at, when);
            assert!((alpha - a).abs() < 1e-9 && (beta - b).abs() < 1e-9, "{found:?}");
        }
    }

    proptest! {
        #[test]
        fn it_ends_with_the_posterior_of_what_is_stored(
            edges in prop::collection::vec((0_u8..4, 0_usize..3, 0.0_f64..=1.0), 0..30),
            changes in prop::collection::vec((0_usize..30, 0_usize..4), 0..20),
        ) {
            let given = edges.iter().enumerate();
            let all: Vec<Judged> =
                given.map(|(n, (work, r, w))| judged(n, &work.to_string(), SIDES[*r], *w, "1")).collect();
            let mut now: Vec<(Relation, Probability)> = all.iter().map(|j| (j.relation, j.weight)).collect();
            let mut done = Vec::new();
            for (n, to) in changes.into_iter().filter(|(n, _)| *n < all.len()) {
                now[n] = SIDES.get(to).map_or((all[n].relation, all[n].weight), |side| (*side, Probability::ONE));
                let change = SIDES.get(to).map_or(Change::Undone(edge(n)), |side| Change::Corrected(edge(n), *side));
                done.push(("2".to_owned(), change));
            }
            let stored = all.iter().zip(&now).map(|(judged, (r, w))| (judged.work.clone(), *r, *w));
            let expect = BetaConfidence::of_works(stored.collect::<Vec<_>>());
            let moments = Chronicle { judged: all, changes: done }.moments();
            let last = moments.last().map_or(BetaConfidence { alpha: 1.0, beta: 1.0 }, |moment| moment.posterior);
            prop_assert!((last.alpha - expect.alpha).abs() < 1e-9 && (last.beta - expect.beta).abs() < 1e-9);
        }
    }
}
