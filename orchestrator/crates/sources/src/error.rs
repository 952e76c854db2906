//! Why a source did not answer.

use crate::http::{Response, named};
use lyra_research::PortError;
use lyra_web::serp::ChallengeKind;
use std::time::Duration;

/// Result of a call to the outside.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An outside call that failed permanently, after any useful retries. No variant contains a secret: addresses are shown
/// without query and user part.
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
    /// The site's robots.txt disallows it.
    #[error("robots.txt disallows fetching {url}: {why}")]
    Robots {
        /// Address, without query.
        url: String,
        /// The rule of its robots.txt.
        why: String,
    },
    /// The provider is cooling down: it answered "too many requests", asked for a pause, or failed too often.
    #[error("{provider} is cooling down, retry in {} s: {why}", retry_after.as_secs().max(1))]
    CoolingDown {
        /// Provider.
        provider: String,
        /// Time until the next request is allowed.
        retry_after: Duration,
        /// Its answer.
        why: String,
    },
    /// An answer of 429 or 5xx after the last attempt. The answer is kept: it may be a page that explains itself.
    #[error("{provider} answered {}: {message}", response.status)]
    Status {
        /// Provider.
        provider: String,
        /// Its explanation, shortened.
        message: String,
        /// Its `Retry-After`.
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
    /// The provider does not accept the API key, or wants one.
    #[error(
        "{provider} does not accept its API key ({status}: {message}); check {setting} against {account}"
    )]
    Key {
        /// Provider.
        provider: String,
        /// Status code.
        status: u16,
        /// Its explanation, shortened.
        message: String,
        /// The setting that holds the key.
        setting: String,
        /// Where its customers find their keys.
        account: String,
    },
    /// The quota or the credit of the API key is used up.
    #[error(
        "the quota of the API key for {provider} is used up ({status}: {message}); raise it or wait for its renewal \
         ({account}), or configure another search API"
    )]
    Quota {
        /// Provider.
        provider: String,
        /// Status code.
        status: u16,
        /// Its explanation, shortened.
        message: String,
        /// Where its customers find their quotas.
        account: String,
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
    #[error("{provider} is unreachable: {why}")]
    Unreachable {
        /// Provider.
        provider: String,
        /// The network error.
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
    #[error("{provider} sent an unexpected response: {why}")]
    Unexpected {
        /// Provider.
        provider: String,
        /// What is wrong with it.
        why: String,
    },
    /// More redirects than allowed, or one without a usable address.
    #[error("{url} has an invalid redirect: {why}")]
    Redirect {
        /// Address, without query.
        url: String,
        /// What is wrong.
        why: String,
    },
    /// A page that requires a person: a CAPTCHA, consent, a login. Lyra reports its kind and never tries to pass it.
    #[error("{url} requires human verification: {}", kind.as_str())]
    Challenge {
        /// Address, without query.
        url: String,
        /// What it requires.
        kind: ChallengeKind,
    },
    /// A page that arrived and has no text that can be read.
    #[error("{url} cannot be read: {why}")]
    Unreadable {
        /// Address, without query.
        url: String,
        /// What happened.
        why: String,
    },
    /// A page needs a browser, and none can be started.
    #[error("no browser available: {why}")]
    NoBrowser {
        /// The places searched, and what to do.
        why: String,
    },
    /// The browser could not load the page.
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
        /// What is wrong, and how to fix it.
        why: String,
    },
}

impl Error {
    /// Seconds after which the same call may succeed, if the other side named a time.
    pub fn retry_after_seconds(&self) -> Option<u64> {
        match self {
            Self::CoolingDown { retry_after, .. } => Some(retry_after.as_secs().max(1)),
            Self::Status { retry_after, .. } => retry_after.map(|wait| wait.as_secs().max(1)),
            _ => None,
        }
    }

    /// Whether retrying the same call later may succeed.
    pub fn is_transient(&self) -> bool {
        matches!(
            self,
            Self::CoolingDown { .. } | Self::Status { .. } | Self::Timeout { .. } | Self::Unreachable { .. }
        )
    }
}

impl From<Error> for PortError {
    /// The pipeline prepends the source's name, so it is omitted here.
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
