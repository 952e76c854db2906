//! What can go wrong behind a port.

use std::fmt;
use std::time::Duration;

/// Result of a port call.
pub type Result<T, E = PortError> = std::result::Result<T, E>;

/// A failed port call; the variant says who can do something about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PortError {
    /// The other side is down, slow or busy: trying again later may help.
    #[error("{what} is not available: {why}")]
    Unavailable {
        /// Which service or source.
        what: String,
        /// What was seen.
        why: String,
    },
    /// The other side is cooling down: it asked for a pause, or it failed too often.
    #[error("{what} is cooling down, retry in {} s: {why}", retry_after.as_secs().max(1))]
    Paused {
        /// Which service or source.
        what: String,
        /// What was seen.
        why: String,
        /// Time until it is asked again.
        retry_after: Duration,
    },
    /// Every source that a search asked failed.
    #[error("no source answered: {why}")]
    Unanswered {
        /// What each said.
        why: String,
        /// Time until one of them may answer; `None` when asking again would change nothing.
        retry_after: Option<Duration>,
    },
    /// The request cannot be served as it is: the caller has to change it.
    #[error("{what} refused the request: {why}")]
    Refused {
        /// Which service or source.
        what: String,
        /// What is wrong with the request.
        why: String,
    },
    /// Something that was asked for by id does not exist.
    #[error("{what} does not exist")]
    NotFound {
        /// Kind and id.
        what: String,
    },
    /// A defect or a broken disk: an operator has to look.
    #[error("{what} failed: {why}")]
    Failed {
        /// Which service or source.
        what: String,
        /// What was seen.
        why: String,
    },
    /// The job is no longer this worker's: it was cancelled, or another worker took it.
    #[error("the job was cancelled or taken by another worker")]
    Cancelled,
    /// A budget of the task was used up before an answer arrived.
    #[error("{0}")]
    BudgetUsed(Budget),
}

/// A budget of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Budget {
    /// Pages that the task may register.
    #[error("not asked, because the page budget is used up")]
    Pages,
    /// Seconds of work.
    #[error("the task's time was used up before it answered")]
    Time,
}

/// What a search lacks of one source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFailure {
    /// Name of the source.
    pub source: String,
    /// How much is missing.
    pub kind: FailureKind,
    /// Why, for people; nothing decides by it.
    pub message: String,
}

impl fmt::Display for SourceFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.source, self.message)
    }
}

/// How much a search lacks of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// It was not asked.
    NotAsked,
    /// It was asked and gave no answer.
    NoAnswer,
    /// It answered, but not in full.
    Incomplete,
}

impl SourceFailure {
    /// What a source lacks that gave this error.
    pub fn new(source: &str, error: &PortError) -> Self {
        let kind = match error {
            PortError::BudgetUsed(Budget::Pages) => FailureKind::NotAsked,
            _ => FailureKind::NoAnswer,
        };
        Self { source: source.to_owned(), kind, message: error.to_string() }
    }

    /// What is missing from the answer of a source.
    pub fn incomplete(source: &str, message: String) -> Self {
        Self { source: source.to_owned(), kind: FailureKind::Incomplete, message }
    }
}

/// Whether this source gave no answer earlier in the search; it is not asked again.
pub(crate) fn is_silent(failures: &[SourceFailure], source: &str) -> bool {
    failures.iter().any(|failure| failure.source == source && failure.kind != FailureKind::Incomplete)
}

impl PortError {
    /// Trying the same call again later may succeed.
    pub fn is_transient(&self) -> bool {
        self.retry_after().is_some()
    }

    /// Time after which the same call may succeed: zero when it may at once, `None` when it never will.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Unavailable { .. } => Some(Duration::ZERO),
            Self::Paused { retry_after, .. } => Some(*retry_after),
            Self::Unanswered { retry_after, .. } => *retry_after,
            Self::Refused { .. }
            | Self::NotFound { .. }
            | Self::Failed { .. }
            | Self::Cancelled
            | Self::BudgetUsed(_) => None,
        }
    }
}
