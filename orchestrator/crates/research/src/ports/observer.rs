//! Who counts and times what the parts do.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// How a leased job ended here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobEnd {
    /// It is done.
    Completed,
    /// It failed, for good or until its next attempt.
    Failed,
    /// Its task was stopped, or another worker took it.
    Cancelled,
    /// The process stops and gave it back.
    GivenBack,
}

impl JobEnd {
    /// Its word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::GivenBack => "given_back",
        }
    }
}

/// How one request to a source ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestEnd {
    /// An answer below 400.
    Answered,
    /// 4xx but 429.
    ClientError,
    /// 429.
    TooManyRequests,
    /// 5xx.
    ServerError,
    /// No answer in time.
    Timeout,
    /// No connection, or a broken one.
    Unreachable,
    /// Not sent, or its answer not taken: an address that leads inside, robots.txt, size, type.
    Refused,
}

impl RequestEnd {
    /// Its word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::ClientError => "client_error",
            Self::TooManyRequests => "too_many_requests",
            Self::ServerError => "server_error",
            Self::Timeout => "timeout",
            Self::Unreachable => "unreachable",
            Self::Refused => "refused",
        }
    }
}

/// What the cache of answers had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheLookup {
    /// A fresh answer, used as it was.
    Hit,
    /// An old one, asked for again.
    Stale,
    /// Nothing.
    Miss,
}

impl CacheLookup {
    /// Its word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Hit => "hit",
            Self::Stale => "stale",
            Self::Miss => "miss",
        }
    }
}

/// Counts and times. Every method returns at once.
pub trait Observer: Send + Sync {
    /// A job of this kind was worked on.
    fn job(&self, kind: &'static str, end: JobEnd, took: Duration);
    /// A request was sent to a provider (`semantic_scholar`, `web:example.org`); every attempt counts.
    fn source_request(&self, provider: &str, end: RequestEnd, took: Duration);
    /// A request waited for its turn.
    fn rate_wait(&self, provider: &str, waited: Duration);
    /// The cache was looked into.
    fn cache(&self, provider: &str, found: CacheLookup);
}

/// The observer of a component; by default, one that ignores everything.
#[derive(Clone)]
pub struct Observed(pub Arc<dyn Observer>);

impl Default for Observed {
    fn default() -> Self {
        struct Nobody;
        impl Observer for Nobody {
            fn job(&self, _: &'static str, _: JobEnd, _: Duration) {}
            fn source_request(&self, _: &str, _: RequestEnd, _: Duration) {}
            fn rate_wait(&self, _: &str, _: Duration) {}
            fn cache(&self, _: &str, _: CacheLookup) {}
        }
        Self(Arc::new(Nobody))
    }
}

impl fmt::Debug for Observed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Observed(…)")
    }
}
