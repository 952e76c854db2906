//! Evidence in time: by year of publication, as it was stored, and what was retracted.

use crate::rows::RowExt;
use crate::{Result, Store, StoreError, tasks};
use lyra_domain::{Change, Chronicle, ClaimId, EdgeId, Judged, PageId, Probability, Relation, TaskId, works};
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap};

/// Works of one year by what they do to claims. A work counts once for each claim that it was judged against, by the
/// passage that counts in the confidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EvidenceYear {
    /// Year of publication; `None` for works of unknown year.
    pub year: Option<i32>,
    /// Works that support a claim.
    pub supporting: u64,
    /// Works that refute one.
    pub refuting: u64,
    /// Works that do neither.
    pub neutral: u64,
    /// Those of retracted works among all of these.
    pub retracted: u64,
}

/// A retracted work that was judged against claims.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetractedWork {
    /// Key of the work.
    pub work: String,
    /// Title.
    pub title: String,
    /// Year of publication.
    pub year: Option<i32>,
    /// DOI.
    pub doi: Option<String>,
    /// The first of its pages.
    pub page: PageId,
    /// Claims that it supports.
    pub supporting: u64,
    /// Claims that it refutes.
    pub refuting: u64,
    /// Claims on which it takes no side.
    pub neutral: u64,
    /// When the retraction was noted for one of these claims, RFC 3339. A source's record says that a work is retracted,
    /// not when or why.
    pub noted_at: Option<String>,
}

/// What each work says about each adopted claim of task `?1`, or about claim `?2` alone; the side by the rule of
/// `lyra_domain::works::that_count`. A work is of the year of its earliest page.
const YEARS: &str = "
    WITH judged AS (
        SELECT edges.work_key,
               count(*) FILTER (WHERE relation = 'supports') AS supports,
               count(*) FILTER (WHERE relation = 'refutes') AS refutes,
               coalesce(max(nli_confidence) FILTER (WHERE relation = 'supports'), 0.0) AS support,
               coalesce(max(nli_confidence) FILTER (WHERE relation = 'refutes'), 0.0) AS refutation
        FROM claims
        CROSS JOIN edges INDEXED BY edges_numbers
             ON edges.target_id = claims.id AND edges.relation IN ('supports', 'refutes', 'neutral')
        WHERE claims.task_id = ?1
          AND iif(?2 IS NULL, claims.claim_adoption_status = 'adopted', claims.id = ?2)
        GROUP BY claims.seq, edges.work_key
    ),
    per_work AS (
        SELECT work_key,
               count(*) FILTER (WHERE supports > 0 AND (refutes = 0 OR support > refutation)) AS supporting,
               count(*) FILTER (WHERE refutes > 0 AND (supports = 0 OR refutation >= support)) AS refuting,
               count(*) FILTER (WHERE supports + refutes = 0) AS neutral
        FROM judged
        GROUP BY work_key
    ),
    -- Materialized, because the year would be looked up again for each of its uses.
    dated AS MATERIALIZED (
        SELECT coalesce((SELECT min(pages.year) FROM pages WHERE pages.work_id = work_key),
                        (SELECT pages.year FROM pages WHERE pages.id = work_key), works.year) AS year,
               supporting, refuting, neutral,
               iif(works.is_retracted = 1, supporting + refuting + neutral, 0) AS retracted
        FROM per_work LEFT JOIN works ON works.id = work_key
    )
    SELECT year, sum(supporting) AS supporting, sum(refuting) AS refuting, sum(neutral) AS neutral,
           sum(retracted) AS retracted
    FROM dated GROUP BY year ORDER BY year IS NULL, year";

/// Judgments of retracted works about adopted claims of task `?1`, or about claim `?2` alone.
const RETRACTED: &str = "
    SELECT edges.work_key, edges.target_id, edges.relation, coalesce(edges.nli_confidence, 0.0) AS weight,
           works.title, coalesce(works.year, pages.year) AS year, works.doi, pages.id AS page_id
    FROM works INDEXED BY works_retracted
    CROSS JOIN pages ON pages.work_id = works.id
    CROSS JOIN fragments ON fragments.page_id = pages.id
    CROSS JOIN edges ON edges.source_id = fragments.id AND edges.relation IN ('supports', 'refutes', 'neutral')
    CROSS JOIN claims ON claims.id = edges.target_id
    WHERE works.is_retracted = 1 AND claims.task_id = ?1
      AND iif(?2 IS NULL, claims.claim_adoption_status = 'adopted', claims.id = ?2)
    ORDER BY pages.seq, edges.seq";

impl Store {
    /// The works of each year by side, those of unknown year last: about the adopted claims of a task, or about one
    /// claim of it.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when there is no such task, or no such claim in it.
    pub async fn evidence_years(&self, task: &TaskId, claim: Option<&ClaimId>) -> Result<Vec<EvidenceYear>> {
        let mut tx = self.reader().begin().await?;
        require_claim(&mut tx, task, claim).await?;
        let found = sqlx::query(YEARS)
            .bind(task.as_str())
            .bind(claim.map(ClaimId::as_str))
            .fetch_all(&mut *tx)
            .await?;
        let year = |row: &SqliteRow| {
            Ok(EvidenceYear {
                year: row.value("year")?,
                supporting: row.count("supporting")?,
                refuting: row.count("refuting")?,
                neutral: row.count("neutral")?,
                retracted: row.count("retracted")?,
            })
        };
        found.iter().map(year).collect()
    }

    /// The retracted works among the evidence of a task, or of one claim of it, by title.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when there is no such task, or no such claim in it.
    pub async fn retracted_works(
        &self,
        task: &TaskId,
        claim: Option<&ClaimId>,
    ) -> Result<Vec<RetractedWork>> {
        let mut tx = self.reader().begin().await?;
        require_claim(&mut tx, task, claim).await?;
        let found = sqlx::query(RETRACTED)
            .bind(task.as_str())
            .bind(claim.map(ClaimId::as_str))
            .fetch_all(&mut *tx)
            .await?;
        let mut retracted: BTreeMap<String, RetractedWork> = BTreeMap::new();
        let mut judged: Vec<((String, String), Relation, Probability)> = Vec::new();
        for row in &found {
            let work: String = row.value("work_key")?;
            let judgment = ((work.clone(), row.value("target_id")?), row.parsed("relation")?);
            judged.push((judgment.0, judgment.1, Probability::clamped(row.value("weight")?)));
            if let Entry::Vacant(unseen) = retracted.entry(work.clone()) {
                unseen.insert(RetractedWork {
                    work,
                    title: row.value("title")?,
                    year: row.value("year")?,
                    doi: row.value("doi")?,
                    page: row.parsed("page_id")?,
                    supporting: 0,
                    refuting: 0,
                    neutral: 0,
                    noted_at: None,
                });
            }
        }
        for ((work, _), (_, relation, _)) in works::that_count(judged, Clone::clone) {
            let Some(work) = retracted.get_mut(&work) else { continue };
            match relation {
                Relation::Supports => work.supporting += 1,
                Relation::Refutes => work.refuting += 1,
                _ => work.neutral += 1,
            }
        }
        if !retracted.is_empty() {
            let mut noted = noted(&mut tx, task, claim).await?;
            for work in retracted.values_mut() {
                work.noted_at = noted.remove(&work.work);
            }
        }
        let mut retracted: Vec<RetractedWork> = retracted.into_values().collect();
        retracted.sort_by(|a, b| (&a.title, &a.work).cmp(&(&b.title, &b.work)));
        Ok(retracted)
    }

    /// The judgments of a claim as the model gave them, and what changed afterward.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when there is no such claim.
    pub async fn claim_chronicle(&self, claim: &ClaimId) -> Result<Chronicle> {
        let events = self.claim_timeline(claim).await?;
        // The first sample of a corrected edge has the model's own answer.
        let found = sqlx::query(
            "SELECT edges.id, edges.work_key, edges.created_at,
                    coalesce(first.predicted_label, edges.relation) AS relation,
                    coalesce(first.predicted_confidence, edges.nli_confidence, 0.0) AS weight
             FROM edges
             LEFT JOIN nli_corrections AS first
                  ON first.rowid = (SELECT min(rowid) FROM nli_corrections WHERE edge_id = edges.id)
             WHERE edges.target_id = ? AND edges.relation IN ('supports', 'refutes', 'neutral')
             ORDER BY edges.seq",
        )
        .bind(claim.as_str())
        .fetch_all(self.reader())
        .await?;
        let judged = |row: &SqliteRow| {
            Ok(Judged {
                edge: row.parsed("id")?,
                work: row.value::<Option<String>>("work_key")?.unwrap_or_default(),
                relation: row.parsed("relation")?,
                weight: Probability::clamped(row.value("weight")?),
                at: row.value("created_at")?,
            })
        };
        let changes = events.iter().filter_map(|event| {
            let change = change(&event.event, &event.detail)?;
            Some((event.at.clone(), change))
        });
        Ok(Chronicle { judged: found.iter().map(judged).collect::<Result<_>>()?, changes: changes.collect() })
    }
}

/// What an entry of a claim's timeline changes, if it is one of a chronicle.
fn change(event: &str, detail: &serde_json::Value) -> Option<Change> {
    let edge = || detail["edge_id"].as_str()?.parse::<EdgeId>().ok();
    Some(match event {
        "edge_corrected" => Change::Corrected(edge()?, detail["relation"].as_str()?.parse().ok()?),
        "edge_reviewed" => Change::Reviewed(edge()?),
        "edge_restored" => Change::Undone(edge()?),
        "claim_rejected" => Change::Rejected,
        "claim_restored" => Change::Restored,
        "source_retracted" => Change::Retracted(detail["work_id"].as_str()?.to_owned()),
        _ => return None,
    })
}

/// When the retraction of each work was first noted for a claim of the task, or for one claim.
async fn noted(
    connection: &mut SqliteConnection,
    task: &TaskId,
    claim: Option<&ClaimId>,
) -> Result<HashMap<String, String>> {
    let found: Vec<(Option<String>, String)> = sqlx::query_as(
        "SELECT claim_events.detail ->> 'work_id', min(claim_events.at)
         FROM claims CROSS JOIN claim_events ON claim_events.claim_id = claims.id
         WHERE claims.task_id = ?1 AND (?2 IS NULL OR claims.id = ?2) AND claim_events.event = 'source_retracted'
         GROUP BY 1",
    )
    .bind(task.as_str())
    .bind(claim.map(ClaimId::as_str))
    .fetch_all(connection)
    .await?;
    Ok(found.into_iter().filter_map(|(work, at)| Some((work?, at))).collect())
}

async fn require_claim(
    connection: &mut SqliteConnection,
    task: &TaskId,
    claim: Option<&ClaimId>,
) -> Result<()> {
    tasks::load(connection, task).await?;
    let Some(claim) = claim else { return Ok(()) };
    let known: bool = sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM claims WHERE id = ? AND task_id = ?)")
        .bind(claim.as_str())
        .bind(task.as_str())
        .fetch_one(connection)
        .await?;
    if known { Ok(()) } else { Err(StoreError::not_found("claim", claim)) }
}

#[cfg(test)]
mod tests;
