//! The research pipeline: steps over the ports it declares.
//!
//! Knows no SQL, no HTTP, no MCP. Every query runs one path (evidence design, section 2): `search` collects,
//! merges, registers, ranks and follows citations; when a task's searches are done, `judge` extracts claims and holds them against
//! passages of other pages. `worker` takes jobs from the queue and runs them.

mod ask;
mod citations;
mod collect;
mod complete;
mod config;
mod embed;
mod error;
mod extract;
mod fetch;
mod hit;
mod judge;
mod lanes;
mod links;
mod metadata;
mod pipeline;
pub mod ports;
mod register;
mod resume;
mod search;
mod stops;
pub mod trace;
mod verdict;
mod worker;

pub use ask::{Llm, check_answer, sample_prompt};
pub use config::{CitationDirection, CitationFilter, RankingMethod, ResearchConfig, SearchConfig};
pub use error::{Budget, FailureKind, PortError, Result, SourceFailure};
pub use pipeline::{Pipeline, Progress, ProgressSink, SourcesOf, Step};
pub use stops::Stops;
pub use verdict::{Against, Verdict, hold_against};
pub use worker::{Worker, WorkerConfig};
