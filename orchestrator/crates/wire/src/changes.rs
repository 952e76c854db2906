//! What a change did: to a task, a claim, a judgment, a domain, or the queue of waiting pages.

use crate::schema;
use lyra_domain::domains::OverrideDecision;
use lyra_domain::{AdoptionStatus, Relation, TaskStatus};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// A task that was stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TaskStopped {
    /// The task.
    pub task_id: String,
    /// Its state now.
    #[schemars(schema_with = "schema::task_status")]
    pub status: TaskStatus,
    /// Searches that will not run.
    pub cancelled_searches: u64,
    /// Waiting jobs that were cancelled.
    pub cancelled_queued_jobs: u64,
    /// Running jobs that were cancelled.
    pub cancelled_running_jobs: u64,
    /// Jobs that still run and may finish.
    pub still_running_jobs: u64,
}

/// Searches that were queued.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SearchesQueued {
    /// The task.
    pub task_id: String,
    /// Ids of the new searches, in the order of the queries.
    pub search_ids: Vec<String>,
    /// Queries that were skipped because the same text is already queued or running.
    pub skipped_count: usize,
    /// Whether the task had ended and resumes.
    pub task_resumed: bool,
}

/// A task that was deleted with everything that no other task uses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TaskDeleted {
    /// The task.
    pub task_id: String,
    /// Deleted rows by table.
    pub rows: BTreeMap<String, u64>,
    /// Pages known only from citations stay until the next deletion, because a job was running.
    pub cited_pages_kept: bool,
}

/// A claim that was rejected or restored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ClaimAdoption {
    /// The claim.
    pub claim_id: String,
    /// Its task.
    pub task_id: String,
    /// Its status before; the same as now if nothing changed.
    #[schemars(schema_with = "schema::adoption")]
    pub previous_status: AdoptionStatus,
    /// Its status now.
    #[schemars(schema_with = "schema::adoption")]
    pub status: AdoptionStatus,
}

/// A judgment that a person corrected or confirmed.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Correction {
    /// The judgment.
    pub edge_id: String,
    /// The claim that it is about.
    pub claim_id: String,
    /// The claim's task.
    pub task_id: String,
    /// The relation before.
    #[schemars(schema_with = "schema::judged")]
    pub previous_relation: Relation,
    /// The relation now.
    #[schemars(schema_with = "schema::judged")]
    pub relation: Relation,
    /// Mean of the claim's posterior now, 0 to 1.
    pub confidence: f64,
    /// Its standard deviation.
    pub uncertainty: f64,
    /// How far the evidence contradicts itself, 0 to 1.
    pub controversy: f64,
}

/// A decision about domains that was made, changed, or withdrawn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DomainChanged {
    /// Which domains.
    pub domain_pattern: String,
    /// The rule.
    pub rule_id: String,
    /// Its entry in the history.
    pub event_id: String,
    /// The decision before, if there was one.
    #[schemars(schema_with = "schema::optional_decision")]
    pub previous_decision: Option<OverrideDecision>,
    /// The decision now; `null` when it was withdrawn.
    #[schemars(schema_with = "schema::optional_decision")]
    pub decision: Option<OverrideDecision>,
}

/// Waiting pages that a person dealt with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PagesResolved {
    /// Pages that no longer wait.
    pub resolved_count: u64,
    /// Searches that are queued again.
    pub requeued_count: u64,
    /// Tasks that they belong to.
    pub task_ids: Vec<String>,
}

/// A calibration that was rolled back.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CalibrationRolledBack {
    /// The NLI model.
    pub source: String,
    /// Version active now; 0 is the model's own probabilities.
    pub version: u32,
    /// Version active before.
    pub previous_version: u32,
    /// Brier score of the version active now over today's samples, if there are any.
    pub brier: Option<f64>,
    /// Brier score of the version before, over the same samples.
    pub brier_previous: Option<f64>,
    /// What got worse by more than 5 %.
    pub warnings: Vec<String>,
}
