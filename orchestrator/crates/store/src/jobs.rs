//! The job queue: taking, keeping, finishing and giving back jobs.

use crate::rows::{RowExt, json};
use crate::store::stamp;
use crate::{Result, Store, StoreError, queries, tasks};
use lyra_domain::{Job, JobId, JobKind, JobState, TaskId};
use lyra_research::trace::{self, Cause};
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;
use std::time::Duration;
use uuid::Uuid;

/// A job as a person sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct JobInfo {
    /// The job.
    pub id: JobId,
    /// Its task.
    pub task: TaskId,
    /// The question of its task.
    pub query: String,
    /// `search`, `resume`, or `judge`.
    pub kind: String,
    /// State.
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

/// Workers that hold leases.
const OWNERS: &str = "SELECT DISTINCT owner FROM jobs
    WHERE state = 'running' AND owner IS NOT NULL ORDER BY owner";

/// Whether a job waits, or its lease ran out before `?1`; of a task, or of any.
const ANY_DUE: &str = "SELECT EXISTS (
    SELECT 1 FROM jobs WHERE (state = 'queued' OR state = 'running' AND lease_until < ?1)
    AND (?2 IS NULL OR task_id = ?2))";

/// The job to take next; of a task, or of any.
const NEXT: &str = "SELECT id, task_id, input, attempts, fence, query_id FROM jobs AS job
    WHERE state = 'queued'
      AND (run_after IS NULL OR run_after <= ?1) AND (?2 IS NULL OR task_id = ?2)
      AND (kind <> 'judge' OR NOT EXISTS (
            SELECT 1 FROM jobs AS other WHERE other.task_id = job.task_id AND other.id <> job.id
            AND (other.state = 'running' OR other.state = 'queued' AND other.kind <> 'judge')))
    ORDER BY priority, seq LIMIT 1";

/// Ends the leases of worker `?1`, or those that ran out before `?2`. Whether a job has made progress is read from what
/// its task holds.
const TAKE_BACK: &str = "UPDATE jobs SET
        state = CASE WHEN task.ended THEN 'cancelled' WHEN done_for THEN 'failed' ELSE 'queued' END,
        attempts = attempts - (?1 IS NOT NULL),
        deaths = CASE WHEN ?1 IS NULL THEN deaths WHEN moved THEN 0 ELSE deaths + 1 END,
        error = CASE WHEN ?1 IS NULL THEN 'its worker went silent during attempt ' || attempts
                ELSE 'its worker died ' || (CASE WHEN moved THEN 1 ELSE deaths + 1 END) || ' times in a row' END,
        seconds = seconds + max(0.0, (julianday(heartbeat_at) - julianday(leased_at)) * 86400.0),
        finished_at = CASE WHEN task.ended OR done_for THEN ?2 END,
        owner = NULL, lease_until = NULL, run_after = NULL
    FROM (SELECT id, status IN ('completed', 'failed', 'cancelled') AS ended FROM tasks) AS task,
        (SELECT job_id, moved,
             CASE WHEN ?1 IS NULL THEN tried >= ?3 ELSE NOT moved AND died + 1 >= ?4 END AS done_for
         FROM (SELECT id AS job_id, attempts AS tried, deaths AS died,
                   EXISTS (SELECT 1 FROM claims WHERE claims.task_id = jobs.task_id
                           AND claims.cause_id = jobs.id AND claims.created_at >= leased_at)
                   OR EXISTS (SELECT 1 FROM claims JOIN edges ON edges.target_id = claims.id
                              WHERE claims.task_id = jobs.task_id
                              AND edges.cause_id = jobs.id AND edges.created_at >= leased_at)
                   OR EXISTS (SELECT 1 FROM task_pages JOIN pages ON pages.id = task_pages.page_id
                              WHERE task_pages.task_id = jobs.task_id
                              AND pages.cause_id = jobs.id AND pages.fetched_at >= leased_at)
                   OR EXISTS (SELECT 1 FROM task_pages JOIN edges ON edges.source_id = task_pages.page_id
                              WHERE task_pages.task_id = jobs.task_id
                              AND edges.cause_id = jobs.id AND edges.created_at >= leased_at)
                   AS moved
               FROM jobs WHERE state = 'running')) AS work
    WHERE jobs.task_id = task.id AND jobs.id = work.job_id AND jobs.state = 'running'
      AND CASE WHEN ?1 IS NULL THEN lease_until < ?2 ELSE owner = ?1 END
    RETURNING task_id, kind, state, query_id, error";

impl Store {
    /// At most `limit` jobs of all tasks that are queued, running, or failed, newest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn list_jobs(&self, limit: u32) -> Result<Vec<JobInfo>> {
        let found = sqlx::query(
            "SELECT jobs.*, tasks.query FROM jobs JOIN tasks ON tasks.id = jobs.task_id
             WHERE jobs.state IN ('queued', 'running', 'failed') ORDER BY jobs.seq DESC LIMIT ?",
        )
        .bind(limit)
        .fetch_all(self.reader())
        .await?;
        found.iter().map(info).collect()
    }

    /// Puts the jobs of dead processes back into the queue at once, without waiting for their leases to expire. Returns
    /// how many. Called at open; a long-running process calls it periodically.
    ///
    /// # Errors
    /// When the folder of worker locks or the database cannot be used.
    pub async fn reclaim_dead_workers(&self) -> Result<usize> {
        let owners: Vec<String> = sqlx::query_scalar(OWNERS).fetch_all(self.reader()).await?;
        let dead = self.worker().find_dead(&owners).map_err(|error| StoreError::NotWritable {
            path: self.path().with_file_name("workers"),
            why: error.to_string(),
        })?;
        let mut returned = 0;
        for worker in dead {
            if owners.contains(&worker.id) {
                let mut tx = self.write().await?;
                returned += self.take_back(&mut tx, Some(&worker.id)).await?;
                tx.commit().await?;
            }
            worker.bury();
        }
        if returned > 0 {
            tracing::info!(jobs = returned, "requeued jobs of dead workers");
        }
        Ok(returned)
    }

    pub(crate) async fn lease_job(&self, task: Option<&TaskId>, lease: Duration) -> Result<Option<Job>> {
        let now = self.stamp();
        // Idle workers poll often: check before taking the write lock.
        let any: bool = sqlx::query_scalar(ANY_DUE)
            .bind(&now)
            .bind(task.map(TaskId::as_str))
            .fetch_one(self.reader())
            .await?;
        if !any {
            return Ok(None);
        }
        let mut tx = self.write().await?;
        self.take_back(&mut tx, None).await?;
        let next =
            sqlx::query(NEXT).bind(&now).bind(task.map(TaskId::as_str)).fetch_optional(&mut *tx).await?;
        let job = match next {
            Some(row) => Some(self.take(&mut tx, &row, lease, &now).await?),
            None => None,
        };
        tx.commit().await?;
        Ok(job)
    }

    async fn take(
        &self,
        connection: &mut SqliteConnection,
        row: &SqliteRow,
        lease: Duration,
        now: &str,
    ) -> Result<Job> {
        let job = Job {
            id: row.parsed("id")?,
            task_id: row.parsed("task_id")?,
            kind: serde_json::from_str(&row.value::<String>("input")?)
                .map_err(|error| StoreError::corrupt("column input", error))?,
            attempts: row.value::<u32>("attempts")? + 1,
            fence: row.value::<i64>("fence")? + 1,
        };
        sqlx::query(
            "UPDATE jobs SET state = 'running', attempts = ?2, owner = ?3, lease_until = ?4, leased_at = ?5,
                 heartbeat_at = ?5, started_at = coalesce(started_at, ?5), error = NULL, fence = ?6
             WHERE id = ?1",
        )
        .bind(job.id.as_str())
        .bind(job.attempts)
        .bind(self.worker().id())
        .bind(stamp(self.now() + lease))
        .bind(now)
        .bind(job.fence)
        .execute(&mut *connection)
        .await?;
        let query: Option<String> = row.value("query_id")?;
        mark_query(connection, query.as_deref(), "running").await?;
        sqlx::query(
            "UPDATE tasks SET started_at = coalesce(started_at, ?2), updated_at = ?2,
                 status = CASE WHEN status IN ('created', 'paused') THEN 'exploring' ELSE status END
             WHERE id = ?1",
        )
        .bind(job.task_id.as_str())
        .bind(now)
        .execute(connection)
        .await?;
        Ok(job)
    }

    pub(crate) async fn renew_lease(&self, job: &Job, lease: Duration) -> Result<bool> {
        let renewed = sqlx::query(
            "UPDATE jobs SET lease_until = ?3, heartbeat_at = ?4 WHERE id = ?1 AND state = 'running' AND fence = ?2",
        )
        .bind(job.id.as_str())
        .bind(job.fence)
        .bind(stamp(self.now() + lease))
        .bind(self.stamp());
        let mut tx = self.write().await?;
        let renewed = renewed.execute(&mut *tx).await?.rows_affected() > 0;
        tx.commit().await?;
        Ok(renewed)
    }

    pub(crate) async fn complete_job(
        &self,
        job: &Job,
        output: &serde_json::Value,
        then: &[JobKind],
    ) -> Result<()> {
        let now = self.stamp();
        let mut tx = self.write().await?;
        let (priority, _) = leased(&mut tx, job).await?;
        finish(&mut tx, job, JobState::Completed, &now).await?;
        sqlx::query("UPDATE jobs SET output = ? WHERE id = ?")
            .bind(json(output)?)
            .bind(job.id.as_str())
            .execute(&mut *tx)
            .await?;
        if !then.is_empty() && tasks::wants_more(&mut tx, job).await? {
            for kind in then {
                enqueue(&mut tx, &job.task_id, kind, priority, Some(&job.id), &now).await?;
            }
        }
        tasks::touch(&mut tx, &job.task_id, &now).await?;
        tasks::settle(&mut tx, &job.task_id, &now).await?;
        tx.commit().await?;
        Ok(())
    }

    /// Gives a job back. Without a pause (`Duration::ZERO`) it was handed back unharmed, as when its process stops, and
    /// the attempt does not count.
    pub(crate) async fn fail_job(&self, job: &Job, error: &str, retry_after: Option<Duration>) -> Result<()> {
        let now = self.stamp();
        let mut tx = self.write().await?;
        let (_, query) = leased(&mut tx, job).await?;
        let query = query.as_deref();
        let handed_back = retry_after == Some(Duration::ZERO);
        let pause = retry_after.filter(|_| handed_back || job.attempts < self.config().max_attempts);
        if !tasks::wants_more(&mut tx, job).await? {
            finish(&mut tx, job, JobState::Cancelled, &now).await?;
            mark_query(&mut tx, query, "cancelled").await?;
        } else if let Some(pause) = pause {
            finish(&mut tx, job, JobState::Queued, &now).await?;
            sqlx::query("UPDATE jobs SET run_after = ?2, attempts = ?3, finished_at = NULL WHERE id = ?1")
                .bind(job.id.as_str())
                .bind((!handed_back).then(|| stamp(self.now() + pause)))
                .bind(job.attempts - u32::from(handed_back))
                .execute(&mut *tx)
                .await?;
            mark_query(&mut tx, query, "queued").await?;
        } else {
            finish(&mut tx, job, JobState::Failed, &now).await?;
            mark_query(&mut tx, query, "failed").await?;
            give_up(&mut tx, &job.task_id, job.kind.name(), error, &now).await?;
        }
        sqlx::query("UPDATE jobs SET error = ? WHERE id = ?")
            .bind(error)
            .bind(job.id.as_str())
            .execute(&mut *tx)
            .await?;
        tasks::settle(&mut tx, &job.task_id, &now).await?;
        tx.commit().await?;
        Ok(())
    }

    pub(crate) async fn job_cause(&self, job: &JobId) -> Result<Option<Cause>> {
        let causes: Vec<String> = sqlx::query_scalar(
            "WITH RECURSIVE causes (cause) AS (
                 SELECT cause_id FROM jobs WHERE id = ?1
                 UNION SELECT jobs.cause_id FROM jobs JOIN causes ON jobs.id = causes.cause)
             SELECT cause FROM causes WHERE cause IS NOT NULL",
        )
        .bind(job.as_str())
        .fetch_all(self.reader())
        .await?;
        Ok(causes.iter().find_map(|cause| Cause::read(cause)))
    }

    pub(crate) async fn job_seconds(&self, task: &TaskId) -> Result<f64> {
        Ok(sqlx::query_scalar(
            "SELECT coalesce(sum(seconds + CASE WHEN state = 'running'
                 THEN max(0.0, (julianday(?2) - julianday(leased_at)) * 86400.0) ELSE 0.0 END), 0.0)
             FROM jobs WHERE task_id = ?1",
        )
        .bind(task.as_str())
        .bind(self.stamp())
        .fetch_one(self.reader())
        .await?)
    }

    /// Ends the leases of a worker, or without one those that ran out. A job goes back to the queue, unless it has used
    /// up its attempts or its task was stopped.
    async fn take_back(&self, connection: &mut SqliteConnection, worker: Option<&str>) -> Result<usize> {
        let now = self.stamp();
        // An attempt whose worker died does not count: the death is counted instead, unless the job had made progress.
        // A worker that was merely late may still be running, so its attempt keeps counting, which distinguishes the
        // two.
        let taken = sqlx::query(TAKE_BACK)
            .bind(worker)
            .bind(&now)
            .bind(self.config().max_attempts)
            .bind(self.config().max_deaths)
            .fetch_all(&mut *connection)
            .await?;
        for row in &taken {
            let task: TaskId = row.parsed("task_id")?;
            let state: JobState = row.parsed("state")?;
            let query: Option<String> = row.value("query_id")?;
            mark_query(connection, query.as_deref(), state.as_str()).await?;
            if state == JobState::Failed {
                let (kind, error): (String, String) = (row.value("kind")?, row.value("error")?);
                give_up(connection, &task, &kind, &error, &now).await?;
            }
            tasks::settle(connection, &task, &now).await?;
        }
        Ok(taken.len())
    }
}

/// Priority and query of a job whose latest lease this is, and still holds.
///
/// # Errors
/// [`StoreError::LeaseLost`] when the job was taken back, leased again, stopped, or is done.
pub(crate) async fn leased(connection: &mut SqliteConnection, job: &Job) -> Result<(i64, Option<String>)> {
    let held = sqlx::query_as(
        "SELECT priority, query_id FROM jobs WHERE id = ? AND state = 'running' AND fence = ?",
    )
    .bind(job.id.as_str())
    .bind(job.fence)
    .fetch_optional(connection)
    .await?;
    held.ok_or_else(|| StoreError::LeaseLost { job: job.id.to_string() })
}

/// Queues a job; a judge job only when its task has none waiting. Without a causing job, the current request is the
/// cause.
pub(crate) async fn enqueue(
    connection: &mut SqliteConnection,
    task: &TaskId,
    kind: &JobKind,
    priority: i64,
    cause: Option<&JobId>,
    now: &str,
) -> Result<()> {
    let query = match kind {
        JobKind::Search { query_id } | JobKind::Resume { query_id, .. } => Some(query_id.as_str()),
        JobKind::Judge => None,
    };
    sqlx::query(
        "INSERT INTO jobs (id, task_id, kind, priority, state, input, query_id, queued_at, cause_id)
         SELECT ?1, ?2, ?3, ?4, 'queued', ?5, ?6, ?7, ?8
         WHERE ?3 <> 'judge'
            OR NOT EXISTS (SELECT 1 FROM jobs WHERE task_id = ?2 AND kind = 'judge' AND state = 'queued')",
    )
    .bind(JobId::new(Uuid::now_v7()).as_str())
    .bind(task.as_str())
    .bind(kind.name())
    .bind(priority)
    .bind(json(kind)?)
    .bind(query)
    .bind(now)
    .bind(cause.map(ToString::to_string).or_else(|| trace::cause().map(|cause| cause.to_string())))
    .execute(&mut *connection)
    .await?;
    queries::reopen(connection, task, now).await
}

/// Ends a lease in this state, counting its seconds.
async fn finish(connection: &mut SqliteConnection, job: &Job, state: JobState, now: &str) -> Result<()> {
    sqlx::query(
        "UPDATE jobs SET state = ?2, finished_at = ?3, owner = NULL, lease_until = NULL,
             seconds = seconds + max(0.0, (julianday(?3) - julianday(leased_at)) * 86400.0)
         WHERE id = ?1",
    )
    .bind(job.id.as_str())
    .bind(state.as_str())
    .bind(now)
    .execute(connection)
    .await?;
    Ok(())
}

/// Adds a warning to the task that one of its jobs failed permanently.
async fn give_up(
    connection: &mut SqliteConnection,
    task: &TaskId,
    kind: &str,
    error: &str,
    now: &str,
) -> Result<()> {
    tasks::warn(connection, task, &format!("gave up on a {kind} job: {error}"), now).await
}

/// Lets a query follow its job. One that has its result keeps it.
async fn mark_query(connection: &mut SqliteConnection, query: Option<&str>, status: &str) -> Result<()> {
    if let Some(query) = query {
        sqlx::query("UPDATE queries SET status = ? WHERE id = ? AND status IN ('queued', 'running')")
            .bind(status)
            .bind(query)
            .execute(connection)
            .await?;
    }
    Ok(())
}

fn info(row: &SqliteRow) -> Result<JobInfo> {
    Ok(JobInfo {
        id: row.parsed("id")?,
        task: row.parsed("task_id")?,
        query: row.value("query")?,
        kind: row.value("kind")?,
        state: row.parsed("state")?,
        attempts: row.value("attempts")?,
        error: row.value("error")?,
        queued_at: row.value("queued_at")?,
        started_at: row.value("started_at")?,
        finished_at: row.value("finished_at")?,
    })
}

#[cfg(test)]
mod tests;
