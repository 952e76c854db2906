//! Screening: what a person decided about the documents of a task.

use crate::named_enum;

named_enum! {
    /// What a person decided about a document.
    pub enum Verdict {
        /// It belongs into the review.
        Include = "include",
        /// It does not.
        Exclude = "exclude",
        /// It was looked at, and the decision is put off.
        Undecided = "undecided",
    }
}

named_enum! {
    /// The text that the store had of a document when it was decided.
    pub enum Basis {
        /// Its title alone.
        Title = "title",
        /// Its abstract.
        Abstract = "abstract",
        /// More than its abstract.
        FullText = "full_text",
    }
}

/// Reasons for an exclusion that are suggested in every task; others are whatever people write.
pub const SUGGESTED_REASONS: [&str; 8] = [
    "wrong population",
    "wrong intervention",
    "wrong outcome",
    "wrong study type",
    "not a study",
    "duplicate",
    "full text not available",
    "other",
];
