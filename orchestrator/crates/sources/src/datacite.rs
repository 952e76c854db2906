//! DataCite (<https://support.datacite.org/docs/api>): what has a DOI and is in few indexes of papers: data sets,
//! preprints and reports of repositories, theses, software.

mod wire;

use crate::api::{Api, ApiConfig, Probe};
use crate::http::{HttpClient, Request};
use crate::paper::{hits, once, plain_words};
use crate::registry::{DATACITE, answer_by_row};
use crate::{ApiSource, Paper, Result};
use async_trait::async_trait;
use lyra_domain::Identifier;
use lyra_research::ports::{Answer, EvidenceSource, Hit, ScholarlySource};
use secrecy::SecretString;
use serde::de::DeserializeOwned;
use std::time::Duration;
use tokio::time::Instant;
use wire::{Entry, List};

/// Most results on a page. The API allows 1,000.
const PAGE: usize = 100;
/// Most pages: the API pages no further than 10,000 results by number, and only pages by number are by relevance.
const LAST_PAGE: usize = 100;
/// Most alternatives in one query.
const ALTERNATIVES: usize = 50;
/// The limit without an address is 500 in five minutes, with one 1,000.
const ANONYMOUS_INTERVAL: Duration = Duration::from_millis(600);
const NAMED_INTERVAL: Duration = Duration::from_millis(300);

/// The API. Cheap to clone.
#[derive(Clone)]
pub struct DataCite {
    api: Api,
    mailto: Option<String>,
}

impl DataCite {
    /// A client of the API under `config.base_url` (`https://api.datacite.org`); `config.mailto` is sent along and
    /// doubles DataCite's limit.
    pub fn new(http: HttpClient, config: &ApiConfig) -> Self {
        let interval = if config.mailto.is_some() { NAMED_INTERVAL } else { ANONYMOUS_INTERVAL };
        let mut api = Api::new(http, DATACITE.name, config, interval, 2);
        api.policy.content_types.push("application/vnd.api+json".to_owned());
        Self { api, mailto: config.mailto.clone() }
    }

    /// At most `limit` records, most relevant first.
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

    /// The records with these DOIs (arXiv's by theirs), fifty alternatives per request; unknown ones are omitted.
    ///
    /// # Errors
    /// Errors of the HTTP layer or the API.
    pub async fn batch(&self, ids: &[Identifier]) -> Result<Vec<Paper>> {
        let names: Vec<String> = once(ids).iter().filter_map(doi).collect();
        let mut found = Vec::new();
        for part in names.chunks(ALTERNATIVES) {
            let alternatives: Vec<String> = part.iter().map(|doi| format!("\"{doi}\"")).collect();
            found.extend(self.list(&format!("doi:({})", alternatives.join(" OR ")), part.len()).await?);
        }
        Ok(found)
    }

    /// At most `limit` records of a query in the API's own syntax, page by page.
    async fn list(&self, query: &str, limit: usize) -> Result<Vec<Paper>> {
        let mut found = Vec::new();
        for number in 1..=LAST_PAGE {
            // Pages are of one size, so that their numbers fit together.
            let (number, count) = (number.to_string(), limit.clamp(1, PAGE).to_string());
            let parameters = [
                ("query", query),
                ("sort", "relevance"),
                ("disable-facets", "true"),
                ("page[size]", count.as_str()),
                ("page[number]", number.as_str()),
            ];
            let page: Option<List> = self.get(&parameters).await?;
            let Some(page) = page else { break };
            let before = found.len();
            found.extend(page.data.into_iter().flatten().filter_map(Entry::into_paper));
            let last = page.meta.and_then(|meta| meta.total_pages).unwrap_or(0);
            if found.len() >= limit || found.len() == before || number.parse().is_ok_and(|n: u64| n >= last) {
                break;
            }
        }
        found.truncate(limit);
        Ok(found)
    }

    async fn get<T: DeserializeOwned>(&self, query: &[(&str, &str)]) -> Result<Option<T>> {
        let mut request = Request::get(self.api.url("dois", query));
        if let Some(mailto) = &self.mailto {
            request = request.secret_query("mailto", SecretString::from(mailto.clone()));
        }
        self.api.ask(request).await
    }
}

/// The DOI of an identifier. A quotation mark would end it in a query, and no DOI that Lyra reads has one.
fn doi(id: &Identifier) -> Option<String> {
    match id {
        Identifier::Doi(doi) => Some(doi.to_string()),
        Identifier::Arxiv(id) => Some(format!("10.48550/arxiv.{id}")),
        _ => None,
    }
}

#[async_trait]
impl EvidenceSource for DataCite {
    answer_by_row!(DATACITE);

    async fn search(&self, query: &str, _: Option<&str>, limit: usize) -> lyra_research::Result<Answer> {
        Ok(hits(self.papers(query, limit).await?).into())
    }
}

// Most of what its records cite is registered elsewhere.
#[async_trait]
impl ScholarlySource for DataCite {
    async fn lookup(&self, ids: &[Identifier]) -> lyra_research::Result<Vec<Hit>> {
        Ok(hits(self.batch(ids).await?))
    }
}

#[async_trait]
impl ApiSource for DataCite {
    async fn probe(&self) -> Result<Probe> {
        let this = Self { api: self.api.uncached(), ..self.clone() };
        let begun = Instant::now();
        let parameters = [("query", "sleep and memory"), ("disable-facets", "true"), ("page[size]", "1")];
        let page: Option<List> = this.get(&parameters).await?;
        Ok(Probe { matches: page.and_then(|page| page.meta?.total).unwrap_or(0), took: begun.elapsed() })
    }

    async fn pause(&self) -> Option<(Duration, String)> {
        self.api.pause().await
    }
}
