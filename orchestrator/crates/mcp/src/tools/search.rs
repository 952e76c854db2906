//! Feeding a task: `queue_searches`.

use super::{Call, Effect, Failure, Tool, task_id};
use crate::schema::one_of;
use lyra_domain::Priority;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

/// Adds searches to a task.
pub(super) struct QueueSearches;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct QueueSearchesInput {
    /// The task, as `create_task` returned it.
    #[schemars(length(min = 1, max = 100))]
    task_id: String,
    /// What to search: 1 to 20 short queries of 1 to 2000 characters.
    #[schemars(length(min = 1, max = 20), inner(length(min = 1, max = 2000)))]
    queries: Vec<String>,
    /// A run of a lane or a fusion, as `rrf_blend_frontier` returned it: its first documents are judged against the
    /// task's claims. Without `options.sources`, nothing else is.
    #[schemars(length(min = 1, max = 100))]
    run_id: Option<String>,
    /// How to search. Every part has a default.
    #[serde(default)]
    options: SearchOptions,
}

#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
struct SearchOptions {
    /// Names of web search engines to query, at most 20; without `sources`, only they are queried. Default: the
    /// configured ones, when the web is a source.
    #[schemars(length(max = 20), inner(length(min = 1, max = 200)))]
    engines: Vec<String>,
    /// Names of sources to search, such as `openalex` or the name of a corpus, at most 20. Default: all of the task's, or
    /// those of `engines` and `run_id`.
    #[schemars(length(max = 20), inner(length(min = 1, max = 200)))]
    sources: Vec<String>,
    /// New page limit for the whole task, 1 to 500. Default: unchanged.
    #[schemars(range(min = 1, max = 500))]
    budget_pages: Option<u32>,
    /// New time limit for the whole task in seconds of work, 1 to 86400, those already used included. It also lets the
    /// task judge what an earlier limit left out. Default: unchanged.
    #[schemars(range(min = 1, max = 86_400))]
    budget_seconds: Option<u32>,
    /// Which searches go first: `high`, `medium` or `low`, default `medium`.
    #[schemars(schema_with = "priority")]
    priority: PriorityInput,
}

/// The domain's priority, `medium` by default.
#[derive(Debug, Clone, Copy, Deserialize, Serialize)]
struct PriorityInput(Priority);

impl Default for PriorityInput {
    fn default() -> Self {
        Self(Priority::Medium)
    }
}

fn priority(_: &mut SchemaGenerator) -> Schema {
    one_of(Priority::ALL.iter().map(|word| word.as_str()))
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct QueueSearchesOutput {
    /// Searches that were queued.
    queued_count: usize,
    /// Queries skipped because the same query is already queued or running.
    skipped_count: usize,
    /// Ids of the queued searches, in the order of `queries`; they are `queries.id` in `query_graph`.
    search_ids: Vec<String>,
    /// Whether the task had stopped or finished and now resumes.
    task_resumed: bool,
}

impl Tool for QueueSearches {
    const NAME: &'static str = "queue_searches";
    const TITLE: &'static str = "Queue searches";
    const DESCRIPTION: &'static str = "Queues up to 20 searches for a task and returns at once; they run in the \
        background. Claims are extracted from the results and judged against passages of other documents. A finished \
        or stopped task resumes. Follow with get_status.";
    const EFFECT: Effect = Effect::Adds;
    type Input = QueueSearchesInput;
    type Output = QueueSearchesOutput;

    async fn call(call: &Call, input: QueueSearchesInput) -> Result<QueueSearchesOutput, Failure> {
        let SearchOptions { engines, sources, budget_pages, budget_seconds, priority } = input.options;
        let task = task_id(&input.task_id)?;
        if budget_seconds.is_some() {
            call.app.change_budget(&task, None, budget_seconds).await?;
        }
        let queued = call
            .app
            .queue_searches(lyra_usecases::QueueSearches {
                task,
                queries: input.queries,
                sources,
                engines,
                run_id: input.run_id,
                budget_pages,
                priority: priority.0,
            })
            .await?;
        Ok(QueueSearchesOutput {
            queued_count: queued.queued.len(),
            skipped_count: queued.skipped,
            search_ids: queued.queued.into_iter().map(Into::into).collect(),
            task_resumed: queued.resumed,
        })
    }
}
