//! The answer to a task's question, and the report around it.

use crate::{Claim, Years};
use schemars::JsonSchema;
use serde::Serialize;

/// A report on a task.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Report {
    /// Id of the task.
    pub task_id: String,
    /// Its question.
    pub query: String,
    /// The answer to the question.
    pub answer: Answer,
    /// The claim behind the question, then the findings, the closest to the question first.
    pub claims: Vec<FoundClaim>,
    /// Whether all work of the task is done; `not_covered.claims_not_judged` counts what is left.
    pub finished: bool,
    /// What the evidence does not cover.
    pub not_covered: NotCovered,
    /// Counts over all claims, listed or not.
    pub totals: Totals,
    /// Notes for the reader, such as a source that failed.
    pub warnings: Vec<String>,
}

/// The answer to a question: for its claim, or in groups of findings when it is a topic.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Answer {
    /// The question has a claim that is judged.
    Claim(Verdict),
    /// It has none.
    Topic {
        /// Groups of findings about the same, the largest first.
        clusters: Vec<Cluster>,
        /// The claim behind the question. Only when a person rejected it.
        #[serde(skip_serializing_if = "Option::is_none")]
        rejected_claim: Option<RejectedClaim>,
    },
}

/// A claim that a person took out of its task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RejectedClaim {
    /// Id of the claim.
    pub claim_id: String,
    /// The statement.
    pub claim: String,
    /// Why it was rejected.
    pub reason: Option<String>,
}

/// The evidence on the claim behind a question.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Verdict {
    /// Id of the claim.
    pub claim_id: String,
    /// The claim behind the question.
    pub claim: String,
    /// The claim turned round, by rules.
    pub opposite: Option<String>,
    /// Mean of the claim's Beta posterior, 0 to 1; 0.5 without evidence.
    pub confidence: f64,
    /// Its standard deviation.
    pub uncertainty: f64,
    /// Works by what they do to the claim; several passages of one work count once.
    pub works: Works,
    /// Years of the supporting and refuting passages.
    pub evidence_years: Years,
    /// Whether passages both support and refute the claim.
    pub contradicted: bool,
}

/// Works by what they do to a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Works {
    /// Works that support it.
    pub supporting: usize,
    /// Works that refute it.
    pub refuting: usize,
    /// Works that were judged to do neither.
    pub silent: usize,
    /// Works with a relevant passage of which none was judged.
    pub not_judged: u64,
}

/// Findings about the same.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Cluster {
    /// Id of the claim that is closest to the question.
    pub claim_id: String,
    /// That claim.
    pub claim: String,
    /// How many findings.
    pub findings: usize,
    /// Works that they were found in.
    pub works: usize,
    /// Years of these works.
    pub years: Years,
}

/// A claim in a report.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FoundClaim {
    /// The claim.
    #[serde(flatten)]
    pub claim: Claim,
    /// Cosine of the claim with the question.
    pub closeness: Option<f64>,
    /// The earlier claim that says the same.
    pub same_as: Option<String>,
}

/// What the evidence of a task does not cover.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NotCovered {
    /// The errors of sources that failed.
    pub sources: Vec<String>,
    /// Works found.
    pub works: u64,
    /// Of those, works without any text.
    pub works_without_text: u64,
    /// Relevant passages.
    pub passages: u64,
    /// Of those, passages that were not judged.
    pub passages_not_judged: u64,
    /// Claims that are not judged yet, because the task is not finished; 0 when it is.
    pub claims_not_judged: u64,
    /// Languages with relevant passages none of which was judged.
    pub languages: Vec<UnjudgedLanguage>,
}

/// A language without judged passages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct UnjudgedLanguage {
    /// The language, ISO 639-1.
    pub language: String,
    /// Its relevant passages.
    pub passages: u64,
}

/// Counts over the claims of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Totals {
    /// Adopted claims.
    pub claims: usize,
    /// Claims that passages both support and refute.
    pub contradicted_claims: usize,
    /// Pages of the task.
    pub pages: usize,
    /// Judgments by which a passage supports a claim.
    pub supporting_edges: usize,
    /// Judgments by which a passage refutes a claim.
    pub refuting_edges: usize,
    /// Judgments by which a passage does neither.
    pub neutral_edges: usize,
}
