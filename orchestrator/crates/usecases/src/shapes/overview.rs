//! Lists and pages for people, as their shapes.

use lyra_store::{ClaimPage, JobInfo, JudgedPassage, ReadFragment, ReadPage, TaskSummaries, TaskSummary};
use lyra_wire::json::thousandths;

/// A page of the claims of a task.
pub fn claim_page(page: &ClaimPage) -> lyra_wire::ClaimPage {
    lyra_wire::ClaimPage {
        claims: page.claims.iter().map(lyra_wire::Claim::from).collect(),
        total: page.total,
        next_cursor: page.next_cursor.clone(),
    }
}

/// A page with its passages.
pub fn read_page(read: &ReadPage) -> lyra_wire::ReadPage {
    lyra_wire::ReadPage {
        page_id: read.page.id.to_string(),
        citation: (&read.page.citation).into(),
        address: read.page.address.clone(),
        language: read.language.clone(),
        domain: read.domain.clone(),
        fetched_at: read.fetched_at.clone(),
        fragments: read.fragments.iter().map(read_fragment).collect(),
        quarantined_count: read.quarantined,
    }
}

fn read_fragment(fragment: &ReadFragment) -> lyra_wire::ReadFragment {
    lyra_wire::ReadFragment {
        fragment_id: fragment.id.to_string(),
        heading_context: fragment.heading.clone(),
        text: fragment.text.clone(),
        rule_id: fragment.rule.clone(),
        judged: fragment.judged.iter().map(mark).collect(),
    }
}

fn mark(judged: &JudgedPassage) -> lyra_wire::Mark {
    lyra_wire::Mark {
        edge_id: judged.edge.to_string(),
        claim_id: judged.claim.to_string(),
        claim: judged.claim_text.clone(),
        task_id: judged.task.to_string(),
        relation: judged.relation,
        nli_confidence: thousandths(judged.confidence.get()),
        edge_human_corrected: judged.corrected,
        edge_corrected_at: judged.corrected_at.clone(),
        premise: judged.premise.clone(),
        spans: judged.spans.iter().map(|span| lyra_wire::Span { start: span.start, end: span.end }).collect(),
    }
}

/// A page of the tasks with their numbers.
pub fn task_summaries(page: &TaskSummaries) -> lyra_wire::TaskSummaries {
    lyra_wire::TaskSummaries {
        tasks: page.tasks.iter().map(task_summary).collect(),
        next_cursor: page.next_cursor.clone(),
    }
}

/// A task with its numbers.
pub fn task_summary(summary: &TaskSummary) -> lyra_wire::TaskSummary {
    lyra_wire::TaskSummary {
        task: (&summary.task).into(),
        total_claims: summary.claims,
        contested_claims: summary.contested,
        supported_claims: summary.supported,
        refuted_claims: summary.refuted,
        open_claims: summary.open,
        supporting_count: summary.supporting,
        refuting_count: summary.refuting,
        neutral_count: summary.neutral,
    }
}

/// A job that waits, runs, or failed.
pub fn job_info(job: &JobInfo) -> lyra_wire::JobInfo {
    lyra_wire::JobInfo {
        job_id: job.id.to_string(),
        task_id: job.task.to_string(),
        query: job.query.clone(),
        kind: job.kind.clone(),
        state: job.state,
        attempts: job.attempts,
        error: job.error.clone(),
        queued_at: job.queued_at.clone(),
        started_at: job.started_at.clone(),
        finished_at: job.finished_at.clone(),
    }
}
