//! Quarantined passages, which no model or agent gets to see because it could take them for instructions, and the
//! domains blocked for them.

use crate::Result;
use lyra_domain::{FragmentId, JobId, PageId};
use lyra_research::ports::{NewPage, Quarantined};
use sqlx::SqliteConnection;

/// Why claims are rejected and domains blocked.
const DANGEROUS: &str = "dangerous_pattern";

/// Quarantines a passage. One that older rules considered harmless is withdrawn: its text and vectors are deleted, and
/// claims found in it are rejected.
pub(crate) async fn put(
    connection: &mut SqliteConnection,
    page: &PageId,
    (id, text_hash): (&FragmentId, &str),
    passage: &Quarantined,
    cause: &JobId,
    now: &str,
) -> Result<()> {
    let fragment = &passage.fragment;
    sqlx::query(
        "INSERT INTO quarantined_fragments (id, page_id, fragment_type, position, char_start, char_end, text_hash, rule_id,
             severity, cause_id, quarantined_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
    )
    .bind(id.as_str())
    .bind(page.as_str())
    .bind(fragment.fragment_type.as_str())
    .bind(fragment.position)
    .bind(fragment.char_start)
    .bind(fragment.char_end)
    .bind(text_hash)
    .bind(&passage.danger.rule)
    .bind(&passage.danger.severity)
    .bind(cause.as_str())
    .bind(now)
    .execute(&mut *connection)
    .await?;
    sqlx::query(
        "INSERT INTO private.quarantined_texts (id, text_content, heading_context) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
    )
    .bind(id.as_str())
    .bind(&fragment.text_content)
    .bind(&fragment.heading_context)
    .execute(&mut *connection)
    .await?;
    let known: Option<String> = sqlx::query_scalar(
        "SELECT id FROM fragments WHERE page_id = ? AND text_hash = ? AND text_content <> ''",
    )
    .bind(page.as_str())
    .bind(text_hash)
    .fetch_optional(&mut *connection)
    .await?;
    match known {
        Some(known) => withdraw(connection, &known, &passage.danger.rule, cause, now).await,
        None => Ok(()),
    }
}

/// Removes the text of a stored fragment, and everything derived from it.
async fn withdraw(
    connection: &mut SqliteConnection,
    fragment: &str,
    rule: &str,
    cause: &JobId,
    now: &str,
) -> Result<()> {
    for sql in [
        "DELETE FROM embeddings WHERE target_type = 'fragment' AND target_id = ?",
        "DELETE FROM embeddings WHERE target_type = 'claim'
             AND target_id IN (SELECT id FROM claims WHERE source_fragment_id = ?)",
        "DELETE FROM query_fragments WHERE fragment_id = ?",
        // The samples of a calibration keep their numbers.
        "UPDATE nli_corrections SET premise = '' WHERE edge_id IN (SELECT id FROM edges WHERE source_id = ?)",
        "UPDATE nli_corrections SET hypothesis = '' WHERE edge_id IN (
             SELECT edges.id FROM claims JOIN edges ON edges.target_id = claims.id
             WHERE claims.source_fragment_id = ?)",
        "UPDATE llm_questions SET answer = NULL, fallback_reason = 'its passage is in quarantine'
         WHERE subject = ? AND answer IS NOT NULL",
        "UPDATE edges SET premise = NULL, missing = '[]', differs = '[]' WHERE source_id = ?",
        // What such a claim names is what the passage names.
        "UPDATE edges SET missing = '[]', differs = '[]'
         WHERE target_id IN (SELECT id FROM claims WHERE source_fragment_id = ?)",
        "UPDATE edges SET citation_context = NULL FROM fragments
         WHERE fragments.id = ? AND edges.source_id = fragments.page_id AND relation = 'cites'
           AND (instr(text_content, citation_context) > 0 OR instr(citation_context, text_content) > 0)",
        "UPDATE fragments SET text_content = '', heading_context = NULL, is_relevant = 0 WHERE id = ?",
    ] {
        sqlx::query(sql).bind(fragment).execute(&mut *connection).await?;
    }
    sqlx::query(
        "INSERT INTO claim_events (claim_id, event, detail, cause_id, at)
         SELECT id, 'rejected', ?2, ?3, ?4 FROM claims WHERE source_fragment_id = ?1",
    )
    .bind(fragment)
    .bind(format!("{DANGEROUS}: {rule}"))
    .bind(cause.as_str())
    .bind(now)
    .execute(&mut *connection)
    .await?;
    sqlx::query(
        "UPDATE claims SET claim_text = 'withheld: its passage broke the rule ' || ?2,
             claim_adoption_status = 'not_adopted', claim_rejection_reason = ?3, claim_rejected_at = ?4,
             source_verification_status = 'rejected', verification_reason = ?3, cause_id = ?5
         WHERE source_fragment_id = ?1",
    )
    .bind(fragment)
    .bind(rule)
    .bind(DANGEROUS)
    .bind(now)
    .bind(cause.as_str())
    .execute(connection)
    .await?;
    Ok(())
}

/// Whether this text of this page is in quarantine. It stays there even if later rules do not match: releasing it is a
/// person's decision.
pub(crate) async fn holds(connection: &mut SqliteConnection, page: &PageId, text_hash: &str) -> Result<bool> {
    let held = "SELECT EXISTS (SELECT 1 FROM quarantined_fragments WHERE page_id = ? AND text_hash = ?)";
    Ok(sqlx::query_scalar(held).bind(page.as_str()).bind(text_hash).fetch_one(connection).await?)
}

/// Blocks the page's domain if the page requires it. A blocked domain keeps its first reason.
pub(crate) async fn block_domain(
    connection: &mut SqliteConnection,
    new: &NewPage,
    cause: &JobId,
    now: &str,
) -> Result<()> {
    let Some(rule) = &new.blocks_domain else { return Ok(()) };
    sqlx::query(
        "INSERT INTO domain_states (domain, category, blocked_at, domain_block_reason, reason, cause_id)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT (domain) DO UPDATE SET
             blocked_at = excluded.blocked_at, domain_block_reason = excluded.domain_block_reason,
             reason = excluded.reason, cause_id = excluded.cause_id
         WHERE blocked_at IS NULL",
    )
    .bind(&new.page.domain)
    .bind(&new.page.domain_category)
    .bind(now)
    .bind(DANGEROUS)
    .bind(rule)
    .bind(cause.as_str())
    .execute(connection)
    .await?;
    Ok(())
}

#[cfg(test)]
mod tests;
