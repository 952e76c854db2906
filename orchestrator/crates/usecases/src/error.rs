//! The error of a use case.

use crate::Remedy;
use lyra_domain::named_enum;
use lyra_research::PortError;
use lyra_store::GuardError;
use serde::{Deserialize, Serialize};

named_enum! {
    /// Kind of a failure, by who can fix it.
    pub enum ErrorCode {
        /// The caller must change the request.
        InvalidArgument = "invalid_argument",
        /// The requested item does not exist.
        NotFound = "not_found",
        /// What the request rests on has changed in between; the current state says how to go on.
        Conflict = "conflict",
        /// A service is down or busy; the same request may succeed later.
        Unavailable = "unavailable",
        /// The caller may not do that.
        Forbidden = "forbidden",
        /// The statement must not be run.
        SqlRefused = "sql_refused",
        /// The statement used up its time or its steps.
        SqlTimeout = "sql_timeout",
        /// A defect or a broken disk; an operator must investigate.
        Internal = "internal",
    }
}

/// A failed use case.
#[derive(Debug, Clone, PartialEq, thiserror::Error, Serialize, Deserialize)]
#[error("{message}")]
pub struct AppError {
    /// Kind.
    pub code: ErrorCode,
    /// What is wrong.
    pub message: String,
    /// What would be right.
    pub remedy: Option<Remedy>,
    /// Facts for a program.
    pub details: Option<Box<Details>>,
}

/// Facts about a failure for a program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Details {
    /// A query that cannot be read.
    Syntax {
        /// Where, in characters from 1.
        position: usize,
        /// The unexpected token.
        found: String,
        /// The expected tokens.
        expected: String,
        /// What to write instead, where another system's form stands there.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        suggestion: Option<String>,
    },
    /// Ids of which there is nothing.
    Missing {
        /// The ids.
        missing: Vec<String>,
    },
    /// A statement that was not run.
    Refused {
        /// Why, in `snake_case`.
        reason: String,
    },
    /// The decision that counts where another one was expected.
    Decided(Decided),
}

/// The decision about a document that counts; all fields are `None` if there is none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decided {
    /// Its id.
    pub decision_id: Option<String>,
    /// Include, exclude, or undecided.
    pub verdict: Option<String>,
    /// Why.
    pub given_reason: Option<String>,
    /// Who decided.
    pub decided_by: Option<String>,
    /// When, RFC 3339, UTC.
    pub decided_at: Option<String>,
}

impl Details {
    /// Why a statement was not run, in `snake_case`; `None` for another failure.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Refused { reason } => Some(reason),
            Self::Syntax { .. } | Self::Missing { .. } | Self::Decided(_) => None,
        }
    }
}

impl AppError {
    /// An error without remedy or details.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), remedy: None, details: None }
    }

    /// The caller must change the request.
    pub fn invalid(message: impl Into<String>, remedy: impl Into<Remedy>) -> Self {
        Self::new(ErrorCode::InvalidArgument, message).with(remedy)
    }

    /// The same error with this remedy.
    #[must_use]
    pub fn with(self, remedy: impl Into<Remedy>) -> Self {
        Self { remedy: Some(remedy.into()), ..self }
    }

    /// The same error with these facts.
    #[must_use]
    pub fn detailed(self, details: Details) -> Self {
        Self { details: Some(Box::new(details)), ..self }
    }
}

impl From<PortError> for AppError {
    fn from(error: PortError) -> Self {
        let code = match &error {
            PortError::Unavailable { .. } | PortError::Paused { .. } | PortError::Unanswered { .. } => {
                ErrorCode::Unavailable
            }
            PortError::Refused { .. } => ErrorCode::InvalidArgument,
            PortError::NotFound { .. } => ErrorCode::NotFound,
            PortError::Cancelled | PortError::BudgetUsed(_) => ErrorCode::Unavailable,
            PortError::Failed { .. } => ErrorCode::Internal,
        };
        Self::new(code, error.to_string())
    }
}

impl From<lyra_store::StoreError> for AppError {
    fn from(error: lyra_store::StoreError) -> Self {
        match error {
            lyra_store::StoreError::NoVectors { .. } => Self::new(ErrorCode::NotFound, error.to_string()),
            lyra_store::StoreError::OutdatedVectors { .. } => {
                Self::new(ErrorCode::Unavailable, error.to_string()).with(Remedy::RebuildEmbeddings)
            }
            lyra_store::StoreError::AuthClosed { .. } => {
                Self::invalid(error.to_string(), Remedy::ListWaitingPages)
            }
            lyra_store::StoreError::UnknownView { .. } => Self::invalid(error.to_string(), Remedy::ListViews),
            lyra_store::StoreError::DiskFull => Self::new(ErrorCode::Unavailable, error.to_string())
                .with("free space on the disk of the data folder; stored data is safe"),
            lyra_store::StoreError::ReadOnlyDisk => Self::new(ErrorCode::Unavailable, error.to_string())
                .with("make the disk of the data folder writable; stored data is safe and readable"),
            lyra_store::StoreError::TaskActive { ref task, .. } => {
                let remedy = Remedy::StopTask { task: task.clone() };
                Self::invalid(error.to_string(), remedy)
            }
            lyra_store::StoreError::ScreeningMoved { ref current, .. } => {
                let now = current.as_deref();
                let decided = Decided {
                    decision_id: now.map(|now| now.id.to_string()),
                    verdict: now.map(|now| now.verdict.to_string()),
                    given_reason: now.and_then(|now| now.reason.clone()),
                    decided_by: now.map(|now| now.decided_by.clone()),
                    decided_at: now.map(|now| now.decided_at.clone()),
                };
                let remedy = "name the decision that counts now in `replaces`, or keep it";
                Self::new(ErrorCode::Conflict, error.to_string())
                    .with(remedy)
                    .detailed(Details::Decided(decided))
            }
            lyra_store::StoreError::NotJudged { .. }
            | lyra_store::StoreError::NotCorrected { .. }
            | lyra_store::StoreError::BadCursor(_)
            | lyra_store::StoreError::TokenExists { .. }
            | lyra_store::StoreError::InUse { .. } => {
                Self::new(ErrorCode::InvalidArgument, error.to_string())
            }
            other => PortError::from(other).into(),
        }
    }
}

impl From<lyra_corpus::CorpusError> for AppError {
    fn from(error: lyra_corpus::CorpusError) -> Self {
        match error {
            lyra_corpus::CorpusError::NoQueryVector { .. } => {
                Self::invalid(error.to_string(), Remedy::SearchByWordsOrReword)
            }
            lyra_corpus::CorpusError::ModelChanged { ref name, .. } => {
                let remedy = Remedy::ReimportCorpus { name: Some(name.clone()) };
                Self::invalid(error.to_string(), remedy)
            }
            damaged @ lyra_corpus::CorpusError::Damaged { .. } => {
                Self::from(PortError::from(damaged)).with(Remedy::SearchByWords)
            }
            lyra_corpus::CorpusError::Filter(_)
            | lyra_corpus::CorpusError::Query(_)
            | lyra_corpus::CorpusError::Search { .. } => {
                Self::new(ErrorCode::InvalidArgument, error.to_string())
            }
            other => PortError::from(other).into(),
        }
    }
}

impl From<GuardError> for AppError {
    fn from(error: GuardError) -> Self {
        let code = match &error {
            GuardError::Store { .. } => ErrorCode::Internal,
            GuardError::Busy => ErrorCode::Unavailable,
            GuardError::Timeout { .. } | GuardError::TooManySteps { .. } => ErrorCode::SqlTimeout,
            _ => ErrorCode::SqlRefused,
        };
        let details = Details::Refused { reason: error.code().to_owned() };
        Self {
            remedy: error.hint().map(Remedy::from),
            ..Self::new(code, error.to_string()).detailed(details)
        }
    }
}
