//! arXiv's API (<https://info.arxiv.org/help/api/user-manual.html>).

mod wire;

use crate::api::{Api, ApiConfig, Probe};
use crate::http::{HttpClient, Request};
use crate::paper::{hits, once, telling_words};
use crate::registry::{ARXIV, answer_by_row};
use crate::{ApiSource, Error, Paper, Result};
use async_trait::async_trait;
use lyra_domain::Identifier;
use lyra_research::ports::{Answer, EvidenceSource, Hit, ScholarlySource};
use std::time::Duration;
use tokio::time::Instant;
use wire::Feed;

/// Most results on a page. The API gives up to 2,000, and asks for less.
const PAGE: usize = 100;
/// The terms of use: one request every three seconds over one connection.
const INTERVAL: Duration = Duration::from_secs(3);
const ATOM: [&str; 3] = ["application/atom+xml", "application/xml", "text/xml"];

/// The API. Cheap to clone.
#[derive(Clone)]
pub struct Arxiv {
    api: Api,
}

impl Arxiv {
    /// A client of the API under `config.base_url` (`https://export.arxiv.org/api`).
    pub fn new(http: HttpClient, config: &ApiConfig) -> Self {
        Self { api: Api::new(http, ARXIV.name, config, INTERVAL, 2).accepting(&ATOM) }
    }

    /// At most `limit` preprints, most relevant first: those with every word of the query, else those with any.
    ///
    /// # Errors
    /// Errors of the HTTP layer or the API.
    pub async fn papers(&self, query: &str, limit: usize) -> Result<Vec<Paper>> {
        let words: Vec<String> = telling_words(query).iter().map(|word| format!("all:{word}")).collect();
        if words.is_empty() {
            return Ok(Vec::new());
        }
        for operator in [" AND ", " OR "] {
            let found = self.list(&words.join(operator), limit).await?;
            if !found.is_empty() || words.len() == 1 {
                return Ok(found);
            }
        }
        Ok(Vec::new())
    }

    /// The preprints with these identifiers, a hundred per request; unknown ones are omitted. arXiv knows its own ids,
    /// and their DOIs.
    ///
    /// # Errors
    /// Errors of the HTTP layer or the API.
    pub async fn batch(&self, ids: &[Identifier]) -> Result<Vec<Paper>> {
        let mut names: Vec<String> = ids.iter().filter_map(name).collect();
        names.sort();
        names.dedup();
        let mut found = Vec::new();
        for part in names.chunks(PAGE) {
            let (list, count) = (part.join(","), part.len().to_string());
            let feed = self.get(&[("id_list", list.as_str()), ("max_results", count.as_str())]).await?;
            found.extend(feed.into_iter().flat_map(|feed| feed.papers));
        }
        Ok(found)
    }

    /// At most `limit` preprints of a search in the API's own syntax, page by page.
    async fn list(&self, query: &str, limit: usize) -> Result<Vec<Paper>> {
        let mut found = Vec::new();
        let mut start = 0;
        while found.len() < limit {
            let wanted = (limit - found.len()).min(PAGE);
            let (from, count) = (start.to_string(), wanted.to_string());
            let parameters = [
                ("search_query", query),
                ("start", from.as_str()),
                ("max_results", count.as_str()),
                ("sortBy", "relevance"),
                ("sortOrder", "descending"),
            ];
            let Some(feed) = self.get(&parameters).await? else { break };
            let read = feed.papers.len();
            found.extend(feed.papers);
            start += wanted;
            if read == 0 || start as u64 >= feed.total {
                break;
            }
        }
        found.truncate(limit);
        Ok(found)
    }

    async fn get(&self, query: &[(&str, &str)]) -> Result<Option<Feed>> {
        let Some(response) = self.api.fetch(Request::get(self.api.url("query", query))).await? else {
            return Ok(None);
        };
        let feed = wire::read(&response.body).map_err(|why| self.api.unexpected(why))?;
        match feed.error {
            // The API reports a query that it cannot read as an entry.
            Some(message) => Err(Error::Rejected { provider: ARXIV.name.to_owned(), status: 400, message }),
            None => Ok(Some(feed)),
        }
    }
}

/// The identifier as the API writes it.
fn name(id: &Identifier) -> Option<String> {
    match id {
        Identifier::Arxiv(id) => Some(id.to_string()),
        Identifier::Doi(doi) => doi.arxiv().map(|id| id.to_string()),
        _ => None,
    }
}

#[async_trait]
impl EvidenceSource for Arxiv {
    answer_by_row!(ARXIV);

    async fn search(&self, query: &str, _: Option<&str>, limit: usize) -> lyra_research::Result<Answer> {
        Ok(hits(self.papers(query, limit).await?).into())
    }
}

// arXiv keeps no reference lists and does not know who cites its preprints.
#[async_trait]
impl ScholarlySource for Arxiv {
    async fn lookup(&self, ids: &[Identifier]) -> lyra_research::Result<Vec<Hit>> {
        Ok(hits(self.batch(&once(ids)).await?))
    }
}

#[async_trait]
impl ApiSource for Arxiv {
    async fn probe(&self) -> Result<Probe> {
        let this = Self { api: self.api.uncached() };
        let begun = Instant::now();
        let feed = this.get(&[("search_query", "all:sleep AND all:memory"), ("max_results", "1")]).await?;
        Ok(Probe { matches: feed.map_or(0, |feed| feed.total), took: begun.elapsed() })
    }

    async fn pause(&self) -> Option<(Duration, String)> {
        self.api.pause().await
    }
}
