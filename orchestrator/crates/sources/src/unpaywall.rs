//! Unpaywall (<https://unpaywall.org/products/api>): where works with a DOI are free to read. It is a finder of copies,
//! not an index of texts: within a task it is asked about works that no source has a text of, and their copies are
//! then fetched like every page.

mod wire;

use crate::api::{Api, ApiConfig, Probe};
use crate::http::{HttpClient, Request};
use crate::paper::{hits, once, plain_words};
use crate::registry::{UNPAYWALL, answer_by_row};
use crate::{ApiSource, Error, Paper, Result};
use async_trait::async_trait;
use futures::StreamExt;
use lyra_domain::{Doi, Identifier};
use lyra_research::ports::{Answer, EvidenceSource, Hit, ScholarlySource};
use secrecy::SecretString;
use serde::de::DeserializeOwned;
use std::time::Duration;
use tokio::time::Instant;
use wire::{List, Record};

/// Results on a page of the title search, which the API fixes.
const PAGE: usize = 50;
/// Requests at once: each is about one DOI.
const AT_ONCE: usize = 4;
/// The limit is 100,000 a day.
const INTERVAL: Duration = Duration::from_millis(100);

/// The API. Cheap to clone.
#[derive(Clone)]
pub struct Unpaywall {
    api: Api,
    mailto: Option<String>,
}

impl Unpaywall {
    /// A client of the API under `config.base_url` (`https://api.unpaywall.org/v2`). The API requires an address:
    /// without `config.mailto`, every question is an error that says so.
    pub fn new(http: HttpClient, config: &ApiConfig) -> Self {
        let mut api = Api::new(http, UNPAYWALL.name, config, INTERVAL, 2);
        api.policy.max_concurrent = AT_ONCE;
        let mailto = config.mailto.as_deref().map(str::trim).filter(|mailto| !mailto.is_empty());
        Self { api, mailto: mailto.map(str::to_owned) }
    }

    /// The work with this DOI, with the address of its best free copy, if it has one.
    ///
    /// # Errors
    /// No address in the settings, errors of the HTTP layer or the API.
    pub async fn paper(&self, doi: &Doi) -> Result<Option<Paper>> {
        let record: Option<Record> = self.get(doi.as_str(), &[]).await?;
        Ok(record.and_then(Record::into_paper))
    }

    /// The works with these DOIs, one request each; other identifiers and unknown ones are omitted. An unreadable
    /// answer costs only its work, unless no answer is readable.
    ///
    /// # Errors
    /// No address in the settings, errors of the HTTP layer or the API.
    pub async fn batch(&self, ids: &[Identifier]) -> Result<Vec<Paper>> {
        let doi = |id| if let Identifier::Doi(doi) = id { Some(doi) } else { None };
        let names: Vec<Doi> = once(ids).into_iter().filter_map(doi).collect();
        let answers = futures::stream::iter(names).map(|doi| async move { self.paper(&doi).await });
        let answers = answers.buffered(AT_ONCE);
        let mut answers = std::pin::pin!(answers);
        let (mut found, mut odd) = (Vec::new(), None);
        while let Some(answer) = answers.next().await {
            match answer {
                Ok(paper) => found.extend(paper),
                Err(error @ Error::Unexpected { .. }) => {
                    tracing::info!(%error, "an unreadable answer is skipped");
                    odd.get_or_insert(error);
                }
                Err(error) => return Err(error),
            }
        }
        match odd {
            Some(error) if found.is_empty() => Err(error),
            _ => Ok(found),
        }
    }

    /// At most `limit` works whose titles match, on the first page of the API's search.
    ///
    /// # Errors
    /// No address in the settings, errors of the HTTP layer or the API.
    pub async fn titled(&self, title: &str, limit: usize) -> Result<Vec<Paper>> {
        let title = plain_words(title);
        if title.is_empty() {
            return Ok(Vec::new());
        }
        let page: Option<List> = self.get("search", &[("query", title.as_str())]).await?;
        let results = page.and_then(|page| page.results).into_iter().flatten();
        Ok(results.filter_map(|result| result.response.into_paper()).take(limit.min(PAGE)).collect())
    }

    async fn get<T: DeserializeOwned>(&self, path: &str, query: &[(&str, &str)]) -> Result<Option<T>> {
        let mailto = self.mailto.clone().ok_or_else(|| Error::Setting {
            setting: "sources.unpaywall.mailto".to_owned(),
            why: "Unpaywall answers only those who give an email address; set it to yours".to_owned(),
        })?;
        let request = Request::get(self.api.url(path, query));
        self.api.ask(request.secret_query("email", SecretString::from(mailto))).await
    }
}

#[async_trait]
impl EvidenceSource for Unpaywall {
    answer_by_row!(UNPAYWALL);

    /// Nothing: it finds copies of works that other sources name. What it could add are titles without abstracts, which
    /// would take the place of better works when pages are fetched.
    async fn search(&self, _: &str, _: Option<&str>, _: usize) -> lyra_research::Result<Answer> {
        Ok(Answer::default())
    }
}

// Unpaywall knows no citations.
#[async_trait]
impl ScholarlySource for Unpaywall {
    fn finds_copies(&self) -> bool {
        true
    }

    async fn lookup(&self, ids: &[Identifier]) -> lyra_research::Result<Vec<Hit>> {
        Ok(hits(self.batch(ids).await?))
    }
}

#[async_trait]
impl ApiSource for Unpaywall {
    async fn probe(&self) -> Result<Probe> {
        let this = Self { api: self.api.uncached(), ..self.clone() };
        let begun = Instant::now();
        let matches = this.titled("sleep and memory", PAGE).await?.len() as u64;
        Ok(Probe { matches, took: begun.elapsed() })
    }

    async fn pause(&self) -> Option<(Duration, String)> {
        self.api.pause().await
    }
}
