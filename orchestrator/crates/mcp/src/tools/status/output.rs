//! A task's state as `get_status` and the task resource return it.

use super::Detail;
use crate::reply::{CONTENT_NOTICE, cut_note, fit};
use crate::schema::one_of;
use crate::tools::auth::Item;
use crate::tools::tasks::status;
use lyra_domain::domains::{DomainOverride, deciding_override};
use lyra_domain::verification::DomainBlockReason;
use lyra_domain::{Budget, JobState, Query, QueryStatus, Relation, TaskStatus};
use lyra_research::ports::LlmUse;
use lyra_store::{BlockedDomain, OverrideRule, TaskProgress};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;

/// Bytes of one result that the searches may take.
const SEARCH_BYTES: usize = 40_000;
/// Bytes of one result that the auth queue may take.
const AUTH_BYTES: usize = 5_000;
/// Bytes of one result that the warnings may take.
const WARNING_BYTES: usize = 10_000;

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct GetStatusOutput {
    /// Id of the task.
    task_id: String,
    /// Its question.
    query: String,
    /// Its state. `completed`: nothing is queued or running; `queue_searches` resumes it.
    #[schemars(schema_with = "status")]
    status: TaskStatus,
    /// Why it failed. Only when it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    task_error: Option<String>,
    /// Why it was stopped. Only when it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    stop_reason: Option<String>,
    /// How much of the work is done.
    progress: Progress,
    /// How much was found.
    metrics: Metrics,
    /// Pages used and left.
    budget: BudgetUse,
    /// The searches, in the order they were queued.
    searches: Vec<Search>,
    /// Kinds of work that are queued or running, and `auth` when pages require a person.
    waiting_for: Vec<String>,
    /// Search engines and pages that require a person (CAPTCHA, consent, login). The task completes without them.
    pending_auth_count: u64,
    /// Pages that require a person, highest priority first. Only when there are any; `get_auth_queue` lists all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pending_auth: Vec<Item>,
    /// Notes for readers of the results, such as a source that failed.
    warnings: Vec<String>,
    /// Seconds since the last change.
    idle_seconds: i64,
    /// Blocked domains among its pages, and those that its jobs blocked, newest first.
    blocked_domains: Vec<Barred>,
    /// Active decisions of people about domains, valid for every task, oldest first.
    domain_overrides: Vec<Override>,
    /// What the evidence graph holds for the task. Only when its status is `completed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    evidence_summary: Option<EvidenceSummary>,
    /// What was omitted and how to get it. Only when something was.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    /// Fields of this result that may hold text copied from documents or from sources' answers.
    untrusted_fields: Vec<&'static str>,
    /// How to treat those fields.
    content_notice: &'static str,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Progress {
    /// Searches queued so far.
    searches_total: usize,
    /// Searches that ended, successfully or not.
    searches_done: usize,
    /// Claims of the task so far.
    claims_total: u64,
    /// Claims that were judged against a passage; a claim without a similar passage has none.
    claims_judged: u64,
    /// Jobs that wait for a worker.
    jobs_queued: u64,
    /// Jobs that run.
    jobs_running: u64,
    /// Jobs by phase and state.
    jobs: Vec<Jobs>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Jobs {
    /// What the jobs do: `search` finds and ranks passages, `resume` does the same for pages that required a person,
    /// `judge` extracts claims and judges them against passages.
    phase: String,
    /// Their state.
    #[schemars(schema_with = "job_state")]
    state: JobState,
    /// How many jobs.
    count: u64,
}

fn job_state(_: &mut SchemaGenerator) -> Schema {
    one_of(JobState::ALL.iter().map(|word| word.as_str()))
}

#[derive(Debug, Serialize, JsonSchema)]
struct Metrics {
    /// Pages registered for the task.
    pages: u64,
    /// Of those, pages fetched from the web; the others are abstracts from APIs and documents of corpora.
    pages_fetched: u64,
    /// Passages of those pages.
    fragments: u64,
    /// Passages that address the AI that reads them, by the rule that matched. They are stored but not shown.
    quarantined: Vec<InQuarantine>,
    /// Claims, those given by the user included.
    claims: u64,
    /// Seconds of work that its jobs used.
    seconds_used: f64,
    /// The use of a language model. Only when one was used.
    #[serde(skip_serializing_if = "Option::is_none")]
    language_model: Option<LanguageModelUse>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct LanguageModelUse {
    /// Different questions asked.
    questions: u64,
    /// Requests that they took.
    calls: u64,
    /// Requests without a usable answer.
    failures: u64,
    /// Questions without an answer, where rules took over; a warning says why.
    fallbacks: u64,
    /// Seconds spent on asking.
    seconds: f64,
}

impl LanguageModelUse {
    fn new(used: LlmUse) -> Self {
        let LlmUse { questions, calls, failures, fallbacks, seconds } = used;
        Self { questions, calls, failures, fallbacks, seconds: one_decimal(seconds) }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
struct InQuarantine {
    /// Id of the rule.
    rule_id: String,
    /// How many passages.
    passages: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Barred {
    /// Registrable domain.
    domain: String,
    /// When it was blocked.
    blocked_at: String,
    /// `dangerous_pattern`, `high_rejection_rate`, `denylist`, `manual` or `unknown`.
    domain_block_reason: String,
    /// The risk of using it again: `high` for `dangerous_pattern` and `unknown`, else `low`.
    domain_unblock_risk: &'static str,
    /// Details, such as the rule that matched.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// The job that caused it.
    #[serde(skip_serializing_if = "Option::is_none")]
    cause_id: Option<String>,
    /// Its category before.
    original_domain_category: String,
    /// How a person can lift the block.
    restore_via: &'static str,
    /// A person's decision that overrides it, if any.
    #[serde(rename = "override", skip_serializing_if = "Option::is_none")]
    overridden: Option<Override>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
struct Override {
    /// Id of the rule.
    rule_id: String,
    /// Which domains.
    domain_pattern: String,
    /// `block` or `unblock`.
    decision: String,
    /// The reason for the decision.
    reason: String,
    /// When it was last changed.
    updated_at: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct BudgetUse {
    /// Pages registered.
    pages_used: u64,
    /// Most pages that may be registered.
    pages_limit: u32,
    /// Share of the pages that is left, 0 to 100.
    remaining_percent: f64,
    /// Most seconds of work.
    seconds_limit: u32,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Search {
    /// Its id; `queries.id` in `query_graph`.
    id: String,
    /// What is searched.
    query: String,
    /// Where it stands.
    #[schemars(schema_with = "query_status")]
    status: QueryStatus,
    /// The user's claim for which it gathers evidence. Only for such searches.
    #[serde(skip_serializing_if = "Option::is_none")]
    claim_id: Option<String>,
    /// What it found. Only with detail `full`.
    #[serde(skip_serializing_if = "Option::is_none")]
    found: Option<Found>,
}

fn query_status(_: &mut SchemaGenerator) -> Schema {
    one_of(QueryStatus::ALL.iter().map(|word| word.as_str()))
}

#[derive(Debug, Serialize, JsonSchema)]
struct Found {
    /// Hits over all sources.
    result_count: u32,
    /// Pages registered or fetched.
    pages_fetched: u32,
    /// Passages above the cut-off.
    useful_fragments: u32,
    /// Useful passages per page.
    harvest_rate: f64,
    /// What went wrong, source by source.
    source_errors: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct EvidenceSummary {
    /// Claims of the task.
    total_claims: u64,
    /// Passages of its pages.
    total_fragments: u64,
    /// Pages registered for it.
    total_pages: u64,
    /// Edges by which a passage supports a claim.
    supporting_edges: u64,
    /// Edges by which a passage refutes a claim.
    refuting_edges: u64,
    /// Edges by which a passage does neither.
    neutral_edges: u64,
    /// Domains with the most pages, largest first, at most 10.
    top_domains: Vec<String>,
}

impl GetStatusOutput {
    /// A task's progress as of `now`, cut to what a result can hold.
    pub(crate) fn new(progress: TaskProgress, detail: Detail, now: jiff::Timestamp) -> Self {
        let idle = now.duration_since(progress.last_activity).as_secs().max(0);
        let mut searches: Vec<Search> =
            progress.queries.iter().map(|query| Search::new(query, detail)).collect();
        let dropped_searches = fit(&mut searches, SEARCH_BYTES);
        let rules: Vec<DomainOverride> = progress.overrides.iter().map(|rule| rule.rule.clone()).collect();
        let mut warnings = progress.warnings.clone();
        let dropped_warnings = fit(&mut warnings, WARNING_BYTES);
        let mut pending_auth: Vec<Item> = progress.waiting.iter().cloned().map(Item::from).collect();
        let dropped_auth = fit(&mut pending_auth, AUTH_BYTES);
        let notes = [
            cut_note("pending_auth", pending_auth.len(), dropped_auth, "get_auth_queue lists all"),
            cut_note("searches", searches.len(), dropped_searches, "the table `queries` has all"),
            cut_note("warnings", warnings.len(), dropped_warnings, "the first are shown"),
        ];
        Self {
            progress: Progress::new(&progress),
            waiting_for: waiting_for(&progress),
            evidence_summary: (progress.task.status == TaskStatus::Completed)
                .then(|| EvidenceSummary::new(&progress)),
            budget: BudgetUse::new(progress.pages, progress.task.config.budget),
            metrics: Metrics {
                pages: progress.pages,
                pages_fetched: progress.fetched,
                fragments: progress.fragments,
                quarantined: progress
                    .quarantined
                    .iter()
                    .map(|(rule, passages)| InQuarantine { rule_id: rule.clone(), passages: *passages })
                    .collect(),
                claims: progress.claims,
                seconds_used: one_decimal(progress.seconds_used),
                language_model: progress.llm.map(LanguageModelUse::new),
            },
            task_id: progress.task.id.into(),
            query: progress.task.query,
            status: progress.task.status,
            task_error: progress.task.error,
            stop_reason: progress.stop_reason,
            searches,
            pending_auth_count: progress.pending_auth,
            pending_auth,
            warnings,
            idle_seconds: idle,
            blocked_domains: progress
                .blocked_domains
                .iter()
                .map(|blocked| Barred::new(blocked, &progress.overrides, &rules))
                .collect(),
            domain_overrides: progress.overrides.iter().map(Override::new).collect(),
            notes: notes.into_iter().flatten().collect(),
            untrusted_fields: vec![
                "task_error",
                "warnings",
                "searches[].found.source_errors",
                "pending_auth[].url",
                "pending_auth[].domain",
            ],
            content_notice: CONTENT_NOTICE,
        }
    }
}

fn waiting_for(progress: &TaskProgress) -> Vec<String> {
    let mut kinds: Vec<String> = Vec::new();
    for jobs in &progress.jobs {
        if matches!(jobs.state, JobState::Queued | JobState::Running) && !kinds.contains(&jobs.kind) {
            kinds.push(jobs.kind.clone());
        }
    }
    if progress.pending_auth > 0 {
        kinds.push("auth".to_owned());
    }
    kinds
}

impl Progress {
    fn new(progress: &TaskProgress) -> Self {
        let open = |query: &&Query| matches!(query.status, QueryStatus::Queued | QueryStatus::Running);
        Self {
            searches_total: progress.queries.len(),
            searches_done: progress.queries.len() - progress.queries.iter().filter(open).count(),
            claims_total: progress.claims,
            claims_judged: progress.claims_judged,
            jobs_queued: progress.jobs_in(JobState::Queued),
            jobs_running: progress.jobs_in(JobState::Running),
            jobs: progress
                .jobs
                .iter()
                .map(|jobs| Jobs { phase: jobs.kind.clone(), state: jobs.state, count: jobs.count })
                .collect(),
        }
    }
}

impl BudgetUse {
    fn new(pages_used: u64, Budget { max_pages: pages_limit, max_seconds: seconds_limit }: Budget) -> Self {
        let left = u64::from(pages_limit).saturating_sub(pages_used);
        let remaining_percent = one_decimal(100.0 * left as f64 / f64::from(pages_limit.max(1)));
        Self { pages_used, pages_limit, remaining_percent, seconds_limit }
    }
}

impl Barred {
    /// `rules` are those of `overrides`, in their order.
    fn new(blocked: &BlockedDomain, overrides: &[OverrideRule], rules: &[DomainOverride]) -> Self {
        let reason = blocked.block_reason.parse().unwrap_or(DomainBlockReason::Unknown);
        let deciding = deciding_override(&blocked.domain, rules);
        Self {
            domain: blocked.domain.clone(),
            blocked_at: blocked.blocked_at.clone(),
            domain_block_reason: blocked.block_reason.clone(),
            domain_unblock_risk: reason.unblock_risk().as_str(),
            reason: blocked.reason.clone(),
            cause_id: blocked.cause_id.clone(),
            original_domain_category: blocked.original_category.clone(),
            restore_via: "feedback {action: domain_unblock}, or `lyra domain unblock`",
            overridden: deciding.and_then(|place| overrides.get(place)).map(Override::new),
        }
    }
}

impl Override {
    fn new(rule: &OverrideRule) -> Self {
        Self {
            rule_id: rule.id.clone(),
            domain_pattern: rule.rule.pattern.to_string(),
            decision: rule.rule.decision.to_string(),
            reason: rule.reason.clone(),
            updated_at: rule.rule.updated_at.to_string(),
        }
    }
}

impl Search {
    fn new(query: &Query, detail: Detail) -> Self {
        let found = (detail == Detail::Full).then(|| Found {
            result_count: query.result_count,
            pages_fetched: query.pages_fetched,
            useful_fragments: query.useful_fragments,
            harvest_rate: query.harvest_rate,
            source_errors: query.source_errors.clone(),
        });
        Self {
            id: query.id.to_string(),
            query: query.query_text.clone(),
            status: query.status,
            claim_id: query.claim_id.as_ref().map(ToString::to_string),
            found,
        }
    }
}

impl EvidenceSummary {
    fn new(progress: &TaskProgress) -> Self {
        Self {
            total_claims: progress.claims,
            total_fragments: progress.fragments,
            total_pages: progress.pages,
            supporting_edges: progress.edges_of(Relation::Supports),
            refuting_edges: progress.edges_of(Relation::Refutes),
            neutral_edges: progress.edges_of(Relation::Neutral),
            top_domains: progress.top_domains.iter().map(|(domain, _)| domain.clone()).collect(),
        }
    }
}

fn one_decimal(number: f64) -> f64 {
    (number * 10.0).round() / 10.0
}
