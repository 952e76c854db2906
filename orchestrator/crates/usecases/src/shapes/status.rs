//! A task's progress as its status.

use lyra_domain::domains::{DomainOverride, deciding_override};
use lyra_domain::verification::DomainBlockReason;
use lyra_domain::{Budget, JobState, Query, QueryStatus, Relation, TaskStatus};
use lyra_research::ports::LlmUse;
use lyra_store::{OverrideRule, TaskProgress};
use lyra_wire::{
    BlockedDomain, BudgetUse, DomainDecision, EvidenceSummary, JobCount, LanguageModelUse, Metrics, Progress,
    QuarantineCount, Search, Status, WaitingPage,
};

/// A task's progress as of `now`, with what every search found.
pub fn status(progress: &TaskProgress, now: jiff::Timestamp) -> Status {
    let task = &progress.task;
    Status {
        task_id: task.id.to_string(),
        query: task.query.clone(),
        status: task.status,
        task_error: task.error.clone(),
        stop_reason: progress.stop_reason.clone(),
        progress: counted(progress),
        metrics: metrics(progress),
        budget: budget(progress.pages, progress.seconds_used, task.config.budget),
        searches: progress.queries.iter().map(Search::from).collect(),
        waiting_for: waiting_for(progress),
        pending_auth_count: progress.pending_auth,
        pending_auth: progress.waiting.iter().cloned().map(WaitingPage::from).collect(),
        warnings: progress.warnings.clone(),
        idle_seconds: now.duration_since(progress.last_activity).as_secs().max(0),
        blocked_domains: blocked(progress),
        domain_overrides: progress.overrides.iter().map(domain_decision).collect(),
        evidence_summary: (task.status == TaskStatus::Completed).then(|| summary(progress)),
    }
}

/// A person's decision about domains.
pub fn domain_decision(rule: &OverrideRule) -> DomainDecision {
    DomainDecision {
        rule_id: rule.id.clone(),
        domain_pattern: rule.rule.pattern.to_string(),
        decision: rule.rule.decision,
        reason: rule.reason.clone(),
        updated_at: rule.rule.updated_at.to_string(),
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

fn counted(progress: &TaskProgress) -> Progress {
    let open = |query: &&Query| matches!(query.status, QueryStatus::Queued | QueryStatus::Running);
    let jobs = progress.jobs.iter();
    Progress {
        searches_total: progress.queries.len(),
        searches_done: progress.queries.len() - progress.queries.iter().filter(open).count(),
        claims_total: progress.claims,
        claims_judged: progress.claims_judged,
        jobs_queued: progress.jobs_in(JobState::Queued),
        jobs_running: progress.jobs_in(JobState::Running),
        jobs: jobs
            .map(|jobs| JobCount { phase: jobs.kind.clone(), state: jobs.state, count: jobs.count })
            .collect(),
    }
}

fn metrics(progress: &TaskProgress) -> Metrics {
    let in_quarantine =
        |(rule, passages): &(String, u64)| QuarantineCount { rule_id: rule.clone(), passages: *passages };
    Metrics {
        pages: progress.pages,
        pages_fetched: progress.fetched,
        fragments: progress.fragments,
        quarantined: progress.quarantined.iter().map(in_quarantine).collect(),
        claims: progress.claims,
        seconds_used: one_decimal(progress.seconds_used),
        language_model: progress.llm.as_ref().map(|used| {
            let &LlmUse { questions, calls, failures, fallbacks, seconds } = used;
            LanguageModelUse { questions, calls, failures, fallbacks, seconds: one_decimal(seconds) }
        }),
    }
}

fn budget(pages_used: u64, seconds_used: f64, limits: Budget) -> BudgetUse {
    let left = |used: f64, limit: u32| {
        let limit = f64::from(limit.max(1));
        100.0 * (limit - used).max(0.0) / limit
    };
    let scarcest = left(pages_used as f64, limits.max_pages).min(left(seconds_used, limits.max_seconds));
    BudgetUse { limits: limits.into(), pages_used, remaining_percent: one_decimal(scarcest) }
}

fn blocked(progress: &TaskProgress) -> Vec<BlockedDomain> {
    let rules: Vec<DomainOverride> = progress.overrides.iter().map(|rule| rule.rule.clone()).collect();
    let of = |blocked: &lyra_store::BlockedDomain| {
        let reason = blocked.block_reason.parse().unwrap_or(DomainBlockReason::Unknown);
        let deciding = deciding_override(&blocked.domain, &rules);
        BlockedDomain {
            domain: blocked.domain.clone(),
            blocked_at: blocked.blocked_at.clone(),
            domain_block_reason: blocked.block_reason.clone(),
            domain_unblock_risk: reason.unblock_risk().to_string(),
            reason: blocked.reason.clone(),
            cause_id: blocked.cause_id.clone(),
            original_domain_category: blocked.original_category.clone(),
            restore_via: None,
            overridden: deciding.and_then(|place| progress.overrides.get(place)).map(domain_decision),
        }
    };
    progress.blocked_domains.iter().map(of).collect()
}

fn summary(progress: &TaskProgress) -> EvidenceSummary {
    EvidenceSummary {
        total_claims: progress.claims,
        total_fragments: progress.fragments,
        total_pages: progress.pages,
        supporting_edges: progress.edges_of(Relation::Supports),
        refuting_edges: progress.edges_of(Relation::Refutes),
        neutral_edges: progress.edges_of(Relation::Neutral),
        top_domains: progress.top_domains.iter().map(|(domain, _)| domain.clone()).collect(),
    }
}

fn one_decimal(number: f64) -> f64 {
    (number * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_remains_is_the_scarcest_of_pages_and_time() {
        let limits = Budget { max_pages: 120, max_seconds: 10 };
        for (pages, seconds, remaining) in
            [(30, 0.0, 75.0), (30, 9.0, 10.0), (30, 20.2, 0.0), (500, 1.0, 0.0)]
        {
            let left = budget(pages, seconds, limits).remaining_percent;
            assert!((left - remaining).abs() < 1e-9, "{pages} pages, {seconds} s: {left}");
        }
    }
}
