//! A research task: one question, its budget and its life.

use crate::{TaskId, named_enum};
use serde::{Deserialize, Serialize};

/// One question, researched until it is stopped or its budget is used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// Identifier.
    pub id: TaskId,
    /// The question or hypothesis as given.
    pub query: String,
    /// Its status.
    pub status: TaskStatus,
    /// How it was set up.
    pub config: TaskConfig,
    /// When it was created.
    pub created_at: jiff::Timestamp,
    /// When its first job started.
    pub started_at: Option<jiff::Timestamp>,
    /// When it was stopped or finished.
    pub completed_at: Option<jiff::Timestamp>,
    /// Why it failed.
    pub error: Option<String>,
}

named_enum! {
    /// Life of a task.
    pub enum TaskStatus {
        /// Created, nothing searched yet.
        Created = "created",
        /// Searches are queued, running or done, and more may come.
        Exploring = "exploring",
        /// Stopped with work left; queueing a search resumes it.
        Paused = "paused",
        /// Finished; queueing a search reopens it.
        Completed = "completed",
        /// It could not continue.
        Failed = "failed",
        /// Given up by the caller.
        Cancelled = "cancelled",
    }
}

/// The limits of a task.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TaskConfig {
    /// Limits.
    pub budget: Budget,
    /// ISO 639-1 code of the query's language; detected when absent.
    pub language: Option<String>,
    /// Names of the local corpora to search; empty means every corpus attached.
    pub corpora: Vec<String>,
    /// Tags of which a corpus's documents must have all; empty means any document.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Collections in all of which a corpus's documents must be, or below; levels are separated by `/`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub collections: Vec<String>,
    /// Names of the external sources to search: `semantic_scholar`, `openalex`. When a task is created, it may also
    /// list corpora here, and `corpora` for all of them.
    pub sources: Vec<String>,
    /// Domains whose pages rank first.
    pub priority_domains: Vec<String>,
    /// Most claims to extract from pages; claims given by the user do not count.
    pub max_claims: Option<usize>,
}

/// Limits of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Budget {
    /// Most pages to register, 1–500.
    pub max_pages: u32,
    /// Most seconds of work.
    pub max_seconds: u32,
}

impl Default for Budget {
    fn default() -> Self {
        Self { max_pages: 120, max_seconds: 1200 }
    }
}
