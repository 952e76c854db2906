//! OpenAlex (<https://docs.openalex.org>).

mod wire;

use crate::api::{Api, ApiConfig, Probe};
use crate::http::{HttpClient, Request};
use crate::paper::{hits, once, plain_words};
use crate::registry::{OPENALEX, answer_by_row};
use crate::{ApiSource, Paper, Result};
use async_trait::async_trait;
use lyra_domain::{Identifier, Work};
use lyra_research::ports::{Answer, EvidenceSource, Hit, ScholarlySource};
use secrecy::SecretString;
use serde::de::DeserializeOwned;
use std::collections::HashMap;
use std::time::Duration;
use tokio::time::Instant;
use wire::{WirePage, WireWork};

/// The requested fields of works.
const SELECT: &str = "id,doi,title,display_name,ids,type,language,publication_year,publication_date,\
                      primary_location,best_oa_location,open_access,authorships,cited_by_count,\
                      referenced_works_count,referenced_works,is_retracted,abstract_inverted_index";
/// Most results on a page.
const PAGE: usize = 200;
/// Most alternatives in one filter.
const ALTERNATIVES: usize = 50;
/// The documented limit is ten a second.
const INTERVAL: Duration = Duration::from_millis(150);

/// The API. Cheap to clone.
#[derive(Clone)]
pub struct OpenAlex {
    api: Api,
    key: Option<SecretString>,
    mailto: Option<String>,
}

impl OpenAlex {
    /// A client of the API under `config.base_url` (`https://api.openalex.org`); `config.mailto` is sent along for
    /// OpenAlex's polite pool.
    pub fn new(http: HttpClient, config: &ApiConfig) -> Self {
        let refusals = if config.api_key.is_some() { 5 } else { 2 };
        let api = Api::new(http, OPENALEX.name, config, INTERVAL, refusals);
        Self { api, key: config.api_key.clone(), mailto: config.mailto.clone() }
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
        self.list(&[("search", query.as_str())], limit).await
    }

    /// At most `limit` works that pass a filter in OpenAlex's own syntax
    /// (<https://docs.openalex.org/api-entities/works/filter-works>).
    ///
    /// # Errors
    /// Errors of the HTTP layer or the API.
    pub async fn filtered(&self, filter: &str, limit: usize) -> Result<Vec<Paper>> {
        self.list(&[("filter", filter)], limit).await
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
        let filter = format!("title.search:{title}");
        Ok(self.filtered(&filter, 1).await?.into_iter().next())
    }

    /// The work with this identifier, if the API knows it. It knows DOI, PMID, PMCID, its own ids, and arXiv's by their
    /// DOI.
    ///
    /// # Errors
    /// Errors of the HTTP layer or the API.
    pub async fn paper(&self, id: &Identifier) -> Result<Option<Paper>> {
        let Some((kind, value)) = name(id) else { return Ok(None) };
        let path =
            if kind == "openalex" { format!("works/{value}") } else { format!("works/{kind}:{value}") };
        let work: Option<WireWork> = self.get(&path, &[("select", SELECT)]).await?;
        Ok(work.map(Paper::from))
    }

    /// The works with these identifiers, fifty alternatives per request; unknown ones are omitted.
    ///
    /// # Errors
    /// Errors of the HTTP layer or the API.
    pub async fn batch(&self, ids: &[Identifier]) -> Result<Vec<Paper>> {
        let mut found = Vec::new();
        let mut kinds: HashMap<&'static str, Vec<String>> = HashMap::new();
        for id in once(ids) {
            let Some((kind, value)) = name(&id) else { continue };
            // These separate alternatives and filters; a DOI that contains them gets its own request.
            if value.contains(['|', ',']) {
                found.extend(self.paper(&id).await?);
            } else {
                kinds.entry(kind).or_default().push(value);
            }
        }
        let mut kinds: Vec<_> = kinds.into_iter().collect();
        kinds.sort();
        for (kind, values) in kinds {
            for part in values.chunks(ALTERNATIVES) {
                let filter = format!("{kind}:{}", part.join("|"));
                found.extend(self.filtered(&filter, part.len()).await?);
            }
        }
        Ok(found)
    }

    /// At most `limit` works that this one cites.
    ///
    /// # Errors
    /// Errors of the HTTP layer or the API.
    pub async fn reference_papers(&self, work: &Work, limit: usize) -> Result<Vec<Paper>> {
        let own = |work: &Work| -> Vec<Identifier> {
            work.references.iter().filter_map(|id| Identifier::openalex(id)).collect()
        };
        let mut cited = own(work);
        if cited.is_empty() {
            cited = match self.known(work).await? {
                Some(paper) => own(&paper.work),
                None => Vec::new(),
            };
        }
        cited.truncate(limit);
        self.batch(&cited).await
    }

    /// At most `limit` works that cite this one, the most cited first.
    ///
    /// # Errors
    /// Errors of the HTTP layer or the API.
    pub async fn citing_papers(&self, work: &Work, limit: usize) -> Result<Vec<Paper>> {
        let Some(id) = self.own_id(work).await? else { return Ok(Vec::new()) };
        let filter = format!("cites:{id}");
        self.list(&[("filter", filter.as_str()), ("sort", "cited_by_count:desc")], limit).await
    }

    /// The record of a work known by other identifiers.
    async fn known(&self, work: &Work) -> Result<Option<Paper>> {
        let own = work.identifiers().find(|id| matches!(id, Identifier::OpenAlex(_)));
        match own.or_else(|| work.identifiers().find(|id| name(id).is_some())) {
            Some(id) => self.paper(&id).await,
            None => Ok(None),
        }
    }

    async fn own_id(&self, work: &Work) -> Result<Option<String>> {
        let own = |work: &Work| {
            work.identifiers().find_map(|id| match id {
                Identifier::OpenAlex(id) => Some(id),
                _ => None,
            })
        };
        match own(work) {
            Some(id) => Ok(Some(id)),
            None => Ok(self.known(work).await?.and_then(|paper| own(&paper.work))),
        }
    }

    /// At most `limit` works of a list, page by page.
    async fn list(&self, query: &[(&str, &str)], limit: usize) -> Result<Vec<Paper>> {
        let mut found = Vec::new();
        let mut cursor = "*".to_owned();
        while found.len() < limit {
            let count = (limit - found.len()).clamp(1, PAGE).to_string();
            let mut parameters = query.to_vec();
            parameters.extend([
                ("select", SELECT),
                ("per_page", count.as_str()),
                ("cursor", cursor.as_str()),
            ]);
            let page: Option<WirePage> = self.get("works", &parameters).await?;
            let Some(page) = page else { break };
            let before = found.len();
            found.extend(page.results.into_iter().flatten().map(Paper::from));
            match page.meta.and_then(|meta| meta.next_cursor) {
                Some(next) if next != cursor && found.len() > before => cursor = next,
                _ => break,
            }
        }
        found.truncate(limit);
        Ok(found)
    }

    async fn get<T: DeserializeOwned>(&self, path: &str, query: &[(&str, &str)]) -> Result<Option<T>> {
        let mut request = Request::get(self.api.url(path, query));
        if let Some(mailto) = &self.mailto {
            request = request.secret_query("mailto", SecretString::from(mailto.clone()));
        }
        if let Some(key) = &self.key {
            request = request.secret_query("api_key", key.clone());
        }
        self.api.ask(request).await
    }
}

/// Filter name and value of an identifier.
fn name(id: &Identifier) -> Option<(&'static str, String)> {
    Some(match id {
        Identifier::Doi(doi) => ("doi", doi.to_string()),
        Identifier::Arxiv(id) => ("doi", format!("10.48550/arxiv.{id}")),
        Identifier::Pmid(id) => ("pmid", id.clone()),
        Identifier::Pmcid(id) => ("pmcid", id.clone()),
        Identifier::OpenAlex(id) => ("openalex", id.clone()),
        Identifier::SemanticScholar(_) | Identifier::CorpusId(_) | Identifier::Nct(_) => return None,
    })
}

#[async_trait]
impl EvidenceSource for OpenAlex {
    answer_by_row!(OPENALEX);

    async fn search(&self, query: &str, _: Option<&str>, limit: usize) -> lyra_research::Result<Answer> {
        Ok(hits(self.papers(query, limit).await?).into())
    }
}

#[async_trait]
impl ScholarlySource for OpenAlex {
    fn knows_retractions(&self) -> bool {
        true
    }

    fn own_reference(&self, entry: &str) -> Option<Identifier> {
        Identifier::openalex(entry)
    }

    async fn lookup(&self, ids: &[Identifier]) -> lyra_research::Result<Vec<Hit>> {
        Ok(hits(self.batch(ids).await?))
    }

    async fn references(&self, work: &Work, limit: usize) -> lyra_research::Result<Vec<Hit>> {
        Ok(hits(self.reference_papers(work, limit).await?))
    }

    async fn citations(&self, work: &Work, limit: usize) -> lyra_research::Result<Vec<Hit>> {
        Ok(hits(self.citing_papers(work, limit).await?))
    }
}

#[async_trait]
impl ApiSource for OpenAlex {
    async fn probe(&self) -> Result<Probe> {
        let this = Self { api: self.api.uncached(), ..self.clone() };
        let begun = Instant::now();
        let parameters = [("search", "sleep and memory"), ("select", "id"), ("per_page", "1")];
        let page: Option<WirePage> = this.get("works", &parameters).await?;
        Ok(Probe { matches: page.and_then(|page| page.meta?.count).unwrap_or(0), took: begun.elapsed() })
    }

    async fn pause(&self) -> Option<(Duration, String)> {
        self.api.pause().await
    }
}
