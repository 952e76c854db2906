//! The common part of the academic APIs: requests and errors.

use crate::http::{Cache, HttpClient, Origin, Policy, Request, Response};
use crate::{Error, Result};
use secrecy::SecretString;
use serde::de::DeserializeOwned;
use std::time::Duration;
use url::Url;

/// The address of an API, and the limits of its use.
#[derive(Debug, Clone)]
pub struct ApiConfig {
    /// Address that paths are appended to.
    pub base_url: Url,
    /// Whether the address is configured: then it may be anywhere, even on this machine.
    pub trusted: bool,
    /// Key, when there is one.
    pub api_key: Option<SecretString>,
    /// Email address of the operator, for an API that asks for one.
    pub mailto: Option<String>,
    /// Shortest time between two requests; the API's own limit when absent.
    pub min_interval: Option<Duration>,
    /// How long responses are reused; zero for never.
    pub cache_ttl: Duration,
}

/// One API.
#[derive(Clone)]
pub(crate) struct Api {
    pub(crate) http: HttpClient,
    pub(crate) policy: Policy,
    pub(crate) base: Url,
}

/// How an API answered a small question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    /// Works that match the question.
    pub matches: u64,
    /// From asking to the last byte.
    pub took: Duration,
}

impl Api {
    /// `cool_down_after` 429 in a row start a cool-down.
    pub(crate) fn new(
        http: HttpClient,
        provider: &str,
        config: &ApiConfig,
        min_interval: Duration,
        cool_down_after: u32,
    ) -> Self {
        let cache =
            if config.cache_ttl.is_zero() { Cache::Off } else { Cache::Fixed { ttl: config.cache_ttl } };
        let policy = Policy {
            min_interval: config.min_interval.unwrap_or(min_interval),
            // Enough attempts for a single call to reach the cool-down of the API.
            max_attempts: cool_down_after.max(3),
            max_wait: Duration::from_mins(1),
            cool_down_after,
            max_bytes: 32 << 20,
            cache,
            content_types: vec!["application/json".to_owned()],
            explained: true,
            trusted: Origin::of(&config.base_url).filter(|_| config.trusted).into_iter().collect(),
            ..Policy::new(provider)
        };
        Self { http, policy, base: config.base_url.clone() }
    }

    /// The address of a path under the base; `path` may hold slashes that belong to identifiers.
    pub(crate) fn url(&self, path: &str, query: &[(&str, &str)]) -> Url {
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path.split('/'));
        }
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        url
    }

    /// The same, but its answers have one of these types instead of JSON's.
    pub(crate) fn accepting(mut self, types: &[&str]) -> Self {
        self.policy.content_types = types.iter().map(|kind| (*kind).to_owned()).collect();
        self
    }

    /// Sends, and answers with what came; `None` for 404.
    pub(crate) async fn fetch(&self, request: Request) -> Result<Option<Response>> {
        let response = self.http.send(&self.policy, request).await?;
        match response.status.as_u16() {
            // JSON or an HTML page: either way it does not exist.
            404 => Ok(None),
            200..=299 => Ok(Some(response)),
            status => {
                let (provider, message) = (self.policy.provider.clone(), response.explanation());
                Err(Error::Rejected { provider, status, message })
            }
        }
    }

    /// Sends, and reads a JSON answer; `None` for 404.
    pub(crate) async fn ask<T: DeserializeOwned>(&self, request: Request) -> Result<Option<T>> {
        let Some(response) = self.fetch(request).await? else { return Ok(None) };
        let read = serde_json::from_slice(&response.body);
        read.map(Some).map_err(|error| self.unexpected(format!("its JSON cannot be read: {error}")))
    }

    /// The error for an answer that is not what was asked for.
    pub(crate) fn unexpected(&self, why: impl Into<String>) -> Error {
        Error::Unexpected { provider: self.policy.provider.clone(), why: why.into() }
    }

    /// How long it is still cooling down, and why.
    pub(crate) async fn pause(&self) -> Option<(Duration, String)> {
        self.http.pause(&self.policy.provider).await
    }

    /// The same without cache, so that a probe reaches it.
    pub(crate) fn uncached(&self) -> Self {
        let policy = Policy { cache: Cache::Off, max_attempts: 1, ..self.policy.clone() };
        Self { policy, ..self.clone() }
    }
}
