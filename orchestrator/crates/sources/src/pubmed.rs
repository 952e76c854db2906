//! PubMed by NCBI's E-utilities (<https://www.ncbi.nlm.nih.gov/books/NBK25499/>).

mod wire;

use crate::api::{Api, ApiConfig, Probe};
use crate::http::{HttpClient, Request};
use crate::paper::{hits, once, telling_words};
use crate::registry::{PUBMED, answer_by_row};
use crate::{ApiSource, Paper, Result};
use async_trait::async_trait;
use lyra_domain::{Identifier, Work};
use lyra_research::ports::{Answer, EvidenceSource, Hit, ScholarlySource};
use secrecy::SecretString;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::Instant;
use wire::{WireFound, WireLinks};

/// Most records per request: addresses stay below 2 KiB.
const PAGE: usize = 150;
/// The last result of a search.
const SEARCH_END: usize = 9_999;
/// Most alternatives in one query.
const ALTERNATIVES: usize = 40;
/// Three requests a second, and ten with a key.
const ANONYMOUS_INTERVAL: Duration = Duration::from_millis(340);
const KEYED_INTERVAL: Duration = Duration::from_millis(105);
const XML: [&str; 2] = ["text/xml", "application/xml"];

/// The API. Cheap to clone.
#[derive(Clone)]
pub struct PubMed {
    api: Api,
    /// The same, for records.
    records: Api,
    key: Option<SecretString>,
    mailto: Option<String>,
}

impl PubMed {
    /// A client of the API under `config.base_url` (`https://eutils.ncbi.nlm.nih.gov/entrez/eutils`); `config.mailto`
    /// is sent along, as NCBI asks.
    pub fn new(http: HttpClient, config: &ApiConfig) -> Self {
        let (interval, refusals) =
            if config.api_key.is_some() { (KEYED_INTERVAL, 5) } else { (ANONYMOUS_INTERVAL, 2) };
        let api = Api::new(http, PUBMED.name, config, interval, refusals);
        Self {
            records: api.clone().accepting(&XML),
            api,
            key: config.api_key.clone(),
            mailto: config.mailto.clone(),
        }
    }

    /// At most `limit` works, most relevant first: those with every word of the query or what `MeSH` calls it, else those
    /// with any. Notices of retractions are left out.
    ///
    /// # Errors
    /// Errors of the HTTP layer or the API.
    pub async fn papers(&self, query: &str, limit: usize) -> Result<Vec<Paper>> {
        let words = telling_words(query);
        if words.is_empty() {
            return Ok(Vec::new());
        }
        for operator in [" AND ", " OR "] {
            let found = self.found(&words.join(operator), limit).await?;
            if !found.is_empty() || words.len() == 1 {
                let records = self.records(&found).await?;
                return Ok(records.into_iter().filter_map(wire::study).collect());
            }
        }
        Ok(Vec::new())
    }

    /// The works with these identifiers; unknown ones are omitted. PubMed knows PMID, DOI, and PMCID.
    ///
    /// # Errors
    /// Errors of the HTTP layer or the API.
    pub async fn batch(&self, ids: &[Identifier]) -> Result<Vec<Paper>> {
        let (mut numbers, mut terms) = (Vec::new(), Vec::new());
        for id in once(ids) {
            match id {
                Identifier::Pmid(id) => numbers.push(id),
                Identifier::Doi(doi) => terms.push(format!("\"{}\"[doi]", doi.as_str().replace('"', " "))),
                Identifier::Pmcid(id) => terms.push(format!("{id}[pmcid]")),
                _ => {}
            }
        }
        for part in terms.chunks(ALTERNATIVES) {
            numbers.extend(self.found(&part.join(" OR "), part.len() * 2).await?);
        }
        numbers.sort();
        numbers.dedup();
        Ok(self.records(&numbers).await?.into_iter().map(wire::paper).collect())
    }

    /// At most `limit` works that this one cites.
    ///
    /// # Errors
    /// Errors of the HTTP layer or the API.
    pub async fn reference_papers(&self, work: &Work, limit: usize) -> Result<Vec<Paper>> {
        self.linked(work, "pubmed_pubmed_refs", limit).await
    }

    /// At most `limit` works that cite this one.
    ///
    /// # Errors
    /// Errors of the HTTP layer or the API.
    pub async fn citing_papers(&self, work: &Work, limit: usize) -> Result<Vec<Paper>> {
        self.linked(work, "pubmed_pubmed_citedin", limit).await
    }

    async fn linked(&self, work: &Work, link: &str, limit: usize) -> Result<Vec<Paper>> {
        let pmid = work.ids.iter().find_map(|id| if let Identifier::Pmid(id) = id { Some(id) } else { None });
        let Some(pmid) = pmid else { return Ok(Vec::new()) };
        let parameters =
            [("dbfrom", "pubmed"), ("linkname", link), ("id", pmid.as_str()), ("retmode", "json")];
        let links: Option<WireLinks> = self.get("elink.fcgi", &parameters).await?;
        let mut ids = links.map(|links| links.of(link)).unwrap_or_default();
        ids.truncate(limit);
        Ok(self.records(&ids).await?.into_iter().map(wire::paper).collect())
    }

    /// The PMIDs of at most `limit` records that a query in PubMed's own syntax finds, most relevant first.
    async fn found(&self, term: &str, limit: usize) -> Result<Vec<String>> {
        let count = limit.clamp(1, SEARCH_END).to_string();
        let parameters = [
            ("db", "pubmed"),
            ("term", term),
            ("retmode", "json"),
            ("retmax", count.as_str()),
            ("sort", "relevance"),
        ];
        let found: Option<WireFound> = self.get("esearch.fcgi", &parameters).await?;
        let found = found.ok_or_else(|| self.api.unexpected("its search does not exist"))?;
        let (_, ids) = found.read().map_err(|why| self.api.unexpected(why))?;
        Ok(ids)
    }

    /// The records with these PMIDs, in this order.
    async fn records(&self, ids: &[String]) -> Result<Vec<lyra_bibliography::Record>> {
        let places: BTreeMap<&str, usize> = ids.iter().enumerate().map(|(i, id)| (id.as_str(), i)).collect();
        let mut records = Vec::new();
        for part in ids.chunks(PAGE) {
            let list = part.join(",");
            let parameters = [("db", "pubmed"), ("id", list.as_str()), ("retmode", "xml")];
            let request = self.signed(Request::get(self.api.url("efetch.fcgi", &parameters)));
            let Some(response) = self.records.fetch(request).await? else { continue };
            records.extend(wire::records(&response.body).map_err(|why| self.records.unexpected(why))?);
        }
        let place = |record: &lyra_bibliography::Record| {
            record.pmid.as_deref().and_then(|id| places.get(id)).copied().unwrap_or(usize::MAX)
        };
        records.sort_by_key(place);
        Ok(records)
    }

    async fn get<T: DeserializeOwned>(&self, path: &str, query: &[(&str, &str)]) -> Result<Option<T>> {
        self.api.ask(self.signed(Request::get(self.api.url(path, query)))).await
    }

    /// With the name of the program, the operator's address, and the key.
    fn signed(&self, request: Request) -> Request {
        let mut request = request.secret_query("tool", SecretString::from("lyra"));
        if let Some(mailto) = &self.mailto {
            request = request.secret_query("email", SecretString::from(mailto.clone()));
        }
        match &self.key {
            Some(key) => request.secret_query("api_key", key.clone()),
            None => request,
        }
    }
}

#[async_trait]
impl EvidenceSource for PubMed {
    answer_by_row!(PUBMED);

    async fn search(&self, query: &str, _: Option<&str>, limit: usize) -> lyra_research::Result<Answer> {
        Ok(hits(self.papers(query, limit).await?).into())
    }
}

#[async_trait]
impl ScholarlySource for PubMed {
    fn knows_retractions(&self) -> bool {
        true
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
impl ApiSource for PubMed {
    async fn probe(&self) -> Result<Probe> {
        let this = Self { api: self.api.uncached(), ..self.clone() };
        let begun = Instant::now();
        let parameters =
            [("db", "pubmed"), ("term", "sleep AND memory"), ("retmode", "json"), ("retmax", "0")];
        let found: Option<WireFound> = this.get("esearch.fcgi", &parameters).await?;
        let matches = match found {
            Some(found) => found.read().map_err(|why| this.api.unexpected(why))?.0,
            None => 0,
        };
        Ok(Probe { matches, took: begun.elapsed() })
    }

    async fn pause(&self) -> Option<(Duration, String)> {
        self.api.pause().await
    }
}
