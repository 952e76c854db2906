//! Creating and stopping a task: `create_task`, `stop_task`.

use super::{Call, Effect, Failure, Tool, task_id};
use lyra_domain::{TaskConfig, TaskStatus};
use lyra_store::{StopMode, StopOutcome};
use lyra_wire::schema::task_status;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Creates a task.
pub(super) struct CreateTask;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct CreateTaskInput {
    /// The research question or hypothesis, 1 to 2000 characters. Required, unless it is given as `hypothesis`.
    #[schemars(length(min = 1, max = 2000))]
    query: Option<String>,
    /// Another name of `query`; give one of the two.
    #[schemars(length(min = 1, max = 2000))]
    hypothesis: Option<String>,
    /// Statements to check, each 1 to 2000 characters, at most 20, default none. Each becomes a claim of the task, and
    /// gathering evidence for it starts at once. Of a question, the claim behind it is checked; see `notes`.
    #[serde(default)]
    #[schemars(length(max = 20), inner(length(min = 1, max = 2000)))]
    claims: Vec<String>,
    /// Whether to judge the claim behind the question, if it has one ("Does X cause Y?": "X causes Y."), against the
    /// search results. Default: as configured on this server, normally true.
    judge_question: Option<bool>,
    /// What the task may use. Every part has a default.
    #[serde(default)]
    config: ConfigInput,
}

#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
struct ConfigInput {
    /// Limits of the task.
    budget: Budget,
    /// Domains whose pages rank first, at most 50, default none.
    #[schemars(length(max = 50), inner(length(min = 1, max = 253)))]
    priority_domains: Vec<String>,
    /// Language of the query as an ISO 639-1 code such as `en` or `ja`. Default: detected.
    #[schemars(length(min = 2, max = 2))]
    language: Option<String>,
    /// Names of the local corpora to search, at most 50. Default: all of them, or what `sources` names.
    #[schemars(length(max = 50), inner(length(min = 1, max = 200)))]
    corpora: Vec<String>,
    /// Of corpora, only documents with all of these tags.
    #[schemars(length(max = 20), inner(length(min = 1, max = 500)))]
    tags: Vec<String>,
    /// Of corpora, only documents in all of these collections or below: `Sleep` includes `Sleep/Naps`.
    #[schemars(length(max = 20), inner(length(min = 1, max = 500)))]
    collections: Vec<String>,
    #[schemars(description = sources_help(), length(max = 20), inner(length(min = 1, max = 200)))]
    sources: Vec<String>,
}

fn sources_help() -> String {
    format!(
        "Names of the sources to search, at most 20: {}, `corpora` for all local corpora, or the name of one. \
         Default: as configured on this server, otherwise the local corpora.",
        lyra_sources::registry::quoted_names()
    )
}

/// Limits of a task, as requested and as granted.
#[derive(Debug, Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub(super) struct Budget {
    /// Most pages to register, 1 to 500, default 120.
    #[schemars(range(min = 1, max = 500))]
    max_pages: u32,
    /// Most seconds of work, 1 to 86400, default 1200.
    #[schemars(range(min = 1, max = 86_400))]
    max_seconds: u32,
}

impl Default for Budget {
    fn default() -> Self {
        lyra_domain::Budget::default().into()
    }
}

impl From<lyra_domain::Budget> for Budget {
    fn from(lyra_domain::Budget { max_pages, max_seconds }: lyra_domain::Budget) -> Self {
        Self { max_pages, max_seconds }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct CreateTaskOutput {
    /// Identifies the task in every other call.
    task_id: String,
    /// The question as it was stored.
    query: String,
    /// When the task was created, RFC 3339, UTC.
    created_at: String,
    /// Effective limits.
    budget: Budget,
    /// How many claims were given.
    claim_count: usize,
    /// Notes on the sources and the claims for readers of the results. Only when there are any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

impl Tool for CreateTask {
    const NAME: &'static str = "create_task";
    const TITLE: &'static str = "Create a research task";
    const DESCRIPTION: &'static str = "Creates a research task for one question and returns its task_id. Optional \
        `claims` are statements to check: evidence for and against each is searched at once. Otherwise nothing is \
        searched until queue_searches. The claim behind a yes/no question is judged against the results.";
    const EFFECT: Effect = Effect::Adds;
    type Input = CreateTaskInput;
    type Output = CreateTaskOutput;

    async fn call(call: &Call, input: CreateTaskInput) -> Result<CreateTaskOutput, Failure> {
        let query = match (input.query, input.hypothesis) {
            (Some(query), None) | (None, Some(query)) => query,
            (None, None) => {
                return Err(Failure::argument(
                    "argument `query` is missing, it should be a string of 1 to 2000 characters",
                ));
            }
            (Some(_), Some(_)) => {
                return Err(Failure::argument(
                    "arguments `query` and `hypothesis` are aliases, give one of them",
                ));
            }
        };
        let claim_count = input.claims.len();
        let ConfigInput { budget, priority_domains, language, corpora, tags, collections, sources } =
            input.config;
        let config = TaskConfig {
            budget: lyra_domain::Budget { max_pages: budget.max_pages, max_seconds: budget.max_seconds },
            language,
            corpora,
            tags,
            collections,
            sources,
            priority_domains,
            ..TaskConfig::default()
        };
        let new = lyra_usecases::NewTask {
            query,
            config,
            claims: input.claims,
            judge_question: input.judge_question,
        };
        let task = call.app.create_task(new).await?;
        let mut notes = call.app.task_status(&task.id, Duration::ZERO).await?.warnings;
        notes.extend(call.app.task_notes(&task));
        Ok(CreateTaskOutput {
            notes,
            task_id: task.id.into(),
            query: task.query,
            created_at: task.created_at.to_string(),
            budget: task.config.budget.into(),
            claim_count,
        })
    }
}

/// Stops a task.
pub(super) struct StopTask;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct StopTaskInput {
    /// The task, as `create_task` returned it.
    #[schemars(length(min = 1, max = 100))]
    task_id: String,
    /// Why it is stopped, 1 to 500 characters; kept with the task. Default `stopped by the caller`.
    #[serde(default = "default_reason")]
    #[schemars(length(min = 1, max = 500))]
    reason: String,
    /// How to stop, default `graceful`.
    #[serde(default)]
    mode: Mode,
}

fn default_reason() -> String {
    "stopped by the caller".to_owned()
}

#[derive(Debug, Clone, Copy, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Mode {
    /// Running searches finish, waiting ones are cancelled.
    #[default]
    Graceful,
    /// Running searches are cancelled too.
    Immediate,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct StopTaskOutput {
    /// The task's state now.
    #[schemars(schema_with = "task_status")]
    final_status: TaskStatus,
    /// Searches that will not run.
    cancelled_searches: u64,
    /// Waiting jobs that were cancelled.
    cancelled_queued_jobs: u64,
    /// Running jobs that were cancelled; always 0 with mode `graceful`.
    cancelled_running_jobs: u64,
    /// Jobs that still run and may finish.
    still_running_jobs: u64,
    /// The counts in one sentence.
    summary: String,
    /// Whether `queue_searches` would resume the task.
    is_resumable: bool,
}

impl From<StopOutcome> for StopTaskOutput {
    fn from(outcome: StopOutcome) -> Self {
        let StopOutcome {
            final_status,
            cancelled_queued,
            cancelled_running,
            still_running,
            cancelled_queries,
        } = outcome;
        let summary = format!(
            "{cancelled_queries} searches and {} jobs cancelled, {still_running} jobs still running; results are kept",
            cancelled_queued + cancelled_running
        );
        Self {
            final_status,
            cancelled_searches: cancelled_queries,
            cancelled_queued_jobs: cancelled_queued,
            cancelled_running_jobs: cancelled_running,
            still_running_jobs: still_running,
            summary,
            // Queuing a search reopens a task in any state.
            is_resumable: true,
        }
    }
}

impl Tool for StopTask {
    const NAME: &'static str = "stop_task";
    const TITLE: &'static str = "Stop a task";
    const DESCRIPTION: &'static str = "Stops a task's waiting (and with mode `immediate` its running) work. Results \
        are kept and can be queried. queue_searches resumes the task.";
    const EFFECT: Effect = Effect::Ends;
    type Input = StopTaskInput;
    type Output = StopTaskOutput;

    async fn call(call: &Call, input: StopTaskInput) -> Result<StopTaskOutput, Failure> {
        let mode = match input.mode {
            Mode::Graceful => StopMode::Graceful,
            Mode::Immediate => StopMode::Immediate,
        };
        let outcome = call.app.stop_task(&task_id(&input.task_id)?, &input.reason, mode).await?;
        Ok(outcome.into())
    }
}
