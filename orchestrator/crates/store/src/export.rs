//! The rows for a graph export of a task.

use crate::rows::{self, RowExt};
use crate::{Result, Store, tasks};
use lyra_domain::{
    BetaConfidence, Claim, Discrepancies, EdgeId, FetchMethod, Fragment, Imprint, NliScores, PageId,
    PaperMetadata, Probability, Relation, TaskId,
};
use sqlx::sqlite::SqliteRow;
use sqlx::{AssertSqlSafe, SqliteConnection};
use std::collections::HashMap;

/// The evidence graph of a task: its adopted claims, their incoming edges, the citations of its source pages (one hop),
/// and the nodes that those edges connect. A source page has a fragment with an edge to a claim of the task.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskExport {
    /// Adopted claims, in the order they were stored.
    pub claims: Vec<ExportedClaim>,
    /// Fragments that an edge starts from.
    pub fragments: Vec<ExportedFragment>,
    /// Source pages of the task, and pages that those cite.
    pub pages: Vec<ExportedPage>,
    /// Edges, in the order they were stored.
    pub edges: Vec<ExportedEdge>,
}

/// A claim with its posterior.
#[derive(Debug, Clone, PartialEq)]
pub struct ExportedClaim {
    /// The claim.
    pub claim: Claim,
    /// Posterior of its edges.
    pub posterior: BetaConfidence,
}

/// A fragment.
#[derive(Debug, Clone, PartialEq)]
pub struct ExportedFragment {
    /// The fragment.
    pub fragment: Fragment,
    /// Whether it was above the cut-off of the query that ranked it last.
    pub is_relevant: Option<bool>,
}

/// A page.
#[derive(Debug, Clone, PartialEq)]
pub struct ExportedPage {
    /// Identifier.
    pub id: PageId,
    /// `https://…` or `corpus:NAME/DOC_ID`.
    pub url: String,
    /// Title.
    pub title: String,
    /// Host or `corpus:NAME`.
    pub domain: String,
    /// Category of the domain.
    pub domain_category: String,
    /// How its text was obtained.
    pub fetch_method: FetchMethod,
    /// When its text was fetched, RFC 3339.
    pub fetched_at: String,
    /// Its work.
    pub work_id: Option<String>,
    /// Year of publication, when known.
    pub year: Option<i32>,
    /// Journal, conference or site.
    pub venue: Option<String>,
    /// What the work is, and who published it.
    pub imprint: Imprint,
    /// DOI, normalized.
    pub doi: Option<String>,
    /// `PubMed` id.
    pub pmid: Option<String>,
    /// Names in the order of the by-line.
    pub authors: Vec<String>,
    /// Number of citations, as reported by its source.
    pub citation_count: Option<u32>,
    /// Whether it was retracted; `None` when its source does not report it.
    pub is_retracted: Option<bool>,
    /// Whether a claim of the task has evidence in it or comes from it; otherwise such a page cites it.
    pub is_source: bool,
}

/// An edge.
#[derive(Debug, Clone, PartialEq)]
pub struct ExportedEdge {
    /// Identifier.
    pub id: EdgeId,
    /// `fragment`, `claim` or `page`.
    pub source_type: String,
    /// Identifier of the source.
    pub source_id: String,
    /// `claim` or `page`.
    pub target_type: String,
    /// Identifier of the target.
    pub target_id: String,
    /// Its relation.
    pub relation: Relation,
    /// Probability of the relation.
    pub nli_confidence: Option<Probability>,
    /// All three probabilities.
    pub nli_scores: Option<NliScores>,
    /// Model that judged.
    pub nli_model: Option<String>,
    /// Sentences that decided.
    pub premise: Option<String>,
    /// Where claim and passage differ.
    pub discrepancies: Discrepancies,
    /// Category of the source's domain.
    pub source_domain_category: Option<String>,
    /// Category of the target's domain.
    pub target_domain_category: Option<String>,
    /// API or extraction that gave a citation.
    pub citation_source: Option<String>,
    /// Sentence around a citation.
    pub citation_context: Option<String>,
    /// A person set the relation.
    pub human_corrected: bool,
}

/// Of task `?1`: edges that end in its claims, pages that those start from, citations that leave these pages. Joins
/// instead of id lists, so that the size of a task is unlimited.
const GRAPH: &str = "WITH claim_edges AS MATERIALIZED (
        SELECT edges.* FROM claims JOIN edges ON edges.target_id = claims.id AND edges.target_type = 'claim'
        WHERE claims.task_id = ?1 AND claims.claim_adoption_status = 'adopted'
    ),
    source_pages AS MATERIALIZED (
        SELECT DISTINCT fragments.page_id FROM claim_edges
        JOIN fragments ON fragments.id = claim_edges.source_id
        WHERE claim_edges.source_type = 'fragment'
    ),
    citations AS MATERIALIZED (
        SELECT edges.* FROM source_pages JOIN edges ON edges.source_id = source_pages.page_id
        WHERE edges.relation = 'cites' AND edges.source_type = 'page' AND edges.target_type = 'page'
    ) ";

impl Store {
    /// The evidence graph of a task, read in one transaction.
    ///
    /// # Errors
    /// [`crate::StoreError::NotFound`] when there is no such task.
    pub async fn export_rows(&self, task: &TaskId) -> Result<TaskExport> {
        let mut tx = self.reader().begin().await?;
        tasks::load(&mut tx, task).await?;
        let claims =
            "SELECT * FROM claims WHERE task_id = ?1 AND claim_adoption_status = 'adopted' ORDER BY seq";
        let claims = sqlx::query(claims).bind(task.as_str()).fetch_all(&mut *tx).await?;
        let edges =
            "SELECT * FROM (SELECT * FROM claim_edges UNION ALL SELECT * FROM citations) ORDER BY seq";
        let edges = select_from_graph(&mut tx, task, edges).await?;
        let fragments = select_from_graph(
            &mut tx,
            task,
            "SELECT * FROM fragments
             WHERE id IN (SELECT source_id FROM claim_edges WHERE source_type = 'fragment') ORDER BY seq",
        )
        .await?;
        let pages = select_from_graph(
            &mut tx,
            task,
            "SELECT pages.*, works.year AS work_year, works.venue AS work_venue, works.doi AS work_doi, works.pmid,
                 works.authors AS work_authors, works.citation_count AS work_citation_count, works.is_retracted,
                 coalesce(nullif(pages.title, ''), works.title, '') AS any_title,
                 pages.id IN (SELECT page_id FROM source_pages) AS is_source
             FROM pages LEFT JOIN works ON works.id = pages.work_id
             WHERE pages.id IN (SELECT page_id FROM source_pages UNION SELECT target_id FROM citations)
             ORDER BY pages.seq",
        )
        .await?;
        let edges: Vec<ExportedEdge> = edges.iter().map(edge).collect::<Result<_>>()?;
        let pages: Vec<ExportedPage> = pages.iter().map(page).collect::<Result<_>>()?;
        let fragments: Vec<ExportedFragment> = fragments
            .iter()
            .map(|row| {
                Ok(ExportedFragment {
                    fragment: rows::fragment(row)?,
                    is_relevant: row.value("is_relevant")?,
                })
            })
            .collect::<Result<_>>()?;
        let claims = claims.iter().map(rows::claim).collect::<Result<_>>()?;
        let claims = with_posteriors(claims, &edges, &works(&fragments, &pages));
        Ok(TaskExport { claims, fragments, pages, edges })
    }
}

async fn select_from_graph(
    connection: &mut SqliteConnection,
    task: &TaskId,
    select: &str,
) -> Result<Vec<SqliteRow>> {
    let sql = format!("{GRAPH}{select}");
    Ok(sqlx::query(AssertSqlSafe(sql)).bind(task.as_str()).fetch_all(connection).await?)
}

/// Of every fragment, the work that it is from, else the page.
fn works<'e>(fragments: &'e [ExportedFragment], pages: &'e [ExportedPage]) -> HashMap<&'e str, &'e str> {
    let of_pages: HashMap<&PageId, &str> =
        pages.iter().map(|page| (&page.id, page.work_id.as_deref().unwrap_or(page.id.as_str()))).collect();
    fragments
        .iter()
        .map(|ExportedFragment { fragment, .. }| {
            let page = fragment.page_id.as_str();
            (fragment.id.as_str(), of_pages.get(&fragment.page_id).copied().unwrap_or(page))
        })
        .collect()
}

fn with_posteriors(
    claims: Vec<Claim>,
    edges: &[ExportedEdge],
    works: &HashMap<&str, &str>,
) -> Vec<ExportedClaim> {
    let mut passages: HashMap<&str, Vec<(&str, Relation, Probability)>> = HashMap::new();
    for edge in edges {
        let work = works.get(edge.source_id.as_str()).copied().unwrap_or(&edge.source_id);
        let weight = edge.nli_confidence.unwrap_or(Probability::ZERO);
        passages.entry(&edge.target_id).or_default().push((work, edge.relation, weight));
    }
    claims
        .into_iter()
        .map(|claim| {
            let passages = passages.remove(claim.id.as_str()).unwrap_or_default();
            ExportedClaim { posterior: BetaConfidence::of_works(passages), claim }
        })
        .collect()
}

fn page(row: &SqliteRow) -> Result<ExportedPage> {
    let metadata: PaperMetadata = row.json_or_default("paper_metadata")?;
    let year: Option<i32> = row.value("year")?;
    let authors =
        if metadata.authors.is_empty() { row.json_or_default("work_authors")? } else { metadata.authors };
    Ok(ExportedPage {
        id: row.parsed("id")?,
        url: row.value("url")?,
        title: row.value("any_title")?,
        domain: row.value("domain")?,
        domain_category: row.value("domain_category")?,
        fetch_method: row.parsed("fetch_method")?,
        fetched_at: row.value("fetched_at")?,
        work_id: row.value("work_id")?,
        year: year.map_or_else(|| row.value("work_year"), |year| Ok(Some(year)))?,
        venue: metadata.venue.map_or_else(|| row.value("work_venue"), |venue| Ok(Some(venue)))?,
        imprint: metadata.imprint,
        doi: metadata.doi.map_or_else(|| row.value("work_doi"), |doi| Ok(Some(doi)))?,
        pmid: row.value("pmid")?,
        authors,
        citation_count: row.value::<Option<u32>>("work_citation_count")?.or(metadata.citation_count),
        is_retracted: row.value("is_retracted")?,
        is_source: row.value("is_source")?,
    })
}

fn edge(row: &SqliteRow) -> Result<ExportedEdge> {
    let confidence: Option<f64> = row.value("nli_confidence")?;
    Ok(ExportedEdge {
        id: row.parsed("id")?,
        source_type: row.value("source_type")?,
        source_id: row.value("source_id")?,
        target_type: row.value("target_type")?,
        target_id: row.value("target_id")?,
        relation: row.parsed("relation")?,
        nli_confidence: confidence.map(Probability::clamped),
        nli_scores: row.json_or_default("nli_scores")?,
        nli_model: row.value("nli_model")?,
        premise: row.value("premise")?,
        discrepancies: Discrepancies {
            missing: row.json_or_default("missing")?,
            differs: row.json_or_default("differs")?,
        },
        source_domain_category: row.value("source_domain_category")?,
        target_domain_category: row.value("target_domain_category")?,
        citation_source: row.value("citation_source")?,
        citation_context: row.value("citation_context")?,
        human_corrected: row.value("edge_human_corrected")?,
    })
}
