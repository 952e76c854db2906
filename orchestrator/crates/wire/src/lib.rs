//! The shapes of what leaves the process: claims with their evidence, tasks, runs, errors. `--json`, exports, MCP and
//! HTTP share them, so that a thing has the same names wherever it is read. Names are decided here, once.
//!
//! - An id is named after what it identifies: `claim_id`, `task_id`, `edge_id`, `search_id`.
//! - A statement is `claim`; the words of a passage are `text`.
//! - What is unknown is `null`. MCP's schemas have no `null`; its results omit such fields.
//! - Numbers of claims have three decimals, measurements of rankings six. They are rounded here and nowhere before.
//!
//! Shapes hold no rules. They are made from what the domain and the use cases compute, and nothing reads them back.

mod answer;
mod calibration;
mod claim;
mod claim_page;
mod document;
mod export;
pub mod fusion;
pub mod json;
mod library;
mod overview;
mod problem;
mod reader;
pub mod schema;
mod status;
mod task;
mod what_if;

pub use answer::{Answer, Cluster, FoundClaim, NotCovered, Report, Totals, UnjudgedLanguage, Verdict, Works};
pub use calibration::{CalibrationBin, CalibrationEvaluation, CalibrationStats, CalibrationVersion};
pub use claim::{Citation, Claim, ClaimEvent, Evidence, Origin, Years};
pub use claim_page::ClaimPage;
pub use document::{Document, DocumentPage, WrongCursor};
pub use export::{
    CitationNetwork, ClaimMaterial, ExportedTask, HubPage, Materials, PageCitation, PageCluster, SourcePage,
};
pub use library::{ItemFacts, ItemNumbers};
pub use overview::{JobInfo, TaskSummaries, TaskSummary};
pub use problem::Problem;
pub use reader::{Mark, ReadFragment, ReadPage, Span};
pub use status::{
    BlockedDomain, BudgetUse, DomainDecision, EvidenceSummary, JobCount, LanguageModelUse, Metrics, Progress,
    QuarantineCount, Status, WaitingPage,
};
pub use task::{Budget, Fragment, Search, SearchResults, Task, TaskConfig};
pub use what_if::{Numbers, WhatIf};
