//! Semantic Scholar's Graph API, version 1 (<https://api.semanticscholar.org/api-docs/graph>).

mod wire;

use crate::api::{Api, ApiConfig, Probe};
use crate::http::{HttpClient, Request};
use crate::paper::{hits, once, plain_words};
use crate::registry::{SEMANTIC_SCHOLAR, answer_by_row};
use crate::{ApiSource, Paper, Result};
use async_trait::async_trait;
use http::HeaderName;
use lyra_domain::{Identifier, Work};
use lyra_research::ports::{Answer, EvidenceSource, Hit, ScholarlySource};
use secrecy::SecretString;
use serde::de::DeserializeOwned;
use std::time::Duration;
use tokio::time::Instant;
use wire::{Batch, BulkPage, CitedPaper, CitingPaper, Page, WirePaper};

/// The requested fields of papers. `isInfluential` and machine-generated summaries are omitted on purpose.
const FIELDS: &str = "paperId,corpusId,externalIds,url,title,abstract,venue,journal,publicationTypes,year,\
                      publicationDate,authors,citationCount,referenceCount,openAccessPdf";
/// Most results per search page, and the last offset of search.
const SEARCH_PAGE: usize = 100;
const SEARCH_END: usize = 1_000;
/// Most entries on a page of citations.
const CITATION_PAGE: usize = 1_000;
/// Most identifiers in one batch.
const BATCH: usize = 500;
/// Anonymous limit (shared by everyone without a key), and the limit of a key.
const ANONYMOUS_INTERVAL: Duration = Duration::from_secs(3);
const KEYED_INTERVAL: Duration = Duration::from_millis(1_100);

/// The API. Cheap to clone.
#[derive(Clone)]
pub struct SemanticScholar {
    api: Api,
    key: Option<SecretString>,
}

impl SemanticScholar {
    /// A client of the API under `config.base_url` (`https://api.semanticscholar.org/graph/v1`).
    pub fn new(http: HttpClient, config: &ApiConfig) -> Self {
        let (interval, refusals) =
            if config.api_key.is_some() { (KEYED_INTERVAL, 5) } else { (ANONYMOUS_INTERVAL, 2) };
        let api = Api::new(http, SEMANTIC_SCHOLAR.name, config, interval, refusals);
        Self { api, key: config.api_key.clone() }
    }

    /// At most `limit` papers (of the 1,000 that this endpoint goes to), most relevant first.
    ///
    /// # Errors
    /// Errors of the HTTP layer or the API.
    pub async fn papers(&self, query: &str, limit: usize) -> Result<Vec<Paper>> {
        // The API finds nothing for a hyphenated word, but does for its parts.
        let query = plain_words(&query.replace('-', " "));
        let mut found = Vec::new();
        let mut offset = 0;
        while found.len() < limit && offset < SEARCH_END && !query.is_empty() {
            let wanted = (limit - found.len()).min(SEARCH_PAGE).min(SEARCH_END - offset);
            let (from, count) = (offset.to_string(), wanted.to_string());
            let parameters =
                [("query", query.as_str()), ("fields", FIELDS), ("offset", from.as_str()), ("limit", &count)];
            let page: Option<Page<WirePaper>> = self.get("paper/search", &parameters).await?;
            let Some(page) = page else { break };
            found.extend(page.data.into_iter().flatten().map(Paper::from));
            match page.next {
                Some(next) if next > offset => offset = next,
                _ => break,
            }
        }
        found.truncate(limit);
        Ok(found)
    }

    /// At most `limit` papers that match every word, not ordered by relevance: for thousands of papers. Query operators
    /// (`+`, `|`, `-`, quotes, `*`, parentheses) work here.
    ///
    /// # Errors
    /// Errors of the HTTP layer or the API.
    pub async fn bulk(&self, query: &str, limit: usize) -> Result<Vec<Paper>> {
        let mut found = Vec::new();
        let mut token: Option<String> = None;
        while found.len() < limit {
            let mut parameters = vec![("query", query), ("fields", FIELDS)];
            parameters.extend(token.as_deref().map(|token| ("token", token)));
            let page: Option<BulkPage> = self.get("paper/search/bulk", &parameters).await?;
            let Some(page) = page else { break };
            let before = found.len();
            found.extend(page.data.into_iter().flatten().map(Paper::from));
            if page.token.is_none() || page.token == token || found.len() == before {
                break;
            }
            token = page.token;
        }
        found.truncate(limit);
        Ok(found)
    }

    /// The paper whose title matches best, if any does.
    ///
    /// # Errors
    /// Errors of the HTTP layer or the API.
    pub async fn title_match(&self, title: &str) -> Result<Option<Paper>> {
        let title = plain_words(title);
        if title.is_empty() {
            return Ok(None);
        }
        // No match is a 404, or a 200 with an empty list.
        let page: Option<Page<WirePaper>> =
            self.get("paper/search/match", &[("query", title.as_str()), ("fields", FIELDS)]).await?;
        Ok(page.and_then(|page| page.data?.into_iter().next()).map(Paper::from))
    }

    /// The paper with this identifier, if the API knows it. It does not know OpenAlex's.
    ///
    /// # Errors
    /// Errors of the HTTP layer or the API.
    pub async fn paper(&self, id: &Identifier) -> Result<Option<Paper>> {
        let Some(name) = name(id) else { return Ok(None) };
        let paper: Option<WirePaper> = self.get(&format!("paper/{name}"), &[("fields", FIELDS)]).await?;
        Ok(paper.map(Paper::from))
    }

    /// The papers with these identifiers, 500 per request; unknown ones are omitted.
    ///
    /// # Errors
    /// Errors of the HTTP layer or the API.
    pub async fn batch(&self, ids: &[Identifier]) -> Result<Vec<Paper>> {
        let names: Vec<String> = once(ids).iter().filter_map(name).collect();
        let mut found = Vec::new();
        for part in names.chunks(BATCH) {
            let url = self.api.url("paper/batch", &[("fields", FIELDS)]);
            let body = serde_json::json!({ "ids": part }).to_string();
            let request = self.keyed(Request::post(url, "application/json", body));
            let papers: Option<Batch> = self.api.ask(request).await?;
            found.extend(papers.into_iter().flatten().flatten().map(Paper::from));
        }
        Ok(found)
    }

    /// At most `limit` papers that this one cites.
    ///
    /// # Errors
    /// Errors of the HTTP layer or the API.
    pub async fn reference_papers(&self, id: &Identifier, limit: usize) -> Result<Vec<Paper>> {
        self.linked::<CitedPaper>(id, "references", limit).await
    }

    /// At most `limit` papers that cite this one, newest first.
    ///
    /// # Errors
    /// Errors of the HTTP layer or the API.
    pub async fn citing_papers(&self, id: &Identifier, limit: usize) -> Result<Vec<Paper>> {
        self.linked::<CitingPaper>(id, "citations", limit).await
    }

    async fn linked<T: DeserializeOwned + Into<Option<WirePaper>>>(
        &self,
        id: &Identifier,
        kind: &str,
        limit: usize,
    ) -> Result<Vec<Paper>> {
        let Some(name) = name(id) else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        let mut offset = 0;
        while found.len() < limit {
            let (from, count) =
                (offset.to_string(), (limit - found.len()).clamp(1, CITATION_PAGE).to_string());
            let parameters = [("fields", FIELDS), ("offset", from.as_str()), ("limit", count.as_str())];
            let page: Option<Page<T>> = self.get(&format!("paper/{name}/{kind}"), &parameters).await?;
            let Some(page) = page else { break };
            // A publisher may withhold the list: then there is no `data`.
            found.extend(page.data.into_iter().flatten().filter_map(Into::into).map(Paper::from));
            match page.next {
                Some(next) if next > offset => offset = next,
                _ => break,
            }
        }
        found.truncate(limit);
        Ok(found)
    }

    async fn get<T: DeserializeOwned>(&self, path: &str, query: &[(&str, &str)]) -> Result<Option<T>> {
        self.api.ask(self.keyed(Request::get(self.api.url(path, query)))).await
    }

    fn keyed(&self, request: Request) -> Request {
        match &self.key {
            Some(key) => request.secret_header(HeaderName::from_static("x-api-key"), key.clone()),
            None => request,
        }
    }
}

/// The identifier as the API writes it.
fn name(id: &Identifier) -> Option<String> {
    Some(match id {
        Identifier::Doi(doi) => format!("DOI:{doi}"),
        Identifier::Pmid(id) => format!("PMID:{id}"),
        Identifier::Pmcid(id) => format!("PMCID:{}", id.trim_start_matches("PMC")),
        Identifier::Arxiv(id) => format!("ARXIV:{id}"),
        Identifier::SemanticScholar(id) => id.clone(),
        Identifier::CorpusId(id) => format!("CorpusId:{id}"),
        Identifier::OpenAlex(_) | Identifier::Nct(_) => return None,
    })
}

/// The identifier of the work that the API knows best.
fn best(work: &Work) -> Option<Identifier> {
    let own = |id: &Identifier| matches!(id, Identifier::SemanticScholar(_) | Identifier::CorpusId(_));
    work.identifiers().find(own).or_else(|| work.identifiers().find(|id| name(id).is_some()))
}

#[async_trait]
impl EvidenceSource for SemanticScholar {
    answer_by_row!(SEMANTIC_SCHOLAR);

    async fn search(&self, query: &str, _: Option<&str>, limit: usize) -> lyra_research::Result<Answer> {
        Ok(hits(self.papers(query, limit).await?).into())
    }
}

#[async_trait]
impl ScholarlySource for SemanticScholar {
    async fn lookup(&self, ids: &[Identifier]) -> lyra_research::Result<Vec<Hit>> {
        Ok(hits(self.batch(ids).await?))
    }

    async fn references(&self, work: &Work, limit: usize) -> lyra_research::Result<Vec<Hit>> {
        let Some(id) = best(work) else { return Ok(Vec::new()) };
        Ok(hits(self.reference_papers(&id, limit).await?))
    }

    async fn citations(&self, work: &Work, limit: usize) -> lyra_research::Result<Vec<Hit>> {
        let Some(id) = best(work) else { return Ok(Vec::new()) };
        Ok(hits(self.citing_papers(&id, limit).await?))
    }
}

#[async_trait]
impl ApiSource for SemanticScholar {
    async fn probe(&self) -> Result<Probe> {
        let this = Self { api: self.api.uncached(), key: self.key.clone() };
        let begun = Instant::now();
        let parameters = [("query", "sleep and memory"), ("fields", "paperId"), ("limit", "1")];
        let page: Option<Page<WirePaper>> = this.get("paper/search", &parameters).await?;
        Ok(Probe { matches: page.and_then(|page| page.total).unwrap_or(0), took: begun.elapsed() })
    }

    async fn pause(&self) -> Option<(Duration, String)> {
        self.api.pause().await
    }
}
