//! One search of a task.

use crate::{ClaimId, QueryId, TaskId, named_enum};
use serde::{Deserialize, Serialize};

/// One search of a task, over every source.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Query {
    /// Identifier.
    pub id: QueryId,
    /// Task it belongs to.
    pub task_id: TaskId,
    /// The search text.
    pub query_text: String,
    /// The user's claim that it searches for; such a query gathers evidence and yields no claims.
    pub claim_id: Option<ClaimId>,
    /// ISO 639-1 code, when known.
    pub language: Option<String>,
    /// Names of the sources to search; empty means all of the task's.
    pub sources: Vec<String>,
    /// Its status.
    pub status: QueryStatus,
    /// Hits over all sources.
    pub result_count: u32,
    /// Pages registered or fetched.
    pub pages_fetched: u32,
    /// Fragments above the cut-off.
    pub useful_fragments: u32,
    /// Useful fragments per page, 0 when there is no page.
    pub harvest_rate: f64,
    /// What went wrong, source by source; a failed source never fails the query.
    pub source_errors: Vec<String>,
}

named_enum! {
    /// Life of a query.
    pub enum QueryStatus {
        /// Waits for a worker.
        Queued = "queued",
        /// A worker has it.
        Running = "running",
        /// Found useful fragments.
        Satisfied = "satisfied",
        /// It has results, but a source failed or nothing passed the cut-off.
        Partial = "partial",
        /// Every source answered, without results.
        Exhausted = "exhausted",
        /// No source could be searched.
        Failed = "failed",
        /// Given up before it ran.
        Cancelled = "cancelled",
    }
}
