//! The tasks extension (`io.modelcontextprotocol/tasks`, SEP-2663): a call of `answer` that needs minutes returns a
//! handle at once, and its result later.
//!
//! A handle is the id of the task in the store. It survives restarts, every process over the same data folder knows it,
//! and the other tools take it as well. Lyra asks its clients nothing, so no task requires input.

use super::McpServer;
use super::reply::written;
use super::tools::answer;
use lyra_domain::{JobState, QueryStatus, TaskId, TaskStatus};
use lyra_store::{AuditOutcome, Scope, StopMode, TaskProgress};
use lyra_usecases::{App, AppError, Caller, ErrorCode, Mutation, idle};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CreateTaskResult, DetailedTask, GetTaskResult,
    Task as Handle, TaskPayload,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::json;
use std::time::Duration;

/// How often a client should ask.
const POLL: Duration = Duration::from_secs(2);

/// Whether this call may return a handle: it asks for an answer without saying how long to wait, and this very request
/// declares the extension. Then the call itself does not wait.
pub(super) fn accept(request: &mut CallToolRequestParams, context: &RequestContext<RoleServer>) -> bool {
    let declared = context.client_capabilities().is_some_and(|client| client.supports_tasks());
    if !declared || request.name != answer::NAME {
        return false;
    }
    let arguments = request.arguments.get_or_insert_default();
    if arguments.contains_key("wait") {
        return false;
    }
    arguments.insert("wait".to_owned(), json!(0));
    true
}

/// The handle in place of an answer whose task still runs; any other result as it is.
pub(super) async fn handle(app: &App, result: CallToolResult) -> Result<CallToolResponse, ErrorData> {
    let fields = result.structured_content.as_ref();
    let task = fields.and_then(|fields| fields["task_id"].as_str()?.parse::<TaskId>().ok());
    let Some(task) = task.filter(|_| result.is_error != Some(true)) else { return Ok(result.into()) };
    let progress = app.task_status(&task, Duration::ZERO).await.map_err(|error| failed(&task, &error))?;
    if !is_working(&progress) {
        return Ok(result.into());
    }
    Ok(CallToolResponse::Task(CreateTaskResult::new(described(&progress))))
}

/// `tasks/get`.
///
/// # Errors
/// No such task.
pub(super) async fn get(app: &App, id: &str) -> Result<GetTaskResult, ErrorData> {
    let (task, progress) = find(app, id).await?;
    let payload = match progress.task.status {
        _ if is_working(&progress) => TaskPayload::Working,
        TaskStatus::Paused | TaskStatus::Cancelled => TaskPayload::Cancelled,
        // `failed` is for calls that ended with a JSON-RPC error. The answer of a task that failed says so itself.
        _ => {
            let result = answer::of(app, &task).await;
            TaskPayload::Completed { result: written(&result)? }
        }
    };
    Ok(GetTaskResult::new(DetailedTask::new(described(&progress), payload)))
}

/// `tasks/update`: there are no open questions, so there is nothing that a response could answer.
///
/// # Errors
/// No such task.
pub(super) async fn update(app: &App, id: &str) -> Result<(), ErrorData> {
    find(app, id).await.map(|_| ())
}

/// `tasks/cancel`: stops the task; one that has ended stays as it is.
///
/// # Errors
/// No such task, or a caller that may only read.
pub(super) async fn cancel(server: &McpServer, caller: Caller, id: &str) -> Result<(), ErrorData> {
    let app = &server.app;
    let (task, progress) = find(app, id).await?;
    let may = caller.scope == Scope::Full;
    let call = Mutation::begin(caller, "tasks/cancel", json!({ "task_id": task }));
    if !may {
        app.audit(call, AuditOutcome::Refused, None).await;
        return Err(ErrorData::invalid_request(
            "this token is read-only, and tasks/cancel stops a task",
            None,
        ));
    }
    if is_working(&progress) {
        let stopped = app.stop_task(&task, "cancelled by the client", StopMode::Immediate).await;
        let outcome = if stopped.is_ok() { AuditOutcome::Ok } else { AuditOutcome::Error };
        app.audit(call, outcome, None).await;
        stopped.map_err(|error| failed(&task, &error))?;
    }
    Ok(())
}

async fn find(app: &App, id: &str) -> Result<(TaskId, TaskProgress), ErrorData> {
    let unknown = |why: String| ErrorData::invalid_params(why, Some(json!({ "taskId": id })));
    let task: TaskId = id.parse().map_err(|error| unknown(format!("taskId: {error}")))?;
    match app.task_status(&task, Duration::ZERO).await {
        Ok(progress) => Ok((task, progress)),
        Err(error) if error.code == ErrorCode::NotFound => Err(unknown(error.message)),
        Err(error) => Err(failed(&task, &error)),
    }
}

fn failed(task: &TaskId, error: &AppError) -> ErrorData {
    tracing::error!(%task, code = %error.code, %error, "a task cannot be read");
    ErrorData::internal_error(format!("{task}: {error}"), None)
}

/// The task's answer is still to come.
fn is_working(progress: &TaskProgress) -> bool {
    matches!(progress.task.status, TaskStatus::Created | TaskStatus::Exploring) && !idle(progress)
}

fn described(progress: &TaskProgress) -> Handle {
    let status = TaskPayload::Working.status();
    let (created, changed) = (progress.task.created_at.to_string(), progress.last_activity.to_string());
    Handle::new(progress.task.id.to_string(), status, created, changed)
        .with_poll_interval_ms(POLL.as_millis() as u64)
        .with_status_message(message(progress))
}

/// How far a task is, for a person.
fn message(progress: &TaskProgress) -> String {
    let open = |status| matches!(status, QueryStatus::Queued | QueryStatus::Running);
    let ended = progress.queries.iter().filter(|query| !open(query.status)).count();
    let waiting = progress.jobs_in(JobState::Queued) + progress.jobs_in(JobState::Running);
    format!(
        "{}: {ended} of {} searches done, {} of {} claims judged, {waiting} jobs left",
        progress.task.status,
        progress.queries.len(),
        progress.claims_judged,
        progress.claims
    )
}
