//! What people and the server decided about domains.

use crate::rows::RowExt;
use crate::{Result, Store, StoreError};
use async_trait::async_trait;
use lyra_domain::TaskId;
use lyra_domain::domains::{DomainOverride, DomainPattern, OverrideDecision};
use lyra_research::ports::DomainStore;
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;
use std::collections::BTreeSet;

/// The most blocked domains that a task lists.
const MAX_TOLD: i64 = 100;

/// A domain that the server blocked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockedDomain {
    /// Registrable domain.
    pub domain: String,
    /// When.
    pub blocked_at: String,
    /// `dangerous_pattern`, `high_rejection_rate`, `denylist`, `manual` or `unknown`.
    pub block_reason: String,
    /// More about it, such as the rule that was broken.
    pub reason: Option<String>,
    /// Job behind it.
    pub cause_id: Option<String>,
    /// Category before.
    pub original_category: String,
}

/// A decision of a person about domains.
#[derive(Debug, Clone, PartialEq)]
pub struct OverrideRule {
    /// Identifier.
    pub id: String,
    /// Why.
    pub reason: String,
    /// The decision.
    pub rule: DomainOverride,
}

#[async_trait]
impl DomainStore for Store {
    async fn overrides(&self) -> lyra_research::Result<Vec<DomainOverride>> {
        let mut connection = self.reader().acquire().await.map_err(StoreError::from)?;
        Ok(override_rules(&mut connection).await?.into_iter().map(|found| found.rule).collect())
    }

    async fn confirmed(&self) -> lyra_research::Result<BTreeSet<String>> {
        let found = sqlx::query_scalar("SELECT domain FROM domain_states WHERE category = 'low'");
        let found: Vec<String> = found.fetch_all(self.reader()).await.map_err(StoreError::from)?;
        Ok(found.into_iter().collect())
    }

    async fn blocked(&self) -> lyra_research::Result<BTreeSet<String>> {
        let mut connection = self.reader().acquire().await.map_err(StoreError::from)?;
        Ok(blocked(&mut connection).await?)
    }
}

impl Store {
    /// Active decisions of people about domains, oldest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn override_rules(&self) -> Result<Vec<OverrideRule>> {
        override_rules(&mut *self.reader().acquire().await?).await
    }

    /// The domains that the server blocked, newest first, at most `limit`.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn blocked_domains(&self, limit: u32) -> Result<Vec<BlockedDomain>> {
        let found = sqlx::query(
            "SELECT domain, category, blocked_at, coalesce(domain_block_reason, 'unknown') AS block_reason, reason, cause_id
             FROM domain_states WHERE blocked_at IS NOT NULL ORDER BY blocked_at DESC, domain LIMIT ?",
        )
        .bind(limit)
        .fetch_all(self.reader())
        .await?;
        found.iter().map(blocked_domain).collect()
    }
}

/// Domains that the server blocked for a reason it recorded.
pub(crate) async fn blocked(connection: &mut SqliteConnection) -> Result<BTreeSet<String>> {
    let found = sqlx::query_scalar("SELECT domain FROM domain_states WHERE blocked_at IS NOT NULL");
    let found: Vec<String> = found.fetch_all(connection).await?;
    Ok(found.into_iter().collect())
}

/// Active rules, oldest first. One with an invalid pattern is skipped and logged, so that it does not disable the
/// others.
pub(crate) async fn override_rules(connection: &mut SqliteConnection) -> Result<Vec<OverrideRule>> {
    let found = sqlx::query(
        "SELECT id, domain_pattern, decision, reason, updated_at FROM domain_override_rules
         WHERE is_active ORDER BY updated_at, id",
    )
    .fetch_all(connection)
    .await?;
    let mut rules = Vec::new();
    for row in &found {
        let (id, pattern): (String, String) = (row.value("id")?, row.value("domain_pattern")?);
        match DomainPattern::parse(&pattern) {
            Ok(pattern) => rules.push(OverrideRule {
                id,
                reason: row.value("reason")?,
                rule: DomainOverride {
                    pattern,
                    decision: row.parsed::<OverrideDecision>("decision")?,
                    updated_at: row.parsed("updated_at")?,
                },
            }),
            Err(error) => tracing::error!(rule_id = id, pattern, %error, "a rule about domains is ignored"),
        }
    }
    Ok(rules)
}

/// Blocked domains that the task has pages of or that its jobs blocked, newest first.
pub(crate) async fn blocked_of(
    connection: &mut SqliteConnection,
    task: &TaskId,
) -> Result<Vec<BlockedDomain>> {
    let found = sqlx::query(
        "SELECT domain, category, blocked_at, coalesce(domain_block_reason, 'unknown') AS block_reason, reason, cause_id
         FROM domain_states
         WHERE blocked_at IS NOT NULL AND (
             domain IN (SELECT pages.domain FROM task_pages JOIN pages ON pages.id = page_id WHERE task_id = ?1)
             OR cause_id IN (SELECT id FROM jobs WHERE task_id = ?1))
         ORDER BY blocked_at DESC, domain LIMIT ?2",
    )
    .bind(task.as_str())
    .bind(MAX_TOLD)
    .fetch_all(connection)
    .await?;
    found.iter().map(blocked_domain).collect()
}

fn blocked_domain(row: &SqliteRow) -> Result<BlockedDomain> {
    Ok(BlockedDomain {
        domain: row.value("domain")?,
        blocked_at: row.value("blocked_at")?,
        block_reason: row.value("block_reason")?,
        reason: row.value("reason")?,
        cause_id: row.value("cause_id")?,
        original_category: row.value("category")?,
    })
}
