//! Screening: people's decisions about the documents of a task, and what they are decided on.
//!
//! Decisions are only added. Of a document, the latest one counts that was not taken back.

mod decided;
mod documents;
mod prisma;

pub use decided::{DecidedFilter, DecidedPage, Screened};
pub use documents::{ScreeningCard, ScreeningPassage, ScreeningRow};
pub use prisma::PrismaFacts;

use crate::rows::RowExt;
use crate::{Result, Store, StoreError, tasks};
use lyra_domain::{Basis, PageId, ScreeningId, TaskId, Verdict};
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;
use uuid::Uuid;

/// The decisions of task `?1` that count, one for each document.
const STANDING: &str = "standing AS MATERIALIZED (
        SELECT * FROM (
            SELECT made.*, row_number() OVER (PARTITION BY made.page_id ORDER BY made.seq DESC) AS back
            FROM screening_decisions AS made
            WHERE made.task_id = ?1 AND made.verdict IS NOT NULL
              AND NOT EXISTS (SELECT 1 FROM screening_decisions AS later WHERE later.undoes = made.id))
        WHERE back = 1)";

/// What a person decided about a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScreeningDecision {
    /// The decision.
    pub id: ScreeningId,
    /// The document.
    pub page: PageId,
    /// Include, exclude, or undecided.
    pub verdict: Verdict,
    /// Why.
    pub reason: Option<String>,
    /// The text that the store had of the document.
    pub basis: Basis,
    /// Who decided: `local`, or `token:NAME`.
    pub decided_by: String,
    /// When, RFC 3339, UTC.
    pub decided_at: String,
    /// Whether it was taken back.
    pub taken_back: bool,
}

/// What the store had of a document when something was decided about it.
const BASIS: &str = "SELECT CASE
        WHEN EXISTS (SELECT 1 FROM fragments WHERE page_id = ?1 AND fragment_type <> 'abstract' AND text_content <> '')
            THEN 'full_text'
        WHEN EXISTS (SELECT 1 FROM fragments WHERE page_id = ?1 AND text_content <> '') THEN 'abstract'
        ELSE 'title' END";

impl Store {
    /// Stores a decision about a document of a task. `replaces` is the decision that it replaces, as far as the caller
    /// knows; the same decision again changes nothing.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when there is no such task or it has no such document, [`StoreError::ScreeningMoved`]
    /// when another decision counts than `replaces`.
    pub async fn screen(
        &self,
        task: &TaskId,
        page: &PageId,
        verdict: Verdict,
        reason: Option<&str>,
        replaces: Option<&ScreeningId>,
        by: &str,
    ) -> Result<ScreeningDecision> {
        let now = self.stamp();
        let mut tx = self.write().await?;
        known(&mut tx, task, page).await?;
        let current = standing(&mut tx, task, page).await?;
        if current.as_ref().map(|current| &current.id) != replaces {
            return Err(StoreError::ScreeningMoved {
                page: page.to_string(),
                current: current.map(Box::new),
            });
        }
        if let Some(same) = current.filter(|now| now.verdict == verdict && now.reason.as_deref() == reason) {
            return Ok(same);
        }
        let basis: String = sqlx::query_scalar(BASIS).bind(page.as_str()).fetch_one(&mut *tx).await?;
        let id = ScreeningId::new(Uuid::now_v7());
        sqlx::query(
            "INSERT INTO screening_decisions (id, task_id, page_id, verdict, reason, basis, decided_by, decided_at)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        )
        .bind(id.as_str())
        .bind(task.as_str())
        .bind(page.as_str())
        .bind(verdict.as_str())
        .bind(reason)
        .bind(&basis)
        .bind(by)
        .bind(&now)
        .execute(&mut *tx)
        .await?;
        let stored = standing(&mut tx, task, page).await?;
        tx.commit().await?;
        stored.ok_or_else(|| StoreError::not_found("decision", &id))
    }

    /// Takes the decision about a document back that counts: the one before counts again, if there is one, and is
    /// returned.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when there is no such task or it has no such document, [`StoreError::ScreeningMoved`]
    /// when another decision counts than `decision`.
    pub async fn unscreen(
        &self,
        task: &TaskId,
        page: &PageId,
        decision: &ScreeningId,
        by: &str,
    ) -> Result<Option<ScreeningDecision>> {
        let now = self.stamp();
        let mut tx = self.write().await?;
        known(&mut tx, task, page).await?;
        let current = standing(&mut tx, task, page).await?;
        let current = match current {
            Some(current) if current.id == *decision => current,
            other => {
                return Err(StoreError::ScreeningMoved {
                    page: page.to_string(),
                    current: other.map(Box::new),
                });
            }
        };
        sqlx::query(
            "INSERT INTO screening_decisions (id, task_id, page_id, basis, undoes, decided_by, decided_at)
             VALUES (?, ?, ?, ?, ?, ?, ?)",
        )
        .bind(ScreeningId::new(Uuid::now_v7()).as_str())
        .bind(task.as_str())
        .bind(page.as_str())
        .bind(current.basis.as_str())
        .bind(decision.as_str())
        .bind(by)
        .bind(&now)
        .execute(&mut *tx)
        .await?;
        let before = standing(&mut tx, task, page).await?;
        tx.commit().await?;
        Ok(before)
    }

    /// The decision about a document that counts.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn screening_decision(
        &self,
        task: &TaskId,
        page: &PageId,
    ) -> Result<Option<ScreeningDecision>> {
        standing(&mut *self.reader().acquire().await?, task, page).await
    }

    /// Everything that was ever decided in a task, in order, with what was taken back.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn screening_history(&self, task: &TaskId) -> Result<Vec<ScreeningDecision>> {
        let found = sqlx::query(
            "SELECT made.*, EXISTS (SELECT 1 FROM screening_decisions AS later WHERE later.undoes = made.id) AS taken_back
             FROM screening_decisions AS made WHERE task_id = ? AND verdict IS NOT NULL ORDER BY seq",
        )
        .bind(task.as_str())
        .fetch_all(self.reader())
        .await?;
        found.iter().map(decision).collect()
    }
}

/// Checks that a task has a document.
async fn known(connection: &mut SqliteConnection, task: &TaskId, page: &PageId) -> Result<()> {
    tasks::load(connection, task).await?;
    let known: bool =
        sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM task_pages WHERE task_id = ? AND page_id = ?)")
            .bind(task.as_str())
            .bind(page.as_str())
            .fetch_one(connection)
            .await?;
    if known { Ok(()) } else { Err(StoreError::not_found(&format!("in {task}, document"), page)) }
}

/// The decision about a document that counts.
async fn standing(
    connection: &mut SqliteConnection,
    task: &TaskId,
    page: &PageId,
) -> Result<Option<ScreeningDecision>> {
    let found = sqlx::query(
        "SELECT made.*, 0 AS taken_back FROM screening_decisions AS made
         WHERE task_id = ? AND page_id = ? AND verdict IS NOT NULL
           AND NOT EXISTS (SELECT 1 FROM screening_decisions AS later WHERE later.undoes = made.id)
         ORDER BY seq DESC LIMIT 1",
    )
    .bind(task.as_str())
    .bind(page.as_str())
    .fetch_optional(connection)
    .await?;
    found.as_ref().map(decision).transpose()
}

fn decision(row: &SqliteRow) -> Result<ScreeningDecision> {
    Ok(ScreeningDecision {
        id: row.parsed("id")?,
        page: row.parsed("page_id")?,
        verdict: row.parsed("verdict")?,
        reason: row.value("reason")?,
        basis: row.parsed("basis")?,
        decided_by: row.value("decided_by")?,
        decided_at: row.value("decided_at")?,
        taken_back: row.value("taken_back")?,
    })
}

#[cfg(test)]
mod tests;
