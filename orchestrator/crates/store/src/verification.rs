//! Claims are verified from their evidence, and domains from the claims found on them (evidence design, section 5).

use crate::rows::RowExt;
use crate::{Result, Store, domains, reports, timeline};
use lyra_domain::domains::{DomainCategory, DomainRules};
use lyra_domain::verification::{ClaimFacts, DomainBlockReason, DomainClaims, VerificationReason, verify};
use lyra_domain::{ClaimId, ClaimReport, JobId, TaskId, VerificationStatus};
use serde_json::json;
use sqlx::{AssertSqlSafe, SqliteConnection};
use std::collections::BTreeMap;

impl Store {
    /// Verifies the adopted claims of a task, and updates the status of their domains.
    pub(crate) async fn verify_task(&self, task: &TaskId, cause: &JobId) -> Result<()> {
        let now = self.stamp();
        let mut tx = self.write().await?;
        settle(&mut tx, Of::Task(task), Some(cause), &now).await?;
        tx.commit().await?;
        Ok(())
    }
}

/// Which claims.
pub(crate) enum Of<'a> {
    /// All of a task.
    Task(&'a TaskId),
    /// One.
    Claim(&'a ClaimId),
    /// Those found on a registrable domain.
    Domain(&'a str),
}

impl Of<'_> {
    /// SQL over `claims`, and the value it has for these.
    fn column(&self) -> (&'static str, &str) {
        match self {
            Self::Task(task) => ("claims.task_id", task.as_str()),
            Self::Claim(claim) => ("claims.id", claim.as_str()),
            Self::Domain(domain) => ("claims.source_domain", domain),
        }
    }
}

/// Where a claim was found.
struct Origin {
    domain: String,
    category: String,
    quarantined: bool,
}

/// Verifies these claims and updates the domains that they were found on. It is idempotent.
pub(crate) async fn settle(
    connection: &mut SqliteConnection,
    of: Of<'_>,
    cause: Option<&JobId>,
    now: &str,
) -> Result<()> {
    let (column, value) = of.column();
    let origins = origins(connection, column, value).await?;
    let rules = DomainRules {
        overrides: domains::override_rules(connection).await?.into_iter().map(|found| found.rule).collect(),
        blocked: domains::blocked(connection).await?,
        ..DomainRules::default()
    };
    for report in reports::load_adopted_reports(connection, column, value).await? {
        let origin = origins.get(report.claim.id.as_str());
        let (status, reason) = verify(facts(&report, origin, &rules));
        record(connection, &report.claim.id, status, reason, cause, now).await?;
    }
    let found_on: BTreeMap<&str, &str> =
        origins.values().map(|origin| (origin.domain.as_str(), origin.category.as_str())).collect();
    for (domain, category) in found_on {
        settle_domain(connection, domain, category, cause, now).await?;
    }
    Ok(())
}

fn facts(report: &ClaimReport, origin: Option<&Origin>, rules: &DomainRules) -> ClaimFacts {
    ClaimFacts {
        dangerous: origin.is_some_and(|origin| origin.quarantined),
        domain_blocked: origin
            .is_some_and(|origin| rules.decide(&origin.domain).category == DomainCategory::Blocked),
        supporting_sources: report.supporting_sources,
        refuting_count: report.refuting_count,
    }
}

/// Origins of claims found in pages, by claim; users' claims have none.
async fn origins(
    connection: &mut SqliteConnection,
    column: &str,
    value: &str,
) -> Result<BTreeMap<String, Origin>> {
    let sql = format!(
        "SELECT claims.id, pages.domain, pages.domain_category,
                EXISTS (SELECT 1 FROM quarantined_fragments AS q WHERE q.id = fragments.id) AS quarantined
         FROM claims JOIN fragments ON fragments.id = claims.source_fragment_id
         JOIN pages ON pages.id = fragments.page_id WHERE {column} = ?"
    );
    let found = sqlx::query(AssertSqlSafe(sql)).bind(value).fetch_all(connection).await?;
    found
        .iter()
        .map(|row| {
            let origin = Origin {
                domain: row.value("domain")?,
                category: row.value("domain_category")?,
                quarantined: row.value("quarantined")?,
            };
            Ok((row.value("id")?, origin))
        })
        .collect()
}

async fn record(
    connection: &mut SqliteConnection,
    claim: &ClaimId,
    status: VerificationStatus,
    reason: VerificationReason,
    cause: Option<&JobId>,
    now: &str,
) -> Result<()> {
    let changed = sqlx::query(
        "UPDATE claims SET source_verification_status = ?2, verification_reason = ?3
         WHERE id = ?1 AND (source_verification_status <> ?2 OR verification_reason IS NOT ?3)",
    )
    .bind(claim.as_str())
    .bind(status.as_str())
    .bind(reason.as_str())
    .execute(&mut *connection)
    .await?
    .rows_affected();
    if changed == 0 {
        return Ok(());
    }
    let detail = json!({ "status": status, "reason": reason });
    timeline::note(connection, claim, "source_verification", &detail, cause, now).await
}

/// Counts a domain's claims, blocks it when too many of them were rejected, and lifts that block when this no longer
/// holds. A local corpus does not count as a domain.
pub(crate) async fn settle_domain(
    connection: &mut SqliteConnection,
    domain: &str,
    category: &str,
    cause: Option<&JobId>,
    now: &str,
) -> Result<()> {
    if domain.starts_with("corpus:") {
        return Ok(());
    }
    let row = sqlx::query(
        "SELECT count(*) AS total,
                count(*) FILTER (WHERE adopted AND status = 'verified') AS verified,
                count(*) FILTER (WHERE adopted AND status = 'pending') AS pending,
                count(*) FILTER (WHERE security) AS security,
                count(*) FILTER (WHERE manual) AS manual,
                count(*) FILTER (WHERE security OR manual) AS combined
         FROM (
             SELECT source_verification_status AS status, claim_adoption_status = 'adopted' AS adopted,
                    verification_reason IS 'dangerous_pattern' AS security,
                    claim_adoption_status = 'not_adopted' AND claim_rejection_reason IS NOT 'dangerous_pattern' AS manual
             FROM claims WHERE source_domain = ?)",
    )
    .bind(domain)
    .fetch_one(&mut *connection)
    .await?;
    let claims = DomainClaims {
        total: row.count("total")?,
        verified: row.count("verified")?,
        security_rejected: row.count("security")?,
        manual_rejected: row.count("manual")?,
        combined_rejected: row.count("combined")?,
    };
    let known: Option<String> = sqlx::query_scalar("SELECT category FROM domain_states WHERE domain = ?")
        .bind(domain)
        .fetch_optional(&mut *connection)
        .await?;
    let category = known.as_deref().unwrap_or(category).parse().unwrap_or(DomainCategory::Unverified);
    sqlx::query(
        "INSERT INTO domain_states (domain, category, claims, verified_claims, pending_claims, security_rejected_claims,
             manual_rejected_claims, combined_rejected_claims)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
         ON CONFLICT (domain) DO UPDATE SET
             category = ?2, claims = ?3, verified_claims = ?4, pending_claims = ?5, security_rejected_claims = ?6,
             manual_rejected_claims = ?7, combined_rejected_claims = ?8",
    )
    .bind(domain)
    .bind(claims.lifted(category).as_str())
    .bind(to_stored(claims.total))
    .bind(to_stored(claims.verified))
    .bind(row.value::<i64>("pending")?)
    .bind(to_stored(claims.security_rejected))
    .bind(to_stored(claims.manual_rejected))
    .bind(to_stored(claims.combined_rejected))
    .execute(&mut *connection)
    .await?;
    let by_rate = DomainBlockReason::HighRejectionRate.as_str();
    let change = if claims.too_many_rejected(category) {
        "UPDATE domain_states SET blocked_at = ?2, domain_block_reason = ?3, reason = ?4, cause_id = ?5
         WHERE domain = ?1 AND blocked_at IS NULL"
    } else {
        "UPDATE domain_states SET blocked_at = NULL, domain_block_reason = NULL, reason = NULL, cause_id = NULL
         WHERE domain = ?1 AND domain_block_reason = ?3"
    };
    sqlx::query(change)
        .bind(domain)
        .bind(now)
        .bind(by_rate)
        .bind(format!("{} of {} claims rejected", claims.combined_rejected, claims.total))
        .bind(cause.map(JobId::as_str))
        .execute(connection)
        .await?;
    Ok(())
}

fn to_stored(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
