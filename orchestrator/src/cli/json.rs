//! What `--json` prints. Numbers are rounded to three decimals here and nowhere before.

use lyra_domain::{Citation, ClaimReport, Discrepancies, Evidence, EvidenceYears, Origin};
use lyra_store::Coverage;
use lyra_usecases::json::thousandths;
use lyra_usecases::{Answer, Cluster, Verdict};
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
    answer: AnswerJson,
    claims: Vec<FindingJson>,
    not_covered: NotCovered,
    totals: Totals,
    warnings: Vec<String>,
}

/// The answer to the question: for its claim, or in groups of findings when it is a topic.
#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum AnswerJson {
    Claim {
        claim_id: String,
        claim: String,
        opposite: Option<String>,
        confidence: f64,
        uncertainty: f64,
        works: Works,
        evidence_years: EvidenceYears,
        contradicted: bool,
    },
    Topic {
        clusters: Vec<ClusterJson>,
    },
}

#[derive(Debug, Serialize)]
struct Works {
    supporting: usize,
    refuting: usize,
    silent: usize,
    not_judged: u64,
}

#[derive(Debug, Serialize)]
struct ClusterJson {
    claim_id: String,
    claim: String,
    findings: usize,
    works: usize,
    years: EvidenceYears,
}

/// A claim of `lyra research --json`.
#[derive(Debug, Serialize)]
struct FindingJson {
    #[serde(flatten)]
    claim: ClaimJson,
    /// Cosine with the question.
    closeness: Option<f64>,
    /// The earlier claim that says the same.
    same_as: Option<String>,
}

#[derive(Debug, Serialize)]
struct NotCovered {
    sources: Vec<String>,
    works: u64,
    works_without_text: u64,
    passages: u64,
    passages_not_judged: u64,
    languages: Vec<UnjudgedLanguage>,
}

#[derive(Debug, Serialize)]
struct UnjudgedLanguage {
    language: String,
    passages: u64,
}

/// `lyra claim show --json`, and a part of a claim of `lyra research --json`.
#[derive(Debug, Serialize)]
pub(super) struct ClaimJson {
    claim_id: String,
    claim_type: String,
    origin: Option<OriginJson>,
    #[serde(flatten)]
    check: CheckJson,
}

/// Where a claim was found.
#[derive(Debug, Serialize)]
struct OriginJson {
    text: String,
    #[serde(flatten)]
    citation: Citation,
    page_id: String,
    fragment_id: String,
}

#[derive(Debug, Serialize)]
struct Numbers {
    confidence: f64,
    uncertainty: f64,
    controversy: f64,
    supporting_count: usize,
    refuting_count: usize,
    neutral_count: usize,
    not_judged_count: usize,
    independent_sources: usize,
}

#[derive(Debug, Serialize)]
struct EvidenceJson {
    edge_id: String,
    relation: String,
    nli_confidence: f64,
    #[serde(flatten)]
    discrepancies: Discrepancies,
    text: String,
    title: String,
    year: Option<i32>,
    venue: Option<String>,
    doi: Option<String>,
    url: Option<String>,
    doc_id: Option<String>,
    /// Only present when true.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_retracted: bool,
}

#[derive(Debug, Serialize)]
pub(super) struct Totals {
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
                not_judged_count: report.not_judged_count,
                independent_sources: report.independent_sources,
            },
            evidence: report.evidence.iter().map(EvidenceJson::of).collect(),
        }
    }
}

impl ResearchJson {
    /// `totals` cover the whole answer; the claims may be only a part of it.
    pub(super) fn of(answer: &Answer, totals: Totals) -> Self {
        let asked = answer.verdict.iter().map(|verdict| FindingJson {
            claim: ClaimJson::of(&verdict.report),
            closeness: None,
            same_as: None,
        });
        let found = answer.findings.iter().flat_map(|finding| {
            let closeness = finding.closeness.map(|closeness| thousandths(f64::from(closeness)));
            let first = FindingJson { claim: ClaimJson::of(&finding.report), closeness, same_as: None };
            std::iter::once(first).chain(finding.same.iter().map(|report| FindingJson {
                claim: ClaimJson::of(report),
                closeness: None,
                same_as: Some(finding.report.claim.id.to_string()),
            }))
        });
        Self {
            task_id: answer.progress.task.id.to_string(),
            query: answer.progress.task.query.clone(),
            answer: AnswerJson::of(answer),
            claims: asked.chain(found).collect(),
            not_covered: NotCovered::of(&answer.not_covered),
            totals,
            warnings: answer.notes.clone(),
        }
    }
}

impl AnswerJson {
    fn of(answer: &Answer) -> Self {
        answer.verdict.as_ref().map_or_else(
            || Self::Topic { clusters: answer.clusters.iter().map(ClusterJson::of).collect() },
            |Verdict { report, opposite, works, works_not_judged }| Self::Claim {
                claim_id: report.claim.id.to_string(),
                claim: report.claim.claim_text.clone(),
                opposite: opposite.clone(),
                confidence: thousandths(report.posterior.confidence()),
                uncertainty: thousandths(report.posterior.uncertainty()),
                works: Works {
                    supporting: works.supporting,
                    refuting: works.refuting,
                    silent: works.silent,
                    not_judged: *works_not_judged,
                },
                evidence_years: report.evidence_years,
                contradicted: report.is_contradicted(),
            },
        )
    }
}

impl ClusterJson {
    fn of(cluster: &Cluster) -> Self {
        let Cluster { claim, text, findings, works, years } = cluster;
        Self {
            claim_id: claim.to_string(),
            claim: text.clone(),
            findings: *findings,
            works: *works,
            years: *years,
        }
    }
}

impl NotCovered {
    fn of(coverage: &Coverage) -> Self {
        let languages = coverage.languages.iter();
        Self {
            sources: coverage.failures.clone(),
            works: coverage.works,
            works_without_text: coverage.works_without_text,
            passages: coverage.passages,
            passages_not_judged: coverage.passages_not_judged,
            languages: languages
                .map(|(language, passages)| UnjudgedLanguage {
                    language: language.clone(),
                    passages: *passages,
                })
                .collect(),
        }
    }
}

impl Totals {
    pub(super) fn of(answer: &Answer) -> Self {
        let sum = |count: fn(&ClaimReport) -> usize| answer.claims().map(count).sum();
        Self {
            claims: answer.claims().count(),
            contradicted_claims: answer.claims().filter(|report| report.is_contradicted()).count(),
            pages: answer.progress.pages as usize,
            supporting_edges: sum(|report| report.supporting_count),
            refuting_edges: sum(|report| report.refuting_count),
            neutral_edges: sum(|report| report.neutral_count),
        }
    }
}

impl ClaimJson {
    pub(super) fn of(report: &ClaimReport) -> Self {
        Self {
            claim_id: report.claim.id.to_string(),
            claim_type: report.claim.claim_type.clone(),
            origin: report.origin.as_ref().map(OriginJson::of),
            check: CheckJson::of(report),
        }
    }
}

impl OriginJson {
    fn of(origin: &Origin) -> Self {
        Self {
            text: origin.text.clone(),
            citation: origin.citation.clone(),
            page_id: origin.page_id.to_string(),
            fragment_id: origin.fragment_id.to_string(),
        }
    }
}

impl EvidenceJson {
    fn of(evidence: &Evidence) -> Self {
        Self {
            edge_id: evidence.edge_id.to_string(),
            relation: evidence.relation.to_string(),
            nli_confidence: thousandths(evidence.nli_confidence.get()),
            discrepancies: evidence.discrepancies.clone(),
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
