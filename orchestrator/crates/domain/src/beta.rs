//! Beta–Bernoulli confidence of a claim (evidence design, section 3).

use crate::{Discrepancies, Probability, Relation, works};
use serde::{Deserialize, Serialize};

/// The posterior Beta(α, β) of a claim: a uniform prior, updated by every judged edge.
///
/// `α = 1 + Σ nli_confidence over supports`, `β = 1 + Σ nli_confidence over refutes`, where only the most certain
/// passage of each work counts ([`BetaConfidence::of_works`]). Neutral, origin and citation edges add nothing. Computed
/// from all edges on demand, never accumulated.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BetaConfidence {
    /// 1 + the weight of support, ≥ 1.
    pub alpha: f64,
    /// 1 + the weight of refutation, ≥ 1.
    pub beta: f64,
}

impl BetaConfidence {
    /// The posterior of judged passages, each with a key of its work, in any order. Several passages of one work are one
    /// observation: [`works::that_count`] says which of them counts.
    pub fn of_works<K: Ord>(passages: impl IntoIterator<Item = (K, Relation, Probability)>) -> Self {
        let passages: Vec<_> = passages.into_iter().collect();
        let counting = works::that_count(&passages, |passage| {
            let (work, relation, weight) = *passage;
            (work, *relation, *weight)
        });
        Self::from_edges(counting.into_values().map(|(_, relation, weight)| (*relation, *weight)))
    }

    /// The posterior over these edges, one per work, in any order.
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

/// The judgment of one passage about a claim, with its location.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// `supports`, `refutes` or `neutral`.
    pub relation: Relation,
    /// Probability of that relation, so of neutral for a neutral passage; 1.0 after a person's correction.
    pub nli_confidence: Probability,
    /// Where claim and passage differ.
    #[serde(flatten)]
    pub discrepancies: Discrepancies,
    /// The sentences that decided.
    pub text: String,
    /// Title of the page or work.
    pub title: String,
    /// Year of publication; unknown stays visible as null.
    pub year: Option<i32>,
    /// Journal, conference or site.
    pub venue: Option<String>,
    /// DOI, normalized.
    pub doi: Option<String>,
    /// Where a person can read it.
    pub url: Option<String>,
    /// Identifier in the local corpus, when it came from one.
    pub doc_id: Option<String>,
    /// Section and page of the passage, as its document has them (`Results, p. 7`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub section: Option<String>,
    /// Page of the passage.
    pub page_id: crate::PageId,
    /// Fragment of the passage.
    pub fragment_id: crate::FragmentId,
    /// Edge that records the judgment.
    pub edge_id: crate::EdgeId,
    /// Category of the source's domain; an annotation, it never enters the confidence.
    pub source_domain_category: String,
    /// The identity of a source: the work, else the registrable domain.
    pub source_key: String,
    /// Work of the page. Passages of one work, or of one page without a work, count once in the confidence.
    pub work_id: Option<String>,
    /// Whether the work was retracted; unknown is null. A flag for the reader: it never enters the confidence.
    pub is_retracted: Option<bool>,
    /// Whether a person set the relation in place of the model's.
    #[serde(default)]
    pub human_corrected: bool,
    /// Why the person did, when they said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correction_reason: Option<String>,
}

impl Evidence {
    /// Where the passage can be read. Authors are not known here.
    pub fn citation(&self) -> crate::Citation {
        crate::Citation {
            title: self.title.clone(),
            authors: Vec::new(),
            year: self.year,
            venue: self.venue.clone(),
            doi: self.doi.clone(),
            url: self.url.clone(),
            doc_id: self.doc_id.clone(),
            section: self.section.clone(),
            is_retracted: self.is_retracted,
        }
    }
}

/// Oldest and newest year among evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct EvidenceYears {
    /// Earliest known year.
    pub oldest: Option<i32>,
    /// Latest known year.
    pub newest: Option<i32>,
}

impl Evidence {
    /// The identity of an observation: the work, else the page.
    pub fn work_key(&self) -> &str {
        self.work_id.as_deref().unwrap_or(self.page_id.as_str())
    }
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

    #[test]
    fn passages_of_one_work_count_once() {
        let weight = Probability::clamped;
        let p = BetaConfidence::of_works([
            ("a", Relation::Supports, weight(0.6)),
            ("a", Relation::Supports, weight(0.9)),
            ("a", Relation::Neutral, weight(1.0)),
            ("a", Relation::Refutes, weight(0.7)),
            ("b", Relation::Supports, weight(0.8)),
            ("b", Relation::Refutes, weight(0.8)),
        ]);
        assert_eq!(p, BetaConfidence { alpha: 1.9, beta: 1.8 });
    }

    proptest! {
        #[test]
        fn a_work_adds_one_at_most_in_any_order(edges in prop::collection::vec((0_u8..4, 0_usize..3, 0.0_f64..=1.0), 0..40)) {
            let relations = [Relation::Supports, Relation::Refutes, Relation::Neutral];
            let edges: Vec<_> = edges.into_iter().map(|(work, r, w)| (work, relations[r], Probability::clamped(w))).collect();
            let p = BetaConfidence::of_works(edges.iter().copied());
            let works = edges.iter().map(|(work, ..)| work).collect::<std::collections::BTreeSet<_>>().len();
            prop_assert!(p.alpha + p.beta <= 2.0 + works as f64 + 1e-9);
            prop_assert_eq!(p, BetaConfidence::of_works(edges.iter().rev().copied()));
            let alone = BetaConfidence::of_works(edges.iter().enumerate().map(|(i, (_, r, w))| (i, *r, *w)));
            let all = BetaConfidence::from_edges(edges.iter().map(|(_, r, w)| (*r, *w)));
            prop_assert!((alone.alpha - all.alpha).abs() < 1e-9 && (alone.beta - all.beta).abs() < 1e-9);
        }

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
