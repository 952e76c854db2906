//! A claim with everything its edges say, ready for any reader.

use crate::{BetaConfidence, Claim, Evidence, EvidenceYears, Relation};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// A claim, its posterior and the passages behind it. Computed on demand, never stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClaimReport {
    /// The claim.
    pub claim: Claim,
    /// Posterior of all its edges.
    pub posterior: BetaConfidence,
    /// Passages that entail it.
    pub supporting_count: usize,
    /// Passages that contradict it.
    pub refuting_count: usize,
    /// Passages that say neither.
    pub neutral_count: usize,
    /// Distinct works or domains among supporting and refuting passages, the origin's excluded.
    pub independent_sources: usize,
    /// Of those, the ones that support it.
    pub supporting_sources: usize,
    /// Refuting first, then supporting, then neutral; the surest first within each.
    pub evidence: Vec<Evidence>,
    /// Oldest and newest year of the supporting and refuting passages.
    pub evidence_years: EvidenceYears,
}

impl ClaimReport {
    /// Sums up the judged passages of a claim. `origin_key` is the source key of the page the claim came from.
    pub fn new(claim: Claim, mut evidence: Vec<Evidence>, origin_key: Option<&str>) -> Self {
        evidence.sort_by(|a, b| {
            side(a.relation)
                .cmp(&side(b.relation))
                .then(b.nli_confidence.get().total_cmp(&a.nli_confidence.get()))
                .then_with(|| a.edge_id.cmp(&b.edge_id))
        });
        let count = |relation| evidence.iter().filter(|e| e.relation == relation).count();
        let telling =
            || evidence.iter().filter(|e| matches!(e.relation, Relation::Supports | Relation::Refutes));
        let independent = |relation: Option<Relation>| {
            telling()
                .filter(|e| relation.is_none_or(|wanted| e.relation == wanted))
                .map(|e| e.source_key.as_str())
                .filter(|key| Some(*key) != origin_key)
                .collect::<HashSet<&str>>()
                .len()
        };
        Self {
            posterior: BetaConfidence::from_edges(evidence.iter().map(|e| (e.relation, e.nli_confidence))),
            supporting_count: count(Relation::Supports),
            refuting_count: count(Relation::Refutes),
            neutral_count: count(Relation::Neutral),
            independent_sources: independent(None),
            supporting_sources: independent(Some(Relation::Supports)),
            evidence_years: EvidenceYears::of(telling().map(|e| e.year)),
            claim,
            evidence,
        }
    }

    /// Some passage refutes it.
    pub fn is_contradicted(&self) -> bool {
        self.refuting_count > 0
    }
}

fn side(relation: Relation) -> u8 {
    match relation {
        Relation::Refutes => 0,
        Relation::Supports => 1,
        Relation::Neutral | Relation::Origin | Relation::Cites => 2,
    }
}

/// Puts contradicted claims first, then those with the most evidence, then by text.
pub fn contradictions_first(reports: &mut [ClaimReport]) {
    reports.sort_by(|a, b| {
        let key = |r: &ClaimReport| {
            (!r.is_contradicted(), std::cmp::Reverse(r.supporting_count + r.refuting_count))
        };
        key(a)
            .cmp(&key(b))
            .then(b.posterior.controversy().total_cmp(&a.posterior.controversy()))
            .then_with(|| a.claim.claim_text.cmp(&b.claim.claim_text))
    });
}
