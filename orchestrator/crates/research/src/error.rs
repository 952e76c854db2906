//! What can go wrong behind a port.

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
            Self::Refused { .. } | Self::NotFound { .. } | Self::Failed { .. } => None,
        }
    }
}
