//! An answer as its report.

use crate::answer::{Finding, RejectedClaim};
use crate::{Answer, Cluster, Verdict};
use lyra_domain::ClaimReport;
use lyra_wire::json::thousandths;
use lyra_wire::{FoundClaim, NotCovered, Report, Totals, UnjudgedLanguage, Works};

/// A report on an answer. `totals` cover the whole answer; the answer may be only a part of it.
pub fn report(answer: &Answer, totals: Totals) -> Report {
    let asked = answer.verdict.iter().map(|verdict| FoundClaim {
        claim: (&verdict.report).into(),
        closeness: None,
        same_as: None,
    });
    Report {
        task_id: answer.progress.task.id.to_string(),
        query: answer.progress.task.query.clone(),
        answer: answer.into(),
        claims: asked.chain(answer.findings.iter().flat_map(claims_of)).collect(),
        finished: answer.unfinished().is_none(),
        not_covered: not_covered(answer),
        totals,
        warnings: answer.warnings(),
    }
}

/// The claim of a finding, then those that say the same.
fn claims_of(finding: &Finding) -> impl Iterator<Item = FoundClaim> {
    let closeness = finding.closeness.map(|closeness| thousandths(f64::from(closeness)));
    let first = FoundClaim { claim: (&finding.report).into(), closeness, same_as: None };
    std::iter::once(first).chain(finding.same.iter().map(|report| FoundClaim {
        claim: report.into(),
        closeness: None,
        same_as: Some(finding.report.claim.id.to_string()),
    }))
}

/// Counts over all claims of an answer.
pub fn totals(answer: &Answer) -> Totals {
    let sum = |count: fn(&ClaimReport) -> usize| answer.claims().map(count).sum();
    Totals {
        claims: answer.claims().count(),
        contradicted_claims: answer.claims().filter(|report| report.is_contradicted()).count(),
        pages: answer.progress.pages as usize,
        supporting_edges: sum(|report| report.supporting_count),
        refuting_edges: sum(|report| report.refuting_count),
        neutral_edges: sum(|report| report.neutral_count),
    }
}

/// What the evidence does not cover.
pub fn not_covered(answer: &Answer) -> NotCovered {
    let coverage = &answer.not_covered;
    let language = |(language, passages): &(String, u64)| UnjudgedLanguage {
        language: language.clone(),
        passages: *passages,
    };
    NotCovered {
        sources: coverage.failures.clone(),
        works: coverage.works,
        works_without_text: coverage.works_without_text,
        passages: coverage.passages,
        passages_not_judged: coverage.passages_not_judged,
        claims_not_judged: answer.unfinished().map_or(0, |left| left.claims),
        languages: coverage.languages.iter().map(language).collect(),
    }
}

impl From<&Answer> for lyra_wire::Answer {
    fn from(answer: &Answer) -> Self {
        answer.verdict.as_ref().map_or_else(
            || Self::Topic {
                clusters: answer.clusters.iter().map(lyra_wire::Cluster::from).collect(),
                rejected_claim: answer.rejected.as_ref().map(lyra_wire::RejectedClaim::from),
            },
            |verdict| Self::Claim(verdict.into()),
        )
    }
}

impl From<&RejectedClaim> for lyra_wire::RejectedClaim {
    fn from(RejectedClaim { claim, text, reason }: &RejectedClaim) -> Self {
        Self { claim_id: claim.to_string(), claim: text.clone(), reason: reason.clone() }
    }
}

impl From<&Verdict> for lyra_wire::Verdict {
    fn from(Verdict { report, opposite, works, works_not_judged }: &Verdict) -> Self {
        Self {
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
            evidence_years: report.evidence_years.into(),
            contradicted: report.is_contradicted(),
        }
    }
}

impl From<&Cluster> for lyra_wire::Cluster {
    fn from(Cluster { claim, text, findings, works, years }: &Cluster) -> Self {
        Self {
            claim_id: claim.to_string(),
            claim: text.clone(),
            findings: *findings,
            works: *works,
            years: (*years).into(),
        }
    }
}
