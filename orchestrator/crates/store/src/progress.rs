//! Where a task stands.

use crate::rows::{self, RowExt};
use crate::{BlockedDomain, OverrideRule, Result, Store, asked, auth, domains, tasks};
use lyra_domain::{AuthItem, JobState, Query, Relation, Task, TaskId};
use lyra_research::ports::LlmUse;
use sqlx::sqlite::SqliteRow;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};

/// Tasks whose progress is kept.
const KEPT: usize = 32;

/// A task with everything that counts its progress, as of one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskProgress {
    /// The task.
    pub task: Task,
    /// Its searches, in the order they were queued.
    pub queries: Vec<Query>,
    /// Its jobs by kind and state.
    pub jobs: Vec<JobCount>,
    /// Pages used.
    pub pages: u64,
    /// Fragments of those pages.
    pub fragments: u64,
    /// Adopted claims.
    pub claims: u64,
    /// How many of them were judged against a passage.
    pub claims_judged: u64,
    /// Edges of those claims, and citations from its pages, by relation; absent relations have none.
    pub edges: BTreeMap<Relation, u64>,
    /// Notes for its readers, in chronological order.
    pub warnings: Vec<String>,
    /// Why it was stopped.
    pub stop_reason: Option<String>,
    /// Seconds of work that its jobs used.
    pub seconds_used: f64,
    /// Moment of the last change.
    pub last_activity: jiff::Timestamp,
    /// Domains of its pages, at most ten, with their number of pages, largest first.
    pub top_domains: Vec<(String, u64)>,
    /// Pages that were fetched from the web.
    pub fetched: u64,
    /// Passages in quarantine, by the rule that they broke.
    pub quarantined: Vec<(String, u64)>,
    /// Domains that the server blocked, of the task's pages or by its jobs.
    pub blocked_domains: Vec<BlockedDomain>,
    /// What people decided about domains.
    pub overrides: Vec<OverrideRule>,
    /// Engines and pages that require a person.
    pub pending_auth: u64,
    /// The same as a list, highest priority first.
    pub waiting: Vec<AuthItem>,
    /// The use of a language model, if any.
    pub llm: Option<LlmUse>,
}

/// How many jobs of a kind are in a state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobCount {
    /// `search`, `judge`, ….
    pub kind: String,
    /// State.
    pub state: JobState,
    /// How many.
    pub count: u64,
}

impl TaskProgress {
    /// How many jobs are in a state.
    pub fn jobs_in(&self, state: JobState) -> u64 {
        self.jobs.iter().filter(|jobs| jobs.state == state).map(|jobs| jobs.count).sum()
    }

    /// How many edges have a relation.
    pub fn edges_of(&self, relation: Relation) -> u64 {
        self.edges.get(&relation).copied().unwrap_or(0)
    }
}

/// The progress of tasks as of the store's last change.
#[derive(Default)]
pub(crate) struct ProgressCache(Mutex<Counted>);

#[derive(Default)]
struct Counted {
    stamp: i64,
    tasks: HashMap<TaskId, TaskProgress>,
}

impl ProgressCache {
    fn get(&self, task: &TaskId, stamp: i64) -> Option<TaskProgress> {
        let counted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        counted.tasks.get(task).filter(|_| counted.stamp == stamp).cloned()
    }

    /// Keeps what was counted at a stamp or later.
    fn keep(&self, stamp: i64, progress: &TaskProgress) {
        let mut counted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if counted.stamp != stamp || counted.tasks.len() >= KEPT {
            counted.tasks.clear();
            counted.stamp = stamp;
        }
        counted.tasks.insert(progress.task.id.clone(), progress.clone());
    }
}

impl Store {
    /// A task's progress, as of one moment. It is counted again only after a change of the store; seconds of work go on
    /// without one.
    ///
    /// # Errors
    /// [`crate::StoreError::NotFound`] when there is no such task.
    pub async fn task_status(&self, task: &TaskId) -> Result<TaskProgress> {
        // A change after this moment makes the stamp another one, so that what is counted now is not taken for current.
        let stamp = self.change_stamp().await?;
        if let Some(known) = self.progress_cache().get(task, stamp) {
            return Ok(TaskProgress { seconds_used: self.job_seconds(task).await?, ..known });
        }
        let counted = self.count_progress(task).await?;
        self.progress_cache().keep(stamp, &counted);
        Ok(counted)
    }

    async fn count_progress(&self, task: &TaskId) -> Result<TaskProgress> {
        let seconds_used = self.job_seconds(task).await?;
        let id = task.as_str();
        let mut tx = self.reader().begin().await?;
        let loaded = tasks::load(&mut tx, task).await?;
        let counts = sqlx::query(
            "SELECT
                (SELECT count(*) FROM task_pages WHERE task_id = ?1) AS pages,
                (SELECT count(*) FROM task_pages JOIN pages ON pages.id = page_id
                 WHERE task_id = ?1 AND fetch_method IN ('http', 'browser')) AS fetched,
                (SELECT count(*) FROM fragments JOIN task_pages USING (page_id)
                 WHERE task_id = ?1 AND text_content <> '') AS fragments,
                (SELECT count(*) FROM claims WHERE task_id = ?1 AND claim_adoption_status = 'adopted') AS claims,
                (SELECT count(*) FROM claims WHERE task_id = ?1 AND claim_adoption_status = 'adopted'
                 AND EXISTS (SELECT 1 FROM edges INDEXED BY edges_numbers WHERE target_id = claims.id
                             AND relation IN ('supports', 'refutes', 'neutral'))) AS claims_judged,
                (SELECT count(*) FROM auth_queue WHERE task_id = ?1 AND status IN ('pending', 'in_progress'))
                    AS pending_auth,
                updated_at, stop_reason
             FROM tasks WHERE id = ?1",
        )
        .bind(id)
        .fetch_one(&mut *tx)
        .await?;
        let queries = sqlx::query("SELECT * FROM queries WHERE task_id = ? ORDER BY seq")
            .bind(id)
            .fetch_all(&mut *tx)
            .await?;
        let jobs = sqlx::query(
            "SELECT kind, state, count(*) AS count FROM jobs WHERE task_id = ?
             GROUP BY kind, state ORDER BY min(seq), state",
        )
        .bind(id)
        .fetch_all(&mut *tx)
        .await?;
        let edges = sqlx::query(
            "SELECT relation, count(*) AS count FROM (
                 SELECT relation FROM edges JOIN claims ON claims.id = target_id
                 WHERE task_id = ?1 AND claim_adoption_status = 'adopted'
                 UNION ALL
                 SELECT relation FROM edges JOIN task_pages ON page_id = source_id
                 WHERE task_id = ?1 AND relation = 'cites')
             GROUP BY relation",
        )
        .bind(id)
        .fetch_all(&mut *tx)
        .await?;
        let warnings = sqlx::query_scalar("SELECT warning FROM task_warnings WHERE task_id = ? ORDER BY seq")
            .bind(id)
            .fetch_all(&mut *tx)
            .await?;
        let domains = sqlx::query(
            "SELECT domain, count(*) AS count FROM task_pages JOIN pages ON pages.id = page_id WHERE task_id = ?
             GROUP BY domain ORDER BY count DESC, domain LIMIT 10",
        )
        .bind(id)
        .fetch_all(&mut *tx)
        .await?;
        let quarantined = sqlx::query(
            "SELECT rule_id, count(*) AS count FROM quarantined_fragments JOIN task_pages USING (page_id)
             WHERE task_id = ? GROUP BY rule_id ORDER BY count DESC, rule_id",
        )
        .bind(id)
        .fetch_all(&mut *tx)
        .await?;
        let blocked_domains = domains::blocked_of(&mut tx, task).await?;
        let overrides = domains::override_rules(&mut tx).await?;
        let waiting = sqlx::query(auth::OPEN_ITEMS).bind(id).fetch_all(&mut *tx).await?;
        let llm = asked::load_usage(&mut tx, task).await?;
        Ok(TaskProgress {
            llm,
            task: loaded,
            queries: queries.iter().map(rows::query).collect::<Result<_>>()?,
            jobs: jobs.iter().map(job_count).collect::<Result<_>>()?,
            pages: counts.count("pages")?,
            fragments: counts.count("fragments")?,
            claims: counts.count("claims")?,
            claims_judged: counts.count("claims_judged")?,
            edges: edges
                .iter()
                .map(|row| Ok((row.parsed("relation")?, row.count("count")?)))
                .collect::<Result<_>>()?,
            warnings,
            stop_reason: counts.value("stop_reason")?,
            seconds_used,
            last_activity: counts.parsed("updated_at")?,
            top_domains: domains
                .iter()
                .map(|row| Ok((row.value("domain")?, row.count("count")?)))
                .collect::<Result<_>>()?,
            pending_auth: counts.count("pending_auth")?,
            fetched: counts.count("fetched")?,
            quarantined: quarantined
                .iter()
                .map(|row| Ok((row.value("rule_id")?, row.count("count")?)))
                .collect::<Result<_>>()?,
            blocked_domains,
            overrides,
            waiting: waiting.iter().map(auth::item).collect::<Result<_>>()?,
        })
    }
}

pub(crate) fn job_count(row: &SqliteRow) -> Result<JobCount> {
    Ok(JobCount { kind: row.value("kind")?, state: row.parsed("state")?, count: row.count("count")? })
}
