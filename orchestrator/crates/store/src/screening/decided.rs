//! The documents that were decided, as a list and whole.

use super::{STANDING, ScreeningDecision};
use crate::library::{CITED, StoredPage, page};
use crate::rows::RowExt;
use crate::{Result, Store, StoreError, tasks};
use lyra_domain::{TaskId, Verdict};
use sqlx::AssertSqlSafe;
use sqlx::sqlite::SqliteRow;

/// Which decided documents.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DecidedFilter {
    /// With this verdict.
    pub verdict: Option<Verdict>,
    /// For this reason.
    pub reason: Option<String>,
    /// With this in title or authors, without regard to the case of ASCII letters.
    pub text: Option<String>,
}

/// A decided document.
#[derive(Debug, Clone, PartialEq)]
pub struct Screened {
    /// The decision that counts.
    pub decision: ScreeningDecision,
    /// The document, and what to cite.
    pub page: StoredPage,
}

/// Part of the decided documents.
#[derive(Debug, Clone, PartialEq)]
pub struct DecidedPage {
    /// The latest decision first.
    pub decided: Vec<Screened>,
    /// Documents that meet the filter, on all pages.
    pub total: u64,
    /// The cursor for the next page; `None` at the end.
    pub next_cursor: Option<String>,
}

impl Store {
    /// At most `limit` decided documents of a task, from where `cursor` stopped.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when there is no such task, [`StoreError::BadCursor`].
    pub async fn decided_page(
        &self,
        task: &TaskId,
        filter: &DecidedFilter,
        limit: u32,
        cursor: Option<&str>,
    ) -> Result<DecidedPage> {
        let wrong = |text: &str| StoreError::BadCursor(text.to_owned());
        let before = cursor.map(|text| text.parse::<i64>().map_err(|_| wrong(text))).transpose()?;
        let mut tx = self.reader().begin().await?;
        tasks::load(&mut tx, task).await?;
        let sql = format!(
            "WITH {STANDING}
             SELECT * FROM (
                 SELECT standing.seq AS place, standing.id AS decision_id, standing.page_id, standing.verdict,
                        standing.reason, standing.basis, standing.decided_by, standing.decided_at,
                        pages.id, {CITED}, count(*) OVER () AS total
                 FROM standing JOIN pages ON pages.id = standing.page_id
                 LEFT JOIN works ON works.id = pages.work_id
                 WHERE (?2 IS NULL OR standing.verdict = ?2) AND (?3 IS NULL OR standing.reason = ?3)
                   AND (?4 IS NULL OR instr(lower(pages.title || ' ' || coalesce(works.title, '') || ' '
                            || coalesce(works.authors, '') || ' ' || iif(json_valid(pages.paper_metadata),
                                coalesce(json_extract(pages.paper_metadata, '$.authors'), ''), '')),
                            lower(?4)) > 0))
             WHERE ?5 IS NULL OR place < ?5 ORDER BY place DESC LIMIT ?6"
        );
        let found = sqlx::query(AssertSqlSafe(sql))
            .bind(task.as_str())
            .bind(filter.verdict.map(Verdict::as_str))
            .bind(&filter.reason)
            .bind(&filter.text)
            .bind(before)
            .bind(i64::from(limit.max(1)) + 1)
            .fetch_all(&mut *tx)
            .await?;
        let more = found.len() > limit.max(1) as usize;
        let shown = &found[..found.len().min(limit.max(1) as usize)];
        let total = found.first().map_or(Ok(0), |row| row.count("total"))?;
        let last = shown.last().map(|row| row.value::<i64>("place")).transpose()?;
        let decided = shown
            .iter()
            .map(|row| {
                let page = page(row)?;
                Ok(Screened { decision: decision_of(row, &page)?, page })
            })
            .collect::<Result<_>>()?;
        Ok(DecidedPage { decided, total, next_cursor: last.filter(|_| more).map(|seq| seq.to_string()) })
    }

    /// The reasons that the exclusions of a task give, the most frequent first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn screening_reasons(&self, task: &TaskId) -> Result<Vec<(String, u64)>> {
        let sql = format!(
            "WITH {STANDING} SELECT reason, count(*) AS count FROM standing
             WHERE reason IS NOT NULL GROUP BY reason ORDER BY count DESC, reason"
        );
        let found = sqlx::query(AssertSqlSafe(sql)).bind(task.as_str()).fetch_all(self.reader()).await?;
        found.iter().map(|row| Ok((row.value("reason")?, row.count("count")?))).collect()
    }
}

/// The decision in a row whose `id` is the page's.
fn decision_of(row: &SqliteRow, page: &StoredPage) -> Result<ScreeningDecision> {
    Ok(ScreeningDecision {
        id: row.parsed("decision_id")?,
        page: page.id.clone(),
        verdict: row.parsed("verdict")?,
        reason: row.value("reason")?,
        basis: row.parsed("basis")?,
        decided_by: row.value("decided_by")?,
        decided_at: row.value("decided_at")?,
        taken_back: false,
    })
}
