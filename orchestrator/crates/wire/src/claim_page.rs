//! The claims of a task, a page at a time.

use crate::Claim;
use schemars::JsonSchema;
use serde::Serialize;

/// Part of the claims of a task that meet a filter.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ClaimPage {
    /// Claims with their evidence, in the requested order.
    pub claims: Vec<Claim>,
    /// Claims that meet the filter, on all pages.
    pub total: u64,
    /// Cursor of the next page; unknown at the end.
    pub next_cursor: Option<String>,
}
