//! A claim with its evidence, in a form for display.

use crate::{BetaConfidence, Claim, Evidence, EvidenceYears, FragmentId, PageId, Relation};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// Where a text can be read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Citation {
    /// Title of the page or work.
    pub title: String,
    /// Names in the order of the by-line; empty when unknown.
    pub authors: Vec<String>,
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
    /// Whether the work was retracted; unknown is null.
    pub is_retracted: Option<bool>,
}

/// The passage that a claim was found in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Origin {
    /// The passage.
    pub text: String,
    /// Where it stands.
    pub citation: Citation,
    /// Its page.
    pub page_id: PageId,
    /// Its fragment.
    pub fragment_id: FragmentId,
    /// The identity of a source.
    pub source_key: String,
}

/// The judged works of a claim by relation. Several passages of one work count once, by the most certain side.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkCounts {
    /// Works that support it.
    pub supporting: usize,
    /// Works that refute it.
    pub refuting: usize,
    /// Works that were judged to do neither.
    pub silent: usize,
}

/// A claim, its posterior and the passages behind it. Computed on demand, never stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClaimReport {
    /// The claim.
    pub claim: Claim,
    /// The passage it was found in; `None` for a claim given by the user or derived from the question.
    pub origin: Option<Origin>,
    /// Posterior of its edges; several passages of one work count once.
    pub posterior: BetaConfidence,
    /// Passages that entail it.
    pub supporting_count: usize,
    /// Passages that contradict it.
    pub refuting_count: usize,
    /// Passages that do neither.
    pub neutral_count: usize,
    /// Candidate passages that were not judged: their language or that of the claim is not supported, or the claim is
    /// too long for the model. They do not count, not even as "neutral".
    pub not_judged_count: usize,
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
    /// Sums up the judged passages of a claim that was found in the passage `origin`.
    pub fn new(claim: Claim, mut evidence: Vec<Evidence>, origin: Option<Origin>) -> Self {
        evidence.sort_by(|a, b| {
            side(a.relation)
                .cmp(&side(b.relation))
                .then(b.nli_confidence.get().total_cmp(&a.nli_confidence.get()))
                .then_with(|| a.edge_id.cmp(&b.edge_id))
        });
        let count = |relation| evidence.iter().filter(|e| e.relation == relation).count();
        let telling =
            || evidence.iter().filter(|e| matches!(e.relation, Relation::Supports | Relation::Refutes));
        let origin_key = origin.as_ref().map(|origin| origin.source_key.as_str());
        let independent = |relation: Option<Relation>| {
            telling()
                .filter(|e| relation.is_none_or(|wanted| e.relation == wanted))
                .map(|e| e.source_key.as_str())
                .filter(|key| Some(*key) != origin_key)
                .collect::<HashSet<&str>>()
                .len()
        };
        Self {
            posterior: BetaConfidence::of_works(
                evidence.iter().map(|e| (e.work_key(), e.relation, e.nli_confidence)),
            ),
            supporting_count: count(Relation::Supports),
            refuting_count: count(Relation::Refutes),
            neutral_count: count(Relation::Neutral),
            not_judged_count: 0,
            independent_sources: independent(None),
            supporting_sources: independent(Some(Relation::Supports)),
            evidence_years: EvidenceYears::of(telling().map(|e| e.year)),
            claim,
            origin,
            evidence,
        }
    }

    /// Sets the number of candidates that were not judged.
    #[must_use]
    pub fn with_not_judged(self, not_judged_count: usize) -> Self {
        Self { not_judged_count, ..self }
    }

    /// There is evidence on both sides.
    pub fn is_contradicted(&self) -> bool {
        self.supporting_count > 0 && self.refuting_count > 0
    }

    /// Some passage takes a side.
    pub fn has_evidence(&self) -> bool {
        self.supporting_count + self.refuting_count > 0
    }

    /// The number of works on each side.
    pub fn works(&self) -> WorkCounts {
        let works = self.by_work();
        let count = |relation| works.values().filter(|passage| passage.relation == relation).count();
        WorkCounts {
            supporting: count(Relation::Supports),
            refuting: count(Relation::Refutes),
            silent: count(Relation::Neutral),
        }
    }
}

fn side(relation: Relation) -> u8 {
    match relation {
        Relation::Refutes => 0,
        Relation::Supports => 1,
        Relation::Neutral | Relation::Origin | Relation::Cites => 2,
    }
}

/// Nine decimals, so that the order of summing decides nothing.
fn round(number: f64) -> f64 {
    (number * 1e9).round() / 1e9
}

/// Puts contradicted claims first, then those with the most evidence, then the most controversial, then by text.
pub fn contradictions_first(reports: &mut [ClaimReport]) {
    reports.sort_by(|a, b| {
        let key = |r: &ClaimReport| {
            (!r.is_contradicted(), std::cmp::Reverse(r.supporting_count + r.refuting_count))
        };
        key(a)
            .cmp(&key(b))
            .then(round(b.posterior.controversy()).total_cmp(&round(a.posterior.controversy())))
            .then_with(|| a.claim.claim_text.cmp(&b.claim.claim_text))
    });
}
