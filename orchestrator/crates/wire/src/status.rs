//! A task's state while it runs, and when it is done.

use crate::schema;
use crate::{Budget, Search};
use lyra_domain::domains::OverrideDecision;
use lyra_domain::{AuthItem, AuthStatus, JobState, Priority, TaskStatus};
use schemars::JsonSchema;
use serde::Serialize;

/// A task's state.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Status {
    /// Id of the task.
    pub task_id: String,
    /// Its question.
    pub query: String,
    /// Its state. `completed`: nothing is queued or running; another search resumes it.
    #[schemars(schema_with = "schema::task_status")]
    pub status: TaskStatus,
    /// Why it failed. Only when it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_error: Option<String>,
    /// Why it was stopped. Only when it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    /// How much of the work is done.
    pub progress: Progress,
    /// How much was found.
    pub metrics: Metrics,
    /// Limits, and how much of them is used and left.
    pub budget: BudgetUse,
    /// The searches, in the order they were queued.
    pub searches: Vec<Search>,
    /// Kinds of work that are queued or running, and `auth` when pages require a person.
    pub waiting_for: Vec<String>,
    /// Search engines and pages that require a person (CAPTCHA, consent, login). The task completes without them.
    pub pending_auth_count: u64,
    /// Pages that require a person, highest priority first. Only when there are any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pending_auth: Vec<WaitingPage>,
    /// Notes for readers of the results, such as a source that failed.
    pub warnings: Vec<String>,
    /// Seconds since the last change.
    pub idle_seconds: i64,
    /// Blocked domains among its pages, and those that its jobs blocked, newest first.
    pub blocked_domains: Vec<BlockedDomain>,
    /// Active decisions of people about domains, valid for every task, oldest first.
    pub domain_overrides: Vec<DomainDecision>,
    /// What the evidence graph holds for the task. Only when its status is `completed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence_summary: Option<EvidenceSummary>,
}

/// How much of a task's work is done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Progress {
    /// Searches queued so far.
    pub searches_total: usize,
    /// Searches that ended, successfully or not.
    pub searches_done: usize,
    /// Claims of the task so far.
    pub claims_total: u64,
    /// Claims that were judged against a passage; a claim without a similar passage has none.
    pub claims_judged: u64,
    /// Jobs that wait for a worker.
    pub jobs_queued: u64,
    /// Jobs that run.
    pub jobs_running: u64,
    /// Jobs by phase and state.
    pub jobs: Vec<JobCount>,
}

/// Jobs of one phase in one state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct JobCount {
    /// What the jobs do: `search` finds and ranks passages, `resume` does the same for pages that required a person,
    /// `judge` extracts claims and judges them against passages.
    pub phase: String,
    /// Their state.
    #[schemars(schema_with = "schema::job_state")]
    pub state: JobState,
    /// How many jobs.
    pub count: u64,
}

/// How much a task found.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Metrics {
    /// Pages registered for the task.
    pub pages: u64,
    /// Of those, pages fetched from the web; the others are abstracts from APIs and documents of corpora.
    pub pages_fetched: u64,
    /// Passages of those pages.
    pub fragments: u64,
    /// Passages that address the AI that reads them, by the rule that matched. They are stored but not shown.
    pub quarantined: Vec<QuarantineCount>,
    /// Claims, those given by the user included.
    pub claims: u64,
    /// Seconds of work that its jobs used.
    pub seconds_used: f64,
    /// The use of a language model. Only when one was used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language_model: Option<LanguageModelUse>,
}

/// The use of a language model.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct LanguageModelUse {
    /// Different questions asked.
    pub questions: u64,
    /// Requests that they took.
    pub calls: u64,
    /// Requests without a usable answer.
    pub failures: u64,
    /// Questions without an answer, where rules took over; a warning says why.
    pub fallbacks: u64,
    /// Seconds spent on asking.
    pub seconds: f64,
}

/// Passages in quarantine by one rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct QuarantineCount {
    /// Id of the rule.
    pub rule_id: String,
    /// How many passages.
    pub passages: u64,
}

/// A blocked domain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BlockedDomain {
    /// Registrable domain.
    pub domain: String,
    /// When it was blocked.
    pub blocked_at: String,
    /// `dangerous_pattern`, `high_rejection_rate`, `denylist`, `manual` or `unknown`.
    pub domain_block_reason: String,
    /// The risk of using it again: `high` for `dangerous_pattern` and `unknown`, else `low`.
    pub domain_unblock_risk: String,
    /// Details, such as the rule that matched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The job that caused it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause_id: Option<String>,
    /// Its category before.
    pub original_domain_category: String,
    /// How a person can lift the block, in the words of the edge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restore_via: Option<String>,
    /// A person's decision that overrides it, if any.
    #[serde(rename = "override", skip_serializing_if = "Option::is_none")]
    pub overridden: Option<DomainDecision>,
}

/// A person's decision about domains.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DomainDecision {
    /// Id of the rule.
    pub rule_id: String,
    /// Which domains.
    pub domain_pattern: String,
    /// What was decided.
    #[schemars(schema_with = "schema::decision")]
    pub decision: OverrideDecision,
    /// The reason for the decision.
    pub reason: String,
    /// When it was last changed, RFC 3339, UTC.
    pub updated_at: String,
}

/// Limits of a task, and what it used of them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct BudgetUse {
    /// The limits.
    #[serde(flatten)]
    pub limits: Budget,
    /// Pages registered.
    pub pages_used: u64,
    /// Share that is left of the pages or of the time, whichever is smaller, 0 to 100.
    pub remaining_percent: f64,
}

/// What the evidence graph holds for a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct EvidenceSummary {
    /// Claims of the task.
    pub total_claims: u64,
    /// Passages of its pages.
    pub total_fragments: u64,
    /// Pages registered for it.
    pub total_pages: u64,
    /// Edges by which a passage supports a claim.
    pub supporting_edges: u64,
    /// Edges by which a passage refutes a claim.
    pub refuting_edges: u64,
    /// Edges by which a passage does neither.
    pub neutral_edges: u64,
    /// Domains with the most pages, largest first, at most 10.
    pub top_domains: Vec<String>,
}

/// A page that requires a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WaitingPage {
    /// Id of the entry; commands and tools that resolve it take it.
    pub queue_id: String,
    /// The task whose search waits.
    pub task_id: String,
    /// The page that the person must open.
    pub url: String,
    /// The domain whose cookies will be used.
    pub domain: String,
    /// What the page requires: `captcha`, `turnstile`, `cloudflare`, `consent` or `login`.
    pub auth_type: String,
    /// Its importance: `high` for a search engine, `medium` for a page.
    #[schemars(schema_with = "schema::priority")]
    pub priority: Priority,
    /// `pending`, or `in_progress` while a person is working on it.
    #[schemars(schema_with = "schema::auth_status")]
    pub status: AuthStatus,
    /// When the page was encountered, RFC 3339, UTC.
    pub created_at: String,
    /// When it expires, RFC 3339, UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
}

impl From<AuthItem> for WaitingPage {
    fn from(item: AuthItem) -> Self {
        Self {
            queue_id: item.id.into(),
            task_id: item.task_id.into(),
            url: item.url,
            domain: item.domain,
            auth_type: item.auth_type,
            priority: item.priority,
            status: item.status,
            created_at: item.created_at,
            expires_at: item.expires_at,
        }
    }
}
