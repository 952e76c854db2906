//! What a person corrects: domains, claims and edges. Every action is one transaction, with its entry in an audit table.

mod domains;
mod edges;

pub use domains::{DomainRule, RuleChange};
pub use edges::EdgeCorrection;

use crate::rows::RowExt;
use crate::{Result, Store, StoreError, tasks};
use lyra_domain::{AdoptionStatus, ClaimId, TaskId};
use sqlx::SqliteConnection;

/// A claim that was taken out or put back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimChange {
    /// The claim.
    pub claim: ClaimId,
    /// Its task.
    pub task: TaskId,
    /// What it was before; the same as now when nothing had to change.
    pub previous: AdoptionStatus,
    /// What it is now.
    pub status: AdoptionStatus,
}

impl Store {
    /// Takes a claim out of its task: reports, exports and confidence lists leave it out, its edges stay. Doing it again
    /// replaces the reason.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when there is no such claim.
    pub async fn reject_claim(&self, claim: &ClaimId, reason: &str) -> Result<ClaimChange> {
        self.adopt(claim, AdoptionStatus::NotAdopted, Some(reason)).await
    }

    /// Puts a claim back that was taken out.
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
            .bind(rejected.then_some(&now))
            .bind(claim.as_str())
            .execute(&mut *tx)
            .await?;
            let event = if rejected { "claim_rejected" } else { "claim_restored" };
            note(&mut tx, claim, event, &serde_json::json!({ "reason": reason }), &now).await?;
            tasks::touch(&mut tx, &task, &now).await?;
        }
        tx.commit().await?;
        Ok(ClaimChange { claim: claim.clone(), task, previous, status })
    }
}

/// Adds to a claim's timeline.
async fn note(
    connection: &mut SqliteConnection,
    claim: &ClaimId,
    event: &str,
    detail: &serde_json::Value,
    now: &str,
) -> Result<()> {
    sqlx::query("INSERT INTO claim_events (claim_id, event, detail, at) VALUES (?, ?, ?, ?)")
        .bind(claim.as_str())
        .bind(event)
        .bind(detail.to_string())
        .bind(now)
        .execute(connection)
        .await?;
    Ok(())
}

#[cfg(test)]
mod tests;
