//! Tasks: making, listing, stopping them.

use crate::rows::{self, RowExt, json};
use crate::store::stamp;
use crate::{Result, Store, StoreError, auth, claims, jobs, queries};
use lyra_domain::{Claim, Job, JobKind, JobState, Priority, Task, TaskConfig, TaskId, TaskStatus};
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;
use std::collections::HashSet;
use uuid::Uuid;

/// The parameters of a new task.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewTask {
    /// The question or hypothesis.
    pub query: String,
    /// Its limits.
    pub config: TaskConfig,
    /// Claims to gather evidence for, in the user's words.
    pub claims: Vec<String>,
    /// The claim behind the question: judged against the results of the task's searches, without its own search.
    pub question_claim: Option<QuestionClaim>,
}

/// The claim behind a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuestionClaim {
    /// The statement.
    pub text: String,
    /// ISO 639-1 code, when known.
    pub language: Option<String>,
}

/// Part of the list of tasks.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskPage {
    /// Newest first.
    pub tasks: Vec<Task>,
    /// The cursor for the next page; `None` at the end.
    pub next_cursor: Option<String>,
}

/// How to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopMode {
    /// What runs may finish; what waits is cancelled. The task is completed.
    Graceful,
    /// What runs loses its lease as well. The task is cancelled.
    Immediate,
}

/// What stopping did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StopOutcome {
    /// Status of the task now.
    pub final_status: TaskStatus,
    /// Waiting jobs that were cancelled, those that required a person included.
    pub cancelled_queued: u64,
    /// Running jobs that were cancelled.
    pub cancelled_running: u64,
    /// Jobs that still run and may finish.
    pub still_running: u64,
    /// Queries that will not be searched.
    pub cancelled_queries: u64,
}

impl Store {
    /// Creates a task. Each claim is stored and gets a search with its words, all in one transaction; such a task
    /// starts as `exploring`, one without claims as `created`. The claim behind the question is stored first.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub async fn create_task(&self, new: NewTask, priority: Priority) -> Result<Task> {
        let now = stamp(self.now());
        let id = TaskId::new(Uuid::now_v7());
        let mut seen = HashSet::new();
        let texts: Vec<&str> = new
            .claims
            .iter()
            .map(|text| text.trim())
            .filter(|text| !text.is_empty() && seen.insert(*text))
            .collect();
        let status = if texts.is_empty() { TaskStatus::Created } else { TaskStatus::Exploring };
        let mut tx = self.write().await?;
        sqlx::query(
            "INSERT INTO tasks (id, query, status, config, budget_pages, budget_seconds, created_at, updated_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7)",
        )
        .bind(id.as_str())
        .bind(&new.query)
        .bind(status.as_str())
        .bind(json(&new.config)?)
        .bind(new.config.budget.max_pages)
        .bind(new.config.budget.max_seconds)
        .bind(&now)
        .execute(&mut *tx)
        .await?;
        // If the user also gave it, it is a user's claim with its own search.
        if let Some(asked) = new.question_claim.filter(|asked| !seen.contains(asked.text.as_str())) {
            let claim = Claim::of_question(&id, &asked.text, asked.language);
            claims::insert(&mut tx, &claim, None, &now).await?;
        }
        for text in texts {
            let claim = Claim::new(&id, text, None, new.config.language.clone());
            claims::insert(&mut tx, &claim, None, &now).await?;
            let query = queries::NewQuery {
                task: &id,
                text,
                claim: Some(&claim.id),
                language: new.config.language.as_deref(),
                engines: &[],
            };
            let query_id = query.insert(&mut tx, &now).await?;
            jobs::enqueue(&mut tx, &id, &JobKind::Search { query_id }, priority.order(), None, &now).await?;
        }
        let task = load(&mut tx, &id).await?;
        tx.commit().await?;
        Ok(task)
    }

    /// At most `limit` tasks, newest first, from where `cursor` stopped.
    ///
    /// # Errors
    /// [`StoreError::BadCursor`] for a cursor from elsewhere.
    pub async fn list_tasks(&self, limit: u32, cursor: Option<&str>) -> Result<TaskPage> {
        let limit = limit.max(1);
        let found = sqlx::query("SELECT * FROM tasks WHERE seq < ? ORDER BY seq DESC LIMIT ?")
            .bind(place(cursor)?)
            .bind(i64::from(limit) + 1)
            .fetch_all(self.reader())
            .await?;
        let shown = &found[..found.len().min(limit as usize)];
        Ok(TaskPage {
            tasks: shown.iter().map(rows::task).collect::<Result<_>>()?,
            next_cursor: next_cursor(&found, shown)?,
        })
    }

    /// Stops a task. Stopping a stopped one only affects work that still waits or runs.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when there is no such task.
    pub async fn stop_task(&self, task: &TaskId, reason: &str, mode: StopMode) -> Result<StopOutcome> {
        let now = self.stamp();
        let mut tx = self.write().await?;
        let before = load(&mut tx, task).await?.status;
        let cancelled_queued = cancel_jobs(&mut tx, task, JobState::Queued, reason, &now).await?
            + auth::cancel_task(&mut tx, task, reason, &now).await?;
        let cancelled_running = match mode {
            StopMode::Graceful => 0,
            StopMode::Immediate => cancel_jobs(&mut tx, task, JobState::Running, reason, &now).await?,
        };
        let still_running: i64 =
            sqlx::query_scalar("SELECT count(*) FROM jobs WHERE task_id = ? AND state = 'running'")
                .bind(task.as_str())
                .fetch_one(&mut *tx)
                .await?;
        let cancelled_queries = sqlx::query(
            "UPDATE queries SET status = 'cancelled' WHERE task_id = ?1 AND status IN ('queued', 'running')
             AND id NOT IN (SELECT query_id FROM jobs WHERE task_id = ?1 AND state = 'running' AND query_id NOT NULL)",
        )
        .bind(task.as_str())
        .execute(&mut *tx)
        .await?
        .rows_affected();
        let ended = matches!(before, TaskStatus::Completed | TaskStatus::Failed | TaskStatus::Cancelled);
        let final_status = match mode {
            _ if ended => before,
            StopMode::Graceful => TaskStatus::Completed,
            StopMode::Immediate => TaskStatus::Cancelled,
        };
        if !ended {
            sqlx::query(
                "UPDATE tasks SET status = ?2, completed_at = ?3, updated_at = ?3, stop_reason = ?4 WHERE id = ?1",
            )
            .bind(task.as_str())
            .bind(final_status.as_str())
            .bind(&now)
            .bind(reason)
            .execute(&mut *tx)
            .await?;
        }
        tx.commit().await?;
        Ok(StopOutcome {
            final_status,
            cancelled_queued,
            cancelled_running,
            still_running: still_running.unsigned_abs(),
            cancelled_queries,
        })
    }

    pub(crate) async fn read_task(&self, task: &TaskId) -> Result<Task> {
        load(&mut *self.reader().acquire().await?, task).await
    }

    pub(crate) async fn write_warning(&self, task: &TaskId, warning: &str) -> Result<()> {
        let mut tx = self.write().await?;
        load(&mut tx, task).await?;
        warn(&mut tx, task, warning, &self.stamp()).await?;
        tx.commit().await?;
        Ok(())
    }
}

/// The `seq` that tasks from a cursor on are below.
pub(crate) fn place(cursor: Option<&str>) -> Result<i64> {
    let place = |text: &str| text.parse().map_err(|_| StoreError::BadCursor(text.to_owned()));
    cursor.map_or(Ok(i64::MAX), place)
}

/// The cursor behind the last task that is shown, when more were found.
pub(crate) fn next_cursor(found: &[SqliteRow], shown: &[SqliteRow]) -> Result<Option<String>> {
    match shown.last() {
        Some(last) if found.len() > shown.len() => Ok(Some(last.value::<i64>("seq")?.to_string())),
        _ => Ok(None),
    }
}

pub(crate) async fn load(connection: &mut SqliteConnection, task: &TaskId) -> Result<Task> {
    let row = sqlx::query("SELECT * FROM tasks WHERE id = ?")
        .bind(task.as_str())
        .fetch_optional(connection)
        .await?;
    rows::task(&row.ok_or_else(|| StoreError::not_found("task", task))?)
}

/// Remembers that something happened to the task.
pub(crate) async fn touch(connection: &mut SqliteConnection, task: &TaskId, now: &str) -> Result<()> {
    sqlx::query("UPDATE tasks SET updated_at = ? WHERE id = ?")
        .bind(now)
        .bind(task.as_str())
        .execute(connection)
        .await?;
    Ok(())
}

pub(crate) async fn warn(
    connection: &mut SqliteConnection,
    task: &TaskId,
    warning: &str,
    now: &str,
) -> Result<()> {
    sqlx::query(
        "INSERT INTO task_warnings (task_id, warning, created_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
    )
    .bind(task.as_str())
    .bind(warning)
    .bind(now)
    .execute(connection)
    .await?;
    Ok(())
}

/// Ends a task that has no queued or running job: completed, or failed when every job failed.
pub(crate) async fn settle(connection: &mut SqliteConnection, task: &TaskId, now: &str) -> Result<()> {
    sqlx::query(
        "UPDATE tasks SET completed_at = ?2, updated_at = ?2,
             status = CASE WHEN outcome.completed = 0 AND outcome.failed > 0 THEN 'failed' ELSE 'completed' END,
             error = CASE WHEN outcome.completed = 0 AND outcome.failed > 0 THEN outcome.error END
         FROM (SELECT
                 count(*) FILTER (WHERE state IN ('queued', 'running')) AS open,
                 count(*) FILTER (WHERE state = 'completed') AS completed,
                 count(*) FILTER (WHERE state = 'failed') AS failed,
                 (SELECT error FROM jobs WHERE task_id = ?1 AND state = 'failed' ORDER BY finished_at DESC, seq DESC
                  LIMIT 1) AS error
               FROM jobs WHERE task_id = ?1) AS outcome
         WHERE id = ?1 AND status IN ('created', 'exploring', 'paused') AND outcome.open = 0",
    )
    .bind(task.as_str())
    .bind(now)
    .execute(connection)
    .await?;
    Ok(())
}

async fn cancel_jobs(
    connection: &mut SqliteConnection,
    task: &TaskId,
    state: JobState,
    reason: &str,
    now: &str,
) -> Result<u64> {
    let cancelled = sqlx::query(
        "UPDATE jobs SET state = 'cancelled', error = ?3, finished_at = ?4, owner = NULL, lease_until = NULL,
             seconds = seconds + CASE WHEN state = 'running' THEN (julianday(?4) - julianday(leased_at)) * 86400.0
                                      ELSE 0 END
         WHERE task_id = ?1 AND state = ?2",
    )
    .bind(task.as_str())
    .bind(state.as_str())
    .bind(reason)
    .bind(now)
    .execute(connection)
    .await?;
    Ok(cancelled.rows_affected())
}

/// Whether a job's task still accepts follow-up work; a stopped task does not.
pub(crate) async fn wants_more(connection: &mut SqliteConnection, job: &Job) -> Result<bool> {
    let status = load(connection, &job.task_id).await?.status;
    Ok(matches!(status, TaskStatus::Created | TaskStatus::Exploring | TaskStatus::Paused))
}

#[cfg(test)]
mod tests;
