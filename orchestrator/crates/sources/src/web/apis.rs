//! APIs of web search, which are asked in place of reading result pages.

use super::parser::parsed;
use super::{Aids, Rules, SerpAnswer};
use crate::api::Probe;
use crate::http::{Cache, HttpClient, Origin, Policy, Request, Response, Settles};
use crate::{Error, Result};
use async_trait::async_trait;
use bytes::Bytes;
use http::HeaderName;
use lyra_web::read::Task;
use lyra_web::serp::{Parameters, Refusal, SearchApi, SerpPage};
use secrecy::{ExposeSecret, SecretString};
use std::time::Duration;
use tokio::time::Instant;
use url::Url;

/// Most bytes of an answer.
const MAX_BYTES: usize = 4 << 20;
/// What a probe asks for.
const SMALL_QUESTION: &str = "sleep and memory";

/// How the operator uses an API of web search.
#[derive(Debug, Clone, Default)]
pub struct WebApiConfig {
    /// Address under which its path is, when it is not the API's own. It may be anywhere, even on this machine.
    pub base_url: Option<Url>,
    /// Key, when there is one.
    pub api_key: Option<SecretString>,
    /// Shortest time between two requests; the API's own limit when absent.
    pub min_interval: Option<Duration>,
    /// Most requests in one day, in UTC.
    pub daily_budget: Option<u32>,
}

/// An API of web search that can be asked.
#[derive(Debug, Clone)]
pub struct WebApi {
    api: &'static SearchApi,
    base: Url,
    policy: Policy,
    key: Option<SecretString>,
}

impl WebApi {
    /// The API as it is configured; `None` when it lacks what it cannot be asked without.
    pub fn open(api: &'static SearchApi, config: WebApiConfig) -> Option<Self> {
        let WebApiConfig { base_url, api_key, min_interval, daily_budget } = config;
        if api.needs_key() && api_key.is_none() {
            return None;
        }
        let trusted = base_url.as_ref().and_then(Origin::of);
        let policy = Policy {
            min_interval: min_interval.unwrap_or(api.min_interval),
            daily_budget,
            max_attempts: 2,
            max_bytes: MAX_BYTES,
            cache: if api.keep.is_zero() { Cache::Off } else { Cache::Fixed { ttl: api.keep } },
            content_types: vec!["application/json".to_owned()],
            explained: true,
            trusted: trusted.into_iter().collect(),
            ..Policy::new(format!("api:{}", api.name))
        };
        let base = base_url.or_else(|| api.address?.parse().ok())?;
        Some(Self { api, base, policy, key: api_key })
    }

    /// Its name as an engine.
    pub fn name(&self) -> &'static str {
        self.api.name
    }

    /// The address under which it is asked.
    pub fn base_url(&self) -> &Url {
        &self.base
    }

    /// Whether a key is sent along.
    pub fn has_key(&self) -> bool {
        self.key.is_some()
    }

    /// How long it is still cooling down, and why.
    pub(super) async fn pause(&self, http: &HttpClient) -> Option<(Duration, String)> {
        http.pause(&self.policy.provider).await
    }

    /// Its hits for a query.
    ///
    /// # Errors
    /// A refused key, a used-up quota, errors of the HTTP layer, an answer that is no list of hits.
    pub(super) async fn ask(
        &self,
        http: &HttpClient,
        rules: &Rules,
        aids: &Aids,
        query: &str,
        language: Option<&str>,
    ) -> Result<SerpAnswer> {
        let request = self.request(query, language);
        let url = request.url().to_string();
        let page = self.page(http, rules, aids, request.clone()).await;
        if !matches!(page, Ok(SerpPage::Results { .. } | SerpPage::NoResults)) {
            // The next answer may be a better one.
            http.forget(&request).await;
        }
        Ok(SerpAnswer { engine: self.api.name.to_owned(), url, page: page? })
    }

    /// Asks a small question past the cache, which may cost what a search costs.
    ///
    /// # Errors
    /// Why it does not answer.
    pub(super) async fn probe(&self, http: &HttpClient, rules: &Rules, aids: &Aids) -> Result<Probe> {
        let policy = Policy { cache: Cache::Off, max_attempts: 1, ..self.policy.clone() };
        let this = Self { policy, ..self.clone() };
        let begun = Instant::now();
        let matches = match this.page(http, rules, aids, this.request(SMALL_QUESTION, Some("en"))).await? {
            SerpPage::Results { results, .. } => results.len() as u64,
            SerpPage::Refused { why } => {
                return Err(Error::Unexpected { provider: this.policy.provider, why });
            }
            _ => 0,
        };
        Ok(Probe { matches, took: begun.elapsed() })
    }

    fn request(&self, query: &str, language: Option<&str>) -> Request {
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(self.api.path.split('/'));
        }
        let request = match self.api.parameters(query, language) {
            Parameters::Query(given) => {
                url.query_pairs_mut().extend_pairs(given);
                Request::get(url)
            }
            Parameters::Json(body) => Request::post(url, "application/json", body),
        };
        match &self.key {
            None => request,
            Some(key) => {
                let value = format!("{}{}", self.api.key_scheme, key.expose_secret());
                request.secret_header(HeaderName::from_static(self.api.key_header), value.into())
            }
        }
    }

    async fn page(
        &self,
        http: &HttpClient,
        rules: &Rules,
        aids: &Aids,
        request: Request,
    ) -> Result<SerpPage> {
        let answer = http.send_until(&self.policy, request.clone(), &Refusals(self.api)).await;
        let response = answer.map_err(without_body)?;
        if !response.status.is_success() {
            return Err(self.refused(&request, &response));
        }
        let task = Task::Hits { api: self.api.name.to_owned() };
        let read = parsed(&*aids.parser, rules, task, &response).await;
        read.map_err(|why| Error::Unexpected { provider: self.policy.provider.clone(), why: why.to_string() })
    }

    fn refused(&self, request: &Request, response: &Response) -> Error {
        let api = self.api;
        let status = response.status.as_u16();
        let unexplained = || response.reason().to_owned();
        let message = request.without_secrets(api.explanation(&response.body).unwrap_or_else(unexplained));
        let provider = api.title.to_owned();
        let setting = format!("sources.web.apis.{}.api_key", api.name);
        let account = api.account.to_owned();
        match api.refusal(status, &response.body) {
            Some(Refusal::Key) => Error::Key { provider, status, message, setting, account },
            Some(Refusal::Quota) => Error::Quota { provider, status, message, account },
            Some(Refusal::Setup { remedy }) => Error::Setting {
                setting: api.setting(),
                why: format!("{provider} refuses searches by programs ({status}: {message}); {remedy}"),
            },
            None => Error::Rejected { provider: self.policy.provider.clone(), status, message },
        }
    }
}

/// The error without the whole answer, which may repeat a key.
fn without_body(error: Error) -> Error {
    match error {
        Error::Status { provider, message, retry_after, response } => {
            let response = Box::new(Response { body: Bytes::new(), ..*response });
            Error::Status { provider, message, retry_after, response }
        }
        other => other,
    }
}

/// Answers of 429 that another attempt would not change.
struct Refusals(&'static SearchApi);

#[async_trait]
impl Settles for Refusals {
    async fn settles(&self, response: &Response) -> bool {
        self.0.refusal(response.status.as_u16(), &response.body).is_some()
    }
}
