//! CORE (<https://api.core.ac.uk/docs/v3>): open-access works of repositories and journals. The module is named after
//! its site, because `core` is a crate.

mod wire;

use crate::api::{Api, ApiConfig, Probe};
use crate::http::{HttpClient, Request};
use crate::paper::{hits, once, plain_words};
use crate::registry::{CORE, answer_by_row};
use crate::{ApiSource, Paper, Result};
use async_trait::async_trait;
use http::header::AUTHORIZATION;
use lyra_domain::Identifier;
use lyra_research::ports::{Answer, EvidenceSource, Hit, ScholarlySource};
use secrecy::{ExposeSecret, SecretString};
use std::time::Duration;
use tokio::time::Instant;
use wire::{List, WireWork};

/// Most results on a page. The API allows 100, but sends full texts along.
const PAGE: usize = 50;
/// The last offset of a search without scrolling.
const SEARCH_END: usize = 10_000;
/// Most alternatives in one query.
const ALTERNATIVES: usize = 25;
/// Ten requests a minute, with and without a key; a key has more requests a day.
const INTERVAL: Duration = Duration::from_secs(6);

/// The API. Cheap to clone.
#[derive(Clone)]
pub struct Core {
    api: Api,
    key: Option<SecretString>,
}

impl Core {
    /// A client of the API under `config.base_url` (`https://api.core.ac.uk/v3`). Without a key, the API refuses most
    /// requests.
    pub fn new(http: HttpClient, config: &ApiConfig) -> Self {
        let refusals = if config.api_key.is_some() { 5 } else { 2 };
        let key = config.api_key.as_ref().map(|key| format!("Bearer {}", key.expose_secret()));
        Self { api: Api::new(http, CORE.name, config, INTERVAL, refusals), key: key.map(SecretString::from) }
    }

    /// At most `limit` works, most relevant first.
    ///
    /// # Errors
    /// Errors of the HTTP layer or the API.
    pub async fn papers(&self, query: &str, limit: usize) -> Result<Vec<Paper>> {
        let query = plain_words(query);
        if query.is_empty() {
            return Ok(Vec::new());
        }
        self.list(&query, limit).await
    }

    /// The works with these DOIs, 25 alternatives per request; other identifiers and unknown ones are omitted.
    ///
    /// # Errors
    /// Errors of the HTTP layer or the API.
    pub async fn batch(&self, ids: &[Identifier]) -> Result<Vec<Paper>> {
        let doi = |id| if let Identifier::Doi(doi) = id { Some(format!("doi:\"{doi}\"")) } else { None };
        let names: Vec<String> = once(ids).into_iter().filter_map(doi).collect();
        let mut found = Vec::new();
        for part in names.chunks(ALTERNATIVES) {
            found.extend(self.list(&part.join(" OR "), part.len()).await?);
        }
        Ok(found)
    }

    /// At most `limit` works of a query in the API's own syntax, page by page.
    async fn list(&self, query: &str, limit: usize) -> Result<Vec<Paper>> {
        let mut found = Vec::new();
        let mut offset = 0;
        while found.len() < limit && offset < SEARCH_END {
            let count = (limit - found.len()).clamp(1, PAGE);
            let Some(page) = self.page(query, offset, count).await? else { break };
            let before = found.len();
            found.extend(page.results.into_iter().flatten().filter_map(WireWork::into_paper));
            offset += count;
            if found.len() == before || page.total_hits.is_none_or(|total| offset as u64 >= total) {
                break;
            }
        }
        found.truncate(limit);
        Ok(found)
    }

    async fn page(&self, query: &str, offset: usize, count: usize) -> Result<Option<List>> {
        let (offset, count) = (offset.to_string(), count.to_string());
        let parameters = [("q", query), ("offset", offset.as_str()), ("limit", count.as_str())];
        // Without the slash at its end, the address redirects.
        let request = Request::get(self.api.url("search/works/", &parameters));
        self.api
            .ask(match &self.key {
                Some(key) => request.secret_header(AUTHORIZATION, key.clone()),
                None => request,
            })
            .await
    }
}

#[async_trait]
impl EvidenceSource for Core {
    answer_by_row!(CORE);

    async fn search(&self, query: &str, _: Option<&str>, limit: usize) -> lyra_research::Result<Answer> {
        Ok(hits(self.papers(query, limit).await?).into())
    }
}

// The references in its records are text without identifiers.
#[async_trait]
impl ScholarlySource for Core {
    async fn lookup(&self, ids: &[Identifier]) -> lyra_research::Result<Vec<Hit>> {
        Ok(hits(self.batch(ids).await?))
    }
}

#[async_trait]
impl ApiSource for Core {
    async fn probe(&self) -> Result<Probe> {
        let this = Self { api: self.api.uncached(), ..self.clone() };
        let begun = Instant::now();
        let page = this.page("sleep and memory", 0, 1).await?;
        Ok(Probe { matches: page.and_then(|page| page.total_hits).unwrap_or(0), took: begun.elapsed() })
    }

    async fn pause(&self) -> Option<(Duration, String)> {
        self.api.pause().await
    }
}
