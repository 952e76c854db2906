//! The kinds of jobs. A job puts steps together and knows no other job.

pub(crate) mod judge;
pub(crate) mod resume;
pub(crate) mod search;

use crate::Result;
use crate::context::Context;
use crate::ports::Waiting;
use lyra_domain::{JobId, JobKind, Query, Task};
use std::time::Duration;

/// What a finished job leaves behind.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Outcome {
    /// Facts for the job's record.
    pub(crate) output: serde_json::Value,
    /// Jobs to queue.
    pub(crate) then: Vec<JobKind>,
}

/// The time that a task has left after so many seconds of work; `None` when it has used all of it.
fn time_left(task: &Task, used_seconds: f64) -> Option<Duration> {
    let left = f64::from(task.config.budget.max_seconds) - used_seconds;
    (left > 0.0).then(|| Duration::from_secs_f64(left))
}

/// Queues the parts of the answers that require a person. The search goes on with what it has.
async fn await_person(
    context: &Context,
    query: &Query,
    waiting: &[(String, Vec<Waiting>)],
    cause: &JobId,
) -> Result<()> {
    for (source, waiting) in waiting {
        context.store.await_person(query, source, waiting, cause).await?;
    }
    Ok(())
}
