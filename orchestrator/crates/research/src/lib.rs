//! The research pipeline: steps over the ports it declares.
//!
//! It stands in floors, each of which knows only those below it: `worker` takes jobs from the queue ▸ `dispatch` says
//! which job runs ▸ `jobs` put steps together ▸ `steps` ▸ `context`, the ports and settings. Knows no SQL, no HTTP, no
//! MCP.
//!
//! Every query runs one path (evidence design, section 2): a search collects, merges, registers, ranks, and follows
//! citations; when a task's searches are done, its claims are extracted and held against passages of other pages.

mod config;
mod context;
mod dispatch;
mod error;
mod jobs;
pub mod ports;
mod steps;
mod stops;
pub mod trace;
mod worker;

pub use config::{CitationDirection, CitationFilter, RankingMethod, ResearchConfig, SearchConfig};
pub use context::{Context, Llm, Progress, SourcesOf, Step};
pub use error::{Budget, FailureKind, PortError, Result, SourceFailure};
pub use steps::ask::{check_answer, sample_prompt};
pub use steps::verdict::{Against, Verdict, hold_against};
pub use stops::Stops;
pub use worker::{Worker, WorkerConfig};
