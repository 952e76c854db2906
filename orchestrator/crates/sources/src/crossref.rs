//! Crossref (<https://api.crossref.org/swagger-ui/index.html>): what publishers register, with the retractions of
//! Retraction Watch.

mod wire;

use crate::api::{Api, ApiConfig, Probe};
use crate::http::{HttpClient, Request};
use crate::paper::{hits, once, plain_words};
use crate::registry::{CROSSREF, answer_by_row};
use crate::{ApiSource, Paper, Result};
use async_trait::async_trait;
use lyra_domain::{Doi, Identifier, Work};
use lyra_research::ports::{Answer, EvidenceSource, Hit, ScholarlySource};
use secrecy::SecretString;
use serde::de::DeserializeOwned;
use std::time::Duration;
use tokio::time::Instant;
use wire::{Message, WirePage, WireRecord};

/// The requested fields of works in lists. The reference lists, which are most of a record, are omitted.
const SELECT: &str = "DOI,URL,title,container-title,author,abstract,type,publisher,publisher-location,editor,ISBN,\
                      ISSN,published,issued,license,link,resource,is-referenced-by-count,references-count,update-to,\
                      updated-by";
/// Most results on a page, and the last offset of search.
const PAGE: usize = 100;
const SEARCH_END: usize = 10_000;
/// Most alternatives in one filter.
const ALTERNATIVES: usize = 50;
/// The limits of lists: one request a second in the public pool, three in the polite pool.
const PUBLIC_INTERVAL: Duration = Duration::from_secs(1);
const POLITE_INTERVAL: Duration = Duration::from_millis(350);

/// The API. Cheap to clone.
#[derive(Clone)]
pub struct Crossref {
    api: Api,
    mailto: Option<String>,
}

impl Crossref {
    /// A client of the API under `config.base_url` (`https://api.crossref.org`); `config.mailto` is sent along for
    /// Crossref's polite pool.
    pub fn new(http: HttpClient, config: &ApiConfig) -> Self {
        let interval = if config.mailto.is_some() { POLITE_INTERVAL } else { PUBLIC_INTERVAL };
        Self { api: Api::new(http, CROSSREF.name, config, interval, 2), mailto: config.mailto.clone() }
    }

    /// At most `limit` works, most relevant first. Titles, authors, and venues are searched, and no abstracts. Notices
    /// of retractions, peer reviews, and parts of works such as figures are left out.
    ///
    /// # Errors
    /// Errors of the HTTP layer or the API.
    pub async fn papers(&self, query: &str, limit: usize) -> Result<Vec<Paper>> {
        let query = plain_words(query);
        let mut found = Vec::new();
        let mut offset = 0;
        while found.len() < limit && offset < SEARCH_END && !query.is_empty() {
            let wanted = (limit - found.len()).min(PAGE).min(SEARCH_END - offset);
            let (from, count) = (offset.to_string(), wanted.to_string());
            let parameters = [
                ("query.bibliographic", query.as_str()),
                ("select", SELECT),
                ("rows", count.as_str()),
                ("offset", from.as_str()),
            ];
            let Some(page) = self.list(&parameters).await? else { break };
            let (total, records) = page.records();
            let read = records.len();
            found.extend(records.into_iter().filter(WireRecord::is_work).map(Paper::from));
            offset += wanted;
            if read == 0 || offset as u64 >= total {
                break;
            }
        }
        found.truncate(limit);
        Ok(found)
    }

    /// The work whose title matches best, if any does.
    ///
    /// # Errors
    /// Errors of the HTTP layer or the API.
    pub async fn title_match(&self, title: &str) -> Result<Option<Paper>> {
        let title = plain_words(title);
        if title.is_empty() {
            return Ok(None);
        }
        let page = self.list(&[("query.title", title.as_str()), ("rows", "1")]).await?;
        Ok(page.and_then(|page| page.records().1.into_iter().next()).map(Paper::from))
    }

    /// The work with this DOI and its references, if it is registered here.
    ///
    /// # Errors
    /// Errors of the HTTP layer or the API.
    pub async fn paper(&self, doi: &Doi) -> Result<Option<Paper>> {
        let message: Option<Message<WireRecord>> = self.get(&format!("works/{doi}"), &[]).await?;
        Ok(message.map(|message| Paper::from(message.message)))
    }

    /// The works with these identifiers, fifty alternatives per request; unknown ones are omitted. Crossref knows DOIs
    /// only, and not those of arXiv and data repositories.
    ///
    /// # Errors
    /// Errors of the HTTP layer or the API.
    pub async fn batch(&self, ids: &[Identifier]) -> Result<Vec<Paper>> {
        let mut found = Vec::new();
        let mut filters: Vec<String> = Vec::new();
        for id in once(ids) {
            let Identifier::Doi(doi) = id else { continue };
            // It separates filters; a DOI that contains it gets its own request.
            if doi.as_str().contains(',') {
                found.extend(self.paper(&doi).await?);
            } else if doi.arxiv().is_none() {
                filters.push(format!("doi:{doi}"));
            }
        }
        for part in filters.chunks(ALTERNATIVES) {
            let (filter, count) = (part.join(","), part.len().to_string());
            let parameters = [("filter", filter.as_str()), ("select", SELECT), ("rows", count.as_str())];
            let page = self.list(&parameters).await?;
            found.extend(page.into_iter().flat_map(|page| page.records().1).map(Paper::from));
        }
        Ok(found)
    }

    /// At most `limit` works that this one cites: those with a DOI. Publishers register their lists here.
    ///
    /// # Errors
    /// Errors of the HTTP layer or the API.
    pub async fn reference_papers(&self, work: &Work, limit: usize) -> Result<Vec<Paper>> {
        let Some(doi) = work.doi.as_ref().filter(|doi| doi.arxiv().is_none()) else { return Ok(Vec::new()) };
        let cited = self.paper(doi).await?.map(|paper| paper.work.references).unwrap_or_default();
        let cited = cited.iter().filter_map(|doi| Doi::parse(doi)).map(Identifier::Doi);
        self.batch(&cited.take(limit).collect::<Vec<_>>()).await
    }

    async fn list(&self, query: &[(&str, &str)]) -> Result<Option<WirePage>> {
        let message: Option<Message<WirePage>> = self.get("works", query).await?;
        Ok(message.map(|message| message.message))
    }

    async fn get<T: DeserializeOwned>(&self, path: &str, query: &[(&str, &str)]) -> Result<Option<T>> {
        let mut request = Request::get(self.api.url(path, query));
        if let Some(mailto) = &self.mailto {
            request = request.secret_query("mailto", SecretString::from(mailto.clone()));
        }
        self.api.ask(request).await
    }
}

#[async_trait]
impl EvidenceSource for Crossref {
    answer_by_row!(CROSSREF);

    async fn search(&self, query: &str, _: Option<&str>, limit: usize) -> lyra_research::Result<Answer> {
        Ok(hits(self.papers(query, limit).await?).into())
    }
}

// Crossref shows only publishers who cites their works.
#[async_trait]
impl ScholarlySource for Crossref {
    fn knows_retractions(&self) -> bool {
        true
    }

    async fn lookup(&self, ids: &[Identifier]) -> lyra_research::Result<Vec<Hit>> {
        Ok(hits(self.batch(ids).await?))
    }

    async fn references(&self, work: &Work, limit: usize) -> lyra_research::Result<Vec<Hit>> {
        Ok(hits(self.reference_papers(work, limit).await?))
    }
}

#[async_trait]
impl ApiSource for Crossref {
    async fn probe(&self) -> Result<Probe> {
        let this = Self { api: self.api.uncached(), ..self.clone() };
        let begun = Instant::now();
        let page = this.list(&[("query.bibliographic", "sleep and memory"), ("rows", "0")]).await?;
        Ok(Probe { matches: page.map_or(0, |page| page.records().0), took: begun.elapsed() })
    }

    async fn pause(&self) -> Option<(Duration, String)> {
        self.api.pause().await
    }
}
