//! What `--json` prints. Numbers are rounded to three decimals here and nowhere before.

use crate::json::thousandths;
use lyra_domain::{ClaimReport, Evidence, Task};
use serde::Serialize;

/// `lyra check --json`.
#[derive(Debug, Serialize)]
pub(super) struct CheckJson {
    claim: String,
    #[serde(flatten)]
    numbers: Numbers,
    evidence: Vec<EvidenceJson>,
}

/// `lyra research --json`.
#[derive(Debug, Serialize)]
pub(super) struct ResearchJson {
    task_id: String,
    query: String,
    claims: Vec<ClaimJson>,
    totals: Totals,
    warnings: Vec<String>,
}

/// `lyra claim show --json`, and a claim of `lyra research --json`.
#[derive(Debug, Serialize)]
pub(super) struct ClaimJson {
    claim_id: String,
    #[serde(flatten)]
    check: CheckJson,
}

#[derive(Debug, Serialize)]
struct Numbers {
    confidence: f64,
    uncertainty: f64,
    controversy: f64,
    supporting_count: usize,
    refuting_count: usize,
    neutral_count: usize,
    independent_sources: usize,
}

#[derive(Debug, Serialize)]
struct EvidenceJson {
    edge_id: String,
    relation: String,
    nli_confidence: f64,
    text: String,
    title: String,
    year: Option<i32>,
    venue: Option<String>,
    doi: Option<String>,
    url: Option<String>,
    doc_id: Option<String>,
    /// Only there when it is true.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_retracted: bool,
}

#[derive(Debug, Serialize)]
struct Totals {
    claims: usize,
    contradicted_claims: usize,
    pages: usize,
    supporting_edges: usize,
    refuting_edges: usize,
    neutral_edges: usize,
}

impl CheckJson {
    pub(super) fn of(report: &ClaimReport) -> Self {
        Self {
            claim: report.claim.claim_text.clone(),
            numbers: Numbers {
                confidence: thousandths(report.posterior.confidence()),
                uncertainty: thousandths(report.posterior.uncertainty()),
                controversy: thousandths(report.posterior.controversy()),
                supporting_count: report.supporting_count,
                refuting_count: report.refuting_count,
                neutral_count: report.neutral_count,
                independent_sources: report.independent_sources,
            },
            evidence: report.evidence.iter().map(EvidenceJson::of).collect(),
        }
    }
}

impl ResearchJson {
    pub(super) fn of(task: &Task, reports: &[ClaimReport], pages: usize, warnings: Vec<String>) -> Self {
        let sum = |count: fn(&ClaimReport) -> usize| reports.iter().map(count).sum();
        Self {
            task_id: task.id.to_string(),
            query: task.query.clone(),
            claims: reports.iter().map(ClaimJson::of).collect(),
            totals: Totals {
                claims: reports.len(),
                contradicted_claims: reports.iter().filter(|report| report.is_contradicted()).count(),
                pages,
                supporting_edges: sum(|report| report.supporting_count),
                refuting_edges: sum(|report| report.refuting_count),
                neutral_edges: sum(|report| report.neutral_count),
            },
            warnings,
        }
    }
}

impl ClaimJson {
    pub(super) fn of(report: &ClaimReport) -> Self {
        Self { claim_id: report.claim.id.to_string(), check: CheckJson::of(report) }
    }
}

impl EvidenceJson {
    fn of(evidence: &Evidence) -> Self {
        Self {
            edge_id: evidence.edge_id.to_string(),
            relation: evidence.relation.to_string(),
            nli_confidence: thousandths(evidence.nli_confidence.get()),
            text: evidence.text.clone(),
            title: evidence.title.clone(),
            year: evidence.year,
            venue: evidence.venue.clone(),
            doi: evidence.doi.clone(),
            url: evidence.url.clone(),
            doc_id: evidence.doc_id.clone(),
            is_retracted: evidence.is_retracted == Some(true),
        }
    }
}
