//! People's decisions about domains: active rules, and their history.

use crate::rows::RowExt;
use crate::verification::{self, Of};
use crate::{Result, Store, StoreError};
use lyra_domain::domains::{DomainPattern, OverrideDecision};
use lyra_domain::{OverrideEventId, OverrideRuleId};
use sqlx::SqliteConnection;
use uuid::Uuid;

/// The effect of a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleChange {
    /// The created, changed or withdrawn rule.
    pub rule: OverrideRuleId,
    /// Its entry in the history.
    pub event: OverrideEventId,
    /// The previous decision for the pattern; `None` when no rule was active.
    pub previous: Option<OverrideDecision>,
    /// The current decision; `None` when it was withdrawn.
    pub decision: Option<OverrideDecision>,
}

impl Store {
    /// Blocks or unblocks the domains of a pattern. A pattern has at most one active rule: a second decision replaces
    /// the first, and both stay in the history.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub async fn override_domain(
        &self,
        pattern: &DomainPattern,
        decision: OverrideDecision,
        reason: &str,
    ) -> Result<RuleChange> {
        let now = self.stamp();
        let mut tx = self.write().await?;
        let known = in_force(&mut tx, pattern).await?;
        let rule =
            known.as_ref().map_or_else(|| OverrideRuleId::new(Uuid::now_v7()), |(rule, _)| rule.clone());
        sqlx::query(
            "INSERT INTO domain_override_rules (id, domain_pattern, decision, reason, created_at, updated_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?5)
             ON CONFLICT (id) DO UPDATE SET decision = ?3, reason = ?4, updated_at = ?5",
        )
        .bind(rule.as_str())
        .bind(pattern.to_string())
        .bind(decision.as_str())
        .bind(reason)
        .bind(&now)
        .execute(&mut *tx)
        .await?;
        let previous = known.map(|(_, previous)| previous);
        let event = record(&mut tx, &rule, pattern, Some(decision), Some(reason), &now).await?;
        follow(&mut tx, pattern, &now).await?;
        tx.commit().await?;
        Ok(RuleChange { rule, event, previous, decision: Some(decision) })
    }

    /// Withdraws the rule of exactly this pattern, so that lists and blocks apply again.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when the pattern has no active rule.
    pub async fn clear_override(&self, pattern: &DomainPattern, reason: Option<&str>) -> Result<RuleChange> {
        let now = self.stamp();
        let mut tx = self.write().await?;
        let (rule, previous) = in_force(&mut tx, pattern)
            .await?
            .ok_or_else(|| StoreError::not_found("an override of the domain pattern", pattern))?;
        sqlx::query("UPDATE domain_override_rules SET is_active = 0, updated_at = ? WHERE id = ?")
            .bind(&now)
            .bind(rule.as_str())
            .execute(&mut *tx)
            .await?;
        let event = record(&mut tx, &rule, pattern, None, reason, &now).await?;
        follow(&mut tx, pattern, &now).await?;
        tx.commit().await?;
        Ok(RuleChange { rule, event, previous: Some(previous), decision: None })
    }
}

/// Claims found on the domain are verified again. A pattern that only names subdomains does not decide about the
/// registrable domain.
async fn follow(connection: &mut SqliteConnection, pattern: &DomainPattern, now: &str) -> Result<()> {
    match pattern {
        DomainPattern::Exact(domain) => verification::settle(connection, Of::Domain(domain), None, now).await,
        DomainPattern::Below(_) => Ok(()),
    }
}

async fn in_force(
    connection: &mut SqliteConnection,
    pattern: &DomainPattern,
) -> Result<Option<(OverrideRuleId, OverrideDecision)>> {
    let row = sqlx::query(
        "SELECT id, decision FROM domain_override_rules WHERE domain_pattern = ? AND is_active = 1
         ORDER BY updated_at DESC LIMIT 1",
    )
    .bind(pattern.to_string())
    .fetch_optional(connection)
    .await?;
    row.map(|row| Ok((row.parsed("id")?, row.parsed("decision")?))).transpose()
}

async fn record(
    connection: &mut SqliteConnection,
    rule: &OverrideRuleId,
    pattern: &DomainPattern,
    decision: Option<OverrideDecision>,
    reason: Option<&str>,
    now: &str,
) -> Result<OverrideEventId> {
    let event = OverrideEventId::new(Uuid::now_v7());
    let (action, decision) = match decision {
        Some(OverrideDecision::Block) => ("domain_block", "block"),
        Some(OverrideDecision::Unblock) => ("domain_unblock", "unblock"),
        None => ("domain_clear_override", "clear"),
    };
    sqlx::query(
        "INSERT INTO domain_override_events (id, rule_id, action, domain_pattern, decision, reason, created_at)
         VALUES (?, ?, ?, ?, ?, ?, ?)",
    )
    .bind(event.as_str())
    .bind(rule.as_str())
    .bind(action)
    .bind(pattern.to_string())
    .bind(decision)
    .bind(reason)
    .bind(now)
    .execute(connection)
    .await?;
    Ok(event)
}
