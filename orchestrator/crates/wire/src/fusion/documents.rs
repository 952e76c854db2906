//! Documents of lanes and runs.

use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// Documents found, for people.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Found {
    /// The corpus searched.
    pub corpus: String,
    /// Documents, best first.
    pub results: Vec<FoundDocument>,
    /// Documents that matched, where the backend counts them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// Milliseconds that the search took.
    pub took_ms: u64,
    /// Words of the query that are operators in other systems, each with what to write if the operator was meant.
    pub notes: Vec<String>,
}

/// One document found.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FoundDocument {
    /// Place in the list, from 1.
    pub rank: usize,
    /// Its number of the requested kind; its document id if it has none.
    pub id: String,
    /// Document id, for the other tools.
    pub doc_id: String,
    /// Title of the document; its beginning where the list would be too large.
    pub title: String,
    /// Score of the search; only comparable within this list.
    pub score: f64,
}

/// Texts of documents.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Documents {
    /// The corpus they are from.
    pub corpus: String,
    /// Documents in the requested order.
    pub documents: Vec<DocumentView>,
    /// Ids for which there is no document.
    pub missing_ids: Vec<String>,
    /// Ids of existing documents that are omitted to keep the answer small; request them separately.
    pub omitted_ids: Vec<String>,
    /// Fields with copied text.
    pub untrusted_fields: Vec<&'static str>,
}

/// A document's texts.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DocumentView {
    /// The requested id.
    pub id: String,
    /// Document id.
    pub doc_id: String,
    /// The requested fields, by name; those without content are absent.
    pub fields: BTreeMap<String, String>,
    /// Truncated fields.
    pub cut: Vec<CutField>,
    /// Passages that match the query, with `**` around the matches.
    pub highlights: Vec<Passage>,
}

/// A truncated field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CutField {
    /// Name of the field.
    pub field: String,
    /// Characters shown.
    pub shown_chars: usize,
    /// Characters that it has.
    pub total_chars: usize,
}

/// A passage that matches the query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Passage {
    /// Name of the field.
    pub field: &'static str,
    /// The passage.
    pub text: String,
}

/// The first documents of a run, in as many bytes as were allowed.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PeekView {
    /// Id of the run.
    pub run_id: String,
    /// Documents in the run's order.
    pub snippets: Vec<Snippet>,
    /// Bytes of this answer as JSON.
    pub used_bytes: usize,
    /// Documents in the run.
    pub total_docs: usize,
    /// Whether fewer documents are shown than requested, because of the budget.
    pub truncated: bool,
    /// `offset` of the next page; absent at the end of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<usize>,
    /// Fields with copied text.
    pub untrusted_fields: Vec<&'static str>,
}

/// A document in a peek.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Snippet {
    /// Place in the run, from 1.
    pub rank: usize,
    /// Document id.
    pub doc_id: String,
    /// Beginnings of the requested fields, by name.
    pub fields: BTreeMap<String, String>,
}
