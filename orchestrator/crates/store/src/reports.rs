//! Claims with their evidence.

use crate::pages::SOURCE_KEY;
use crate::rows::{self, RowExt, json};
use crate::{Result, Store, StoreError, tasks};
use lyra_domain::{
    Citation, Claim, ClaimId, ClaimReport, Discrepancies, Evidence, FragmentId, Origin, PaperMetadata,
    Probability, TaskId,
};
use sqlx::sqlite::SqliteRow;
use sqlx::{AssertSqlSafe, SqliteConnection};
use std::collections::HashMap;

/// A claim's own source, and everything that was judged against it.
#[derive(Default)]
struct Judged {
    origin: Option<Origin>,
    evidence: Vec<Evidence>,
    unread: usize,
}

impl Store {
    /// Every adopted claim of a task with its evidence, in the order the claims were stored.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when there is no such task.
    pub async fn claim_reports(&self, task: &TaskId) -> Result<Vec<ClaimReport>> {
        let mut tx = self.reader().begin().await?;
        tasks::load(&mut tx, task).await?;
        load_adopted_reports(&mut tx, "claims.task_id", task.as_str()).await
    }

    /// The claim behind a task's question, if it has one that was rejected.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn rejected_question(&self, task: &TaskId) -> Result<Option<Claim>> {
        let found = sqlx::query(
            "SELECT * FROM claims WHERE task_id = ? AND claim_type = 'question' AND claim_adoption_status <> 'adopted'
             ORDER BY seq LIMIT 1",
        )
        .bind(task.as_str())
        .fetch_optional(self.reader())
        .await?;
        found.as_ref().map(rows::claim).transpose()
    }

    /// The claim behind a task's question with its evidence, if it has one that is adopted.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn question_report(&self, task: &TaskId) -> Result<Option<ClaimReport>> {
        let found = sqlx::query(
            "SELECT id FROM claims WHERE task_id = ? AND claim_type = 'question' AND claim_adoption_status = 'adopted'
             ORDER BY seq LIMIT 1",
        )
        .bind(task.as_str())
        .fetch_optional(self.reader())
        .await?;
        match found {
            Some(row) => self.claim_report(&row.parsed("id")?).await.map(Some),
            None => Ok(None),
        }
    }

    /// The passages of these fragments, by fragment; those that do not exist are absent.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn passages(&self, fragments: &[FragmentId]) -> Result<HashMap<FragmentId, String>> {
        let found = sqlx::query(
            "SELECT id, text_content FROM fragments WHERE id IN (SELECT value FROM json_each(?))",
        )
        .bind(json(&fragments)?)
        .fetch_all(self.reader())
        .await?;
        found.iter().map(|row| Ok((row.parsed("id")?, row.value("text_content")?))).collect()
    }

    /// One claim with its evidence, adopted or not.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when there is no such claim.
    pub async fn claim_report(&self, claim: &ClaimId) -> Result<ClaimReport> {
        let mut tx = self.reader().begin().await?;
        let row = sqlx::query("SELECT * FROM claims WHERE id = ?")
            .bind(claim.as_str())
            .fetch_optional(&mut *tx)
            .await?
            .ok_or_else(|| StoreError::not_found("claim", claim))?;
        let mut judged = load_judged(&mut tx, "claims.id = ?", claim.as_str()).await?;
        Ok(report(rows::claim(&row)?, &mut judged))
    }
}

/// The adopted claims whose `column` is `value`, with their evidence, in the order they were stored.
pub(crate) async fn load_adopted_reports(
    connection: &mut SqliteConnection,
    column: &'static str,
    value: &str,
) -> Result<Vec<ClaimReport>> {
    let adopted = format!("{column} = ? AND claims.claim_adoption_status = 'adopted'");
    load_reports(connection, &adopted, value).await
}

/// The claims with these ids, with their evidence, in the order of the ids; those that do not exist are absent.
pub(crate) async fn load_listed_reports(
    connection: &mut SqliteConnection,
    ids: &[String],
) -> Result<Vec<ClaimReport>> {
    let listed = "claims.id IN (SELECT value FROM json_each(?))";
    let mut reports = load_reports(connection, listed, &rows::json(&ids)?).await?;
    let places: HashMap<&str, usize> = ids.iter().enumerate().map(|(n, id)| (id.as_str(), n)).collect();
    reports.sort_by_key(|report| places.get(report.claim.id.as_str()).copied());
    Ok(reports)
}

/// The claims that meet a condition on `value`, with their evidence, in the order they were stored.
async fn load_reports(
    connection: &mut SqliteConnection,
    condition: &str,
    value: &str,
) -> Result<Vec<ClaimReport>> {
    let sql = format!("SELECT * FROM claims WHERE {condition} ORDER BY seq");
    let claims = sqlx::query(AssertSqlSafe(sql)).bind(value).fetch_all(&mut *connection).await?;
    let mut judged = load_judged(connection, condition, value).await?;
    claims.iter().map(|row| Ok(report(rows::claim(row)?, &mut judged))).collect()
}

fn report(claim: Claim, judged: &mut HashMap<String, Judged>) -> ClaimReport {
    let Judged { origin, evidence, unread } = judged.remove(claim.id.as_str()).unwrap_or_default();
    ClaimReport::new(claim, evidence, origin).with_not_judged(unread)
}

/// Origins and judgments of the claims that meet a condition on `value`.
async fn load_judged(
    connection: &mut SqliteConnection,
    condition: &str,
    value: &str,
) -> Result<HashMap<String, Judged>> {
    let sql = format!(
        "SELECT claims.id AS claim_id, edges.id AS edge_id, edges.relation, edges.nli_confidence,
                coalesce(edges.premise, fragments.text_content) AS text, edges.source_domain_category,
                edges.missing, edges.differs, edges.edge_human_corrected, edges.edge_correction_reason,
                nullif(fragments.heading_context, '') AS section,
                nullif(pages.work_id, '') AS work_id, fragments.id AS fragment_id, pages.id AS page_id, pages.url, pages.domain_category,
                pages.paper_metadata, coalesce(nullif(pages.title, ''), works.title, '') AS title,
                coalesce(pages.year, works.year) AS year, works.venue, works.doi, works.is_retracted,
                works.authors,
                {SOURCE_KEY} AS source_key
         FROM claims
         JOIN edges ON edges.target_id = claims.id AND edges.source_type = 'fragment'
         JOIN fragments ON fragments.id = edges.source_id
         JOIN pages ON pages.id = fragments.page_id
         LEFT JOIN works ON works.id = pages.work_id
         WHERE {condition}
         ORDER BY claims.seq, edges.seq"
    );
    let found = sqlx::query(AssertSqlSafe(sql)).bind(value).fetch_all(&mut *connection).await?;
    let mut judged: HashMap<String, Judged> = HashMap::new();
    for row in &found {
        let entry = judged.entry(row.value("claim_id")?).or_default();
        if row.value::<&str>("relation")? == "origin" {
            entry.origin = Some(origin(row)?);
        } else {
            entry.evidence.push(evidence(row)?);
        }
    }
    let sql = format!(
        "SELECT claim_id, count(*) AS passages FROM claims JOIN not_judged ON not_judged.claim_id = claims.id
         WHERE {condition} GROUP BY claim_id"
    );
    for row in sqlx::query(AssertSqlSafe(sql)).bind(value).fetch_all(connection).await? {
        let passages: i64 = row.value("passages")?;
        judged.entry(row.value("claim_id")?).or_default().unread = usize::try_from(passages).unwrap_or(0);
    }
    Ok(judged)
}

fn origin(row: &SqliteRow) -> Result<Origin> {
    let citation = Citation { section: row.value("section")?, ..citation(row)? };
    Ok(Origin {
        text: row.value("text")?,
        citation,
        page_id: row.parsed("page_id")?,
        fragment_id: row.parsed("fragment_id")?,
        source_key: row.value("source_key")?,
    })
}

/// The citation of a page with its work.
pub(crate) fn citation(row: &SqliteRow) -> Result<Citation> {
    let metadata: PaperMetadata = row.json_or_default("paper_metadata")?;
    let url: String = row.value("url")?;
    // `corpus:NAME/ID` stands for a document without an address, which cannot be opened.
    let in_corpus =
        url.strip_prefix("corpus:").and_then(|rest| rest.split_once('/')).map(|(_, id)| id.to_owned());
    let doc_id = metadata.doc_id.or_else(|| in_corpus.clone());
    let authors =
        if metadata.authors.is_empty() { row.json_or_default("authors")? } else { metadata.authors };
    Ok(Citation {
        title: row.value("title")?,
        authors,
        year: row.value("year")?,
        venue: metadata.venue.map_or_else(|| row.value("venue"), |venue| Ok(Some(venue)))?,
        doi: metadata.doi.map_or_else(|| row.value("doi"), |doi| Ok(Some(doi)))?,
        url: in_corpus.is_none().then_some(url),
        doc_id,
        section: None,
        is_retracted: row.value("is_retracted")?,
    })
}

fn evidence(row: &SqliteRow) -> Result<Evidence> {
    let Citation { title, year, venue, doi, url, doc_id, is_retracted, .. } = citation(row)?;
    let category: Option<String> = row.value("source_domain_category")?;
    let human_corrected: bool = row.value("edge_human_corrected")?;
    let reason: Option<String> = row.value("edge_correction_reason")?;
    Ok(Evidence {
        relation: row.parsed("relation")?,
        nli_confidence: Probability::clamped(row.value::<Option<f64>>("nli_confidence")?.unwrap_or(0.0)),
        discrepancies: Discrepancies {
            missing: row.json_or_default("missing")?,
            differs: row.json_or_default("differs")?,
        },
        text: row.value("text")?,
        title,
        year,
        venue,
        doi,
        url,
        doc_id,
        section: row.value("section")?,
        page_id: row.parsed("page_id")?,
        fragment_id: row.parsed("fragment_id")?,
        edge_id: row.parsed("edge_id")?,
        source_domain_category: category.map_or_else(|| row.value("domain_category"), Ok)?,
        source_key: row.value("source_key")?,
        work_id: row.value("work_id")?,
        is_retracted,
        human_corrected,
        correction_reason: reason.filter(|_| human_corrected),
    })
}

#[cfg(test)]
mod tests;
