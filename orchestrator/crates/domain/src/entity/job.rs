//! A unit of background work, leased to one worker at a time.

use crate::{JobId, QueryId, TaskId, named_enum};
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
    /// Number of attempts, including this one.
    pub attempts: u32,
    /// Fencing token: counts the leases of this job, and only the latest may write.
    pub fence: i64,
}

/// A job's kind, with its parameters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum JobKind {
    /// Run one query against every source, and register and rank the results. A query that is a claim given by the
    /// user (`Query::claim_id`) is a search like any other.
    Search {
        /// The query.
        query_id: QueryId,
    },
    /// Repeat, in one source, the part of a query that required a person. The job stays in `awaiting_auth` until that
    /// is resolved.
    Resume {
        /// The query.
        query_id: QueryId,
        /// The source.
        source: String,
        /// The part, in the source's words.
        part: String,
    },
    /// Extract claims from the results of the task's searches, and judge every claim against passages of other pages.
    /// Runs after the task's searches.
    Judge,
}

impl JobKind {
    /// The word in the `kind` column.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Search { .. } => "search",
            Self::Resume { .. } => "resume",
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
        /// Requires a person to log in or solve a challenge.
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
    /// The priority of a number in the `priority` column.
    pub fn of_order(order: i64) -> Self {
        match order {
            ..=10 => Self::High,
            11..=20 => Self::Medium,
            _ => Self::Low,
        }
    }

    /// Number in the `priority` column; smaller goes first.
    pub fn order(self) -> i64 {
        match self {
            Self::High => 10,
            Self::Medium => 20,
            Self::Low => 30,
        }
    }
}
