//! Why a source did not answer.

use crate::http::{Response, named};
use lyra_research::PortError;
use lyra_web::serp::ChallengeKind;
use std::time::Duration;

/// Result of a call to the outside.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A call to the outside that failed for good: retries, where they could help, are over. No variant holds a secret:
/// addresses are shown without their query and user part.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The address may not be fetched: scheme, port, or where its name leads.
    #[error("{url} must not be fetched: {why}")]
    Forbidden {
        /// Address, without query.
        url: String,
        /// Which rule it broke.
        why: String,
    },
    /// The site asks robots not to fetch this.
    #[error("{url} must not be fetched by robots: {why}")]
    Robots {
        /// Address, without query.
        url: String,
        /// What its robots.txt said.
        why: String,
    },
    /// The provider said when to come back or "too many requests", now or before, or it failed too often: it is not asked
    /// for a while.
    #[error("{provider} is not asked for {} s: {why}", retry_after.as_secs().max(1))]
    CoolingDown {
        /// Provider.
        provider: String,
        /// Until it is asked again.
        retry_after: Duration,
        /// What it answered.
        why: String,
    },
    /// An answer of 429 or 5xx after the last attempt. The answer is kept: it may be a page that explains itself.
    #[error("{provider} answered {}: {message}", response.status)]
    Status {
        /// Provider.
        provider: String,
        /// Its explanation, shortened.
        message: String,
        /// When it said to come back.
        retry_after: Option<Duration>,
        /// The whole answer.
        response: Box<Response>,
    },
    /// An answer of 4xx that another attempt would not change.
    #[error("{provider} refused the request ({status}): {message}")]
    Rejected {
        /// Provider.
        provider: String,
        /// Status code.
        status: u16,
        /// Its explanation, shortened.
        message: String,
    },
    /// No complete answer in time.
    #[error("{provider} did not answer within {} s", after.as_secs().max(1))]
    Timeout {
        /// Provider.
        provider: String,
        /// The limit.
        after: Duration,
    },
    /// No connection, or it broke: name resolution, TCP, TLS, a body cut short.
    #[error("{provider} cannot be reached: {why}")]
    Unreachable {
        /// Provider.
        provider: String,
        /// What the network said.
        why: String,
    },
    /// More bytes than allowed, packed or unpacked.
    #[error("{provider} sent more than {limit} bytes")]
    TooLarge {
        /// Provider.
        provider: String,
        /// The limit.
        limit: usize,
    },
    /// The answer is not what this call needs: wrong content type, bad compression, malformed JSON.
    #[error("{provider} sent something unexpected: {why}")]
    Unexpected {
        /// Provider.
        provider: String,
        /// What is wrong with it.
        why: String,
    },
    /// More redirects than allowed, or one without a usable address.
    #[error("{url} redirects badly: {why}")]
    Redirect {
        /// Address, without query.
        url: String,
        /// What is wrong.
        why: String,
    },
    /// A page that wants a person: a puzzle, consent, a login. It is told by type and never solved.
    #[error("{url} wants a person: {}", kind.as_str())]
    Challenge {
        /// Address, without query.
        url: String,
        /// What it wants.
        kind: ChallengeKind,
    },
    /// A page that arrived and has no text that can be read.
    #[error("{url} cannot be read: {why}")]
    Unreadable {
        /// Address, without query.
        url: String,
        /// What was seen.
        why: String,
    },
    /// A page needs a browser and there is none that can be started.
    #[error("there is no browser: {why}")]
    NoBrowser {
        /// Where it was looked for, and what to do.
        why: String,
    },
    /// The browser did not bring the page.
    #[error("{url} could not be loaded by the browser: {why}")]
    Browser {
        /// Address, without query.
        url: String,
        /// What happened.
        why: String,
    },
    /// A setting that cannot work.
    #[error("{setting}: {why}")]
    Setting {
        /// Its name.
        setting: String,
        /// What is wrong and what would be right.
        why: String,
    },
}

impl Error {
    /// Seconds after which the same call may succeed, when the other side said so.
    pub fn retry_after_seconds(&self) -> Option<u64> {
        match self {
            Self::CoolingDown { retry_after, .. } => Some(retry_after.as_secs().max(1)),
            Self::Status { retry_after, .. } => retry_after.map(|wait| wait.as_secs().max(1)),
            _ => None,
        }
    }

    /// Trying the same call again later may succeed.
    pub fn is_transient(&self) -> bool {
        matches!(
            self,
            Self::CoolingDown { .. } | Self::Status { .. } | Self::Timeout { .. } | Self::Unreachable { .. }
        )
    }
}

impl From<Error> for PortError {
    /// The pipeline puts the source's name in front, so it is left out here.
    fn from(error: Error) -> Self {
        let what = "its server".to_owned();
        let transient = error.is_transient();
        let why = match &error {
            Error::Status { message, response, .. } => named(response.status, message),
            Error::Rejected { status, message, .. } => format!("{status}: {message}"),
            Error::Timeout { after, .. } => format!("no answer within {} s", after.as_secs().max(1)),
            Error::CoolingDown { why, .. }
            | Error::Unreachable { why, .. }
            | Error::Unexpected { why, .. } => why.clone(),
            Error::TooLarge { limit, .. } => format!("it sent more than {limit} bytes"),
            other => other.to_string(),
        };
        match error {
            Error::CoolingDown { retry_after, .. } | Error::Status { retry_after: Some(retry_after), .. } => {
                Self::Paused { what, why, retry_after }
            }
            _ if transient => Self::Unavailable { what, why },
            Error::Unexpected { .. }
            | Error::TooLarge { .. }
            | Error::Setting { .. }
            | Error::NoBrowser { .. }
            | Error::Browser { .. } => Self::Failed { what, why },
            _ => Self::Refused { what, why },
        }
    }
}
