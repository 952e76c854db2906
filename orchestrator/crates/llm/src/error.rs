//! Why there is no answer.

use lyra_research::PortError;
use std::time::Duration;

/// Result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A question without a usable answer, or settings that cannot be used. No message holds the key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A setting cannot be used.
    #[error("{setting}: {why}")]
    Setting {
        /// Its name in the configuration.
        setting: &'static str,
        /// What is wrong, and how to fix it.
        why: String,
    },
    /// A prompt cannot be read or filled in.
    #[error("prompt {name}: {why}")]
    Prompt {
        /// File of the prompt.
        name: String,
        /// What is wrong with it.
        why: String,
    },
    /// The server is unreachable, or the connection broke.
    #[error("cannot reach {url}: {why}")]
    Unreachable {
        /// The server's address.
        url: String,
        /// The network error.
        why: String,
    },
    /// The time limit passed.
    #[error("no answer within {} s", limit.as_secs())]
    Slow {
        /// The limit.
        limit: Duration,
    },
    /// 429 or 5xx: too many requests, or a server in trouble.
    #[error("the server cannot answer now ({status}): {message}")]
    Busy {
        /// Status code.
        status: u16,
        /// Its explanation.
        message: String,
        /// Its `Retry-After`.
        retry_after: Option<Duration>,
    },
    /// Any other error status: a wrong key, an unknown model, a wrong address.
    #[error("the server rejected the request ({status}): {message}")]
    Refused {
        /// Status code.
        status: u16,
        /// Its explanation.
        message: String,
    },
    /// The model will not answer this.
    #[error("the model declines to answer: {why}")]
    Declined {
        /// Its explanation.
        why: String,
    },
    /// An answer of the wrong form.
    #[error("the answer cannot be used: {why}")]
    Malformed {
        /// What is wrong with it.
        why: String,
    },
}

impl From<Error> for PortError {
    fn from(error: Error) -> Self {
        let (what, why) = ("the language model".to_owned(), error.to_string());
        match error {
            Error::Unreachable { .. } | Error::Slow { .. } | Error::Busy { .. } => {
                Self::Unavailable { what, why }
            }
            Error::Setting { .. } | Error::Refused { .. } | Error::Declined { .. } => {
                Self::Refused { what, why }
            }
            Error::Prompt { .. } | Error::Malformed { .. } => Self::Failed { what, why },
        }
    }
}
