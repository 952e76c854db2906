//! A task's state: `get_status`.

mod output;

pub(crate) use output::GetStatusOutput;

use super::{Call, Effect, Failure, Tool, task_id};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Longest wait; the answer must be written within 45 seconds.
const LONGEST_WAIT: Duration = Duration::from_millis(44_500);

/// Returns a task's state.
pub(super) struct GetStatus;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct GetStatusInput {
    /// The task, as `create_task` returned it.
    #[schemars(length(min = 1, max = 100))]
    task_id: String,
    /// Seconds to wait for news, 0 to 45, default 0. Returns as soon as a search has ended, claims were found, another
    /// quarter of them is judged, the phase has changed, or there is a warning or a page that requires human verification.
    #[serde(default)]
    #[schemars(range(min = 0, max = 45))]
    wait: u64,
    /// How much detail to return for each search, default `summary`.
    #[serde(default)]
    detail: Detail,
}

/// How much detail to return for each search.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Detail {
    /// Id, words and status.
    #[default]
    Summary,
    /// Also counts and errors of sources.
    Full,
}

impl Tool for GetStatus {
    const NAME: &'static str = "get_status";
    const TITLE: &'static str = "Get a task's status";
    const DESCRIPTION: &'static str = "Returns a task's state: status, searches, budget, warnings, and counts of \
        claims and evidence. With `wait` it returns as soon as there is news; `progress` shows how many of the \
        claims are judged. Repeat until `status` is `completed`, then use query_graph and vector_search.";
    const EFFECT: Effect = Effect::Reads;
    type Input = GetStatusInput;
    type Output = GetStatusOutput;

    async fn call(call: &Call, input: GetStatusInput) -> Result<GetStatusOutput, Failure> {
        let wait = Duration::from_secs(input.wait).min(LONGEST_WAIT);
        let task = task_id(&input.task_id)?;
        let mut progress = call.app.task_status(&task, wait).await?;
        progress.warnings.extend(call.app.outdated_vectors_note(&task).await?);
        Ok(GetStatusOutput::new(&progress, input.detail, call.app.now()))
    }
}
