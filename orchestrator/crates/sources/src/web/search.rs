//! Web search engines, queried by their APIs, over HTTP, or with a browser.

use super::parser::{parsed, unread};
use super::{Aids, Rules, WebApi};
use crate::api::Probe;
use crate::cookies::Session;
use crate::http::{Cache, HttpClient, Origin, Policy, Request, Response, Settles};
use crate::{Error, Result};
use async_trait::async_trait;
use lyra_web::read::Task;
use lyra_web::serp::{Category, Engine, SearchApi, SerpPage, Transport};
use serde::Serialize;
use std::sync::Arc;
use std::time::Duration;
use url::Url;

/// Most bytes of a result page.
const MAX_BYTES: usize = 4 << 20;
/// How long a result page is cached: a task sends the same query once.
const KEEP: Duration = Duration::from_hours(1);

/// Asks search engines. Cheap to clone.
#[derive(Clone)]
pub struct WebSearch {
    http: HttpClient,
    rules: Rules,
    trusted: Vec<Origin>,
    aids: Aids,
    apis: Arc<[WebApi]>,
}

/// One engine's result page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SerpAnswer {
    /// Its name.
    pub engine: String,
    /// The requested address, which a person can open.
    pub url: String,
    /// The parsed page.
    #[serde(flatten)]
    pub page: SerpPage,
}

impl WebSearch {
    /// Asks over this client; `trusted` are origins that are not public (test servers).
    pub fn new(http: HttpClient, rules: Rules, trusted: Vec<Origin>) -> Self {
        Self { http, rules, trusted, aids: Aids::default(), apis: Arc::default() }
    }

    /// With what helps where plain requests do not do.
    #[must_use]
    pub fn with_aids(self, aids: Aids) -> Self {
        Self { aids, ..self }
    }

    /// With APIs, best first. Each takes the place of an engine with its name.
    #[must_use]
    pub fn with_apis(self, apis: Vec<WebApi>) -> Self {
        Self { apis: apis.into(), ..self }
    }

    /// The APIs that can be asked, best first.
    pub fn apis(&self) -> &[WebApi] {
        &self.apis
    }

    fn api(&self, name: &str) -> Option<&WebApi> {
        self.apis.iter().find(|api| api.name() == name)
    }

    /// Names of the engines of a category whose result pages are read.
    pub fn readable(&self, category: Category) -> Vec<String> {
        let mut names = self.rules.engines().of(category);
        names.retain(|name| self.api(name).is_none());
        names
    }

    /// Whether there is an engine or a configured API with this name.
    pub fn knows(&self, name: &str) -> bool {
        self.api(name).is_some() || self.rules.engines().get(name).is_some()
    }

    /// Names of the configured APIs, and of all other engines.
    pub fn names(&self) -> Vec<String> {
        let engines = self.rules.engines();
        let others = engines.iter().map(|engine| engine.name.clone()).filter(|name| self.api(name).is_none());
        self.apis.iter().map(|api| api.name().to_owned()).chain(others).collect()
    }

    /// Sends a small question past the cache to a configured API, which may cost what a search costs.
    ///
    /// # Errors
    /// Why it does not answer.
    pub async fn probe(&self, api: &WebApi) -> Result<Probe> {
        api.probe(&self.http, &self.rules, &self.aids).await
    }

    /// How long an API is still cooling down, and why.
    pub async fn pause(&self, api: &WebApi) -> Option<(Duration, String)> {
        api.pause(&self.http).await
    }

    /// Asks one engine for its first page, or one API for its hits.
    ///
    /// Challenges, refusals and changed markup are answers, not errors.
    ///
    /// # Errors
    /// An engine that is not configured, or an error of fetching the page.
    pub async fn ask(&self, engine: &str, query: &str, language: Option<&str>) -> Result<SerpAnswer> {
        if let Some(api) = self.api(engine) {
            return api.ask(&self.http, &self.rules, &self.aids, query, language).await;
        }
        let engines = self.rules.engines();
        let engine = engines.get(engine).ok_or_else(|| self.unknown(engine))?;
        let address = engine
            .address(query, language)
            .map_err(|error| Error::Setting { setting: "engines".to_owned(), why: error.to_string() })?;
        let session = self.aids.session(&address).await;
        let policy = self.policy(engine);
        let page = match engine.transport {
            Transport::Browser => self.in_browser(engine, &policy, &address, session).await?,
            Transport::Http => self.plain(engine, &policy, &address, session).await?,
            Transport::HttpThenBrowser => {
                match self.plain(engine, &policy, &address, session.clone()).await? {
                    SerpPage::Drift { why } => self
                        .in_browser(engine, &policy, &address, session)
                        .await
                        .unwrap_or_else(|error| SerpPage::Drift { why: format!("{why}; {error}") }),
                    page => page,
                }
            }
        };
        Ok(SerpAnswer { engine: engine.name.clone(), url: address.to_string(), page })
    }

    /// The engine's page by a plain request.
    async fn plain(
        &self,
        engine: &Engine,
        policy: &Policy,
        address: &Url,
        session: Option<Session>,
    ) -> Result<SerpPage> {
        let request = Request::get(address.clone()).session(session);
        let answer =
            self.http.send_until(policy, request.clone(), &Challenges { search: self, engine }).await;
        let page = self.judged(engine, policy, answer).await;
        if matches!(page, Ok(SerpPage::Challenge { .. })) {
            // After the person's visit it must be asked again.
            self.http.forget(&request).await;
        }
        page
    }

    /// The engine's page as the browser shows it.
    async fn in_browser(
        &self,
        engine: &Engine,
        policy: &Policy,
        address: &Url,
        session: Option<Session>,
    ) -> Result<SerpPage> {
        let loaded = self.aids.rendered(&self.http, policy, address, session.as_ref()).await;
        self.judged(engine, policy, loaded).await
    }

    fn policy(&self, engine: &Engine) -> Policy {
        Policy {
            min_interval: engine.min_interval,
            daily_budget: engine.daily_budget,
            max_attempts: 2,
            max_bytes: MAX_BYTES,
            cache: Cache::Fixed { ttl: KEEP },
            trusted: self.trusted.clone(),
            ..Policy::new(format!("serp:{}", engine.name))
        }
    }

    /// The parsed page. One with an error status may still be a challenge.
    async fn judged(&self, engine: &Engine, policy: &Policy, answer: Result<Response>) -> Result<SerpPage> {
        let response = match answer {
            Err(Error::Status { response, message, provider, retry_after }) => {
                return match self.read(engine, &response).await {
                    Ok(page @ SerpPage::Challenge { .. }) => Ok(page),
                    _ => Err(Error::Status { provider, message, retry_after, response }),
                };
            }
            other => other?,
        };
        match self.read(engine, &response).await? {
            SerpPage::Drift { .. } | SerpPage::NoResults if !response.status.is_success() => {
                Err(Error::Rejected {
                    provider: policy.provider.clone(),
                    status: response.status.as_u16(),
                    message: response.reason().to_owned(),
                })
            }
            page => Ok(page),
        }
    }

    fn unknown(&self, name: &str) -> Error {
        if let Some(api) = SearchApi::named(name) {
            let why = if api.needs_key() {
                format!("{} needs a key, which {} gives out", api.title, api.account)
            } else {
                format!("{} needs the address of an instance", api.title)
            };
            return Error::Setting { setting: api.setting(), why };
        }
        let known = self.names().join(", ");
        let why = format!("`{name}` is not configured; the engines are: {known}");
        Error::Setting { setting: "engine".to_owned(), why }
    }

    async fn read(&self, engine: &Engine, response: &Response) -> Result<SerpPage> {
        let task = Task::Results { engine: engine.name.clone() };
        let read = parsed(&*self.aids.parser, &self.rules, task, response).await;
        read.map_err(|why| unread(&response.url, why))
    }
}

/// Error answers that are challenges.
struct Challenges<'a> {
    search: &'a WebSearch,
    engine: &'a Engine,
}

#[async_trait]
impl Settles for Challenges<'_> {
    async fn settles(&self, response: &Response) -> bool {
        matches!(self.search.read(self.engine, response).await, Ok(SerpPage::Challenge { .. }))
    }
}
