//! The evidence store: SQLite schema, repositories, jobs, guarded SQL, views.
//!
//! [`Store`] implements the pipeline's ports ([`lyra_research::ports::EvidenceStore`] and
//! [`lyra_research::ports::JobQueue`]) and has the methods that the use cases call: tasks, reports, exports, vectors,
//! views, and [`Store::query_graph`] for SQL from outside. Only this crate knows SQL.

mod asked;
mod audit;
mod auth;
mod calibration;
mod cells;
mod check;
mod chronicle;
mod claim_page;
mod claims;
mod completions;
mod copy;
mod counts;
mod coverage;
mod delete;
mod domains;
mod edges;
mod embeddings;
mod error;
mod export;
mod feedback;
mod fusion;
mod graph_rows;
mod guarded;
mod jobs;
mod lease;
mod library;
mod objects;
mod pages;
mod ports;
mod private;
mod progress;
mod quarantine;
mod queries;
mod rates;
mod reader;
mod reports;
mod rows;
mod saved;
mod schema;
mod screening;
mod sqlite;
mod store;
mod studies;
mod summaries;
mod tasks;
mod timeline;
mod tokens;
mod vectors;
mod verification;
mod views;

pub use audit::{AuditEntry, AuditFilter, AuditOutcome, AuditVia, NewAudit};
pub use auth::{AuthOutcome, AuthResolved, AuthTarget};
pub use calibration::{CalibrationAction, CalibrationSamples, CalibrationVersion, StoredEvaluation};
pub use check::{Problem, StoreCheck, check_file, check_private_file};
pub use chronicle::{EvidenceYear, RetractedWork};
pub use claim_page::{ClaimFilter, ClaimPage, ClaimSort, Side};
pub use copy::Unused;
pub use counts::StoreCounts;
pub use coverage::Coverage;
pub use delete::{Deleted, Deletion};
pub use domains::{BlockedDomain, OverrideRule};
pub use embeddings::{EmbeddingModel, OutdatedText};
pub use error::{Result, StoreError};
pub use export::{ExportedClaim, ExportedEdge, ExportedFragment, ExportedPage, TaskExport};
pub use feedback::{ClaimChange, EdgeCorrection, RuleChange};
pub use fusion::{NewJudgments, NewRun, RunKind, RunMeta, RunParent, RunSummary, StoredRun};
pub use graph_rows::{GraphEdge, GraphPassage, GraphRows, GraphWork};
pub use guarded::{GuardError, GuardOptions, GuardedRows, QueryFile, SchemaColumn, SchemaTable, limit_heap};
pub use jobs::JobInfo;
pub use library::{StoredClaim, StoredDocument, StoredPage};
pub use progress::{JobCount, TaskProgress};
pub use queries::QueuedSearches;
pub use reader::{JudgedPassage, ReadFragment, ReadPage, Span};
pub use saved::{NewSavedSearch, SavedSearch};
pub use screening::{
    DecidedFilter, DecidedPage, PrismaFacts, Screened, ScreeningCard, ScreeningDecision, ScreeningPassage,
    ScreeningRow,
};
pub use store::{Store, StoreConfig, SystemClock};
pub use summaries::{TaskSummaries, TaskSummary};
pub use tasks::{NewTask, QuestionClaim, StopMode, StopOutcome, TaskPage};
pub use timeline::ClaimEvent;
pub use tokens::{NewToken, Scope, Token, TokenRefusal};
pub use vectors::{VectorMatch, VectorMatches, VectorQuery, VectorTarget};
pub use views::{ViewInfo, ViewRows};

#[cfg(test)]
mod testing;
