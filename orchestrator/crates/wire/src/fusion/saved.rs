//! Searches that are run again.

use super::FoundDocument;
use schemars::JsonSchema;
use serde::Serialize;

/// A saved search.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SavedInfo {
    /// Its name.
    pub name: String,
    /// The corpus that it searches.
    pub corpus: String,
    /// The lane.
    pub lane: String,
    /// The query of a full-text lane, or the text of a semantic one.
    pub query: String,
    /// Documents that it has returned so far.
    pub seen: usize,
    /// When it was saved.
    pub created_at: String,
    /// When it ran last.
    pub last_run_at: String,
    /// The run of that time, which may have expired.
    pub last_run_id: String,
    /// Documents that no run before that one returned.
    pub last_new_count: usize,
    /// Ids of the first 100 of them, by rank.
    pub last_new: Vec<String>,
}

/// What a saved search returned, run again.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SavedRun {
    /// Name of the search.
    pub name: String,
    /// The corpus searched.
    pub corpus: String,
    /// The run.
    pub run_id: String,
    /// Documents in it.
    pub count_returned: usize,
    /// Documents in it that no run of this search has returned before.
    pub new_count: usize,
    /// The first 100 of them, by rank.
    pub new: Vec<FoundDocument>,
    /// Fields with copied text.
    pub untrusted_fields: Vec<&'static str>,
}
