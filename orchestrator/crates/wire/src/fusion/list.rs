//! Runs in a list, and a run's documents with what hit them.

use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// A run in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RunInfo {
    /// Id of the run.
    pub run_id: String,
    /// `fulltext`, `semantic`, `original_dense` or `fusion`.
    pub kind: String,
    /// Name of the lane; absent in fusion runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lane: Option<String>,
    /// The corpus searched.
    pub corpus: String,
    /// The query or text of a lane; absent in fusion runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// Documents in it.
    pub count_returned: usize,
    /// When it was created.
    pub created_at: String,
}

/// Documents of a run, from a place on.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RunDocuments {
    /// Id of the run.
    pub run_id: String,
    /// The corpus searched.
    pub corpus: String,
    /// Documents in the run.
    pub total: usize,
    /// Documents in the run's order.
    pub documents: Vec<RunDocument>,
    /// `offset` of the next page; absent at the end of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<usize>,
    /// Fields with copied text.
    pub untrusted_fields: Vec<&'static str>,
}

/// A document of a run, with what each lane adds and which of its passages the queries hit.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RunDocument {
    /// Place in the run, from 1.
    pub rank: usize,
    /// Document id.
    pub doc_id: String,
    /// Its title; empty if it has none, or if the corpus no longer has the document.
    pub title: String,
    /// Score in the run.
    pub score: f64,
    /// Place in every lane that has it, by lane; of fusion runs.
    pub ranks: BTreeMap<String, usize>,
    /// Share of every lane and of `code` in the score, summing to 1; of fusion runs.
    pub shares: BTreeMap<String, f64>,
    /// Year of publication.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub year: Option<i32>,
    /// ISO 639-1 code of the texts' language.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// Codes as `system:code`, in the document's order, at most 20.
    pub codes: Vec<String>,
    /// A person's judgment, `A`, `B` or `C`, if the run has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Passages that the lanes' queries hit.
    pub hits: Vec<RunHit>,
    /// Whether the corpus still has the document.
    pub found: bool,
}

/// A passage that a query hit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RunHit {
    /// Name of the field.
    pub field: &'static str,
    /// The passage in pieces, to be read one after the other.
    pub pieces: Vec<Piece>,
}

/// A piece of a passage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Piece {
    /// The text.
    pub text: String,
    /// Whether a query hit it.
    pub hit: bool,
}
