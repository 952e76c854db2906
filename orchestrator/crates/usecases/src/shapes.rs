//! What the use cases compute, as the shapes that the edges pass on.

mod answer;
mod status;

pub use answer::{not_covered, report, totals};
pub use status::{domain_decision, status};
