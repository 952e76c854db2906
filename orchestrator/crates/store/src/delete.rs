//! Deleting tasks, and what only they used.
//!
//! Pages, fragments, works and vectors belong to no task. When a task is deleted, those that no other task references
//! are found by following the references of every other task and deleted too.

use crate::rows::{RowExt, json};
use crate::{Result, Store, StoreError, tasks, verification};
use lyra_domain::{Task, TaskId, TaskStatus};
use serde::Serialize;
use sqlx::{AssertSqlSafe, SqliteConnection};
use std::collections::BTreeMap;

/// Pages that some task, search, claim or judgment refers to, and what these cite.
const USED_PAGES: &str = "WITH RECURSIVE used (id) AS (
        SELECT page_id FROM task_pages
        UNION SELECT source_page_id FROM task_pages WHERE source_page_id IS NOT NULL
        UNION SELECT page_id FROM screening_decisions
        UNION SELECT page_id FROM serp_items WHERE page_id IS NOT NULL
        UNION SELECT page_id FROM fragments JOIN claims ON claims.source_fragment_id = fragments.id
        UNION SELECT page_id FROM fragments JOIN query_fragments ON query_fragments.fragment_id = fragments.id
        UNION SELECT page_id FROM fragments JOIN not_judged ON not_judged.fragment_id = fragments.id
        UNION SELECT page_id FROM fragments JOIN edges ON edges.source_id = fragments.id
        UNION SELECT edges.target_id FROM used JOIN edges ON edges.source_id = used.id WHERE edges.relation = 'cites'
    )
    ";

/// Whether to delete, or only to report what would be deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deletion {
    /// Do it.
    Commit,
    /// Undo it when everything is counted.
    DryRun,
}

/// Deleted rows by table; tables without any are omitted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Deleted {
    /// Rows by table.
    pub rows: BTreeMap<String, u64>,
    /// A job was running, so that pages known only from being cited stay until the next deletion or clean-up.
    pub cited_pages_kept: bool,
}

impl Store {
    /// Deletes a task with everything that no other task uses: claims, judgments and their corrections, searches, jobs,
    /// its logins, pages, fragments, works, vectors. It is one transaction.
    ///
    /// # Errors
    /// [`StoreError::NotFound`]; [`StoreError::TaskActive`] while its jobs wait or run.
    pub async fn delete_task(&self, task: &TaskId, how: Deletion) -> Result<Deleted> {
        let mut tx = self.write().await?;
        tasks::load(&mut tx, task).await?;
        let open: i64 = sqlx::query_scalar(
            "SELECT count(*) FROM jobs WHERE task_id = ? AND state IN ('queued', 'running')",
        )
        .bind(task.as_str())
        .fetch_one(&mut *tx)
        .await?;
        if open > 0 {
            return Err(StoreError::TaskActive { task: task.clone(), jobs: open.unsigned_abs() });
        }
        let before = counts(&mut tx).await?;
        let idle = no_job_runs(&mut tx).await?;
        let domains: Vec<(String, String)> = sqlx::query_as(
            "SELECT DISTINCT pages.domain, pages.domain_category FROM claims
             JOIN fragments ON fragments.id = claims.source_fragment_id
             JOIN pages ON pages.id = fragments.page_id WHERE claims.task_id = ?",
        )
        .bind(task.as_str())
        .fetch_all(&mut *tx)
        .await?;
        let own: Vec<String> = sqlx::query_scalar("SELECT page_id FROM task_pages WHERE task_id = ?")
            .bind(task.as_str())
            .fetch_all(&mut *tx)
            .await?;
        for sql in [
            "DELETE FROM nli_corrections WHERE edge_id IN (
                 SELECT edges.id FROM claims JOIN edges ON edges.target_id = claims.id WHERE claims.task_id = ?1)",
            "DELETE FROM edges WHERE target_id IN (SELECT id FROM claims WHERE task_id = ?1)
                 OR source_id IN (SELECT id FROM claims WHERE task_id = ?1)",
            "DELETE FROM embeddings WHERE target_type = 'claim'
                 AND target_id IN (SELECT id FROM claims WHERE task_id = ?1)",
            // Foreign keys delete everything else that belongs only to the task.
            "DELETE FROM tasks WHERE id = ?1",
        ] {
            sqlx::query(sql).bind(task.as_str()).execute(&mut *tx).await?;
        }
        // A running job may have stored a cited page but not yet the citation.
        sweep(&mut tx, (!idle).then_some(own.as_slice())).await?;
        let now = self.stamp();
        for (domain, category) in &domains {
            verification::settle_domain(&mut tx, domain, category, None, &now).await?;
        }
        let after = counts(&mut tx).await?;
        match how {
            Deletion::Commit => tx.commit().await?,
            Deletion::DryRun => tx.rollback().await?,
        }
        Ok(Deleted { rows: subtract_counts(before, &after), cited_pages_kept: !idle })
    }

    /// Removes unreferenced rows: vectors of dropped claims, works and pages left by interrupted steps. Does nothing
    /// while a job runs, because its next step may reference them.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub async fn delete_leftovers(&self, how: Deletion) -> Result<Deleted> {
        let mut tx = self.write().await?;
        if !no_job_runs(&mut tx).await? {
            return Ok(Deleted { cited_pages_kept: true, ..Deleted::default() });
        }
        let before = counts(&mut tx).await?;
        sweep(&mut tx, None).await?;
        let after = counts(&mut tx).await?;
        match how {
            Deletion::Commit => tx.commit().await?,
            Deletion::DryRun => tx.rollback().await?,
        }
        Ok(Deleted { rows: subtract_counts(before, &after), cited_pages_kept: false })
    }

    /// Tasks that ended before this moment and have no job left, oldest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn tasks_ended_before(&self, moment: jiff::Timestamp) -> Result<Vec<Task>> {
        let ended =
            [TaskStatus::Completed, TaskStatus::Failed, TaskStatus::Cancelled].map(TaskStatus::as_str);
        let found = sqlx::query(
            "SELECT * FROM tasks WHERE coalesce(completed_at, updated_at) < ?
             AND status IN (SELECT value FROM json_each(?))
             AND NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.task_id = tasks.id AND state IN ('queued', 'running'))
             ORDER BY seq",
        )
        .bind(crate::store::stamp(moment))
        .bind(json(&ended)?)
        .fetch_all(self.reader())
        .await?;
        found.iter().map(crate::rows::task).collect()
    }
}

async fn no_job_runs(connection: &mut SqliteConnection) -> Result<bool> {
    let idle = "SELECT NOT EXISTS (SELECT 1 FROM jobs WHERE state = 'running')";
    Ok(sqlx::query_scalar(idle).fetch_one(connection).await?)
}

/// Deletes unused pages with what hangs on them: of `only` these, or all.
async fn sweep(connection: &mut SqliteConnection, only: Option<&[String]>) -> Result<()> {
    let sql = format!(
        "{USED_PAGES} SELECT id FROM pages WHERE id NOT IN (SELECT id FROM used)
         AND (?1 IS NULL OR id IN (SELECT value FROM json_each(?1)))"
    );
    let unused: Vec<String> = sqlx::query_scalar(AssertSqlSafe(sql))
        .bind(only.map(json_list).transpose()?)
        .fetch_all(&mut *connection)
        .await?;
    let unused = json_list(&unused)?;
    for sql in [
        "DELETE FROM edges WHERE relation = 'cites' AND (source_id IN (SELECT value FROM json_each(?1))
             OR target_id IN (SELECT value FROM json_each(?1)))",
        "DELETE FROM embeddings WHERE target_type = 'fragment' AND target_id IN (
             SELECT id FROM fragments WHERE page_id IN (SELECT value FROM json_each(?1)))",
        "DELETE FROM fragments WHERE page_id IN (SELECT value FROM json_each(?1))",
        "DELETE FROM quarantined_fragments WHERE page_id IN (SELECT value FROM json_each(?1))",
        "DELETE FROM pages WHERE id IN (SELECT value FROM json_each(?1))",
        "DELETE FROM works WHERE id NOT IN (SELECT work_id FROM pages WHERE work_id IS NOT NULL)",
        "DELETE FROM private.quarantined_texts WHERE id NOT IN (SELECT id FROM main.quarantined_fragments)",
        "DELETE FROM private.sessions WHERE auth_id NOT IN (SELECT id FROM main.auth_queue)",
    ] {
        let statement = sqlx::query(sql);
        let statement = if sql.contains("?1") { statement.bind(&unused) } else { statement };
        statement.execute(&mut *connection).await?;
    }
    if only.is_none() {
        for sql in [
            "DELETE FROM embeddings WHERE target_type = 'fragment' AND target_id NOT IN (SELECT id FROM fragments)",
            "DELETE FROM embeddings WHERE target_type = 'claim' AND target_id NOT IN (SELECT id FROM claims)",
        ] {
            sqlx::query(sql).execute(&mut *connection).await?;
        }
    }
    Ok(())
}

fn json_list(ids: &[String]) -> Result<String> {
    json(&ids)
}

/// Rows of every table that is not internal to SQLite or to its full-text index.
async fn counts(connection: &mut SqliteConnection) -> Result<BTreeMap<String, i64>> {
    let tables = sqlx::query(
        "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'
         AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name <> '_sqlx_migrations' ORDER BY name",
    )
    .fetch_all(&mut *connection)
    .await?;
    let mut counts = BTreeMap::new();
    for row in &tables {
        let table: String = row.value("name")?;
        let sql = format!("SELECT count(*) FROM \"{table}\"");
        let count = sqlx::query_scalar(AssertSqlSafe(sql)).fetch_one(&mut *connection).await?;
        counts.insert(table, count);
    }
    Ok(counts)
}

fn subtract_counts(before: BTreeMap<String, i64>, after: &BTreeMap<String, i64>) -> BTreeMap<String, u64> {
    before
        .into_iter()
        .map(|(table, count)| {
            let left = after.get(&table).copied().unwrap_or(0);
            (table, (count - left).max(0).unsigned_abs())
        })
        .filter(|(_, count)| *count > 0)
        .collect()
}

#[cfg(test)]
mod tests;
