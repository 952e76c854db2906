//! Screening of the documents of a task, and its PRISMA 2020 flow.

use crate::Citation;
use lyra_domain::{Basis, Verdict};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;

/// How far the screening of a task is, and which documents come next.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Screening {
    /// Id of the task.
    pub task_id: String,
    /// How many documents were decided.
    pub progress: ScreeningProgress,
    /// The share of the relevant documents that was found; unknown before the first included document.
    pub recall: Option<ScreeningRecall>,
    /// What the decisions say about stopping.
    pub stopping: ScreeningStopping,
    /// Included documents after so many decided ones: at most 200 points, in order.
    pub curve: Vec<CurvePoint>,
    /// Reasons for exclusions: suggested ones, then further ones that the task uses. Any other text is a reason too.
    pub reasons: Vec<String>,
    /// The documents to decide next, in order.
    pub next: Vec<NextDocument>,
}

/// Numbers of documents of a task.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ScreeningProgress {
    /// Documents that can be screened.
    pub documents: u64,
    /// Included ones.
    pub included: u64,
    /// Excluded ones.
    pub excluded: u64,
    /// Documents whose decision was put off.
    pub undecided: u64,
    /// Documents without a decision.
    pub open: u64,
    /// Documents that are not screened: their domain is blocked, or all their passages are in quarantine.
    pub removed: u64,
}

/// Numbers about the recall.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct ScreeningRecall {
    /// Estimated share of the relevant documents that was found, 0 to 1. Unknown before 20 decisions and 3 included
    /// documents. By an exponential counting process (Sneyd and Stevenson 2021).
    pub estimate: Option<f64>,
    /// Lower bound of that share at 95 % confidence, 0 to 1; the upper bound is 1. By the hypergeometric test of Callaghan
    /// and Müller-Hansen (2020).
    pub at_least: f64,
}

/// Numbers about stopping.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct ScreeningStopping {
    /// Excluded documents since the last included one.
    pub consecutive_excluded: u64,
    /// Probability of so few included documents if the recall were below `target_recall` (Callaghan and Müller-Hansen 2020).
    pub p_value: f64,
    /// The recall that `p_value` is about: 0.95.
    pub target_recall: f64,
}

/// A point of the curve of included documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CurvePoint {
    /// Documents that were included or excluded by then.
    pub screened: u64,
    /// Documents that were included by then.
    pub included: u64,
}

/// A document to decide.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct NextDocument {
    /// Id of the page.
    pub page_id: String,
    /// What to cite.
    #[serde(flatten)]
    pub citation: Citation,
    /// Language of the document, ISO 639-1, when known.
    pub language: Option<String>,
    /// What the store has of it: `title`, `abstract`, or `full_text`.
    #[schemars(schema_with = "basis")]
    pub basis: Basis,
    /// Its abstract, else the passages that the searches ranked best, in the order of the document.
    pub passages: Vec<ScreeningPassage>,
    /// Passages that are not shown here.
    pub more_passages: u64,
    /// Place in the ranking of the task's searches, from 1, among the documents that can be screened.
    pub search_rank: u64,
    /// How promising it is by the decisions so far, 0 to 1; it ranks and is no probability. Unknown while the order is that
    /// of the search.
    pub score: Option<f64>,
    /// Why it comes here: `search`, by its rank there; `promising`, as the most promising one; `unsure`, as the one that
    /// the decisions say least about.
    #[schemars(schema_with = "because")]
    pub because: &'static str,
}

/// A passage of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ScreeningPassage {
    /// Id of the fragment.
    pub fragment_id: String,
    /// Headings above it, the outermost first, joined with ` › `.
    pub heading_context: Option<String>,
    /// The passage, at most 6,000 characters.
    pub text: String,
}

/// A decision about a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ScreeningDecision {
    /// Id of the decision; a later one names it in `replaces`.
    pub decision_id: String,
    /// Id of the document.
    pub page_id: String,
    /// The decision: `include`, `exclude`, or `undecided`.
    #[schemars(schema_with = "verdict")]
    pub verdict: Verdict,
    /// Why, as the person gave it.
    pub reason: Option<String>,
    /// What the store had of the document then: `title`, `abstract`, or `full_text`.
    #[schemars(schema_with = "basis")]
    pub basis: Basis,
    /// Who decided: `local`, or `token:NAME`.
    pub decided_by: String,
    /// When, RFC 3339, UTC.
    pub decided_at: String,
    /// Whether it was taken back.
    pub taken_back: bool,
}

/// What a decision came to, or taking one back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ScreeningChanged {
    /// Id of the task.
    pub task_id: String,
    /// Id of the document.
    pub page_id: String,
    /// The decision that counts now; unknown when there is none.
    pub decision: Option<ScreeningDecision>,
    /// How many documents were decided.
    pub progress: ScreeningProgress,
}

/// A decided document.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DecidedDocument {
    /// The decision that counts.
    #[serde(flatten)]
    pub decision: ScreeningDecision,
    /// What to cite.
    #[serde(flatten)]
    pub citation: Citation,
}

/// Part of the decided documents of a task.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DecidedDocuments {
    /// The latest decision first.
    pub decided: Vec<DecidedDocument>,
    /// Documents that meet the filter, on all pages.
    pub total: u64,
    /// Cursor of the next page; unknown at the end.
    pub next_cursor: Option<String>,
}

/// The flow of a task's documents in the boxes of PRISMA 2020. Each number is counted from what is stored. Not recorded, and so
/// not here: duplicates that a source removed by itself, records that a tool marked as ineligible, and records beyond
/// the task's budget of pages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Prisma {
    /// Id of the task.
    pub task_id: String,
    /// Records that databases and registers returned: corpora and academic sources. One for each search and work.
    pub databases: Vec<RecordCount>,
    /// Records that were found otherwise: on the web, through citations, or added by hand.
    pub others: Vec<RecordCount>,
    /// All these records.
    pub identified: u64,
    /// Records that were merged into another one of the same work.
    pub duplicates: u64,
    /// Documents whose domain is blocked.
    pub blocked: u64,
    /// Documents with all their passages in quarantine.
    pub quarantined: u64,
    /// Documents that were included or excluded.
    pub screened: u64,
    /// Documents whose decision was put off.
    pub undecided: u64,
    /// Documents without a decision.
    pub open: u64,
    /// Documents that were excluded on title or abstract.
    pub excluded: u64,
    /// Reports of the others that were screened.
    pub sought: u64,
    /// Reports that were excluded because their full text was not available.
    pub not_retrieved: u64,
    /// Reports that were assessed.
    pub assessed: u64,
    /// Assessed reports that were excluded, by reason; without a reason last.
    pub excluded_reports: Vec<ReasonCount>,
    /// Included documents.
    pub included: u64,
    /// Those of them of which the store had the abstract or the title alone.
    pub included_without_full_text: u64,
    /// Works without a text whose pages could not be fetched. They are no documents of the task, and none of the other
    /// numbers counts them.
    pub not_fetched: u64,
    /// Pages and searches that required a person and are unresolved. None of the other numbers counts them.
    pub requires_person: u64,
}

/// Records of a source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RecordCount {
    /// Name of the source: `openalex`, `corpus:NAME`, `web`; `citations`, or `added` for documents without a source.
    pub source: String,
    /// Number of its records.
    pub records: u64,
}

/// Exclusions for a reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ReasonCount {
    /// The reason; unknown where none was given.
    pub reason: Option<String>,
    /// Number of documents that were excluded for it.
    pub count: u64,
}

fn words(words: &[&str]) -> Schema {
    json_schema!({ "type": "string", "enum": words })
}

fn verdict(_: &mut SchemaGenerator) -> Schema {
    words(&Verdict::ALL.iter().map(|verdict| verdict.as_str()).collect::<Vec<_>>())
}

fn basis(_: &mut SchemaGenerator) -> Schema {
    words(&Basis::ALL.iter().map(|basis| basis.as_str()).collect::<Vec<_>>())
}

fn because(_: &mut SchemaGenerator) -> Schema {
    words(&["search", "promising", "unsure"])
}
