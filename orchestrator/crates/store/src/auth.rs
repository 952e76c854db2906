//! The auth queue: pages that require a person, how each one ends, and the sessions that people's visits leave for
//! domains.
//!
//! Every item has a job in `awaiting_auth`, which no worker takes and no task waits for. An item is resolved once:
//! completed, and its job is queued, or skipped, expired or cancelled, and its job is cancelled.

use crate::rows::{RowExt, json};
use crate::store::stamp;
use crate::{Result, Store, StoreError, queries, tasks};
use lyra_domain::{AuthId, AuthItem, AuthStatus, JobId, JobKind, Priority, Query, TaskId};
use lyra_research::ports::Waiting;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};
use uuid::Uuid;

/// Open items of a task, or of all when it is null.
pub(crate) const OPEN_ITEMS: &str =
    "SELECT id, task_id, job_id, url, domain, auth_type, priority, status, created_at, expires_at
     FROM auth_queue WHERE status IN ('pending', 'in_progress') AND (?1 IS NULL OR task_id = ?1)
     ORDER BY priority, created_at, id";

/// Which items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuthTarget {
    /// One.
    Item(AuthId),
    /// All that wait for a domain, of every task.
    Domain(String),
    /// All of a task.
    Task(TaskId),
}

/// A person's action.
#[derive(Clone, PartialEq, Eq)]
pub enum AuthOutcome {
    /// Resolved. The session that the visit created for the domain is a secret, stored as given.
    Completed {
        /// In the form that [`lyra_research::ports::SessionStore`] gives it back in.
        session: Option<String>,
    },
    /// Left it out.
    Skipped,
}

/// What resolving did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuthResolved {
    /// Items that are no longer open.
    pub items: u64,
    /// Jobs that were requeued.
    pub requeued: u64,
    /// Tasks they belong to.
    pub tasks: Vec<TaskId>,
}

impl Store {
    pub(crate) async fn write_waiting(
        &self,
        query: &Query,
        source: &str,
        waiting: &[Waiting],
        cause: &JobId,
    ) -> Result<usize> {
        let now = self.stamp();
        let expires = stamp(self.now() + self.config().auth_expiry);
        let mut tx = self.write().await?;
        let mut added = 0;
        for wanted in waiting {
            let kind = JobKind::Resume {
                query_id: query.id.clone(),
                source: source.to_owned(),
                part: wanted.part.clone(),
            };
            let job = JobId::new(Uuid::now_v7());
            // Skipped pages are not queued again; failed attempts (whose job runs now) are.
            let inserted = sqlx::query(
                "INSERT INTO jobs (id, task_id, kind, priority, state, input, query_id, queued_at, cause_id)
                 SELECT ?1, ?2, ?3, coalesce((SELECT priority FROM jobs WHERE id = ?7), 20), 'awaiting_auth', ?4, ?5, ?6, ?7
                 WHERE NOT EXISTS (SELECT 1 FROM jobs WHERE task_id = ?2 AND input = ?4
                                   AND state IN ('awaiting_auth', 'queued', 'cancelled'))
                   AND EXISTS (SELECT 1 FROM tasks WHERE id = ?2 AND status IN ('created', 'exploring', 'paused'))",
            )
            .bind(job.as_str())
            .bind(query.task_id.as_str())
            .bind(kind.name())
            .bind(json(&kind)?)
            .bind(query.id.as_str())
            .bind(&now)
            .bind(cause.as_str())
            .execute(&mut *tx)
            .await?
            .rows_affected();
            if inserted == 0 {
                continue;
            }
            sqlx::query(
                "INSERT INTO auth_queue
                     (id, task_id, job_id, url, domain, auth_type, priority, status, created_at, expires_at)
                 VALUES (?, ?, ?, ?, ?, ?, ?, 'pending', ?, ?)",
            )
            .bind(AuthId::new(Uuid::now_v7()).as_str())
            .bind(query.task_id.as_str())
            .bind(job.as_str())
            .bind(&wanted.url)
            .bind(&wanted.domain)
            .bind(&wanted.auth_type)
            .bind(wanted.priority.order())
            .bind(&now)
            .bind(&expires)
            .execute(&mut *tx)
            .await?;
            added += 1;
        }
        if added > 0 {
            tasks::touch(&mut tx, &query.task_id, &now).await?;
        }
        tx.commit().await?;
        Ok(added)
    }

    /// The items of one task or of all, highest priority first, then oldest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn auth_queue(&self, task: Option<&TaskId>) -> Result<Vec<AuthItem>> {
        self.expire_auth().await?;
        let found = sqlx::query(OPEN_ITEMS).bind(task.map(TaskId::as_str)).fetch_all(self.reader()).await?;
        found.iter().map(item).collect()
    }

    /// One item, open or not.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] for an unknown id.
    pub async fn auth_item(&self, id: &AuthId) -> Result<AuthItem> {
        self.expire_auth().await?;
        let row = sqlx::query(
            "SELECT id, task_id, job_id, url, domain, auth_type, priority, status, created_at, expires_at
             FROM auth_queue WHERE id = ?",
        )
        .bind(id.as_str())
        .fetch_optional(self.reader())
        .await?;
        item(&row.ok_or_else(|| StoreError::not_found("item of the auth queue", id))?)
    }

    /// Says that a person is at an open item, or no longer.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub async fn mark_auth(&self, id: &AuthId, in_progress: bool) -> Result<()> {
        let (from, to) = if in_progress { ("pending", "in_progress") } else { ("in_progress", "pending") };
        let mut tx = self.write().await?;
        sqlx::query("UPDATE auth_queue SET status = ?3 WHERE id = ?1 AND status = ?2")
            .bind(id.as_str())
            .bind(from)
            .bind(to)
            .execute(&mut *tx)
            .await?;
        tx.commit().await?;
        Ok(())
    }

    /// Resolves open items. Completed ones requeue their jobs and resume their tasks; a session is stored for the
    /// domain of the items and replaces an older one.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] for an item that does not exist, [`StoreError::AuthClosed`] for one that is resolved.
    pub async fn resolve_auth(&self, target: &AuthTarget, outcome: &AuthOutcome) -> Result<AuthResolved> {
        if let AuthTarget::Item(id) = target {
            let item = self.auth_item(id).await?;
            if !item.status.is_open() {
                return Err(StoreError::AuthClosed { item: id.to_string(), status: item.status });
            }
        }
        let now = self.stamp();
        let mut tx = self.write().await?;
        expire(&mut tx, &now).await?;
        let (id, domain, task) = match target {
            AuthTarget::Item(id) => (Some(id.as_str()), None, None),
            AuthTarget::Domain(domain) => (None, Some(domain.as_str()), None),
            AuthTarget::Task(task) => (None, None, Some(task.as_str())),
        };
        let status = match outcome {
            AuthOutcome::Completed { .. } => AuthStatus::Completed,
            AuthOutcome::Skipped => AuthStatus::Skipped,
        };
        let closed = sqlx::query(
            "UPDATE auth_queue SET status = ?4 WHERE status IN ('pending', 'in_progress')
               AND (?1 IS NULL OR id = ?1) AND (?2 IS NULL OR domain = ?2) AND (?3 IS NULL OR task_id = ?3)
             RETURNING id, task_id, job_id, domain",
        )
        .bind(id)
        .bind(domain)
        .bind(task)
        .bind(status.as_str())
        .fetch_all(&mut *tx)
        .await?;
        let mut resolved = AuthResolved { items: closed.len() as u64, ..AuthResolved::default() };
        for row in &closed {
            let (task, job): (TaskId, Option<String>) = (row.parsed("task_id")?, row.value("job_id")?);
            let changed = match outcome {
                AuthOutcome::Completed { .. } => requeue(&mut tx, job.as_deref(), &now).await?,
                AuthOutcome::Skipped => cancel(&mut tx, job.as_deref(), "a person skipped it", &now).await?,
            };
            if status == AuthStatus::Completed {
                resolved.requeued += changed;
                queries::reopen(&mut tx, &task, &now).await?;
            }
            tasks::touch(&mut tx, &task, &now).await?;
            if !resolved.tasks.contains(&task) {
                resolved.tasks.push(task);
            }
        }
        if let (AuthOutcome::Completed { session: Some(session) }, Some(row)) = (outcome, closed.first()) {
            let (id, domain): (String, String) = (row.value("id")?, row.value("domain")?);
            sqlx::query(
                "INSERT INTO private.sessions (domain, auth_id, session) VALUES (?1, ?2, ?3)
                 ON CONFLICT (domain) DO UPDATE SET auth_id = ?2, session = ?3",
            )
            .bind(domain)
            .bind(id)
            .bind(session)
            .execute(&mut *tx)
            .await?;
        }
        tx.commit().await?;
        Ok(resolved)
    }

    /// Deletes the session of a domain. `false` when none was stored.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub async fn forget_session(&self, domain: &str) -> Result<bool> {
        let mut tx = self.write().await?;
        let forgotten = forget(&mut tx, domain).await?;
        tx.commit().await?;
        Ok(forgotten > 0)
    }

    pub(crate) async fn read_session(&self, domain: &str) -> Result<Option<String>> {
        let found = sqlx::query_scalar("SELECT session FROM private.sessions WHERE domain = ?")
            .bind(domain)
            .fetch_optional(self.reader())
            .await?;
        Ok(found)
    }

    /// Expires items that were not resolved in time, and adds warnings to their tasks.
    ///
    /// # Errors
    /// When the database cannot be used.
    pub async fn expire_auth(&self) -> Result<()> {
        let now = self.stamp();
        // Asked often: look before taking the write lock.
        let any: bool = sqlx::query_scalar(
            "SELECT EXISTS (SELECT 1 FROM auth_queue WHERE status IN ('pending', 'in_progress') AND expires_at <= ?)",
        )
        .bind(&now)
        .fetch_one(self.reader())
        .await?;
        if any {
            let mut tx = self.write().await?;
            expire(&mut tx, &now).await?;
            tx.commit().await?;
        }
        Ok(())
    }
}

/// Cancels the items of a task that is stopped. Returns how many jobs waited.
pub(crate) async fn cancel_task(
    connection: &mut SqliteConnection,
    task: &TaskId,
    reason: &str,
    now: &str,
) -> Result<u64> {
    let items = sqlx::query(
        "UPDATE auth_queue SET status = 'cancelled' WHERE task_id = ? AND status IN ('pending', 'in_progress')
         RETURNING job_id",
    )
    .bind(task.as_str())
    .fetch_all(&mut *connection)
    .await?;
    let mut cancelled = 0;
    for row in &items {
        let job: Option<String> = row.value("job_id")?;
        cancelled += cancel(connection, job.as_deref(), reason, now).await?;
    }
    Ok(cancelled)
}

async fn expire(connection: &mut SqliteConnection, now: &str) -> Result<()> {
    let expired = sqlx::query(
        "UPDATE auth_queue SET status = 'expired' WHERE status IN ('pending', 'in_progress') AND expires_at <= ?
         RETURNING task_id, job_id, domain, auth_type",
    )
    .bind(now)
    .fetch_all(&mut *connection)
    .await?;
    for row in &expired {
        let (task, job): (TaskId, Option<String>) = (row.parsed("task_id")?, row.value("job_id")?);
        cancel(connection, job.as_deref(), "it expired in the auth queue", now).await?;
        let (domain, kind): (String, String) = (row.value("domain")?, row.value("auth_type")?);
        let warning =
            format!("{domain} required human verification ({kind}), which expired in the auth queue");
        tasks::warn(connection, &task, &warning, now).await?;
        tasks::touch(connection, &task, now).await?;
    }
    Ok(())
}

async fn requeue(connection: &mut SqliteConnection, job: Option<&str>, now: &str) -> Result<u64> {
    let queued = sqlx::query(
        "UPDATE jobs SET state = 'queued', queued_at = ?2 WHERE id = ?1 AND state = 'awaiting_auth'",
    )
    .bind(job)
    .bind(now)
    .execute(connection)
    .await?;
    Ok(queued.rows_affected())
}

async fn cancel(connection: &mut SqliteConnection, job: Option<&str>, why: &str, now: &str) -> Result<u64> {
    let cancelled = sqlx::query(
        "UPDATE jobs SET state = 'cancelled', error = ?2, finished_at = ?3 WHERE id = ?1 AND state = 'awaiting_auth'",
    )
    .bind(job)
    .bind(why)
    .bind(now)
    .execute(connection)
    .await?;
    Ok(cancelled.rows_affected())
}

async fn forget(connection: &mut SqliteConnection, domain: &str) -> Result<u64> {
    let forgotten =
        sqlx::query("DELETE FROM private.sessions WHERE domain = ?").bind(domain).execute(connection).await?;
    Ok(forgotten.rows_affected())
}

pub(crate) fn item(row: &SqliteRow) -> Result<AuthItem> {
    Ok(AuthItem {
        id: row.parsed("id")?,
        task_id: row.parsed("task_id")?,
        job_id: row.parsed_or_null("job_id")?,
        url: row.value("url")?,
        domain: row.value("domain")?,
        auth_type: row.value("auth_type")?,
        priority: Priority::of_order(row.try_get("priority")?),
        status: row.parsed("status")?,
        created_at: row.value("created_at")?,
        expires_at: row.value("expires_at")?,
    })
}

#[cfg(test)]
mod tests;
