//! What the store knows about the flow of a task's documents, in the counts of PRISMA 2020.

use super::STANDING;
use crate::rows::RowExt;
use crate::{Result, Store, tasks};
use lyra_domain::{Basis, TaskId, Verdict};
use sqlx::AssertSqlSafe;

/// Counts of a task's records and documents.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PrismaFacts {
    /// Records that each source returned to the task's searches; one for each search and work. By source.
    pub sources: Vec<(String, u64)>,
    /// Documents that citations led to.
    pub cited: u64,
    /// Documents that no source returned and no citation led to.
    pub unlisted: u64,
    /// Documents of the task.
    pub documents: u64,
    /// Decisions that count, by verdict, text that was there, and reason.
    pub decided: Vec<(Verdict, Basis, Option<String>, u64)>,
    /// Works without a text whose pages could not be fetched; they are no documents of the task.
    pub not_fetched: u64,
    /// Items of the auth queue that no person has resolved.
    pub requires_person: u64,
}

impl Store {
    /// The counts of a task.
    ///
    /// # Errors
    /// [`crate::StoreError::NotFound`] when there is no such task.
    pub async fn prisma_facts(&self, task: &TaskId) -> Result<PrismaFacts> {
        let id = task.as_str();
        let mut tx = self.reader().begin().await?;
        tasks::load(&mut tx, task).await?;
        let sources = sqlx::query(
            "SELECT source, count(*) AS count FROM serp_items
             WHERE query_id IN (SELECT id FROM queries WHERE task_id = ?) GROUP BY source ORDER BY source",
        )
        .bind(id)
        .fetch_all(&mut *tx)
        .await?;
        let counts = sqlx::query(
            "SELECT count(*) AS documents,
                    coalesce(sum(reason = 'citation'), 0) AS cited,
                    coalesce(sum(reason <> 'citation' AND NOT EXISTS (
                        SELECT 1 FROM serp_items JOIN queries ON queries.id = query_id
                        WHERE serp_items.page_id = task_pages.page_id AND queries.task_id = ?1)), 0) AS unlisted,
                    (SELECT count(DISTINCT json_extract(failed.value, '$.work'))
                     FROM jobs, json_each(iif(json_valid(output), output, '{}'), '$.fetching.failed') AS failed
                     WHERE jobs.task_id = ?1) AS not_fetched,
                    (SELECT count(*) FROM auth_queue WHERE task_id = ?1 AND status <> 'completed') AS requires_person
             FROM task_pages WHERE task_id = ?1",
        )
        .bind(id)
        .fetch_one(&mut *tx)
        .await?;
        let sql = format!(
            "WITH {STANDING} SELECT verdict, basis, reason, count(*) AS count FROM standing
             GROUP BY verdict, basis, reason ORDER BY count DESC, reason"
        );
        let decided = sqlx::query(AssertSqlSafe(sql)).bind(id).fetch_all(&mut *tx).await?;
        Ok(PrismaFacts {
            sources: sources
                .iter()
                .map(|row| Ok((row.value("source")?, row.count("count")?)))
                .collect::<Result<_>>()?,
            cited: counts.count("cited")?,
            unlisted: counts.count("unlisted")?,
            documents: counts.count("documents")?,
            decided: decided
                .iter()
                .map(|row| {
                    Ok((
                        row.parsed("verdict")?,
                        row.parsed("basis")?,
                        row.value("reason")?,
                        row.count("count")?,
                    ))
                })
                .collect::<Result<_>>()?,
            not_fetched: counts.count("not_fetched")?,
            requires_person: counts.count("requires_person")?,
        })
    }
}
