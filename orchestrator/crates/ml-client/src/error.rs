//! Why the ml-server did not answer.

use std::time::Duration;

use lyra_proto::{ErrorBody, ErrorType};
use lyra_research::PortError;

/// A call that failed permanently, after any useful retries.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// The server is unreachable, or the connection broke.
    #[error("cannot reach the ml-server at {url}: {reason}; is it running?")]
    Unreachable {
        /// Base URL.
        url: String,
        /// The network error.
        reason: String,
    },
    /// It failed so often that requests to it are paused.
    #[error("the ml-server at {url} keeps failing; next try in {} s", retry_in.as_secs().max(1))]
    CircuitOpen {
        /// Base URL.
        url: String,
        /// Until the next call goes through.
        retry_in: Duration,
    },
    /// 429 or 503: overloaded, loading or draining.
    #[error("the ml-server is busy ({status}): {body}")]
    Busy {
        /// Status code.
        status: u16,
        /// Its explanation.
        body: ErrorBody,
        /// Its `Retry-After`.
        retry_after: Option<Duration>,
    },
    /// It was not ready within the time given.
    #[error("the ml-server at {url} was not ready after {} s: {reason}", waited.as_secs())]
    NotReady {
        /// Base URL.
        url: String,
        /// How long it was waited for.
        waited: Duration,
        /// Its last state.
        reason: String,
    },
    /// 4xx: the request is invalid.
    #[error("the ml-server refused the request ({status}): {body}")]
    Refused {
        /// Status code.
        status: u16,
        /// Its explanation.
        body: ErrorBody,
    },
    /// 424 or 5xx: the model or the server failed.
    #[error("the ml-server failed ({status}): {body}")]
    Failed {
        /// Status code.
        status: u16,
        /// Its explanation.
        body: ErrorBody,
    },
    /// Servers that should be equal are not: they host different models, or answer differently to the same text.
    #[error("the ml-servers at {url} differ: {reason}")]
    Different {
        /// Base URLs.
        url: String,
        /// How.
        reason: String,
    },
    /// The answer does not follow the protocol; the versions may differ.
    #[error("the answer of the ml-server at {url} cannot be used: {reason}")]
    Protocol {
        /// Base URL.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
}

impl Error {
    /// Whether the same call may succeed a little later.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Unreachable { .. } | Self::Busy { .. } => true,
            Self::Failed { status, .. } => *status >= 500,
            _ => false,
        }
    }

    /// Whether another server may answer the same request.
    pub(crate) fn may_pass_elsewhere(&self) -> bool {
        !matches!(self, Self::Refused { .. })
    }

    /// Whether an input was refused because the model reads less.
    pub(crate) fn is_too_long(&self) -> bool {
        matches!(self, Self::Refused { body, .. } if body.error_type == ErrorType::Validation)
    }

    /// Whether this indicates a server failure (rather than load or a bad request).
    pub(crate) fn counts_against_server(&self) -> bool {
        match self {
            Self::Unreachable { .. } | Self::Protocol { .. } => true,
            Self::Failed { status, .. } => *status >= 500,
            _ => false,
        }
    }

    /// The server's `Retry-After`.
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Busy { retry_after, .. } => *retry_after,
            _ => None,
        }
    }
}

impl From<Error> for PortError {
    fn from(error: Error) -> Self {
        let (what, why) = ("ml-server".to_owned(), error.to_string());
        match error {
            Error::Unreachable { .. }
            | Error::CircuitOpen { .. }
            | Error::Busy { .. }
            | Error::NotReady { .. } => Self::Unavailable { what, why },
            Error::Refused { .. } | Error::Different { .. } => Self::Refused { what, why },
            Error::Failed { .. } | Error::Protocol { .. } => Self::Failed { what, why },
        }
    }
}
