//! How one provider is treated.

use super::Response;
use std::fmt;
use std::time::Duration;
use url::Url;

/// How one provider is treated: its limits, its patience, and what may be fetched in its name.
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    /// Key of limiter, cool-down and breaker, and the name in errors: `semantic_scholar`, `web:example.org`.
    pub provider: String,
    /// Shortest time between the starts of two requests.
    pub min_interval: Duration,
    /// Most parallel requests.
    pub max_concurrent: usize,
    /// Most requests in one day, in UTC; every attempt counts, answers from the cache do not.
    pub daily_budget: Option<u32>,
    /// Limit of one attempt, from connecting to the last byte.
    pub timeout: Duration,
    /// Most bytes of a body, unpacked.
    pub max_bytes: usize,
    /// Most attempts, the first included.
    pub max_attempts: u32,
    /// First pause between attempts; doubles with every attempt, with full jitter.
    pub backoff: Duration,
    /// Longest time to wait for a turn, or for the moment that `Retry-After` names, before giving up.
    pub max_wait: Duration,
    /// So many 429 in a row start a cool-down.
    pub cool_down_after: u32,
    /// Length of a cool-down when the provider names none.
    pub cool_down: Duration,
    /// So many other failures in a row (5xx, timeouts, broken connections) open the circuit breaker.
    pub breaker_after: u32,
    /// How long the breaker stays open.
    pub breaker_pause: Duration,
    /// Which responses are cached.
    pub cache: Cache,
    /// Most redirects that are followed.
    pub max_redirects: usize,
    /// Whether to check robots.txt of every host on the way first.
    pub robots: bool,
    /// Accepted content types (`text/html`, `application/json`), without parameters; empty accepts all.
    pub content_types: Vec<String>,
    /// Whether errors repeat how answers explain themselves ([`Response::explanation`]): for APIs that configuration
    /// names. Anyone may write a page of the web, so of its answers errors tell the status only.
    pub explained: bool,
    /// Ports besides 80 and 443.
    pub ports: Vec<u16>,
    /// Configured origins (test servers, proxies): without address and port checks. A redirect to any other origin is
    /// checked again.
    pub trusted: Vec<Origin>,
}

impl Policy {
    /// Conservative values for a provider: one request a second, 30 s, 8 MiB, three attempts, nothing cached or
    /// explained.
    pub fn new(provider: impl Into<String>) -> Self {
        Self {
            provider: provider.into(),
            min_interval: Duration::from_secs(1),
            max_concurrent: 1,
            daily_budget: None,
            timeout: Duration::from_secs(30),
            max_bytes: 8 << 20,
            max_attempts: 3,
            backoff: Duration::from_millis(500),
            max_wait: Duration::from_secs(30),
            cool_down_after: 2,
            cool_down: Duration::from_mins(1),
            breaker_after: 5,
            breaker_pause: Duration::from_secs(30),
            cache: Cache::Off,
            max_redirects: 5,
            robots: false,
            content_types: Vec::new(),
            explained: false,
            ports: Vec::new(),
            trusted: Vec::new(),
        }
    }

    /// What errors tell of an error response.
    pub(super) fn message_of(&self, response: &Response) -> String {
        if self.explained { response.explanation() } else { response.reason().to_owned() }
    }
}

/// Which responses are cached on disk. A stale response is revalidated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cache {
    /// None.
    Off,
    /// Responses with 200, 404 and 410 for as long as `Cache-Control` allows, else for this long. `no-store` is
    /// honored.
    Header {
        /// Without `Cache-Control`.
        default: Duration,
    },
    /// Responses with 200 for this long, regardless of their headers: for APIs with slowly changing facts.
    Fixed {
        /// How long.
        ttl: Duration,
    },
}

/// Scheme, host and port: what configuration may trust.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Origin {
    scheme: String,
    host: String,
    port: u16,
}

impl Origin {
    /// The origin of an http or https address.
    pub fn of(url: &Url) -> Option<Self> {
        let scheme = url.scheme();
        if !matches!(scheme, "http" | "https") {
            return None;
        }
        Some(Self {
            scheme: scheme.to_owned(),
            host: url.host_str()?.to_ascii_lowercase(),
            port: url.port_or_known_default()?,
        })
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}:{}", self.scheme, self.host, self.port)
    }
}
