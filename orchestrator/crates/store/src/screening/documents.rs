//! The documents of a task as they are screened.

use super::STANDING;
use crate::library::{CITED, StoredPage, page};
use crate::rows::{RowExt, json};
use crate::{Result, Store, tasks};
use lyra_domain::{Basis, FragmentId, PageId, ScreeningId, TaskId, Verdict};
use sqlx::sqlite::SqliteRow;
use sqlx::{AssertSqlSafe, Row};
use std::collections::HashMap;

/// Passages of a document that the ranking of documents reads, and characters of each.
const RANKED_PASSAGES: i64 = 12;
const RANKED_CHARS: i64 = 2_000;
/// Passages of a full text that are shown, and characters of a passage.
const SHOWN_PASSAGES: i64 = 4;
const SHOWN_CHARS: i64 = 6_000;

/// A document of a task, as far as its place in the order depends on it.
#[derive(Debug, Clone, PartialEq)]
pub struct ScreeningRow {
    /// The document.
    pub page: PageId,
    /// Its domain.
    pub domain: String,
    /// All its passages are in quarantine.
    pub held: bool,
    /// The best rank that a search of the task gave one of its passages, from 1.
    pub passage_rank: Option<u64>,
    /// The best rank that a source gave it, from 1.
    pub source_rank: Option<u64>,
    /// The decision that counts, and its place in the order of all decisions.
    pub decided: Option<(i64, ScreeningId, Verdict)>,
}

/// A document to be decided.
#[derive(Debug, Clone, PartialEq)]
pub struct ScreeningCard {
    /// The document, and what to cite.
    pub page: StoredPage,
    /// ISO 639-1 code, when known.
    pub language: Option<String>,
    /// What the store has of it.
    pub basis: Basis,
    /// Its abstract, else the passages that the task's searches ranked best, in the order of the document.
    pub passages: Vec<ScreeningPassage>,
    /// Passages that are not shown.
    pub more: u64,
}

/// A passage of a document to be decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScreeningPassage {
    /// The fragment.
    pub fragment: FragmentId,
    /// Headings above it.
    pub heading: Option<String>,
    /// Its text, at most 6,000 characters.
    pub text: String,
}

impl Store {
    /// Every document of a task, in the order that they were added.
    ///
    /// # Errors
    /// [`crate::StoreError::NotFound`] when there is no such task.
    pub async fn screening_rows(&self, task: &TaskId) -> Result<Vec<ScreeningRow>> {
        let mut tx = self.reader().begin().await?;
        tasks::load(&mut tx, task).await?;
        let sql = format!(
            "WITH {STANDING},
             ranked AS (
                 SELECT fragments.page_id, min(query_fragments.rank) AS rank FROM queries
                 JOIN query_fragments ON query_fragments.query_id = queries.id
                 JOIN fragments ON fragments.id = query_fragments.fragment_id
                 WHERE queries.task_id = ?1 GROUP BY fragments.page_id),
             listed AS (
                 SELECT serp_items.page_id, min(serp_items.rank) AS rank FROM queries
                 JOIN serp_items ON serp_items.query_id = queries.id
                 WHERE queries.task_id = ?1 GROUP BY serp_items.page_id)
             SELECT task_pages.page_id, pages.domain, ranked.rank AS passage_rank, listed.rank AS source_rank,
                    standing.seq, standing.id, standing.verdict,
                    NOT EXISTS (SELECT 1 FROM fragments WHERE page_id = pages.id AND text_content <> '')
                    AND EXISTS (SELECT 1 FROM quarantined_fragments WHERE page_id = pages.id) AS held
             FROM task_pages JOIN pages ON pages.id = task_pages.page_id
             LEFT JOIN ranked ON ranked.page_id = pages.id
             LEFT JOIN listed ON listed.page_id = pages.id
             LEFT JOIN standing ON standing.page_id = pages.id
             WHERE task_pages.task_id = ?1 ORDER BY task_pages.seq"
        );
        let found = sqlx::query(AssertSqlSafe(sql)).bind(task.as_str()).fetch_all(&mut *tx).await?;
        found.iter().map(row).collect()
    }

    /// The texts of a task's documents: title, and the beginning of the text. `stamp` of [`Self::screening_stamp`] tells
    /// when they may have changed.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn screening_texts(&self, task: &TaskId) -> Result<Vec<(PageId, String, String)>> {
        let found = sqlx::query(
            "SELECT task_pages.page_id, coalesce(nullif(pages.title, ''), works.title, '') AS title,
                    (SELECT group_concat(substr(text_content, 1, ?3), ' ') FROM (
                         SELECT text_content FROM fragments WHERE page_id = pages.id ORDER BY position, seq LIMIT ?2))
                        AS text
             FROM task_pages JOIN pages ON pages.id = task_pages.page_id
             LEFT JOIN works ON works.id = pages.work_id
             WHERE task_pages.task_id = ?1 ORDER BY task_pages.seq",
        )
        .bind(task.as_str())
        .bind(RANKED_PASSAGES)
        .bind(RANKED_CHARS)
        .fetch_all(self.reader())
        .await?;
        found
            .iter()
            .map(|row| {
                let text: Option<String> = row.value("text")?;
                Ok((row.parsed("page_id")?, row.value("title")?, text.unwrap_or_default()))
            })
            .collect()
    }

    /// A pair of numbers that changes when documents of a task, or passages of any document, are added.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn screening_stamp(&self, task: &TaskId) -> Result<(i64, i64)> {
        let sql = "SELECT (SELECT coalesce(max(seq), 0) FROM task_pages WHERE task_id = ?),
                          (SELECT coalesce(max(seq), 0) FROM fragments)";
        let row = sqlx::query(sql).bind(task.as_str()).fetch_one(self.reader()).await?;
        Ok((row.try_get(0)?, row.try_get(1)?))
    }

    /// Documents of a task by id, in the order of the ids; those that do not exist are absent.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn screening_cards(&self, task: &TaskId, ids: &[PageId]) -> Result<Vec<ScreeningCard>> {
        let mut tx = self.reader().begin().await?;
        let ids = json(&ids)?;
        let passages = sqlx::query(
            "SELECT page_id, id, heading, text, kind FROM (
                 SELECT fragments.page_id, fragments.id, nullif(heading_context, '') AS heading, position, fragments.seq,
                        substr(text_content, 1, ?3) AS text, fragment_type AS kind,
                        row_number() OVER (
                            PARTITION BY fragments.page_id
                            ORDER BY fragment_type <> 'abstract', coalesce(best.rank, 1e9), position, fragments.seq
                        ) AS place
                 FROM json_each(?2) AS asked JOIN fragments ON fragments.page_id = asked.value
                 LEFT JOIN (
                     SELECT fragment_id, min(rank) AS rank FROM query_fragments
                     WHERE query_id IN (SELECT id FROM queries WHERE task_id = ?1) GROUP BY fragment_id
                 ) AS best ON best.fragment_id = fragments.id
                 WHERE text_content <> '')
             WHERE place <= ?4 ORDER BY page_id, position, seq",
        )
        .bind(task.as_str())
        .bind(&ids)
        .bind(SHOWN_CHARS)
        .bind(SHOWN_PASSAGES)
        .fetch_all(&mut *tx)
        .await?;
        let mut shown: HashMap<PageId, Vec<ScreeningPassage>> = HashMap::new();
        for row in &passages {
            let passage = ScreeningPassage {
                fragment: row.parsed("id")?,
                heading: row.value("heading")?,
                text: row.value("text")?,
            };
            shown.entry(row.parsed("page_id")?).or_default().push(passage);
        }
        let sql = format!(
            "SELECT pages.id, pages.language, {CITED},
                    (SELECT count(*) FROM fragments WHERE page_id = pages.id AND text_content <> '') AS passages,
                    EXISTS (SELECT 1 FROM fragments WHERE page_id = pages.id AND fragment_type <> 'abstract'
                            AND text_content <> '') AS is_full
             FROM json_each(?2) AS asked JOIN pages ON pages.id = asked.value
             JOIN task_pages ON task_pages.page_id = pages.id AND task_pages.task_id = ?1
             LEFT JOIN works ON works.id = pages.work_id ORDER BY asked.key"
        );
        let found =
            sqlx::query(AssertSqlSafe(sql)).bind(task.as_str()).bind(&ids).fetch_all(&mut *tx).await?;
        found
            .iter()
            .map(|row| {
                let page = page(row)?;
                let passages = shown.remove(&page.id).unwrap_or_default();
                let all = row.count("passages")?;
                let basis = match (row.value::<bool>("is_full")?, all) {
                    (true, _) => Basis::FullText,
                    (false, 0) => Basis::Title,
                    (false, _) => Basis::Abstract,
                };
                let more = all.saturating_sub(passages.len() as u64);
                Ok(ScreeningCard { page, language: row.value("language")?, basis, passages, more })
            })
            .collect()
    }
}

fn row(row: &SqliteRow) -> Result<ScreeningRow> {
    let rank = |column: &str| -> Result<Option<u64>> {
        Ok(row.value::<Option<i64>>(column)?.map(i64::unsigned_abs))
    };
    let decided = match row.parsed_or_null("id")? {
        Some(id) => Some((row.value("seq")?, id, row.parsed("verdict")?)),
        None => None,
    };
    Ok(ScreeningRow {
        page: row.parsed("page_id")?,
        domain: row.value("domain")?,
        held: row.value("held")?,
        passage_rank: rank("passage_rank")?,
        source_rank: rank("source_rank")?,
        decided,
    })
}
