//! Beta–Bernoulli confidence of a claim (evidence design, section 3).

use crate::{Probability, Relation};
use serde::{Deserialize, Serialize};

/// The posterior Beta(α, β) of a claim: a uniform prior, updated by every judged edge.
///
/// `α = 1 + Σ nli_confidence over supports`, `β = 1 + Σ nli_confidence over refutes`. Neutral, origin
/// and citation edges add nothing. Computed from all edges on demand, never accumulated.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BetaConfidence {
    /// 1 + the weight of support, ≥ 1.
    pub alpha: f64,
    /// 1 + the weight of refutation, ≥ 1.
    pub beta: f64,
}

impl BetaConfidence {
    /// The posterior of these edges, in any order.
    pub fn from_edges(edges: impl IntoIterator<Item = (Relation, Probability)>) -> Self {
        let mut posterior = Self { alpha: 1.0, beta: 1.0 };
        for (relation, weight) in edges {
            match relation {
                Relation::Supports => posterior.alpha += weight.get(),
                Relation::Refutes => posterior.beta += weight.get(),
                Relation::Neutral | Relation::Origin | Relation::Cites => {}
            }
        }
        posterior
    }

    /// Posterior mean, α/(α+β), in (0, 1).
    pub fn confidence(&self) -> f64 {
        self.alpha / (self.alpha + self.beta)
    }

    /// Posterior standard deviation, `sqrt(αβ / ((α+β)²(α+β+1)))`, in (0, 0.289].
    pub fn uncertainty(&self) -> f64 {
        let n = self.alpha + self.beta;
        (self.alpha * self.beta / (n * n * (n + 1.0))).sqrt()
    }

    /// Share of the weaker side, `min(α−1, β−1)/(α+β−2)`, in [0, 0.5]; 0 without evidence.
    pub fn controversy(&self) -> f64 {
        let weight = self.alpha + self.beta - 2.0;
        if weight > 0.0 { (self.alpha - 1.0).min(self.beta - 1.0) / weight } else { 0.0 }
    }
}

/// What one judged passage says about a claim, with where it stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// `supports`, `refutes` or `neutral`.
    pub relation: Relation,
    /// Probability of that relation, 1.0 after a person's correction.
    pub nli_confidence: Probability,
    /// The passage that was judged.
    pub text: String,
    /// Title of the page or work.
    pub title: String,
    /// Year of publication; unknown stays visible as null.
    pub year: Option<i32>,
    /// Journal, conference or site.
    pub venue: Option<String>,
    /// DOI, normalised.
    pub doi: Option<String>,
    /// Where a person can read it.
    pub url: Option<String>,
    /// Identifier in the local corpus, when it came from one.
    pub doc_id: Option<String>,
    /// Page of the passage.
    pub page_id: crate::PageId,
    /// Fragment of the passage.
    pub fragment_id: crate::FragmentId,
    /// Edge that records the judgement.
    pub edge_id: crate::EdgeId,
    /// Category of the source's domain; an annotation, it never enters the confidence.
    pub source_domain_category: String,
    /// What makes two passages the same source: the work, else the registrable domain.
    pub source_key: String,
    /// Whether the work was retracted; unknown is null. A flag for the reader: it never enters the confidence.
    pub is_retracted: Option<bool>,
}

/// Oldest and newest year among evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct EvidenceYears {
    /// Earliest known year.
    pub oldest: Option<i32>,
    /// Latest known year.
    pub newest: Option<i32>,
}

impl EvidenceYears {
    /// The range of the years that are known.
    pub fn of(years: impl IntoIterator<Item = Option<i32>>) -> Self {
        years.into_iter().flatten().fold(Self::default(), |range, year| Self {
            oldest: Some(range.oldest.map_or(year, |old| old.min(year))),
            newest: Some(range.newest.map_or(year, |new| new.max(year))),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn posterior(supports: usize, refutes: usize) -> BetaConfidence {
        let weight = Probability::clamped(0.9);
        BetaConfidence::from_edges(
            std::iter::repeat_n((Relation::Supports, weight), supports)
                .chain(std::iter::repeat_n((Relation::Refutes, weight), refutes)),
        )
    }

    #[track_caller]
    fn check(supports: usize, refutes: usize, expect: [f64; 3]) {
        let p = posterior(supports, refutes);
        for (got, want) in [p.confidence(), p.uncertainty(), p.controversy()].into_iter().zip(expect) {
            assert!((got - want).abs() < 5e-4, "{supports} supports, {refutes} refutes: {got} is not {want}");
        }
    }

    #[test]
    fn the_table_of_the_design() {
        check(0, 0, [0.500, 0.289, 0.000]);
        check(1, 0, [0.655, 0.241, 0.000]);
        check(3, 0, [0.787, 0.171, 0.000]);
        check(3, 1, [0.661, 0.184, 0.250]);
        check(5, 5, [0.500, 0.144, 0.500]);
    }

    proptest! {
        #[test]
        fn stays_in_range_whatever_the_edges(edges in prop::collection::vec((0_usize..5, -1.0_f64..2.0), 0..60)) {
            let relations = [Relation::Supports, Relation::Refutes, Relation::Neutral, Relation::Origin, Relation::Cites];
            let edges: Vec<_> = edges.into_iter().map(|(r, w)| (relations[r], Probability::clamped(w))).collect();
            let p = BetaConfidence::from_edges(edges.iter().copied());
            prop_assert!(p.confidence() > 0.0 && p.confidence() < 1.0);
            prop_assert!(p.uncertainty() > 0.0 && p.uncertainty() <= 1.0 / 12.0_f64.sqrt() + 1e-12);
            prop_assert!((0.0..=0.5).contains(&p.controversy()));
            let without: Vec<_> = edges.into_iter().filter(|(r, _)| matches!(r, Relation::Supports | Relation::Refutes)).collect();
            prop_assert_eq!(p, BetaConfidence::from_edges(without));
        }
    }
}
