//! What there is over all tasks: tasks with their numbers, and jobs.

use crate::{Task, schema};
use lyra_domain::JobState;
use schemars::JsonSchema;
use serde::Serialize;

/// Part of the list of tasks.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TaskSummaries {
    /// The tasks, newest first.
    pub tasks: Vec<TaskSummary>,
    /// Cursor of the next page; unknown at the end.
    pub next_cursor: Option<String>,
}

/// A task with the numbers of its claims and their judged passages.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TaskSummary {
    /// The task.
    #[serde(flatten)]
    pub task: Task,
    /// Claims of the task: the sum of the next four.
    pub total_claims: u64,
    /// Claims with passages on both sides.
    pub contested_claims: u64,
    /// Claims that passages support and none refutes.
    pub supported_claims: u64,
    /// Claims that passages refute and none supports.
    pub refuted_claims: u64,
    /// Claims on which no passage takes a side.
    pub open_claims: u64,
    /// Passages that support a claim.
    pub supporting_count: u64,
    /// Passages that refute one.
    pub refuting_count: u64,
    /// Passages that do neither.
    pub neutral_count: u64,
}

/// A job that waits, runs, or failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct JobInfo {
    /// Id of the job.
    pub job_id: String,
    /// Its task.
    pub task_id: String,
    /// The question of that task.
    pub query: String,
    /// Kind of work: `search`, `resume`, or `judge`.
    pub kind: String,
    /// Its state.
    #[schemars(schema_with = "schema::job_state")]
    pub state: JobState,
    /// How often it was started.
    pub attempts: u32,
    /// Why its last attempt failed.
    pub error: Option<String>,
    /// When it was queued, RFC 3339, UTC.
    pub queued_at: String,
    /// When its first attempt started, RFC 3339, UTC.
    pub started_at: Option<String>,
    /// When it ended, RFC 3339, UTC.
    pub finished_at: Option<String>,
}
