//! A page as a person reads it, with the judgments of its passages.

use crate::{Citation, schema};
use lyra_domain::Relation;
use schemars::JsonSchema;
use serde::Serialize;

/// A page with its passages.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ReadPage {
    /// Id of the page.
    pub page_id: String,
    /// Where it can be read.
    #[serde(flatten)]
    pub citation: Citation,
    /// Its address in the store; `corpus:NAME/ID` for a document of a corpus without an address of its own.
    pub address: String,
    /// Language of the page, ISO 639-1, when known.
    pub language: Option<String>,
    /// Registrable domain.
    pub domain: String,
    /// When it was read, RFC 3339, UTC.
    pub fetched_at: String,
    /// Its passages in order; those in quarantine only where they are asked for.
    pub fragments: Vec<ReadFragment>,
    /// Passages in quarantine: they address the AI that reads them.
    pub quarantined_count: u64,
}

/// A passage with its judgments.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ReadFragment {
    /// Id of the fragment.
    pub fragment_id: String,
    /// Headings above it, the outermost first, joined with ` › `.
    pub heading_context: Option<String>,
    /// The passage.
    pub text: String,
    /// The rule that put it into quarantine. Only for such passages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule_id: Option<String>,
    /// Its judgments, of every task.
    pub judged: Vec<Mark>,
}

/// The judgment of a passage against a claim.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Mark {
    /// Id of the judgment.
    pub edge_id: String,
    /// Id of the claim.
    pub claim_id: String,
    /// The statement.
    pub claim: String,
    /// Task of the claim.
    pub task_id: String,
    /// What the passage does to the claim.
    #[schemars(schema_with = "schema::judged")]
    pub relation: Relation,
    /// Probability of that relation by the model, 0 to 1; 1 after a person's correction.
    pub nli_confidence: f64,
    /// Whether a person changed the relation.
    pub edge_human_corrected: bool,
    /// When a person changed or confirmed it, RFC 3339, UTC.
    pub edge_corrected_at: Option<String>,
    /// The sentences that were judged, when they are not the whole passage.
    pub premise: Option<String>,
    /// Where those sentences stand in `text` of the passage, as far as they are there word for word. Line breaks and runs of
    /// spaces count as one space.
    pub spans: Vec<Span>,
}

/// A range of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Span {
    /// First character, counted in Unicode characters from 0.
    pub start: usize,
    /// One past the last character.
    pub end: usize,
}
