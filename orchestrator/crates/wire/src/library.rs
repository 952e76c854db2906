//! Facts about a stored item, beside its text.

use schemars::JsonSchema;
use serde::Serialize;

/// What to cite, and facts about a stored claim or document. Only what is known.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub struct ItemFacts {
    /// `claim` or `document`.
    pub kind: &'static str,
    /// What to cite, in one line. Of a claim: where it was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub citation: Option<String>,
    /// The numbers of a claim.
    #[serde(flatten)]
    pub numbers: Option<ItemNumbers>,
    /// Authors of a document, in the order of the by-line.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub authors: Vec<String>,
    /// Year of publication.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub year: Option<i32>,
    /// Journal, conference or site.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub venue: Option<String>,
    /// DOI, normalized.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doi: Option<String>,
    /// Id in the local corpus.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doc_id: Option<String>,
    /// Whether the work was retracted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_retracted: Option<bool>,
    /// Language of a document, ISO 639-1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// When the text was fetched, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fetched_at: Option<String>,
    /// Applicants of a patent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub applicants: Vec<String>,
    /// Number of a patent's publication.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub publication_number: Option<String>,
    /// Day of a patent's publication.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub publication_date: Option<String>,
    /// Country of a patent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub country: Option<String>,
    /// Characters of the text that were omitted because it is too long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub omitted_characters: Option<usize>,
}

/// The numbers of a stored claim, as in [`crate::Claim`].
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ItemNumbers {
    /// Task of the claim.
    pub task_id: String,
    /// Mean of the posterior, 0 to 1; 0.5 without evidence.
    pub confidence: f64,
    /// Standard deviation of the posterior.
    pub uncertainty: f64,
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
}
