//! Entities and pure rules of Lyra.
//!
//! No I/O, no clock, no randomness, no panics: time and randomness are arguments.

mod beta;
pub mod bm25;
pub mod calibration;
mod canonical;
mod chronicle;
pub mod classification;
pub mod csv;
mod design;
mod doi;
pub mod domains;
mod entity;
pub mod figures;
mod hex;
mod id;
mod identifier;
mod kneedle;
mod matrix;
mod name;
mod probability;
pub mod quote;
pub mod ranking;
mod report;
mod studies;
pub mod vector;
pub mod verification;
mod what_if;
pub mod works;

pub use beta::{BetaConfidence, Evidence, EvidenceYears};
pub use calibration::{Calibration, CalibrationMethod, CalibrationMetrics, CalibrationSample};
pub use canonical::{CanonicalPaperIndex, CanonicalWork, Coverage, FoundBy, Precedence};
pub use chronicle::{Change, Chronicle, Judged, Moment, Occurrence};
pub use design::StudyDesign;
pub use doi::Doi;
pub use entity::UnknownName;
pub use entity::auth::{AuthItem, AuthStatus};
pub use entity::claim::{AdoptionStatus, Claim, Extraction, Extractor, VerificationStatus};
pub use entity::edge::{
    AppliedCalibration, Discrepancies, Edge, NliJudgement, NliScores, NotJudged, Relation,
};
pub use entity::fragment::{Fragment, FragmentType};
pub use entity::imprint::{Imprint, WorkKind};
pub use entity::job::{Job, JobKind, JobState, Priority};
pub use entity::page::{FetchMethod, Page, PaperMetadata, TaskPageReason};
pub use entity::query::{Query, QueryStatus};
pub use entity::screening::{Basis, SUGGESTED_REASONS, Verdict};
pub use entity::task::{Budget, Task, TaskConfig, TaskStatus};
pub use entity::work::{Work, WorkId};
pub use hex::hex;
pub use id::{
    AuthId, ClaimId, CorrectionId, EdgeId, EmbeddingId, FragmentId, IdError, JobId, OverrideEventId,
    OverrideRuleId, PageId, QueryId, QuestionId, ScreeningId, SerpItemId, TaskId,
};
pub use identifier::{ArxivId, Identifier};
pub use kneedle::{cutoff, knee};
pub use matrix::{Matrix, MatrixWork};
pub use name::{given_first, is_east_asian, is_name_suffix};
pub use probability::Probability;
pub use report::{Citation, ClaimReport, Origin, WorkCounts, contradictions_first};
pub use studies::{Link, LinkKind, WorkFacts, links};
pub use what_if::{ClaimNumbers, WhatIf};
