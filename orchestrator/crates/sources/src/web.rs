//! The open web: search engines by their result pages or APIs, and pages fetched, read and cut into fragments.

mod aids;
mod apis;
mod fetch;
mod page;
mod parser;
mod rules;
mod search;
mod source;
mod works;

pub use aids::Aids;
pub use apis::{WebApi, WebApiConfig};
pub use fetch::{FetchLimits, Pages};
pub use lyra_web::read::PageKind;
pub use page::FetchedPage;
pub use parser::{InProcess, Parser};
pub use rules::{RuleFiles, Rules};
pub use search::{SerpAnswer, WebSearch};
pub use source::{WebBudget, WebSource};
