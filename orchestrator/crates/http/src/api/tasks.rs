//! Tasks: asking, watching, stopping, reporting.

use super::BASE;
use super::call::{Call, Reply, within};
use super::route::{Nothing, Route, delete, get, post};
use crate::problem::Failure;
use axum::http::{HeaderValue, StatusCode, header};
use lyra_domain::{Budget, Priority, StudyDesign, TaskConfig, TaskId};
use lyra_store::{ClaimFilter, ClaimSort, Deletion, QueuedSearches, Side, StopMode, StopOutcome};
use lyra_usecases::{NewTask, QueueSearches, shapes};
use lyra_wire::schema;
use lyra_wire::{
    ClaimPage, Materials, Report, SearchesQueued, Status, TaskDeleted, TaskStopped, TaskSummaries,
};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;
use std::time::Duration;

/// Most tasks of one page, and how many without a limit.
const MOST_TASKS: u32 = 200;
const TASKS: u32 = 50;
/// The same for claims.
const MOST_CLAIMS: u32 = 200;
const CLAIMS: u32 = 50;
/// Longest reason, in characters.
const MAX_REASON: usize = 500;

pub(super) fn routes() -> Vec<Route> {
    vec![
        get("/tasks", "list_tasks", "Tasks with the numbers of their claims, newest first", list),
        post("/tasks", "create_task", "Create a task, and begin its first searches", create)
            .status(StatusCode::CREATED),
        get("/tasks/{task_id}", "get_task", "The state of a task", status),
        delete(
            "/tasks/{task_id}",
            "delete_task",
            "Delete a task with everything that no other task uses; only a backup can restore it",
            remove,
        ),
        get(
            "/tasks/{task_id}/report",
            "get_report",
            "The answer to a task's question, with its claims",
            report,
        ),
        get("/tasks/{task_id}/claims", "list_claims", "The claims of a task, filtered and sorted", claims),
        get("/tasks/{task_id}/materials", "get_materials", "Everything of a task in one document", materials),
        post("/tasks/{task_id}/searches", "queue_searches", "Queue searches; a stopped task resumes", search)
            .status(StatusCode::ACCEPTED),
        post("/tasks/{task_id}/stop", "stop_task", "Stop a task; its results are kept", stop),
        post(
            "/tasks/{task_id}/budget",
            "change_budget",
            "Give a task other limits, which its searches heed from now on",
            budget,
        ),
        post("/tasks/{task_id}/resume", "resume_task", "Queue a task's cancelled searches again", resume)
            .status(StatusCode::ACCEPTED),
    ]
}

/// A page of a list.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Page {
    /// Most items, 1 to 200, default 50.
    #[schemars(range(min = 1, max = 200))]
    limit: Option<u32>,
    /// Where the page begins: `next_cursor` of the page before.
    cursor: Option<String>,
}

async fn list(call: Call, query: Page) -> Result<Reply<TaskSummaries>, Failure> {
    let limit = within("limit", query.limit.unwrap_or(TASKS), 1..=MOST_TASKS)?;
    let page = call.app().task_summaries(limit, query.cursor.as_deref()).await?;
    Ok(shapes::task_summaries(&page).into())
}

/// A task to create.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CreateTask {
    /// The question or hypothesis, 1 to 2000 characters.
    #[schemars(length(min = 1, max = 2000))]
    query: String,
    /// Claims to check, at most 20. Without any, the question is the first search.
    #[serde(default)]
    #[schemars(length(max = 20))]
    claims: Vec<String>,
    /// Names of the corpora to search. Default: all, or those among `sources`.
    #[serde(default)]
    corpora: Vec<String>,
    /// Names of the sources to search. Default: as configured.
    #[serde(default)]
    sources: Vec<String>,
    /// Most pages to register, 1 to 500. Default: 120.
    #[schemars(range(min = 1, max = 500))]
    budget_pages: Option<u32>,
    /// Most seconds of work. Default: 1200.
    budget_seconds: Option<u32>,
    /// Most claims to extract from pages. Default: as configured.
    max_claims: Option<usize>,
    /// Whether to judge the claim behind the question. Default: as configured.
    judge_question: Option<bool>,
    /// Language of the question, ISO 639-1. Default: detected.
    language: Option<String>,
}

async fn create(call: Call, body: CreateTask) -> Result<Reply<lyra_wire::Task>, Failure> {
    let app = call.app();
    let default = Budget::default();
    let budget = Budget {
        max_pages: body.budget_pages.unwrap_or(default.max_pages),
        max_seconds: body.budget_seconds.unwrap_or(default.max_seconds),
    };
    let searches = body.claims.is_empty();
    let config = TaskConfig {
        budget,
        language: body.language,
        corpora: body.corpora,
        sources: body.sources,
        max_claims: body.max_claims.or(TaskConfig::default().max_claims),
        ..TaskConfig::default()
    };
    let new = NewTask { query: body.query, config, claims: body.claims, judge_question: body.judge_question };
    let task = app.create_task(new).await?;
    if searches {
        app.queue_searches(QueueSearches {
            task: task.id.clone(),
            queries: vec![task.query.clone()],
            sources: Vec::new(),
            engines: Vec::new(),
            run_id: None,
            budget_pages: None,
            priority: Priority::Medium,
        })
        .await?;
    }
    let location = HeaderValue::from_str(&format!("{BASE}/tasks/{}", task.id));
    let location = location.map_err(|error| Failure::internal(error.to_string()))?;
    Ok(Reply::from(lyra_wire::Task::from(&task)).with(header::LOCATION, location))
}

async fn status(call: Call, _: Nothing) -> Result<Reply<Status>, Failure> {
    let progress = call.app().task_status(&call.id("task_id")?, Duration::ZERO).await?;
    Ok(shapes::status(&progress, call.app().now()).into())
}

async fn report(call: Call, _: Nothing) -> Result<Reply<Report>, Failure> {
    let answer = call.app().answer(&call.id("task_id")?).await?;
    let totals = shapes::totals(&answer);
    Ok(shapes::report(&answer, totals).into())
}

/// Which claims, and in which order.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Claims {
    /// Only claims of which the passages say this. Default: all.
    #[serde(default)]
    #[schemars(schema_with = "sides")]
    side: Option<Side>,
    /// First year of a passage that supports or refutes the claim.
    year_from: Option<i32>,
    /// Last year of such a passage.
    year_to: Option<i32>,
    /// A source of a judged passage: a work's id, a domain, or a page's id.
    source: Option<String>,
    /// Design that the title of a work names of which a passage supports or refutes the claim.
    #[serde(default)]
    #[schemars(schema_with = "designs")]
    study_design: Option<StudyDesign>,
    /// Words that the claim contains as they are, in upper or lower case.
    text: Option<String>,
    /// Lowest confidence, 0 to 1.
    confidence_from: Option<f64>,
    /// Highest confidence, 0 to 1.
    confidence_to: Option<f64>,
    /// The order. Default: `contested`.
    #[serde(default)]
    #[schemars(schema_with = "sorts")]
    sort: Option<ClaimSort>,
    /// Most claims, 1 to 200, default 50.
    #[schemars(range(min = 1, max = 200))]
    limit: Option<u32>,
    /// Where the page begins: `next_cursor` of the page before.
    cursor: Option<String>,
}

pub(super) fn sides(_: &mut SchemaGenerator) -> Schema {
    schema::one_of(Side::ALL.iter().map(|side| side.as_str()))
}

fn designs(_: &mut SchemaGenerator) -> Schema {
    schema::one_of(StudyDesign::ALL.iter().map(|design| design.as_str()))
}

pub(super) fn sorts(_: &mut SchemaGenerator) -> Schema {
    schema::one_of(ClaimSort::ALL.iter().map(|sort| sort.as_str()))
}

async fn claims(call: Call, query: Claims) -> Result<Reply<ClaimPage>, Failure> {
    let limit = within("limit", query.limit.unwrap_or(CLAIMS), 1..=MOST_CLAIMS)?;
    let filter = ClaimFilter {
        side: query.side,
        years: (query.year_from, query.year_to),
        source: query.source,
        design: query.study_design,
        text: query.text,
        confidence: (query.confidence_from, query.confidence_to),
    };
    let (task, sort) = (call.id("task_id")?, query.sort.unwrap_or(ClaimSort::Contested));
    let page = call.app().claim_page(&task, &filter, sort, limit, query.cursor.as_deref()).await?;
    Ok(shapes::claim_page(&page).into())
}

async fn materials(call: Call, _: Nothing) -> Result<Reply<Materials>, Failure> {
    Ok(call.app().materials(&call.id("task_id")?).await?.into())
}

/// Searches to add to a task.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AddSearches {
    /// What to search, 1 to 20 queries.
    #[schemars(length(min = 1, max = 20), inner(length(min = 1)))]
    queries: Vec<String>,
    /// Names of the sources to search. Default: all of the task's.
    #[serde(default)]
    sources: Vec<String>,
    /// New limit of pages for the whole task, 1 to 500. Default: unchanged.
    #[schemars(range(min = 1, max = 500))]
    budget_pages: Option<u32>,
}

async fn search(call: Call, body: AddSearches) -> Result<Reply<SearchesQueued>, Failure> {
    let task: TaskId = call.id("task_id")?;
    let queued = call.app().queue_searches(QueueSearches {
        task: task.clone(),
        queries: body.queries,
        sources: body.sources,
        engines: Vec::new(),
        run_id: None,
        budget_pages: body.budget_pages,
        priority: Priority::Medium,
    });
    Ok(queued_for(&task, queued.await?).into())
}

/// Limits of a task.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ChangeBudget {
    /// Most pages to register, 1 to 500. Default: unchanged.
    #[schemars(range(min = 1, max = 500))]
    budget_pages: Option<u32>,
    /// Most seconds of work, at least 1. Default: unchanged.
    #[schemars(range(min = 1))]
    budget_seconds: Option<u32>,
}

async fn budget(call: Call, body: ChangeBudget) -> Result<Reply<lyra_wire::Task>, Failure> {
    let task: TaskId = call.id("task_id")?;
    let task = call.app().change_budget(&task, body.budget_pages, body.budget_seconds).await?;
    Ok(lyra_wire::Task::from(&task).into())
}

async fn resume(call: Call, _: Nothing) -> Result<Reply<SearchesQueued>, Failure> {
    let task: TaskId = call.id("task_id")?;
    let queued = call.app().resume_task(&task).await?;
    Ok(queued_for(&task, queued).into())
}

fn queued_for(task: &TaskId, queued: QueuedSearches) -> SearchesQueued {
    SearchesQueued {
        task_id: task.to_string(),
        search_ids: queued.queued.into_iter().map(Into::into).collect(),
        skipped_count: queued.skipped,
        task_resumed: queued.resumed,
    }
}

/// How to stop a task.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct StopTask {
    /// Why, at most 500 characters; kept with the task. Default: `stopped by the caller`.
    #[schemars(length(max = 500))]
    reason: Option<String>,
    /// How. Default: `graceful`.
    #[serde(default)]
    mode: Mode,
}

/// How a task is stopped.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Mode {
    /// Running searches finish, waiting ones are cancelled.
    #[default]
    Graceful,
    /// Running searches are cancelled too.
    Immediate,
}

async fn stop(call: Call, body: StopTask) -> Result<Reply<TaskStopped>, Failure> {
    let task: TaskId = call.id("task_id")?;
    let reason = body.reason.as_deref().map(str::trim).filter(|reason| !reason.is_empty());
    let reason = reason.unwrap_or("stopped by the caller");
    let length = reason.chars().count();
    if length > MAX_REASON {
        return Err(Failure::invalid(format!("`reason` has {length} characters; use at most {MAX_REASON}")));
    }
    let mode = match body.mode {
        Mode::Graceful => StopMode::Graceful,
        Mode::Immediate => StopMode::Immediate,
    };
    let StopOutcome { final_status, cancelled_queued, cancelled_running, still_running, cancelled_queries } =
        call.app().stop_task(&task, reason, mode).await?;
    let stopped = TaskStopped {
        task_id: task.to_string(),
        status: final_status,
        cancelled_searches: cancelled_queries,
        cancelled_queued_jobs: cancelled_queued,
        cancelled_running_jobs: cancelled_running,
        still_running_jobs: still_running,
    };
    Ok(stopped.into())
}

async fn remove(call: Call, _: Nothing) -> Result<Reply<TaskDeleted>, Failure> {
    let task: TaskId = call.id("task_id")?;
    let deleted = call.app().delete_task(&task, Deletion::Commit).await?;
    let (rows, cited_pages_kept) = (deleted.rows, deleted.cited_pages_kept);
    Ok(TaskDeleted { task_id: task.to_string(), rows, cited_pages_kept }.into())
}
