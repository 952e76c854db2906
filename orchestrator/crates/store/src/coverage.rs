//! What the evidence of a task does not cover.

use crate::rows::RowExt;
use crate::{Result, Store, tasks};
use lyra_domain::{ClaimId, TaskId};
use std::collections::BTreeSet;

/// Results that were not read or judged, and sources that did not answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Works and pages of the task.
    pub works: u64,
    /// Of those, the ones without any text.
    pub works_without_text: u64,
    /// Works with relevant passages, none of which was judged.
    pub works_not_judged: u64,
    /// Relevant passages of the task's searches.
    pub passages: u64,
    /// Of those, the ones that were not judged.
    pub passages_not_judged: u64,
    /// Languages without judged passages although others have some, each with its number of passages, largest first.
    pub languages: Vec<(String, u64)>,
    /// What sources that failed answered, each once.
    pub failures: Vec<String>,
}

/// Relevant passages of task `?1`, and whether they were judged: against claim `?2`, or against any claim when that is null.
const RELEVANT: &str = "SELECT DISTINCT fragments.id,
        coalesce(pages.work_id, pages.id) AS work,
        EXISTS (SELECT 1 FROM edges JOIN claims ON claims.id = edges.target_id
            WHERE edges.source_id = fragments.id AND edges.relation IN ('supports', 'refutes', 'neutral')
              AND claims.task_id = ?1 AND (?2 IS NULL OR claims.id = ?2)) AS judged
    FROM query_fragments
    JOIN queries ON queries.id = query_fragments.query_id AND queries.task_id = ?1
    JOIN fragments ON fragments.id = query_fragments.fragment_id
    JOIN pages ON pages.id = fragments.page_id
    WHERE query_fragments.is_relevant = 1";

impl Store {
    /// What was not covered: of the evidence for one claim when it is given, of the task's evidence otherwise.
    ///
    /// # Errors
    /// [`crate::StoreError::NotFound`] when there is no such task.
    pub async fn coverage(&self, task: &TaskId, claim: Option<&ClaimId>) -> Result<Coverage> {
        let mut tx = self.reader().begin().await?;
        tasks::load(&mut tx, task).await?;
        let works = sqlx::query(
            "SELECT count(*) AS works, count(*) FILTER (WHERE texts = 0) AS without_text FROM (
                 SELECT coalesce(pages.work_id, pages.id) AS work,
                        sum((SELECT count(*) FROM fragments WHERE fragments.page_id = pages.id AND text_content <> '')) AS texts
                 FROM task_pages JOIN pages ON pages.id = task_pages.page_id WHERE task_id = ? GROUP BY work)",
        )
        .bind(task.as_str())
        .fetch_one(&mut *tx)
        .await?;
        let judged = sqlx::query(sqlx::AssertSqlSafe(format!(
            "WITH relevant AS ({RELEVANT})
             SELECT count(*) AS passages, count(*) FILTER (WHERE NOT judged) AS not_judged,
                    (SELECT count(*) FROM (SELECT work FROM relevant GROUP BY work HAVING max(judged) = 0)) AS works_not_judged
             FROM relevant"
        )))
        .bind(task.as_str())
        .bind(claim.map(ClaimId::as_str))
        .fetch_one(&mut *tx)
        .await?;
        let languages = sqlx::query(
            "WITH passages AS (
                 SELECT pages.language, EXISTS (SELECT 1 FROM edges JOIN claims ON claims.id = edges.target_id
                     WHERE edges.source_id = fragments.id AND claims.task_id = ?1
                       AND edges.relation IN ('supports', 'refutes', 'neutral')) AS judged
                 FROM task_pages JOIN pages ON pages.id = task_pages.page_id
                 JOIN fragments ON fragments.page_id = pages.id AND fragments.text_content <> ''
                 WHERE task_pages.task_id = ?1)
             SELECT language, count(*) AS passages FROM passages WHERE language IS NOT NULL
             GROUP BY language HAVING max(judged) = 0 AND (SELECT max(judged) FROM passages) = 1
             ORDER BY passages DESC, language",
        )
        .bind(task.as_str())
        .fetch_all(&mut *tx)
        .await?;
        let errors = sqlx::query("SELECT source_errors FROM queries WHERE task_id = ? ORDER BY seq")
            .bind(task.as_str())
            .fetch_all(&mut *tx)
            .await?;
        let mut seen = BTreeSet::new();
        let mut failures = Vec::new();
        for row in &errors {
            let told: Vec<String> = row.json_or_default("source_errors")?;
            failures.extend(told.into_iter().filter(|failure| seen.insert(failure.clone())));
        }
        Ok(Coverage {
            works: works.count("works")?,
            works_without_text: works.count("without_text")?,
            works_not_judged: judged.count("works_not_judged")?,
            passages: judged.count("passages")?,
            passages_not_judged: judged.count("not_judged")?,
            languages: languages
                .iter()
                .map(|row| Ok((row.value("language")?, row.count("passages")?)))
                .collect::<Result<_>>()?,
            failures,
        })
    }
}

#[cfg(test)]
mod tests;
