//! What a graph export of a task needs, as rows.

use crate::rows::{self, RowExt};
use crate::{Result, Store, tasks};
use lyra_domain::{
    BetaConfidence, Claim, EdgeId, Fragment, NliScores, PageId, PaperMetadata, Probability, Relation, TaskId,
};
use std::collections::HashMap;

/// The evidence graph of a task: its adopted claims, the edges that end in them, the citations that leave its pages
/// (one hop), and what those edges connect.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskExport {
    /// Adopted claims, in the order they were stored.
    pub claims: Vec<ExportedClaim>,
    /// Fragments that an edge starts from.
    pub fragments: Vec<ExportedFragment>,
    /// Pages of the task, and pages that those cite.
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
    /// The work it holds.
    pub work_id: Option<String>,
    /// Year of publication, when known.
    pub year: Option<i32>,
    /// What its source said of the paper.
    pub paper_metadata: PaperMetadata,
    /// Whether the task has it; else another page of the task cites it.
    pub in_task: bool,
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
    /// What it says.
    pub relation: Relation,
    /// Probability of the relation.
    pub nli_confidence: Option<Probability>,
    /// All three probabilities.
    pub nli_scores: Option<NliScores>,
    /// Model that judged.
    pub nli_model: Option<String>,
    /// Sentences that were judged.
    pub premise: Option<String>,
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

/// The edges of task `?1`, as a subquery of the others.
const EDGES: &str = "
    SELECT edges.* FROM edges JOIN claims ON claims.id = edges.target_id
    WHERE claims.task_id = ?1 AND claims.claim_adoption_status = 'adopted'
    UNION ALL
    SELECT edges.* FROM edges JOIN task_pages ON task_pages.page_id = edges.source_id
    WHERE task_pages.task_id = ?1 AND edges.relation = 'cites'";

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
        let found = |sql: String| sqlx::query(sqlx::AssertSqlSafe(sql)).bind(task.as_str());
        let edges = found(format!("SELECT * FROM ({EDGES}) ORDER BY seq")).fetch_all(&mut *tx).await?;
        let fragments = found(format!(
            "SELECT * FROM fragments WHERE id IN (SELECT source_id FROM ({EDGES}) WHERE source_type = 'fragment')
             ORDER BY seq"
        ))
        .fetch_all(&mut *tx)
        .await?;
        let pages = found(format!(
            "SELECT pages.*, works.year AS work_year,
                 pages.id IN (SELECT page_id FROM task_pages WHERE task_id = ?1) AS in_task
             FROM pages LEFT JOIN works ON works.id = pages.work_id
             WHERE pages.id IN (
                 SELECT page_id FROM task_pages WHERE task_id = ?1
                 UNION SELECT target_id FROM ({EDGES}) WHERE relation = 'cites'
                 UNION SELECT page_id FROM fragments
                       WHERE id IN (SELECT source_id FROM ({EDGES}) WHERE source_type = 'fragment'))
             ORDER BY pages.seq"
        ))
        .fetch_all(&mut *tx)
        .await?;
        let edges: Vec<ExportedEdge> = edges.iter().map(edge).collect::<Result<_>>()?;
        Ok(TaskExport {
            claims: with_posteriors(claims.iter().map(rows::claim).collect::<Result<_>>()?, &edges),
            fragments: fragments
                .iter()
                .map(|row| {
                    Ok(ExportedFragment {
                        fragment: rows::fragment(row)?,
                        is_relevant: row.value("is_relevant")?,
                    })
                })
                .collect::<Result<_>>()?,
            pages: pages.iter().map(page).collect::<Result<_>>()?,
            edges,
        })
    }
}

fn with_posteriors(claims: Vec<Claim>, edges: &[ExportedEdge]) -> Vec<ExportedClaim> {
    let mut weights: HashMap<&str, Vec<(Relation, Probability)>> = HashMap::new();
    for edge in edges {
        let weight = edge.nli_confidence.unwrap_or(Probability::ZERO);
        weights.entry(&edge.target_id).or_default().push((edge.relation, weight));
    }
    claims
        .into_iter()
        .map(|claim| {
            let weights = weights.remove(claim.id.as_str()).unwrap_or_default();
            ExportedClaim { posterior: BetaConfidence::from_edges(weights), claim }
        })
        .collect()
}

fn page(row: &sqlx::sqlite::SqliteRow) -> Result<ExportedPage> {
    let year: Option<i32> = row.value("year")?;
    Ok(ExportedPage {
        id: row.parsed("id")?,
        url: row.value("url")?,
        title: row.value("title")?,
        domain: row.value("domain")?,
        domain_category: row.value("domain_category")?,
        work_id: row.value("work_id")?,
        year: year.map_or_else(|| row.value("work_year"), |year| Ok(Some(year)))?,
        paper_metadata: row.json_or_default("paper_metadata")?,
        in_task: row.value("in_task")?,
    })
}

fn edge(row: &sqlx::sqlite::SqliteRow) -> Result<ExportedEdge> {
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
        source_domain_category: row.value("source_domain_category")?,
        target_domain_category: row.value("target_domain_category")?,
        citation_source: row.value("citation_source")?,
        citation_context: row.value("citation_context")?,
        human_corrected: row.value("edge_human_corrected")?,
    })
}
