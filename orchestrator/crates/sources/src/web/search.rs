//! Web search engines asked over HTTP.

use super::Rules;
use crate::http::{Cache, HttpClient, Origin, Policy, Request};
use crate::{Error, Result};
use lyra_web::extract::decode;
use lyra_web::serp::{Engine, Engines, SerpPage};
use serde::Serialize;
use std::time::Duration;

/// Most bytes of a result page.
const MAX_BYTES: usize = 4 << 20;
/// How long a result page is kept: the same question within a task asks once.
const KEEP: Duration = Duration::from_hours(1);

/// Asks search engines. Cheap to clone.
#[derive(Clone)]
pub struct WebSearch {
    http: HttpClient,
    rules: Rules,
    trusted: Vec<Origin>,
}

/// What one engine answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SerpAnswer {
    /// Its name.
    pub engine: String,
    /// The address asked, where a person can look.
    pub url: String,
    /// What the page was.
    #[serde(flatten)]
    pub page: SerpPage,
}

impl WebSearch {
    /// Asks over this client; `trusted` are origins that are not public (test servers).
    pub fn new(http: HttpClient, rules: Rules, trusted: Vec<Origin>) -> Self {
        Self { http, rules, trusted }
    }

    /// Asks one engine for its first page.
    ///
    /// Challenges, refusals and changed markup are answers, not errors.
    ///
    /// # Errors
    /// An engine that is not configured, and whatever kept the page from arriving.
    pub async fn ask(&self, engine: &str, query: &str, language: Option<&str>) -> Result<SerpAnswer> {
        let engines = self.rules.engines();
        let engine = engines.get(engine).ok_or_else(|| unknown(engine, &engines))?;
        let address = engine
            .address(query, language)
            .map_err(|error| Error::Setting { setting: "engines".to_owned(), why: error.to_string() })?;
        let response = match self.http.send(&self.policy(engine), Request::get(address.clone())).await {
            // A page that came with an error status may say what it wants.
            Err(Error::Status { response, message, provider, retry_after }) => {
                match read(&engines, engine, &response) {
                    page @ SerpPage::Challenge { .. } => return Ok(answer(engine, &address, page)),
                    _ => return Err(Error::Status { provider, message, retry_after, response }),
                }
            }
            other => other?,
        };
        let page = read(&engines, engine, &response);
        match page {
            SerpPage::Drift { .. } | SerpPage::NoResults if !response.status.is_success() => {
                Err(Error::Rejected {
                    provider: self.policy(engine).provider,
                    status: response.status.as_u16(),
                    message: response.status.canonical_reason().unwrap_or("no reason given").to_owned(),
                })
            }
            page => Ok(answer(engine, &address, page)),
        }
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
}

fn read(engines: &Engines, engine: &Engine, response: &crate::http::Response) -> SerpPage {
    let content_type = response.headers.get(http::header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    engines.read(engine, &decode(&response.body, content_type).text, &response.url)
}

fn answer(engine: &Engine, address: &url::Url, page: SerpPage) -> SerpAnswer {
    SerpAnswer { engine: engine.name.clone(), url: address.to_string(), page }
}

fn unknown(name: &str, engines: &Engines) -> Error {
    let known: Vec<&str> = engines.iter().map(|engine| engine.name.as_str()).collect();
    Error::Setting {
        setting: "engine".to_owned(),
        why: format!("`{name}` is not configured; the engines are: {}", known.join(", ")),
    }
}
