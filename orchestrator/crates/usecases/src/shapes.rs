//! What the use cases compute, as the shapes that the edges pass on.

mod answer;
mod calibration;
mod evidence;
mod overview;
mod screening;
mod status;

pub use answer::{not_covered, report, totals};
pub use calibration::calibration_evaluation;
pub use evidence::{task_matrix, task_timeline};
pub use overview::{claim_page, job_info, read_page, task_summaries, task_summary};
pub use screening::{
    curve as screening_curve, decided_documents, prisma, screening, screening_changed, screening_decision,
};
pub use status::{domain_decision, status};
