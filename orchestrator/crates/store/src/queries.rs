//! Searches of a task, and how fragments rank for them.

use crate::rows::{self, RowExt, json};
use crate::{Result, Store, StoreError, jobs, tasks};
use lyra_domain::{
    Budget, ClaimId, JobKind, PageId, Priority, Query, QueryId, QueryStatus, TaskId, TaskStatus,
};
use lyra_research::ports::FragmentRank;
use lyra_research::trace;
use sqlx::SqliteConnection;
use std::collections::HashSet;
use uuid::Uuid;

/// What queueing searches did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueuedSearches {
    /// The new searches, in the order given.
    pub queued: Vec<QueryId>,
    /// How many were skipped: empty, or the same text is already queued or running.
    pub skipped: usize,
    /// The task had ended and is resumed.
    pub resumed: bool,
}

impl Store {
    /// Queues searches of a task, each with its job, in one transaction. A stopped or finished task resumes. `sources`
    /// lists the sources to search; empty means all.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when there is no such task.
    pub async fn queue_searches(
        &self,
        task: &TaskId,
        texts: &[String],
        language: Option<&str>,
        priority: Priority,
        sources: &[String],
    ) -> Result<QueuedSearches> {
        let now = self.stamp();
        let mut tx = self.write().await?;
        let status = tasks::load(&mut tx, task).await?.status;
        let open: Vec<String> = sqlx::query_scalar(
            "SELECT query_text FROM queries WHERE task_id = ? AND status IN ('queued', 'running')",
        )
        .bind(task.as_str())
        .fetch_all(&mut *tx)
        .await?;
        let mut seen: HashSet<String> = open.iter().map(|text| fold_words(text)).collect();
        let mut queued = Vec::new();
        for text in texts {
            let key = fold_words(text);
            if key.is_empty() || !seen.insert(key) {
                continue;
            }
            let query = NewQuery { task, text: text.trim(), claim: None, language, engines: sources };
            let query_id = query.insert(&mut tx, &now).await?;
            let kind = JobKind::Search { query_id: query_id.clone() };
            jobs::enqueue(&mut tx, task, &kind, priority.order(), None, &now).await?;
            queued.push(query_id);
        }
        tx.commit().await?;
        let ended = !matches!(status, TaskStatus::Created | TaskStatus::Exploring);
        Ok(QueuedSearches {
            skipped: texts.len() - queued.len(),
            resumed: ended && !queued.is_empty(),
            queued,
        })
    }

    /// Queues the work again that stopping a task cancelled: its searches, those of claims included, and judging; also
    /// judging that the time limit ended. The task resumes if there is any. A job that a worker has not let go of yet is
    /// not touched: the work gets jobs of its own.
    ///
    /// # Errors
    /// [`StoreError::NotFound`](crate::StoreError::NotFound) when there is no such task.
    pub async fn resume_task(&self, task: &TaskId, priority: Priority) -> Result<QueuedSearches> {
        let now = self.stamp();
        let mut tx = self.write().await?;
        tasks::load(&mut tx, task).await?;
        let searches = sqlx::query(
            "UPDATE queries SET status = 'queued' WHERE task_id = ? AND status = 'cancelled' RETURNING id",
        )
        .bind(task.as_str())
        .fetch_all(&mut *tx)
        .await?;
        let mut queued: Vec<QueryId> = Vec::new();
        for row in &searches {
            let query_id: QueryId = row.parsed("id")?;
            let kind = JobKind::Search { query_id: query_id.clone() };
            jobs::enqueue(&mut tx, task, &kind, priority.order(), None, &now).await?;
            queued.push(query_id);
        }
        let unjudged: bool = sqlx::query_scalar(
            "SELECT coalesce((SELECT state = 'cancelled'
                                  OR state = 'completed' AND coalesce(json_extract(output, '$.claims_left'), 0) > 0
                              FROM jobs WHERE task_id = ? AND kind = 'judge' ORDER BY seq DESC LIMIT 1), 0)",
        )
        .bind(task.as_str())
        .fetch_one(&mut *tx)
        .await?;
        if unjudged {
            jobs::enqueue(&mut tx, task, &JobKind::Judge, priority.order(), None, &now).await?;
        }
        tx.commit().await?;
        Ok(QueuedSearches { resumed: unjudged || !queued.is_empty(), queued, skipped: 0 })
    }

    /// Gives a task other limits.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when there is no such task.
    pub async fn set_budget(&self, task: &TaskId, budget: Budget) -> Result<()> {
        let now = self.stamp();
        let mut tx = self.write().await?;
        tasks::load(&mut tx, task).await?;
        sqlx::query(
            "UPDATE tasks SET budget_pages = ?2, budget_seconds = ?3,
                 config = json_set(config, '$.budget.max_pages', ?2, '$.budget.max_seconds', ?3)
             WHERE id = ?1",
        )
        .bind(task.as_str())
        .bind(budget.max_pages)
        .bind(budget.max_seconds)
        .execute(&mut *tx)
        .await?;
        tasks::touch(&mut tx, task, &now).await?;
        Ok(tx.commit().await?)
    }

    pub(crate) async fn read_query(&self, query: &QueryId) -> Result<Query> {
        let row = sqlx::query("SELECT * FROM queries WHERE id = ?")
            .bind(query.as_str())
            .fetch_optional(self.reader())
            .await?;
        rows::query(&row.ok_or_else(|| StoreError::not_found("query", query))?)
    }

    pub(crate) async fn write_query(&self, query: &Query) -> Result<()> {
        let mut tx = self.write().await?;
        // A query that was cancelled in the meantime stays so.
        let updated = sqlx::query(
            "UPDATE queries SET language = ?2, status = CASE status WHEN 'cancelled' THEN status ELSE ?3 END,
                 result_count = ?4, pages_fetched = ?5, useful_fragments = ?6, harvest_rate = ?7, source_errors = ?8
             WHERE id = ?1",
        )
        .bind(query.id.as_str())
        .bind(&query.language)
        .bind(query.status.as_str())
        .bind(query.result_count)
        .bind(query.pages_fetched)
        .bind(query.useful_fragments)
        .bind(query.harvest_rate)
        .bind(json(&query.source_errors)?)
        .execute(&mut *tx)
        .await?;
        if updated.rows_affected() == 0 {
            return Err(StoreError::not_found("query", &query.id));
        }
        tasks::touch(&mut tx, &query.task_id, &self.stamp()).await?;
        tx.commit().await?;
        Ok(())
    }

    pub(crate) async fn read_found_by(&self, query: &QueryId) -> Result<Vec<(PageId, String, usize)>> {
        let found = sqlx::query(
            "SELECT page_id, source, rank FROM serp_items WHERE query_id = ? AND page_id IS NOT NULL
             ORDER BY source, rank, page_id",
        )
        .bind(query.as_str())
        .fetch_all(self.reader())
        .await?;
        found
            .iter()
            .map(|row| {
                let rank: i64 = row.value("rank")?;
                Ok((
                    row.parsed("page_id")?,
                    row.value("source")?,
                    usize::try_from(rank).unwrap_or(usize::MAX),
                ))
            })
            .collect()
    }

    /// Adds a source to a task.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub async fn add_source(&self, task: &TaskId, source: &str) -> Result<()> {
        let mut tx = self.write().await?;
        sqlx::query(
            "UPDATE tasks SET config = json_insert(config, '$.sources[#]', ?2)
             WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM json_each(tasks.config, '$.sources') WHERE value = ?2)",
        )
        .bind(task.as_str())
        .bind(source)
        .execute(&mut *tx)
        .await?;
        Ok(tx.commit().await?)
    }

    pub(crate) async fn write_ranking(&self, query: &QueryId, ranks: &[FragmentRank]) -> Result<()> {
        let mut tx = self.write().await?;
        let task: Option<String> = sqlx::query_scalar("SELECT task_id FROM queries WHERE id = ?")
            .bind(query.as_str())
            .fetch_optional(&mut *tx)
            .await?;
        let task = task.ok_or_else(|| StoreError::not_found("query", query))?;
        sqlx::query("DELETE FROM query_fragments WHERE query_id = ?")
            .bind(query.as_str())
            .execute(&mut *tx)
            .await?;
        for (place, rank) in ranks.iter().enumerate() {
            let known = sqlx::query(
                "UPDATE fragments SET bm25_score = ?2, embed_score = ?3, is_relevant = ?4 WHERE id = ?1",
            )
            .bind(rank.fragment.as_str())
            .bind(rank.bm25)
            .bind(rank.cosine)
            .bind(rank.relevant)
            .execute(&mut *tx)
            .await?;
            if known.rows_affected() == 0 {
                return Err(StoreError::not_found("fragment", &rank.fragment));
            }
            sqlx::query(
                "INSERT INTO query_fragments
                     (query_id, fragment_id, bm25_score, embed_score, score, rank, is_relevant, contributions)
                 VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            )
            .bind(query.as_str())
            .bind(rank.fragment.as_str())
            .bind(rank.bm25)
            .bind(rank.cosine)
            .bind(rank.score)
            .bind(place.cast_signed() as i64 + 1)
            .bind(rank.relevant)
            .bind(rows::json(&rank.contributions)?)
            .execute(&mut *tx)
            .await?;
        }
        sqlx::query("UPDATE tasks SET updated_at = ? WHERE id = ?")
            .bind(self.stamp())
            .bind(task)
            .execute(&mut *tx)
            .await?;
        tx.commit().await?;
        Ok(())
    }

    pub(crate) async fn read_rankings(&self, task: &TaskId) -> Result<Vec<(Query, Vec<FragmentRank>)>> {
        let mut tx = self.reader().begin().await?;
        let found = sqlx::query("SELECT * FROM queries WHERE task_id = ? ORDER BY seq")
            .bind(task.as_str())
            .fetch_all(&mut *tx)
            .await?;
        let mut rankings = Vec::new();
        for row in &found {
            let query = rows::query(row)?;
            let ranks =
                sqlx::query("SELECT * FROM query_fragments WHERE query_id = ? ORDER BY rank, fragment_id")
                    .bind(query.id.as_str())
                    .fetch_all(&mut *tx)
                    .await?;
            if !ranks.is_empty() {
                rankings.push((query, ranks.iter().map(rank).collect::<Result<_>>()?));
            }
        }
        Ok(rankings)
    }
}

fn rank(row: &sqlx::sqlite::SqliteRow) -> Result<FragmentRank> {
    Ok(FragmentRank {
        fragment: row.parsed("fragment_id")?,
        bm25: row.value("bm25_score")?,
        cosine: row.value("embed_score")?,
        score: row.value("score")?,
        relevant: row.value("is_relevant")?,
        contributions: row.json_or_default("contributions")?,
    })
}

/// A search to store.
pub(crate) struct NewQuery<'a> {
    pub(crate) task: &'a TaskId,
    pub(crate) text: &'a str,
    pub(crate) claim: Option<&'a ClaimId>,
    pub(crate) language: Option<&'a str>,
    pub(crate) engines: &'a [String],
}

impl NewQuery<'_> {
    pub(crate) async fn insert(&self, connection: &mut SqliteConnection, now: &str) -> Result<QueryId> {
        let id = QueryId::new(Uuid::now_v7());
        sqlx::query(
            "INSERT INTO queries (id, task_id, query_text, claim_id, language, status, engines, created_at, cause_id)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        )
        .bind(id.as_str())
        .bind(self.task.as_str())
        .bind(self.text)
        .bind(self.claim.map(ClaimId::as_str))
        .bind(self.language)
        .bind(QueryStatus::Queued.as_str())
        .bind(json(&self.engines)?)
        .bind(now)
        .bind(trace::cause().map(|cause| cause.to_string()))
        .execute(connection)
        .await?;
        Ok(id)
    }
}

/// A task with new work is exploring, in any previous state.
pub(crate) async fn reopen(connection: &mut SqliteConnection, task: &TaskId, now: &str) -> Result<()> {
    sqlx::query(
        "UPDATE tasks SET status = 'exploring', completed_at = NULL, stop_reason = NULL, error = NULL, updated_at = ?2
         WHERE id = ?1",
    )
    .bind(task.as_str())
    .bind(now)
    .execute(connection)
    .await?;
    Ok(())
}

/// Two texts that differ in spaces or letter case only are one search.
fn fold_words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}
