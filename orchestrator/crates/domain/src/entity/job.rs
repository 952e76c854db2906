//! A unit of background work, leased to one worker at a time.

use crate::{ClaimId, JobId, QueryId, TaskId, named_enum};
use serde::{Deserialize, Serialize};

/// A leased unit of work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// Identifier.
    pub id: JobId,
    /// Task it works for.
    pub task_id: TaskId,
    /// What to do.
    pub kind: JobKind,
    /// How often it was taken, this time included.
    pub attempts: u32,
}

/// What a job does, with what it needs to know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum JobKind {
    /// Run one query over every source and take in what it finds.
    Search {
        /// The query.
        query_id: QueryId,
    },
    /// Run a query that is a claim given by the user, and judge the best passages against the claim.
    Gather {
        /// The query with the claim's words.
        query_id: QueryId,
        /// The claim.
        claim_id: ClaimId,
    },
    /// Judge the task's claims against fragments of other pages. Runs after the task's searches.
    Judge,
}

impl JobKind {
    /// The word in the `kind` column.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Search { .. } => "search",
            Self::Gather { .. } => "gather",
            Self::Judge => "judge",
        }
    }
}

named_enum! {
    /// Life of a job.
    pub enum JobState {
        /// Waits for a worker.
        Queued = "queued",
        /// Leased to a worker.
        Running = "running",
        /// Done.
        Completed = "completed",
        /// Given up after its last attempt.
        Failed = "failed",
        /// Given up by the caller.
        Cancelled = "cancelled",
        /// Waits for a person to log in or solve a challenge.
        AwaitingAuth = "awaiting_auth",
    }
}

named_enum! {
    /// Which job goes first.
    pub enum Priority {
        /// Before the others.
        High = "high",
        /// As it comes (default).
        Medium = "medium",
        /// After the others.
        Low = "low",
    }
}

impl Priority {
    /// Number in the `priority` column; smaller goes first.
    pub fn order(self) -> i64 {
        match self {
            Self::High => 10,
            Self::Medium => 20,
            Self::Low => 30,
        }
    }
}
