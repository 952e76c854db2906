//! The Directory of Open Access Journals (<https://doaj.org/api/docs>): articles of open-access journals, with
//! abstracts.

mod wire;

use crate::api::{Api, ApiConfig, Probe};
use crate::http::{HttpClient, Request};
use crate::paper::{hits, once, plain_words};
use crate::registry::{DOAJ, answer_by_row};
use crate::{ApiSource, Paper, Result};
use async_trait::async_trait;
use lyra_domain::Identifier;
use lyra_research::ports::{Answer, EvidenceSource, Hit, ScholarlySource};
use std::time::Duration;
use tokio::time::Instant;
use wire::{Article, List};

/// Most results on a page, and the last result of a search.
const PAGE: usize = 100;
const SEARCH_END: usize = 1_000;
/// Most alternatives in one query, which is part of the address.
const ALTERNATIVES: usize = 20;
/// The documented limit is two a second.
const INTERVAL: Duration = Duration::from_millis(500);

/// The API. Cheap to clone.
#[derive(Clone)]
pub struct Doaj {
    api: Api,
}

impl Doaj {
    /// A client of the API under `config.base_url` (`https://doaj.org/api`).
    pub fn new(http: HttpClient, config: &ApiConfig) -> Self {
        Self { api: Api::new(http, DOAJ.name, config, INTERVAL, 2) }
    }

    /// At most `limit` articles (of the 1,000 that a search goes to), most relevant first.
    ///
    /// # Errors
    /// Errors of the HTTP layer or the API.
    pub async fn papers(&self, query: &str, limit: usize) -> Result<Vec<Paper>> {
        let query = plain_words(query);
        if query.is_empty() {
            return Ok(Vec::new());
        }
        self.list(&query, limit.min(SEARCH_END)).await
    }

    /// The articles with these DOIs, twenty alternatives per request; other identifiers and unknown ones are omitted.
    ///
    /// # Errors
    /// Errors of the HTTP layer or the API.
    pub async fn batch(&self, ids: &[Identifier]) -> Result<Vec<Paper>> {
        let doi = |id| if let Identifier::Doi(doi) = id { Some(doi.to_string()) } else { None };
        let names: Vec<String> = once(ids).into_iter().filter_map(doi).collect();
        let mut found = Vec::new();
        for part in names.chunks(ALTERNATIVES) {
            // The API escapes slashes for its search language by itself.
            let alternatives: Vec<String> = part.iter().map(|doi| format!("doi:\"{doi}\"")).collect();
            found.extend(self.list(&alternatives.join(" OR "), part.len()).await?);
        }
        Ok(found)
    }

    /// At most `limit` articles of a query in the API's own syntax, page by page.
    async fn list(&self, query: &str, limit: usize) -> Result<Vec<Paper>> {
        let mut found = Vec::new();
        for number in 1..=SEARCH_END / PAGE {
            let (number, count) = (number.to_string(), limit.clamp(1, PAGE).to_string());
            let page = self.page(&self.api, query, &number, &count).await?;
            let Some(page) = page else { break };
            let before = found.len();
            found.extend(page.results.into_iter().flatten().filter_map(Article::into_paper));
            if found.len() >= limit || found.len() == before || page.next.is_none() {
                break;
            }
        }
        found.truncate(limit);
        Ok(found)
    }

    async fn page(&self, api: &Api, query: &str, number: &str, count: &str) -> Result<Option<List>> {
        let parameters = [("page", number), ("pageSize", count)];
        api.ask(Request::get(api.url(&format!("search/articles/{query}"), &parameters))).await
    }
}

#[async_trait]
impl EvidenceSource for Doaj {
    answer_by_row!(DOAJ);

    async fn search(&self, query: &str, _: Option<&str>, limit: usize) -> lyra_research::Result<Answer> {
        Ok(hits(self.papers(query, limit).await?).into())
    }
}

// The directory knows no citations.
#[async_trait]
impl ScholarlySource for Doaj {
    async fn lookup(&self, ids: &[Identifier]) -> lyra_research::Result<Vec<Hit>> {
        Ok(hits(self.batch(ids).await?))
    }
}

#[async_trait]
impl ApiSource for Doaj {
    async fn probe(&self) -> Result<Probe> {
        let begun = Instant::now();
        let page = self.page(&self.api.uncached(), "sleep and memory", "1", "1").await?;
        Ok(Probe { matches: page.and_then(|page| page.total).unwrap_or(0), took: begun.elapsed() })
    }

    async fn pause(&self) -> Option<(Duration, String)> {
        self.api.pause().await
    }
}
