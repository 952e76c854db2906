//! Views of a task's evidence, as their shapes.

use crate::{TaskMatrix, TaskTimeline};
use lyra_store::{EvidenceYear, RetractedWork};
use lyra_wire::{EvidenceMatrix, TimelineRetraction, TimelineYear};

/// The evidence of a task in time.
pub fn task_timeline(timeline: &TaskTimeline) -> lyra_wire::TaskTimeline {
    lyra_wire::TaskTimeline {
        task_id: timeline.task.to_string(),
        claim_id: timeline.claim.as_ref().map(ToString::to_string),
        years: timeline.years.iter().map(year).collect(),
        retracted: timeline.retracted.iter().map(retraction).collect(),
        history: timeline.moments.iter().map(Into::into).collect(),
    }
}

fn year(year: &EvidenceYear) -> TimelineYear {
    TimelineYear {
        year: year.year,
        supporting: year.supporting,
        refuting: year.refuting,
        neutral: year.neutral,
        retracted: year.retracted,
    }
}

fn retraction(work: &RetractedWork) -> TimelineRetraction {
    TimelineRetraction {
        work_key: work.work.clone(),
        title: work.title.clone(),
        year: work.year,
        doi: work.doi.clone(),
        page_id: work.page.to_string(),
        supporting: work.supporting,
        refuting: work.refuting,
        neutral: work.neutral,
        noted_at: work.noted_at.clone(),
    }
}

/// Claims by works.
pub fn task_matrix(matrix: &TaskMatrix) -> EvidenceMatrix {
    let shown = matrix.matrix();
    EvidenceMatrix {
        works: shown.works.iter().map(Into::into).collect(),
        claims: shown.rows.iter().map(|(report, cells)| lyra_wire::MatrixRow::new(report, cells)).collect(),
        links: matrix.links.iter().map(Into::into).collect(),
        total_claims: matrix.page.total,
        total_works: shown.all_works,
        next_cursor: matrix.page.next_cursor.clone(),
    }
}
