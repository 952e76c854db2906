//! The rows for a drawing of a task's graph: what [`crate::TaskExport`] has, with the beginnings of its texts only.

use crate::rows::RowExt;
use crate::{Result, Store, tasks};
use lyra_domain::{Probability, Relation, TaskId};
use sqlx::sqlite::SqliteRow;
use sqlx::{AssertSqlSafe, SqliteConnection};

/// Claims, passages, and works of a task, with the relations between them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GraphRows {
    /// Adopted claims: id and text.
    pub claims: Vec<(String, String)>,
    /// Passages with a relation to a claim.
    pub passages: Vec<GraphPassage>,
    /// Pages of these passages, and pages that those cite.
    pub works: Vec<GraphWork>,
    /// Judgments, origins, and citations.
    pub edges: Vec<GraphEdge>,
}

/// A passage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GraphPassage {
    /// Id of the fragment.
    pub id: String,
    /// Its page.
    pub page: String,
    /// The first 1000 characters of its text.
    pub text: String,
}

/// A page, with what is known of its work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GraphWork {
    /// Id of the page.
    pub id: String,
    /// The work; several pages may be of one.
    pub work: Option<String>,
    /// Title; may be empty.
    pub title: String,
    /// Registrable domain, or `corpus:NAME`.
    pub domain: String,
    /// Year of publication.
    pub year: Option<i32>,
    /// Journal, conference or site.
    pub venue: Option<String>,
    /// DOI, normalized.
    pub doi: Option<String>,
    /// First name of the by-line.
    pub first_author: Option<String>,
    /// Names in the by-line.
    pub authors: u64,
    /// Whether it was retracted.
    pub is_retracted: Option<bool>,
}

/// A relation: from a passage to a claim, or from a page to a page.
#[derive(Debug, Clone, PartialEq)]
pub struct GraphEdge {
    /// Where it starts.
    pub source: String,
    /// Where it ends.
    pub target: String,
    /// What it says.
    pub relation: Relation,
    /// Probability of a judgment.
    pub confidence: Option<Probability>,
}

impl Store {
    /// The graph of a task for a drawing, read in one transaction.
    ///
    /// # Errors
    /// [`crate::StoreError::NotFound`] when there is no such task.
    pub async fn graph_rows(&self, task: &TaskId) -> Result<GraphRows> {
        let mut tx = self.reader().begin().await?;
        tasks::load(&mut tx, task).await?;
        let claims = "SELECT id, claim_text FROM claims
             WHERE task_id = ?1 AND claim_adoption_status = 'adopted' ORDER BY seq";
        let claims: Vec<(String, String)> =
            sqlx::query_as(claims).bind(task.as_str()).fetch_all(&mut *tx).await?;
        let edges = sqlx::query(JUDGED).bind(task.as_str()).fetch_all(&mut *tx).await?;
        let citations = "SELECT edges.source_id, edges.target_id, edges.relation, edges.nli_confidence
             FROM source_pages CROSS JOIN edges ON edges.source_id = source_pages.id
             WHERE edges.relation = 'cites' AND edges.source_type = 'page' AND edges.target_type = 'page'";
        let citations = select(&mut tx, task, citations).await?;
        let passages =
            "SELECT fragments.id, fragments.page_id, substr(fragments.text_content, 1, 1000) AS text
             FROM passages CROSS JOIN fragments ON fragments.id = passages.id ORDER BY fragments.seq";
        let passages = select(&mut tx, task, passages).await?;
        let works = select(&mut tx, task, WORKS).await?;
        Ok(GraphRows {
            claims,
            passages: passages.iter().map(passage).collect::<Result<_>>()?,
            works: works.iter().map(work).collect::<Result<_>>()?,
            edges: edges.iter().chain(&citations).map(edge).collect::<Result<_>>()?,
        })
    }
}

/// Edges from passages to the claims of task `?1`.
const JUDGED: &str = "SELECT edges.source_id, edges.target_id, edges.relation, edges.nli_confidence
    FROM claims CROSS JOIN edges ON edges.target_id = claims.id AND edges.target_type = 'claim'
    WHERE claims.task_id = ?1 AND claims.claim_adoption_status = 'adopted' AND edges.source_type = 'fragment'
    ORDER BY edges.seq";

/// The passages of these edges, and their pages. Ids alone: whole rows would be copied.
const SOURCES: &str = "WITH passages AS MATERIALIZED (
        SELECT DISTINCT edges.source_id AS id
        FROM claims CROSS JOIN edges ON edges.target_id = claims.id AND edges.target_type = 'claim'
        WHERE claims.task_id = ?1 AND claims.claim_adoption_status = 'adopted' AND edges.source_type = 'fragment'
    ),
    source_pages AS MATERIALIZED (
        SELECT DISTINCT fragments.page_id AS id FROM passages CROSS JOIN fragments ON fragments.id = passages.id
    ) ";

async fn select(connection: &mut SqliteConnection, task: &TaskId, select: &str) -> Result<Vec<SqliteRow>> {
    let sql = format!("{SOURCES}{select}");
    Ok(sqlx::query(AssertSqlSafe(sql)).bind(task.as_str()).fetch_all(connection).await?)
}

/// Invalid metadata, and metadata of another shape, says nothing.
const WORKS: &str = "SELECT shown.id, shown.work_id, shown.domain,
         coalesce(nullif(shown.title, ''), works.title, '') AS any_title,
         coalesce(shown.year, works.year) AS any_year,
         coalesce(shown.metadata ->> '$.venue', works.venue) AS any_venue,
         coalesce(shown.metadata ->> '$.doi', works.doi) AS any_doi,
         coalesce(shown.metadata ->> '$.authors[0]', works.authors ->> '$[0]') AS first_author,
         coalesce(nullif(json_array_length(shown.metadata, '$.authors'), 0), json_array_length(works.authors), 0) AS authors,
         works.is_retracted
     FROM (SELECT id, seq, work_id, domain, title, year, iif(json_valid(paper_metadata), paper_metadata, '{}') AS metadata
           FROM pages
           WHERE id IN (SELECT id FROM source_pages UNION
                        SELECT edges.target_id FROM source_pages CROSS JOIN edges ON edges.source_id = source_pages.id
                        WHERE edges.relation = 'cites' AND edges.source_type = 'page' AND edges.target_type = 'page')) AS shown
     LEFT JOIN works ON works.id = shown.work_id
     ORDER BY shown.seq";

fn passage(row: &SqliteRow) -> Result<GraphPassage> {
    Ok(GraphPassage { id: row.value("id")?, page: row.value("page_id")?, text: row.value("text")? })
}

fn work(row: &SqliteRow) -> Result<GraphWork> {
    Ok(GraphWork {
        id: row.value("id")?,
        work: row.value("work_id")?,
        title: row.value("any_title")?,
        domain: row.value("domain")?,
        year: row.value("any_year")?,
        venue: text(row, "any_venue"),
        doi: text(row, "any_doi"),
        first_author: text(row, "first_author"),
        authors: row.count("authors")?,
        is_retracted: row.value("is_retracted")?,
    })
}

/// A text from metadata; nothing when it is something else.
fn text(row: &SqliteRow, column: &str) -> Option<String> {
    row.value(column).ok().flatten()
}

fn edge(row: &SqliteRow) -> Result<GraphEdge> {
    let confidence: Option<f64> = row.value("nli_confidence")?;
    Ok(GraphEdge {
        source: row.value("source_id")?,
        target: row.value("target_id")?,
        relation: row.parsed("relation")?,
        confidence: confidence.map(Probability::clamped),
    })
}
