//! Why a guarded statement did not finish.

use crate::StoreError;
use serde::{Deserialize, Serialize};

/// A refused or stopped statement. The message says how to fix it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum GuardError {
    /// It would change something, or leave the database.
    #[error("only reading is allowed here: {action} is refused; write one SELECT")]
    NotReadOnly {
        /// The refused action.
        action: String,
    },
    /// It reads something that is not listed.
    #[error("{what} is not open to queries")]
    NotAllowed {
        /// Table, column or function.
        what: String,
        /// The alternatives.
        hint: String,
    },
    /// It names something that does not exist.
    #[error("there is no {what}")]
    UnknownName {
        /// Kind and name.
        what: String,
        /// The nearest name, and the names there are.
        hint: String,
    },
    /// SQLite does not understand it.
    #[error("SQLite does not understand this: {message}")]
    Syntax {
        /// SQLite's words.
        message: String,
    },
    /// It is empty.
    #[error("there is no statement in it; write one SELECT")]
    Empty,
    /// More than one.
    #[error("one statement at a time: there is a second one after the semicolon")]
    SeveralStatements,
    /// It took too long.
    #[error(
        "stopped after {timeout_ms} ms: narrow it down with WHERE, join on ids, or raise timeout_ms (2000 at most)"
    )]
    Timeout {
        /// The limit.
        timeout_ms: u64,
    },
    /// It worked too much.
    #[error(
        "stopped after {max_vm_steps} steps: narrow it down with WHERE, join on ids, end a recursion with LIMIT, or \
         raise max_vm_steps (5000000 at most)"
    )]
    TooManySteps {
        /// The limit.
        max_vm_steps: u64,
    },
    /// It used too much memory.
    #[error("stopped for using too much memory: sort or collect fewer and shorter values")]
    TooMuchMemory,
    /// Tables of `WITH` and views would be copied too often.
    #[error(
        "it uses tables of WITH and views too often: SQLite expands every use, which makes the statement \
         larger than {max_bytes} bytes; use each of them fewer times"
    )]
    TooComplex {
        /// The limit.
        max_bytes: u64,
    },
    /// Too many statements are still running.
    #[error("too many statements are running; send this one again when another has been answered")]
    Busy,
    /// A value or the statement itself is too large.
    #[error("a value in it is too large: take substr() of long text, or collect fewer values")]
    TooLarge,
    /// The store itself failed.
    #[error("{message}")]
    Store {
        /// What it says.
        message: String,
    },
}

impl GuardError {
    /// A word for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotReadOnly { .. } => "not_read_only",
            Self::NotAllowed { .. } => "not_allowed",
            Self::UnknownName { .. } => "unknown_name",
            Self::Syntax { .. } => "syntax",
            Self::Empty => "empty",
            Self::SeveralStatements => "several_statements",
            Self::Timeout { .. } => "timeout",
            Self::TooManySteps { .. } => "too_many_steps",
            Self::TooMuchMemory => "too_much_memory",
            Self::TooComplex { .. } => "too_complex",
            Self::Busy => "busy",
            Self::TooLarge => "too_large",
            Self::Store { .. } => "store",
        }
    }

    /// What to write instead, when that is known.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::NotAllowed { hint, .. } | Self::UnknownName { hint, .. } => Some(hint),
            _ => None,
        }
    }
}

impl From<StoreError> for GuardError {
    fn from(error: StoreError) -> Self {
        Self::Store { message: error.to_string() }
    }
}

impl From<sqlx::Error> for GuardError {
    fn from(error: sqlx::Error) -> Self {
        StoreError::from(error).into()
    }
}
