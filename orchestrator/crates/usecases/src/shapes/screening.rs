//! Screening as its shapes.

use crate::screening::{DocumentToScreen, PrismaFlow, ScreeningProgress, ScreeningState};
use lyra_domain::{PageId, TaskId};
use lyra_screening::{Because, TARGET};
use lyra_store::{DecidedPage, ScreeningDecision};
use lyra_wire::json::thousandths;
use lyra_wire::{
    CurvePoint, DecidedDocument, DecidedDocuments, NextDocument, Prisma, ReasonCount, RecordCount, Screening,
    ScreeningChanged, ScreeningPassage, ScreeningRecall, ScreeningStopping,
};

/// Most points of a curve.
const POINTS: usize = 200;

/// How far the screening of a task is.
pub fn screening(state: &ScreeningState) -> Screening {
    Screening {
        task_id: state.task.to_string(),
        progress: progress(&state.progress),
        recall: state.recall.map(|recall| ScreeningRecall {
            estimate: recall.estimate.map(thousandths),
            at_least: thousandths(recall.at_least),
        }),
        stopping: ScreeningStopping {
            consecutive_excluded: state.stopping.excluded_in_a_row as u64,
            p_value: thousandths(state.stopping.p_value),
            target_recall: TARGET,
        },
        curve: curve(&state.labels),
        reasons: state.reasons.clone(),
        next: state.next.iter().map(next).collect(),
    }
}

/// The curve of included documents, thinned to 200 points; the last one stays.
pub fn curve(labels: &[bool]) -> Vec<CurvePoint> {
    let every = labels.len().div_ceil(POINTS).max(1);
    let mut included = 0;
    let mut points = Vec::new();
    for (at, is) in labels.iter().enumerate() {
        included += u64::from(*is);
        let screened = at + 1;
        if screened.is_multiple_of(every) || screened == labels.len() {
            points.push(CurvePoint { screened: screened as u64, included });
        }
    }
    points
}

fn progress(progress: &ScreeningProgress) -> lyra_wire::ScreeningProgress {
    lyra_wire::ScreeningProgress {
        documents: progress.documents(),
        included: progress.included,
        excluded: progress.excluded,
        undecided: progress.undecided,
        open: progress.open,
        removed: progress.blocked + progress.quarantined,
    }
}

fn next(document: &DocumentToScreen) -> NextDocument {
    let card = &document.card;
    NextDocument {
        page_id: card.page.id.to_string(),
        citation: (&card.page.citation).into(),
        language: card.language.clone(),
        basis: card.basis,
        passages: card
            .passages
            .iter()
            .map(|passage| ScreeningPassage {
                fragment_id: passage.fragment.to_string(),
                heading_context: passage.heading.clone(),
                text: passage.text.clone(),
            })
            .collect(),
        more_passages: card.more,
        search_rank: document.search_rank as u64,
        score: document.next.score.map(thousandths),
        because: match document.next.because {
            Because::Search => "search",
            Because::Promising => "promising",
            Because::Unsure => "unsure",
        },
    }
}

/// A decision.
pub fn screening_decision(decision: &ScreeningDecision) -> lyra_wire::ScreeningDecision {
    lyra_wire::ScreeningDecision {
        decision_id: decision.id.to_string(),
        page_id: decision.page.to_string(),
        verdict: decision.verdict,
        reason: decision.reason.clone(),
        basis: decision.basis,
        decided_by: decision.decided_by.clone(),
        decided_at: decision.decided_at.clone(),
        taken_back: decision.taken_back,
    }
}

/// What a decision, or taking one back, came to.
pub fn screening_changed(
    task: &TaskId,
    page: &PageId,
    decision: Option<&ScreeningDecision>,
    counts: &ScreeningProgress,
) -> ScreeningChanged {
    ScreeningChanged {
        task_id: task.to_string(),
        page_id: page.to_string(),
        decision: decision.map(screening_decision),
        progress: progress(counts),
    }
}

/// A page of the decided documents.
pub fn decided_documents(page: &DecidedPage) -> DecidedDocuments {
    let decided = page.decided.iter().map(|screened| DecidedDocument {
        decision: screening_decision(&screened.decision),
        citation: (&screened.page.citation).into(),
    });
    DecidedDocuments { decided: decided.collect(), total: page.total, next_cursor: page.next_cursor.clone() }
}

/// The flow of a task's documents.
pub fn prisma(flow: &PrismaFlow) -> Prisma {
    let records = |counts: &[(String, u64)]| {
        counts
            .iter()
            .map(|(source, records)| RecordCount { source: source.clone(), records: *records })
            .collect()
    };
    let reasons = flow.excluded_reports.iter();
    Prisma {
        task_id: flow.task.to_string(),
        databases: records(&flow.databases),
        others: records(&flow.others),
        identified: flow.identified(),
        duplicates: flow.duplicates,
        blocked: flow.progress.blocked,
        quarantined: flow.progress.quarantined,
        screened: flow.screened(),
        undecided: flow.progress.undecided,
        open: flow.progress.open,
        excluded: flow.excluded,
        sought: flow.sought(),
        not_retrieved: flow.not_retrieved,
        assessed: flow.assessed(),
        excluded_reports: reasons
            .map(|(reason, count)| ReasonCount { reason: reason.clone(), count: *count })
            .collect(),
        included: flow.progress.included,
        included_without_full_text: flow.included_without_full_text,
        not_fetched: flow.not_fetched,
        requires_person: flow.requires_person,
    }
}
