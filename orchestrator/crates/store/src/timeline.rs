//! A claim's timeline: an audit log of its history. No number is computed from it.

use crate::rows::RowExt;
use crate::{Result, Store, StoreError};
use lyra_domain::{Claim, ClaimId, JobId};
use serde_json::{Value, json};
use sqlx::SqliteConnection;

/// Something that happened to a claim.
#[derive(Debug, Clone, PartialEq)]
pub struct ClaimEvent {
    /// What: `claim_created`, `source_retracted` (a work that it has evidence on or comes from was retracted), and what
    /// people and verification do to it.
    pub event: String,
    /// Facts about it.
    pub detail: Value,
    /// The job that did it, when it was one.
    pub cause_id: Option<String>,
    /// When, RFC 3339.
    pub at: String,
}

impl Store {
    /// What happened to a claim, in order.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when there is no such claim.
    pub async fn claim_timeline(&self, claim: &ClaimId) -> Result<Vec<ClaimEvent>> {
        let mut tx = self.reader().begin().await?;
        let known: bool = sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM claims WHERE id = ?)")
            .bind(claim.as_str())
            .fetch_one(&mut *tx)
            .await?;
        if !known {
            return Err(StoreError::not_found("claim", claim));
        }
        let found = sqlx::query("SELECT * FROM claim_events WHERE claim_id = ? ORDER BY seq")
            .bind(claim.as_str())
            .fetch_all(&mut *tx)
            .await?;
        found
            .iter()
            .map(|row| {
                let detail: Option<String> = row.value("detail")?;
                Ok(ClaimEvent {
                    event: row.value("event")?,
                    detail: detail.map_or(Value::Null, |text| {
                        serde_json::from_str(&text).unwrap_or(Value::String(text))
                    }),
                    cause_id: row.value("cause_id")?,
                    at: row.value("at")?,
                })
            })
            .collect()
    }
}

/// Notes that a claim was stored.
pub(crate) async fn note_created(
    connection: &mut SqliteConnection,
    claim: &Claim,
    cause: Option<&JobId>,
    now: &str,
) -> Result<()> {
    let detail = json!({"claim_type": claim.claim_type, "source_fragment_id": claim.source_fragment_id});
    note(connection, &claim.id, "claim_created", &detail, cause, now).await
}

/// Adds to a claim's timeline.
pub(crate) async fn note(
    connection: &mut SqliteConnection,
    claim: &ClaimId,
    event: &str,
    detail: &Value,
    cause: Option<&JobId>,
    now: &str,
) -> Result<()> {
    sqlx::query("INSERT INTO claim_events (claim_id, event, detail, cause_id, at) VALUES (?, ?, ?, ?, ?)")
        .bind(claim.as_str())
        .bind(event)
        .bind(detail.to_string())
        .bind(cause.map(JobId::as_str))
        .bind(now)
        .execute(connection)
        .await?;
    Ok(())
}

/// From the retracted works, which are few and have an index, to the claims. Without `CROSS`, SQLite begins with all edges.
const RETRACTIONS: &str = "
    INSERT INTO claim_events (claim_id, event, detail, cause_id, at)
    SELECT DISTINCT edges.target_id, 'source_retracted', json_object('work_id', works.id), ?1, ?2
    FROM works INDEXED BY works_retracted
    CROSS JOIN pages ON pages.work_id = works.id
    CROSS JOIN fragments ON fragments.page_id = pages.id
    CROSS JOIN edges INDEXED BY edges_once ON edges.source_id = fragments.id AND edges.target_type = 'claim'
    WHERE works.is_retracted = 1
      AND NOT EXISTS (
          SELECT 1 FROM claim_events AS noted
          WHERE noted.claim_id = edges.target_id AND noted.event = 'source_retracted'
            AND noted.detail = json_object('work_id', works.id))
    ORDER BY edges.target_id, works.id";

/// Notes for every claim, once per work, that a work behind its evidence or its origin is retracted. To be called when
/// works or edges may have changed.
pub(crate) async fn note_retractions(
    connection: &mut SqliteConnection,
    cause: &JobId,
    now: &str,
) -> Result<()> {
    sqlx::query(RETRACTIONS).bind(cause.as_str()).bind(now).execute(connection).await?;
    Ok(())
}

#[cfg(test)]
mod tests;
