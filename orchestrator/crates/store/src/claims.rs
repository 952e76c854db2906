//! Claims.

use crate::pages::require;
use crate::rows;
use crate::{Result, Store, StoreError, edges, tasks, timeline};
use lyra_domain::{Claim, ClaimId, Edge, FragmentId, JobId, TaskId};
use sqlx::SqliteConnection;

impl Store {
    pub(crate) async fn read_claim(&self, claim: &ClaimId) -> Result<Claim> {
        let row = sqlx::query("SELECT * FROM claims WHERE id = ?")
            .bind(claim.as_str())
            .fetch_optional(self.reader())
            .await?;
        rows::claim(&row.ok_or_else(|| StoreError::not_found("claim", claim))?)
    }

    pub(crate) async fn read_task_claims(&self, task: &TaskId) -> Result<Vec<Claim>> {
        let found = sqlx::query(
            "SELECT * FROM claims WHERE task_id = ? AND claim_adoption_status = 'adopted' ORDER BY seq",
        )
        .bind(task.as_str())
        .fetch_all(self.reader())
        .await?;
        found.iter().map(rows::claim).collect()
    }

    pub(crate) async fn write_claims(&self, claims: &[Claim], cause: &JobId) -> Result<()> {
        let now = self.stamp();
        let mut tx = self.write().await?;
        let sources =
            claims.iter().filter_map(|claim| claim.source_fragment_id.as_ref()).map(FragmentId::as_str);
        require(
            &mut tx,
            "fragment",
            "SELECT value FROM json_each(?) WHERE value NOT IN (SELECT id FROM fragments) LIMIT 1",
            sources,
        )
        .await?;
        for claim in claims {
            tasks::touch(&mut tx, &claim.task_id, &now).await?;
            insert(&mut tx, claim, Some(cause), &now).await?;
        }
        tx.commit().await?;
        Ok(())
    }
}

/// Stores a claim with its origin edge. An existing claim with the same words stays unchanged, with its origin.
pub(crate) async fn insert(
    connection: &mut SqliteConnection,
    claim: &Claim,
    cause: Option<&JobId>,
    now: &str,
) -> Result<()> {
    let stored = sqlx::query(
        "INSERT INTO claims (id, task_id, claim_text, claim_type, language, source_fragment_id, extracted_by,
             extraction_score, claim_adoption_status, source_verification_status, cause_id, created_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
    )
    .bind(claim.id.as_str())
    .bind(claim.task_id.as_str())
    .bind(&claim.claim_text)
    .bind(&claim.claim_type)
    .bind(&claim.language)
    .bind(claim.source_fragment_id.as_ref().map(FragmentId::as_str))
    .bind(claim.extraction.map(|extraction| extraction.extracted_by.as_str()))
    .bind(claim.extraction.map(|extraction| extraction.score.get()))
    .bind(claim.adoption_status.as_str())
    .bind(claim.verification_status.as_str())
    .bind(cause.map(JobId::as_str))
    .bind(now)
    .execute(&mut *connection)
    .await?;
    if stored.rows_affected() > 0 {
        timeline::note_created(connection, claim, cause, now).await?;
    }
    let origin: Option<String> = sqlx::query_scalar("SELECT source_fragment_id FROM claims WHERE id = ?")
        .bind(claim.id.as_str())
        .fetch_one(&mut *connection)
        .await?;
    if let Some(fragment) = &claim.source_fragment_id
        && origin.as_deref() == Some(fragment.as_str())
    {
        let edge = Edge::Origin { fragment: fragment.clone(), claim: claim.id.clone() };
        edges::insert(connection, &edge, cause, now).await?;
    }
    Ok(())
}
