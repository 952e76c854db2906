//! The claims of a task: filtered, sorted, and a page at a time.
//!
//! The numbers of all claims of a task come from the view that defines them. They are kept in temporary tables of a connection
//! of their own until the store changes, so that other pages, filters, and orders need not compute them again.

use crate::rows::{RowExt, json};
use crate::{Result, Store, StoreError, reports, tasks};
use lyra_domain::{ClaimId, ClaimReport, StudyDesign, TaskId, named_enum};
use sqlx::{AssertSqlSafe, SqliteConnection};
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

/// The trigram index finds nothing shorter.
const LEAST_CHARS: usize = 3;

named_enum! {
    /// What the passages of a claim say about it, taken together.
    pub enum Side {
        /// Some support it, and some refute it.
        Contested = "contested",
        /// Some support it, and none refutes it.
        Supported = "supported",
        /// Some refute it, and none supports it.
        Refuted = "refuted",
        /// None takes a side.
        Open = "open",
    }
}

named_enum! {
    /// Which claims come first.
    pub enum ClaimSort {
        /// Contested ones, then those with the most supporting and refuting passages, then the most controversial.
        Contested = "contested",
        /// Those with the highest confidence.
        Confidence = "confidence",
        /// Those with the largest uncertainty.
        Uncertainty = "uncertainty",
        /// Those with the most judged passages.
        Evidence = "evidence",
        /// Those that were stored last.
        Newest = "newest",
    }
}

/// Which claims of a task. Every condition must hold; the default has none.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ClaimFilter {
    /// What their passages say.
    pub side: Option<Side>,
    /// First and last year of a passage that supports or refutes them; either may be open.
    pub years: (Option<i32>, Option<i32>),
    /// A source that a judged passage is from: a work's id, a domain, or a page's id. With `years`, one passage must
    /// meet both.
    pub source: Option<String>,
    /// Design that the title of a work names of which a passage supports or refutes them. With `years` or `source`, one
    /// passage must meet all.
    pub design: Option<StudyDesign>,
    /// Words that the claim contains as they are, in upper or lower case.
    pub text: Option<String>,
    /// Lowest and highest confidence, 0 to 1, compared in three decimals; either may be open.
    pub confidence: (Option<f64>, Option<f64>),
}

/// A page of the claims of a task.
#[derive(Debug, Clone, PartialEq)]
pub struct ClaimPage {
    /// Claims with their evidence, in the requested order.
    pub claims: Vec<ClaimReport>,
    /// Claims that meet the filter, on all pages.
    pub total: u64,
    /// The cursor for the next page; `None` at the end.
    pub next_cursor: Option<String>,
}

impl ClaimSort {
    /// The columns to sort by. Equal claims are in the order that they were stored in. `Contested` is the order of
    /// [`lyra_domain::contradictions_first`].
    fn columns(self) -> &'static str {
        match self {
            Self::Contested => {
                "support_count > 0 AND refute_count > 0 DESC, support_count + refute_count DESC, round(controversy, 9) DESC,
                 claim_text, seq"
            }
            Self::Confidence => "round(confidence, 9) DESC, support_count + refute_count DESC, seq",
            Self::Uncertainty => "round(uncertainty, 9) DESC, seq",
            Self::Evidence => {
                "support_count + refute_count + neutral_count DESC, support_count + refute_count DESC, seq"
            }
            Self::Newest => "seq DESC",
        }
    }
}

/// Where a page ended: after this claim or, if it no longer meets the filter, after this many claims.
#[derive(Debug, PartialEq)]
struct Place {
    after: i64,
    claim: ClaimId,
}

impl Place {
    /// `mark` tells the list: task, filter, and order.
    fn cursor(&self, mark: &str) -> String {
        format!("{}.{}.{mark}", self.after, self.claim)
    }

    fn of_cursor(cursor: &str, mark: &str) -> Option<Self> {
        let (after, rest) = cursor.split_once('.')?;
        let claim = rest.strip_suffix(mark)?.strip_suffix('.')?;
        let after = after.parse().ok().filter(|after: &i64| *after > 0)?;
        Some(Self { after, claim: claim.parse().ok()? })
    }
}

fn mark(task: &TaskId, filter: &ClaimFilter, sort: ClaimSort) -> String {
    let mut hasher = DefaultHasher::new();
    (task.as_str(), format!("{filter:?}"), sort).hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

/// What is compared with the text of claims: a phrase for the full-text index, or a short text in lower and upper case.
#[derive(Default)]
struct Wanted {
    phrase: Option<String>,
    short: Option<(String, String)>,
}

impl Wanted {
    fn new(text: Option<&str>) -> Self {
        let text: String = text.unwrap_or_default().chars().filter(|c| !c.is_control()).collect();
        match text.chars().count() {
            0 => Self::default(),
            1..LEAST_CHARS => Self { phrase: None, short: Some((text.to_lowercase(), text.to_uppercase())) },
            _ => Self { phrase: Some(format!("\"{}\"", text.replace('"', "\"\""))), short: None },
        }
    }
}

impl Store {
    /// At most `limit` adopted claims of a task with their evidence, from where `cursor` stopped. The claim behind the
    /// question is one of them.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when there is no such task, [`StoreError::BadCursor`] for a cursor of another task,
    /// filter, or order.
    pub async fn claim_page(
        &self,
        task: &TaskId,
        filter: &ClaimFilter,
        sort: ClaimSort,
        limit: u32,
        cursor: Option<&str>,
    ) -> Result<ClaimPage> {
        let mark = mark(task, filter, sort);
        let place =
            |text: &str| Place::of_cursor(text, &mark).ok_or_else(|| StoreError::BadCursor(text.to_owned()));
        let from = cursor.map(place).transpose()?;
        let limit = limit.max(1);
        let wanted = Wanted::new(filter.text.as_deref());
        let (lower, upper) = wanted.short.unzip();
        let mut tx = self.numbers().begin().await?;
        tasks::load(&mut tx, task).await?;
        self.number_claims(&mut tx, task).await?;
        if filter.design.is_some() {
            name_designs(&mut tx, task).await?;
        }
        let found = sqlx::query(AssertSqlSafe(page_sql(sort, filter)))
            .bind(filter.side.map(Side::as_str))
            .bind(filter.confidence.0)
            .bind(filter.confidence.1)
            .bind(wanted.phrase)
            .bind(lower)
            .bind(upper)
            .bind(filter.years.0)
            .bind(filter.years.1)
            .bind(&filter.source)
            .bind(from.as_ref().map(|from| from.claim.as_str()))
            .bind(from.as_ref().map_or(0, |from| from.after))
            .bind(i64::from(limit) + 1)
            .bind(task.as_str())
            .bind(filter.design.map(StudyDesign::as_str))
            .fetch_all(&mut *tx)
            .await?;
        let total = found.first().map_or(Ok(0), |row| row.count("total"))?;
        let mut places = Vec::new();
        for row in &found {
            if let Some(claim) = row.parsed_or_null("claim_id")? {
                places.push(Place { after: row.value("place")?, claim });
            }
        }
        let more = places.len() > limit as usize;
        places.truncate(limit as usize);
        let next_cursor = places.last().filter(|_| more).map(|last| last.cursor(&mark));
        let ids: Vec<String> = places.into_iter().map(|place| place.claim.into()).collect();
        let claims = reports::load_listed_reports(&mut tx, &ids).await?;
        // Otherwise the temporary tables would be rolled back.
        tx.commit().await?;
        Ok(ClaimPage { claims, total, next_cursor })
    }

    /// Makes the numbers of a task's adopted claims those of the transaction's snapshot.
    async fn number_claims(&self, connection: &mut SqliteConnection, task: &TaskId) -> Result<()> {
        sqlx::raw_sql(TABLES).execute(&mut *connection).await?;
        // It changes with every commit of another connection, and this one commits nothing but these tables.
        let stamp: i64 = sqlx::query_scalar("PRAGMA main.data_version").fetch_one(&mut *connection).await?;
        let (known, tasks, outdated): (bool, i64, bool) =
            sqlx::query_as(NUMBERED).bind(task.as_str()).bind(stamp).fetch_one(&mut *connection).await?;
        if known {
            return Ok(());
        }
        if outdated || tasks >= KEPT {
            sqlx::raw_sql(FORGET).execute(&mut *connection).await?;
        }
        let summary = self.render_view("claim_evidence_summary", Some(task), None)?;
        let sql = format!(
            "INSERT INTO temp.claim_numbers
             SELECT claims.task_id, claims.seq, claims.id, claims.claim_text, support_count, refute_count, neutral_count,
                    confidence, uncertainty, controversy
             FROM ({summary}) AS summary JOIN claims ON claims.id = summary.claim_id"
        );
        sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut *connection).await?;
        sqlx::query(NOTE).bind(task.as_str()).bind(stamp).execute(connection).await?;
        Ok(())
    }
}

/// Notes the design that the title of each judged work of a task names, unless that is known for the snapshot.
async fn name_designs(connection: &mut SqliteConnection, task: &TaskId) -> Result<()> {
    let known: bool =
        sqlx::query_scalar(DESIGNS_KNOWN).bind(task.as_str()).fetch_one(&mut *connection).await?;
    if known {
        return Ok(());
    }
    let titles: Vec<(String, String)> =
        sqlx::query_as(JUDGED_TITLES).bind(task.as_str()).fetch_all(&mut *connection).await?;
    let designed: Vec<(String, &str)> = titles
        .into_iter()
        .filter_map(|(page, title)| Some((page, StudyDesign::in_title(&title)?.as_str())))
        .collect();
    sqlx::query(KEEP_DESIGNS).bind(json(&designed)?).execute(&mut *connection).await?;
    sqlx::query(NOTE_DESIGNS).bind(task.as_str()).execute(connection).await?;
    Ok(())
}

/// Tasks whose numbers are kept.
const KEPT: i64 = 8;

const TABLES: &str = "
    CREATE TEMP TABLE IF NOT EXISTS numbered_tasks (
        task_id TEXT NOT NULL PRIMARY KEY, stamp INTEGER NOT NULL, designed INTEGER NOT NULL DEFAULT 0
    );
    CREATE TEMP TABLE IF NOT EXISTS page_designs (
        design TEXT NOT NULL, page_id TEXT NOT NULL, PRIMARY KEY (design, page_id)
    ) WITHOUT ROWID;
    CREATE TEMP TABLE IF NOT EXISTS claim_numbers (
        task_id TEXT NOT NULL, seq INTEGER NOT NULL, claim_id TEXT NOT NULL, claim_text TEXT NOT NULL,
        support_count INTEGER NOT NULL, refute_count INTEGER NOT NULL, neutral_count INTEGER NOT NULL,
        confidence REAL NOT NULL, uncertainty REAL NOT NULL, controversy REAL NOT NULL,
        PRIMARY KEY (task_id, seq)
    ) WITHOUT ROWID";

/// Whether a task's numbers are those of a stamp, how many tasks have numbers, and whether any are outdated.
const NUMBERED: &str =
    "SELECT coalesce(max(task_id = ?1 AND stamp = ?2), 0), count(*), coalesce(max(stamp <> ?2), 0)
    FROM temp.numbered_tasks";

const FORGET: &str =
    "DELETE FROM temp.numbered_tasks; DELETE FROM temp.claim_numbers; DELETE FROM temp.page_designs";

/// Pages with passages that take a side in a task, and their titles.
const JUDGED_TITLES: &str = "
    SELECT pages.id, coalesce(nullif(pages.title, ''), works.title, '')
    FROM pages LEFT JOIN works ON works.id = pages.work_id
    WHERE pages.id IN (
        SELECT fragments.page_id
        FROM temp.claim_numbers AS numbers
        CROSS JOIN edges INDEXED BY edges_numbers ON edges.target_id = numbers.claim_id
             AND edges.relation IN ('supports', 'refutes', 'neutral') AND edges.relation <> 'neutral'
        CROSS JOIN fragments ON fragments.id = edges.source_id
        WHERE numbers.task_id = ?)";

/// Pages that a filter names by their source, by the design that their title names, or by both.
fn chosen_pages(filter: &ClaimFilter) -> &'static str {
    match (&filter.source, filter.design) {
        (Some(_), Some(_)) => {
            "SELECT id, year, work_id FROM pages
                          WHERE (work_id = ?9 OR domain = ?9 OR id = ?9)
                            AND id IN (SELECT page_id FROM temp.page_designs WHERE design = ?14)"
        }
        (None, Some(_)) => {
            "SELECT id, year, work_id FROM temp.page_designs AS named CROSS JOIN pages ON pages.id = named.page_id
                          WHERE named.design = ?14"
        }
        (_, None) => {
            "SELECT id, year, work_id FROM pages
                          WHERE work_id = ?9 OR domain = ?9 OR id = ?9"
        }
    }
}

const DESIGNS_KNOWN: &str = "SELECT designed FROM temp.numbered_tasks WHERE task_id = ?";
const KEEP_DESIGNS: &str = "
    INSERT OR IGNORE INTO temp.page_designs (design, page_id) SELECT value ->> 1, value ->> 0 FROM json_each(?)";
const NOTE_DESIGNS: &str = "UPDATE temp.numbered_tasks SET designed = 1 WHERE task_id = ?";

const NOTE: &str = "INSERT INTO temp.numbered_tasks (task_id, stamp) VALUES (?, ?)";

/// The page as ids with their places, each with the number of claims that meet the filter. Without a claim on the page, one
/// row has that number alone.
fn page_sql(sort: ClaimSort, filter: &ClaimFilter) -> String {
    let (order, chosen) = (sort.columns(), chosen_pages(filter));
    format!(
        "-- Works with a page of these years: few edges are of one, and only their pages are looked at.
         WITH dated AS MATERIALIZED (
             SELECT coalesce(nullif(pages.work_id, ''), pages.id) AS work_key
             FROM pages INDEXED BY pages_years LEFT JOIN works ON works.id = pages.work_id
             WHERE coalesce(pages.year, works.year) BETWEEN coalesce(?7, -9999) AND coalesce(?8, 9999)
         ),
         ranked AS MATERIALIZED (
             SELECT claim_id, row_number() OVER (ORDER BY {order}) AS place
             FROM temp.claim_numbers AS numbers
             WHERE task_id = ?13
               AND (?1 IS NULL OR CASE ?1
                        WHEN 'contested' THEN support_count > 0 AND refute_count > 0
                        WHEN 'supported' THEN support_count > 0 AND refute_count = 0
                        WHEN 'refuted' THEN support_count = 0 AND refute_count > 0
                        ELSE support_count + refute_count = 0 END)
               AND (?2 IS NULL OR round(confidence, 3) >= ?2)
               AND (?3 IS NULL OR round(confidence, 3) <= ?3)
               AND (?4 IS NULL OR seq IN (SELECT rowid FROM claims_fts WHERE claims_fts MATCH ?4))
               -- SQLite folds ASCII alone.
               AND (?5 IS NULL OR instr(lower(claim_text), lower(?5)) > 0 OR instr(lower(claim_text), lower(?6)) > 0)
               AND (?9 IS NULL AND ?14 IS NULL OR claim_id IN (
                    SELECT edges.target_id
                    FROM ({chosen}) AS chosen
                    CROSS JOIN fragments ON fragments.page_id = chosen.id
                    CROSS JOIN edges ON edges.source_id = fragments.id
                         AND edges.relation IN ('supports', 'refutes', 'neutral')
                    LEFT JOIN works ON works.id = chosen.work_id
                    WHERE (?14 IS NULL OR edges.relation <> 'neutral')
                      AND (?7 IS NULL AND ?8 IS NULL
                           OR edges.relation <> 'neutral' AND coalesce(chosen.year, works.year)
                              BETWEEN coalesce(?7, -9999) AND coalesce(?8, 9999))))
               AND (?7 IS NULL AND ?8 IS NULL OR ?9 IS NOT NULL OR ?14 IS NOT NULL OR EXISTS (
                    SELECT 1 FROM edges INDEXED BY edges_numbers
                    WHERE edges.target_id = claim_id AND edges.relation IN ('supports', 'refutes', 'neutral')
                      AND edges.relation <> 'neutral' AND +edges.work_key IN (SELECT work_key FROM dated)
                      AND EXISTS (
                          SELECT 1 FROM fragments
                          JOIN pages INDEXED BY pages_years ON pages.id = fragments.page_id
                          LEFT JOIN works ON works.id = pages.work_id
                          WHERE fragments.id = edges.source_id AND coalesce(pages.year, works.year)
                                BETWEEN coalesce(?7, -9999) AND coalesce(?8, 9999))))
         )
         SELECT counted.total, shown.claim_id, shown.place
         FROM (SELECT count(*) AS total FROM ranked) AS counted
         LEFT JOIN (
             SELECT claim_id, place FROM ranked
             WHERE place > coalesce((SELECT place FROM ranked WHERE claim_id = ?10), ?11)
             ORDER BY place LIMIT ?12) AS shown
         ORDER BY shown.place"
    )
}

#[cfg(test)]
mod tests;
