//! A claim, the passages judged against it, and where they can be read.

use crate::json::thousandths;
use crate::schema;
use lyra_domain::{AdoptionStatus, ClaimReport, EvidenceYears, Relation, VerificationStatus};
use schemars::JsonSchema;
use serde::Serialize;

/// A claim with its numbers and the passages behind them.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Claim {
    /// Id of the claim.
    pub claim_id: String,
    /// Its task.
    pub task_id: String,
    /// The statement.
    pub claim: String,
    /// Where the statement is from: `extracted`, `user`, or `question`.
    pub claim_type: String,
    /// Language of the statement, ISO 639-1, when known.
    pub language: Option<String>,
    /// Whether the claim counts in its task, or a person took it out.
    #[schemars(schema_with = "schema::adoption")]
    pub claim_adoption_status: AdoptionStatus,
    /// Its status by the sources of its evidence.
    #[schemars(schema_with = "schema::verification")]
    pub source_verification_status: VerificationStatus,
    /// Who found the claim in its passage: `language_model` or `rules`.
    pub extracted_by: Option<String>,
    /// What that extractor said about it, 0 to 1; never evidence, and not comparable between extractors.
    pub extraction_score: Option<f64>,
    /// The passage that the claim was found in.
    pub origin: Option<Origin>,
    /// First parameter of the Beta posterior: 1 plus the weight of the support.
    pub alpha: f64,
    /// Second parameter: 1 plus the weight of the refutation.
    pub beta: f64,
    /// Mean of the posterior, 0 to 1; 0.5 without evidence.
    pub confidence: f64,
    /// Standard deviation of the posterior.
    pub uncertainty: f64,
    /// Share of the weaker side, 0 to 0.5.
    pub controversy: f64,
    /// Passages that support the claim.
    pub supporting_count: usize,
    /// Passages that refute it.
    pub refuting_count: usize,
    /// Passages that do neither.
    pub neutral_count: usize,
    /// Relevant passages that were not judged; they are not neutral.
    pub not_judged_count: usize,
    /// Works or domains among supporting and refuting passages, other than the claim's own.
    pub independent_sources: usize,
    /// Years of the supporting and refuting passages.
    pub evidence_years: Years,
    /// Judged passages; `evidence` may list fewer where a page is too small for all.
    pub evidence_count: usize,
    /// The judged passages: refuting, supporting, neutral, the most certain first within each.
    pub evidence: Vec<Evidence>,
}

/// A passage that was judged against a claim.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Evidence {
    /// Id of the judgment.
    pub edge_id: String,
    /// What the passage does to the claim.
    #[schemars(schema_with = "schema::judged")]
    pub relation: Relation,
    /// Probability of that relation by the model, 0 to 1; 1 after a person's correction.
    pub nli_confidence: f64,
    /// Whether a person changed the relation.
    pub edge_human_corrected: bool,
    /// Why they did. Only when they said so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edge_correction_reason: Option<String>,
    /// What the claim names and the passage does not.
    pub missing: Vec<String>,
    /// What both state differently.
    pub differs: Vec<String>,
    /// The sentences that were judged.
    pub text: String,
    /// Where they can be read.
    #[serde(flatten)]
    pub citation: Citation,
    /// Page of the passage.
    pub page_id: String,
    /// Fragment of the passage.
    pub fragment_id: String,
    /// Work of the page. Passages of one work, or of one page without a work, count once in the confidence.
    pub work_id: Option<String>,
    /// The identity of the source: the work, else the registrable domain.
    pub source_key: String,
    /// Category of the source's domain; it never enters the confidence.
    pub source_domain_category: String,
}

/// Where a text can be read.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Citation {
    /// Title of the page or work.
    pub title: String,
    /// Authors in the order of the by-line, empty when unknown. Only where a claim was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authors: Option<Vec<String>>,
    /// Year of publication.
    pub year: Option<i32>,
    /// Journal, conference or site.
    pub venue: Option<String>,
    /// DOI, normalized.
    pub doi: Option<String>,
    /// Address where a person can read it.
    pub url: Option<String>,
    /// Id in the local corpus.
    pub doc_id: Option<String>,
    /// Section and page of the passage, such as `Results, p. 7`. Only when its document has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub section: Option<String>,
    /// Whether the work was retracted; it never enters the confidence.
    pub is_retracted: Option<bool>,
}

/// The passage that a claim was found in.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Origin {
    /// The passage.
    pub text: String,
    /// Where it can be read.
    #[serde(flatten)]
    pub citation: Citation,
    /// Page of the passage.
    pub page_id: String,
    /// Fragment of the passage.
    pub fragment_id: String,
}

/// Oldest and newest year.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Years {
    /// Oldest year that is known.
    pub oldest: Option<i32>,
    /// Newest year that is known.
    pub newest: Option<i32>,
}

/// A change in a claim's history.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ClaimEvent {
    /// When it happened, RFC 3339, UTC.
    pub at: String,
    /// What happened, in `snake_case`.
    pub event: String,
    /// Facts about it.
    #[schemars(schema_with = "schema::optional_object")]
    pub detail: serde_json::Value,
    /// The job or call that caused it.
    pub cause_id: Option<String>,
}

impl From<&ClaimReport> for Claim {
    fn from(report: &ClaimReport) -> Self {
        let (claim, posterior) = (&report.claim, &report.posterior);
        Self {
            claim_id: claim.id.to_string(),
            task_id: claim.task_id.to_string(),
            claim: claim.claim_text.clone(),
            claim_type: claim.claim_type.clone(),
            language: claim.language.clone(),
            claim_adoption_status: claim.adoption_status,
            source_verification_status: claim.verification_status,
            extracted_by: claim.extraction.map(|extraction| extraction.extracted_by.to_string()),
            extraction_score: claim.extraction.map(|extraction| thousandths(extraction.score.get())),
            origin: report.origin.as_ref().map(Origin::from),
            alpha: thousandths(posterior.alpha),
            beta: thousandths(posterior.beta),
            confidence: thousandths(posterior.confidence()),
            uncertainty: thousandths(posterior.uncertainty()),
            controversy: thousandths(posterior.controversy()),
            supporting_count: report.supporting_count,
            refuting_count: report.refuting_count,
            neutral_count: report.neutral_count,
            not_judged_count: report.not_judged_count,
            independent_sources: report.independent_sources,
            evidence_years: report.evidence_years.into(),
            evidence_count: report.evidence.len(),
            evidence: report.evidence.iter().map(Evidence::from).collect(),
        }
    }
}

impl From<&lyra_domain::Evidence> for Evidence {
    fn from(evidence: &lyra_domain::Evidence) -> Self {
        Self {
            edge_id: evidence.edge_id.to_string(),
            relation: evidence.relation,
            nli_confidence: thousandths(evidence.nli_confidence.get()),
            edge_human_corrected: evidence.human_corrected,
            edge_correction_reason: evidence.correction_reason.clone(),
            missing: evidence.discrepancies.missing.clone(),
            differs: evidence.discrepancies.differs.clone(),
            text: evidence.text.clone(),
            // A judgment does not know the authors of its work.
            citation: Citation { authors: None, ..Citation::from(&evidence.citation()) },
            page_id: evidence.page_id.to_string(),
            fragment_id: evidence.fragment_id.to_string(),
            work_id: evidence.work_id.clone(),
            source_key: evidence.source_key.clone(),
            source_domain_category: evidence.source_domain_category.clone(),
        }
    }
}

impl From<&lyra_domain::Citation> for Citation {
    fn from(citation: &lyra_domain::Citation) -> Self {
        Self {
            title: citation.title.clone(),
            authors: Some(citation.authors.clone()),
            year: citation.year,
            venue: citation.venue.clone(),
            doi: citation.doi.clone(),
            url: citation.url.clone(),
            doc_id: citation.doc_id.clone(),
            section: citation.section.clone(),
            is_retracted: citation.is_retracted,
        }
    }
}

impl From<&lyra_domain::Origin> for Origin {
    fn from(origin: &lyra_domain::Origin) -> Self {
        Self {
            text: origin.text.clone(),
            citation: (&origin.citation).into(),
            page_id: origin.page_id.to_string(),
            fragment_id: origin.fragment_id.to_string(),
        }
    }
}

impl From<EvidenceYears> for Years {
    fn from(EvidenceYears { oldest, newest }: EvidenceYears) -> Self {
        Self { oldest, newest }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lyra_domain::{Citation, Discrepancies, Probability, TaskId};

    fn report() -> ClaimReport {
        let task: TaskId = "task_1".parse().unwrap();
        let fragment: lyra_domain::FragmentId = "frag_1".parse().unwrap();
        let claim = lyra_domain::Claim::new(&task, "Naps help.", Some(fragment.clone()), None);
        let evidence = lyra_domain::Evidence {
            relation: Relation::Supports,
            nli_confidence: Probability::clamped(2.0 / 3.0),
            discrepancies: Discrepancies::default(),
            text: "They do.".to_owned(),
            title: "A trial".to_owned(),
            year: None,
            venue: None,
            doi: Some("10.1000/a".to_owned()),
            url: None,
            doc_id: None,
            section: None,
            page_id: "page_2".parse().unwrap(),
            fragment_id: "frag_2".parse().unwrap(),
            edge_id: "edge_1".parse().unwrap(),
            source_domain_category: "unverified".to_owned(),
            source_key: "work_1".to_owned(),
            work_id: None,
            is_retracted: None,
            human_corrected: true,
            correction_reason: Some("read in full".to_owned()),
        };
        let origin = lyra_domain::Origin {
            text: "Naps help.".to_owned(),
            citation: Citation { authors: Vec::new(), ..evidence.citation() },
            page_id: "page_1".parse().unwrap(),
            fragment_id: fragment,
            source_key: "work_2".to_owned(),
        };
        ClaimReport::new(claim, vec![evidence], Some(origin))
    }

    #[test]
    fn what_is_unknown_is_null_and_numbers_are_short() {
        let claim = serde_json::to_value(Claim::from(&report())).unwrap();
        assert_eq!((&claim["alpha"], &claim["evidence_count"]), (&1.667.into(), &1.into()), "{claim}");
        let (evidence, origin) = (&claim["evidence"][0], &claim["origin"]);
        assert_eq!((&evidence["nli_confidence"], &evidence["doi"]), (&0.667.into(), &"10.1000/a".into()));
        assert_eq!(evidence["edge_human_corrected"], true);
        assert_eq!(evidence["edge_correction_reason"], "read in full");
        for unknown in ["year", "venue", "url", "doc_id", "work_id", "is_retracted"] {
            assert!(evidence.get(unknown).is_some_and(serde_json::Value::is_null), "{unknown} of {evidence}");
        }
        assert!(
            origin["authors"].is_array() && evidence.get("authors").is_none(),
            "only an origin names authors"
        );
        assert!(evidence.get("section").is_none(), "{evidence}");
    }
}
