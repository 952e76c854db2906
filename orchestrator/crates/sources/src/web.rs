//! The open web: result pages of search engines, and pages fetched, read and cut into fragments.

mod aids;
mod fetch;
mod rules;
mod search;
mod source;
mod works;

pub use aids::Aids;
pub use fetch::{FetchLimits, FetchedPage, PageKind, Pages};
pub use rules::{RuleFiles, Rules};
pub use search::{SerpAnswer, WebSearch};
pub use source::{WEB, WebBudget, WebSource};
