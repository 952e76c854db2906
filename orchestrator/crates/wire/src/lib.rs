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
mod changes;
mod claim;
mod claim_page;
mod corpora;
mod document;
mod events;
mod explore;
mod export;
pub mod fusion;
mod graph;
pub mod json;
mod library;
mod matrix;
mod operations;
mod overview;
mod problem;
mod reader;
pub mod schema;
mod screening;
mod status;
mod task;
mod timeline;
mod what_if;

pub use answer::{
    Answer, Cluster, FoundClaim, NotCovered, RejectedClaim, Report, Totals, UnjudgedLanguage, Verdict, Works,
};
pub use calibration::{CalibrationBin, CalibrationEvaluation, CalibrationStats, CalibrationVersion};
pub use changes::{
    CalibrationRolledBack, ClaimAdoption, Correction, DomainChanged, PagesResolved, SearchesQueued,
    TaskDeleted, TaskStopped,
};
pub use claim::{Citation, Claim, ClaimEvent, Evidence, Origin, Years};
pub use claim_page::ClaimPage;
pub use corpora::{
    Corpus, CorpusDocument, CorpusHit, CorpusSearch, ImportAccepted, Removed, Source, SourceTest,
};
pub use document::{Document, DocumentPage, WrongCursor};
pub use events::{
    ClaimChangeKind, ClaimChanged, Happened, ImportEvent, ImportState, JobEvent, Rejection, Stale, StepEvent,
    StepKind, TaskChange, TaskEvent,
};
pub use explore::{Column, Rows, Table, View};
pub use export::{
    CitationNetwork, ClaimMaterial, ExportedTask, HubPage, Materials, PageCitation, PageCluster, SourcePage,
};
pub use graph::{GraphCluster, GraphEdge, GraphHub, GraphNode, GraphView};
pub use library::{ItemFacts, ItemNumbers};
pub use matrix::{EvidenceMatrix, MatrixCell, MatrixColumn, MatrixRow, WorkLink};
pub use operations::{AccessToken, AuditRecord, Finding, NewAccessToken};
pub use overview::{JobInfo, TaskSummaries, TaskSummary};
pub use problem::{Problem, ProblemDocument};
pub use reader::{Mark, ReadFragment, ReadPage, Span};
pub use screening::{
    CurvePoint, DecidedDocument, DecidedDocuments, NextDocument, Prisma, ReasonCount, RecordCount, Screening,
    ScreeningChanged, ScreeningDecision, ScreeningPassage, ScreeningProgress, ScreeningRecall,
    ScreeningStopping,
};
pub use status::{
    BlockedDomain, BudgetUse, DomainDecision, EvidenceSummary, JobCount, LanguageModelUse, Metrics, Progress,
    QuarantineCount, Status, WaitingPage,
};
pub use task::{Budget, Fragment, Search, SearchResults, Task, TaskConfig};
pub use timeline::{TaskTimeline, TimelineMoment, TimelineRetraction, TimelineYear};
pub use what_if::{Numbers, WhatIf};
