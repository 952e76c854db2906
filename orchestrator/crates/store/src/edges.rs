//! Relations between fragments, claims and pages.

use crate::pages::require;
use crate::rows::{RowExt, json};
use crate::{Result, Store, tasks, timeline};
use lyra_domain::{ClaimId, Edge, FragmentId, JobId, NotJudged, PageId, TaskId};
use sqlx::SqliteConnection;
use std::collections::HashSet;

impl Store {
    pub(crate) async fn read_judged(&self, claim: &ClaimId) -> Result<HashSet<FragmentId>> {
        let found = sqlx::query(
            "SELECT source_id FROM edges
             WHERE target_id = ? AND source_type = 'fragment' AND relation IN ('supports', 'refutes', 'neutral')",
        )
        .bind(claim.as_str())
        .fetch_all(self.reader())
        .await?;
        found.iter().map(|row| row.parsed("source_id")).collect()
    }

    pub(crate) async fn write_edges(&self, task: &TaskId, edges: &[Edge], cause: &JobId) -> Result<()> {
        let now = self.stamp();
        let mut tx = self.write().await?;
        // Edges point to several tables, which no foreign key can watch.
        let mut ends = Ends::default();
        for edge in edges {
            ends.add(edge);
        }
        require(
            &mut tx,
            "fragment",
            "SELECT value FROM json_each(?) WHERE value NOT IN (SELECT id FROM fragments) LIMIT 1",
            ends.fragments.iter().map(|id| id.as_str()),
        )
        .await?;
        require(
            &mut tx,
            "claim",
            "SELECT value FROM json_each(?) WHERE value NOT IN (SELECT id FROM claims) LIMIT 1",
            ends.claims.iter().map(|id| id.as_str()),
        )
        .await?;
        require(
            &mut tx,
            "page",
            "SELECT value FROM json_each(?) WHERE value NOT IN (SELECT id FROM pages) LIMIT 1",
            ends.pages.iter().map(|id| id.as_str()),
        )
        .await?;
        for edge in edges {
            insert(&mut tx, edge, Some(cause), &now).await?;
            if let Edge::Nli { fragment, claim, .. } = edge {
                sqlx::query("DELETE FROM not_judged WHERE claim_id = ? AND fragment_id = ?")
                    .bind(claim.as_str())
                    .bind(fragment.as_str())
                    .execute(&mut *tx)
                    .await?;
            }
        }
        timeline::note_retractions(&mut tx, cause, &now).await?;
        tasks::touch(&mut tx, task, &now).await?;
        tx.commit().await?;
        Ok(())
    }
}

impl Store {
    pub(crate) async fn write_not_judged(
        &self,
        claim: &ClaimId,
        passages: &[(FragmentId, NotJudged)],
        cause: &JobId,
    ) -> Result<()> {
        let now = self.stamp();
        let mut tx = self.write().await?;
        for (fragment, reason) in passages {
            sqlx::query(
                "INSERT INTO not_judged (claim_id, fragment_id, reason, cause_id, noted_at)
                 SELECT ?1, ?2, ?3, ?4, ?5 WHERE NOT EXISTS (
                     SELECT 1 FROM edges WHERE target_id = ?1 AND source_id = ?2
                     AND relation IN ('supports', 'refutes', 'neutral'))
                 ON CONFLICT DO NOTHING",
            )
            .bind(claim.as_str())
            .bind(fragment.as_str())
            .bind(reason.as_str())
            .bind(cause.as_str())
            .bind(&now)
            .execute(&mut *tx)
            .await?;
        }
        Ok(tx.commit().await?)
    }
}

/// What edges connect.
#[derive(Default)]
struct Ends<'a> {
    fragments: HashSet<&'a FragmentId>,
    claims: HashSet<&'a ClaimId>,
    pages: HashSet<&'a PageId>,
}

impl<'a> Ends<'a> {
    fn add(&mut self, edge: &'a Edge) {
        match edge {
            Edge::Origin { fragment, claim } | Edge::Nli { fragment, claim, .. } => {
                self.fragments.insert(fragment);
                self.claims.insert(claim);
            }
            Edge::Cites { from, to, .. } => self.pages.extend([from, to]),
        }
    }
}

/// Stores an edge; an existing one stays unchanged.
pub(crate) async fn insert(
    connection: &mut SqliteConnection,
    edge: &Edge,
    cause: Option<&JobId>,
    now: &str,
) -> Result<()> {
    let id = edge.id();
    let relation = edge.relation().as_str();
    let cause = cause.map(JobId::as_str);
    let statement = match edge {
        Edge::Origin { fragment, claim } => sqlx::query(
            "INSERT INTO edges
                 (id, source_type, source_id, target_type, target_id, relation, cause_id, created_at)
             VALUES (?, 'fragment', ?, 'claim', ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        )
        .bind(id.as_str())
        .bind(fragment.as_str())
        .bind(claim.as_str())
        .bind(relation)
        .bind(cause)
        .bind(now),
        Edge::Nli {
            fragment,
            claim,
            judgement,
            premise,
            discrepancies,
            model,
            source_domain_category,
            target_domain_category,
        } => sqlx::query(
            "INSERT INTO edges
                 (id, source_type, source_id, target_type, target_id, relation, nli_label, nli_confidence, nli_scores,
                  nli_model, premise, source_domain_category, target_domain_category, cause_id, created_at,
                  nli_raw_scores, calibration_version, missing, differs)
             VALUES (?1, 'fragment', ?2, 'claim', ?3, ?4, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)
             ON CONFLICT DO NOTHING",
        )
        .bind(id.as_str())
        .bind(fragment.as_str())
        .bind(claim.as_str())
        .bind(relation)
        .bind(judgement.confidence.get())
        .bind(json(&judgement.scores)?)
        .bind(model)
        .bind(premise)
        .bind(source_domain_category)
        .bind(target_domain_category)
        .bind(cause)
        .bind(now)
        .bind(judgement.calibration.map(|applied| json(&applied.raw)).transpose()?)
        .bind(judgement.calibration.map(|applied| applied.version))
        .bind(json(&discrepancies.missing)?)
        .bind(json(&discrepancies.differs)?),
        Edge::Cites { from, to, citation_source, context } => sqlx::query(
            "INSERT INTO edges
                 (id, source_type, source_id, target_type, target_id, relation, citation_source, citation_context,
                  cause_id, created_at)
             VALUES (?, 'page', ?, 'page', ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        )
        .bind(id.as_str())
        .bind(from.as_str())
        .bind(to.as_str())
        .bind(relation)
        .bind(citation_source)
        .bind(context)
        .bind(cause)
        .bind(now),
    };
    statement.execute(connection).await?;
    Ok(())
}
