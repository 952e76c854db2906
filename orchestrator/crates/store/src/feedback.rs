//! A person's corrections of domains, claims and edges. Every action is one transaction, with its entry in an audit
//! table.

mod domains;
mod edges;

pub use domains::RuleChange;
pub use edges::EdgeCorrection;

use crate::rows::RowExt;
use crate::verification::{self, Of};
use crate::{Result, Store, StoreError, tasks, timeline};
use lyra_domain::{AdoptionStatus, ClaimId, TaskId};
use sqlx::SqliteConnection;

/// A claim that was rejected or restored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimChange {
    /// The claim.
    pub claim: ClaimId,
    /// Its task.
    pub task: TaskId,
    /// The previous status; the same as now when nothing changed.
    pub previous: AdoptionStatus,
    /// The status now.
    pub status: AdoptionStatus,
}

impl Store {
    /// Rejects a claim: reports, exports and confidence lists omit it, its edges stay. Rejecting it again replaces the
    /// reason.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when there is no such claim.
    pub async fn reject_claim(&self, claim: &ClaimId, reason: &str) -> Result<ClaimChange> {
        self.adopt(claim, AdoptionStatus::NotAdopted, Some(reason)).await
    }

    /// Restores a rejected claim.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when there is no such claim.
    pub async fn restore_claim(&self, claim: &ClaimId, reason: Option<&str>) -> Result<ClaimChange> {
        self.adopt(claim, AdoptionStatus::Adopted, reason).await
    }

    async fn adopt(
        &self,
        claim: &ClaimId,
        status: AdoptionStatus,
        reason: Option<&str>,
    ) -> Result<ClaimChange> {
        let now = self.stamp();
        let mut tx = self.write().await?;
        let change = adopt(&mut tx, claim, status, reason, &now).await?;
        tx.commit().await?;
        Ok(change)
    }

    /// Rejects or restores claims of a task, all or none of them.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when there is no such task, or one of the claims is not its own.
    pub async fn adopt_claims(
        &self,
        task: &TaskId,
        claims: &[ClaimId],
        status: AdoptionStatus,
        reason: Option<&str>,
    ) -> Result<Vec<ClaimChange>> {
        let now = self.stamp();
        let mut tx = self.write().await?;
        tasks::load(&mut tx, task).await?;
        let mut changes = Vec::with_capacity(claims.len());
        for claim in claims {
            let change = adopt(&mut tx, claim, status, reason, &now).await?;
            if change.task != *task {
                return Err(StoreError::not_found("claim", claim));
            }
            changes.push(change);
        }
        tx.commit().await?;
        Ok(changes)
    }
}

async fn adopt(
    tx: &mut SqliteConnection,
    claim: &ClaimId,
    status: AdoptionStatus,
    reason: Option<&str>,
    now: &str,
) -> Result<ClaimChange> {
    let row = sqlx::query("SELECT task_id, claim_adoption_status FROM claims WHERE id = ?")
        .bind(claim.as_str())
        .fetch_optional(&mut *tx)
        .await?
        .ok_or_else(|| StoreError::not_found("claim", claim))?;
    let task: TaskId = row.parsed("task_id")?;
    let previous: AdoptionStatus = row.parsed("claim_adoption_status")?;
    let rejected = status == AdoptionStatus::NotAdopted;
    if rejected || previous != status {
        sqlx::query(
            "UPDATE claims SET claim_adoption_status = ?, claim_rejection_reason = ?, claim_rejected_at = ?
             WHERE id = ?",
        )
        .bind(status.as_str())
        .bind(reason.filter(|_| rejected))
        .bind(rejected.then_some(now))
        .bind(claim.as_str())
        .execute(&mut *tx)
        .await?;
        let event = if rejected { "claim_rejected" } else { "claim_restored" };
        timeline::note(&mut *tx, claim, event, &serde_json::json!({ "reason": reason }), None, now).await?;
        verification::settle(&mut *tx, Of::Claim(claim), None, now).await?;
        tasks::touch(&mut *tx, &task, now).await?;
    }
    Ok(ClaimChange { claim: claim.clone(), task, previous, status })
}

#[cfg(test)]
mod tests;
