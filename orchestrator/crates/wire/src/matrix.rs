//! Claims by works.

use crate::Citation;
use crate::json::thousandths;
use crate::schema;
use lyra_domain::{ClaimReport, Evidence, Link, MatrixWork, Relation};
use schemars::JsonSchema;
use serde::Serialize;

/// Claims of a task, and the works that were judged against them.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct EvidenceMatrix {
    /// Columns: works that take a side on the most of these claims first.
    pub works: Vec<MatrixColumn>,
    /// Rows, in the requested order.
    pub claims: Vec<MatrixRow>,
    /// What stored facts connect the works above.
    pub links: Vec<WorkLink>,
    /// Claims that meet the filter, on all pages.
    pub total_claims: u64,
    /// Works that were judged against these claims, those that are left out included.
    pub total_works: usize,
    /// Cursor of the next page of claims; unknown at the end.
    pub next_cursor: Option<String>,
}

/// A work.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct MatrixColumn {
    /// Key of the work: its id, else that of its page.
    pub work_key: String,
    /// A page of it.
    pub page_id: String,
    /// Where it can be read.
    #[serde(flatten)]
    pub citation: Citation,
    /// Claims above that it supports.
    pub supporting: usize,
    /// Claims above that it refutes.
    pub refuting: usize,
    /// Claims above on which it takes no side.
    pub neutral: usize,
}

/// A claim.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct MatrixRow {
    /// Id of the claim.
    pub claim_id: String,
    /// The statement.
    pub claim: String,
    /// Mean of the posterior, 0 to 1; 0.5 without evidence.
    pub confidence: f64,
    /// Standard deviation of the posterior.
    pub uncertainty: f64,
    /// What the works say, in the order of the columns; works without a judgment about the claim are left out.
    pub cells: Vec<MatrixCell>,
}

/// What a work says about a claim, by the passage that counts in the confidence.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct MatrixCell {
    /// Key of the work.
    pub work_key: String,
    /// Id of the judgment.
    pub edge_id: String,
    /// What the passage does to the claim.
    #[schemars(schema_with = "schema::judged")]
    pub relation: Relation,
    /// Probability of that relation, 0 to 1.
    pub nli_confidence: f64,
}

/// Works that a stored fact connects.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct WorkLink {
    /// What connects them: the same `registration` of a trial, the same `identifier`, the same `title` and year, the
    /// same `authors` and year, or that the first `cites` the second.
    pub kind: String,
    /// What they share, as it is stored; unknown for a citation.
    pub value: Option<String>,
    /// Keys of the works.
    pub work_keys: Vec<String>,
}

impl MatrixRow {
    /// The row of a claim.
    pub fn new(report: &ClaimReport, cells: &[Option<&Evidence>]) -> Self {
        let cell = |passage: &&Evidence| MatrixCell {
            work_key: passage.work_key().to_owned(),
            edge_id: passage.edge_id.to_string(),
            relation: passage.relation,
            nli_confidence: thousandths(passage.nli_confidence.get()),
        };
        Self {
            claim_id: report.claim.id.to_string(),
            claim: report.claim.claim_text.clone(),
            confidence: thousandths(report.posterior.confidence()),
            uncertainty: thousandths(report.posterior.uncertainty()),
            cells: cells.iter().flatten().map(cell).collect(),
        }
    }
}

impl From<&MatrixWork<'_>> for MatrixColumn {
    fn from(work: &MatrixWork<'_>) -> Self {
        let whole = lyra_domain::Citation { section: None, ..work.passage.citation() };
        Self {
            work_key: work.key().to_owned(),
            page_id: work.passage.page_id.to_string(),
            citation: Citation { authors: None, ..(&whole).into() },
            supporting: work.supporting,
            refuting: work.refuting,
            neutral: work.neutral,
        }
    }
}

impl From<&Link> for WorkLink {
    fn from(link: &Link) -> Self {
        Self {
            kind: link.kind.to_string(),
            value: Some(link.value.clone()).filter(|value| !value.is_empty()),
            work_keys: link.works.clone(),
        }
    }
}
