//! Europe PMC (<https://europepmc.org/RestfulWebService>): PubMed, PubMed Central, and preprints.

mod full_text;
mod wire;

use crate::api::{Api, ApiConfig, Probe};
use crate::http::{HttpClient, Request};
use crate::paper::{hits, once, telling_words};
use crate::registry::{EUROPE_PMC, answer_by_row};
use crate::{ApiSource, Paper, Result};
use async_trait::async_trait;
use lyra_domain::{Identifier, Work};
use lyra_research::ports::{Answer, EvidenceSource, Hit, ScholarlySource, SourcePage};
use secrecy::SecretString;
use serde::de::DeserializeOwned;
use std::time::Duration;
use tokio::time::Instant;
use wire::{WireLinks, WirePage, WireRecord};

/// Most results on a page of a search; a record has some 5 kB.
const PAGE: usize = 200;
/// Most entries on a page of citations.
const LINK_PAGE: usize = 1_000;
/// Most alternatives in one query: addresses stay below 4 KiB.
const ALTERNATIVES: usize = 40;
/// Most pages of citations.
const LINK_PAGES: usize = 10;
/// No limit is documented; the service asks its users for ten requests a second at most.
const INTERVAL: Duration = Duration::from_millis(200);
/// PubMed, PubMed Central, and preprints; without patents, theses, guidelines, and agricultural abstracts.
const COLLECTIONS: &str = "(SRC:MED OR SRC:PMC OR SRC:PPR)";
const XML: [&str; 2] = ["application/xml", "text/xml"];

/// The API. Cheap to clone.
#[derive(Clone)]
pub struct EuropePmc {
    api: Api,
    /// The same, for full texts.
    texts: Api,
    mailto: Option<String>,
}

impl EuropePmc {
    /// A client of the API under `config.base_url` (`https://www.ebi.ac.uk/europepmc/webservices/rest`);
    /// `config.mailto` is sent along, so that the service can reach the operator.
    pub fn new(http: HttpClient, config: &ApiConfig) -> Self {
        let api = Api::new(http, EUROPE_PMC.name, config, INTERVAL, 2);
        Self { texts: api.clone().accepting(&XML), api, mailto: config.mailto.clone() }
    }

    /// At most `limit` works, most relevant first: those with every word of the query, else those with any. Notices of
    /// retractions are left out.
    ///
    /// # Errors
    /// Errors of the HTTP layer or the API.
    pub async fn papers(&self, query: &str, limit: usize) -> Result<Vec<Paper>> {
        let words = telling_words(query);
        if words.is_empty() {
            return Ok(Vec::new());
        }
        for operator in [" AND ", " OR "] {
            let found = self.list(&format!("({}) AND {COLLECTIONS}", words.join(operator)), limit).await?;
            if !found.is_empty() || words.len() == 1 {
                return Ok(found.into_iter().filter(|record| !record.is_notice()).map(Paper::from).collect());
            }
        }
        Ok(Vec::new())
    }

    /// The works with these identifiers, forty alternatives per request; unknown ones are omitted.
    ///
    /// # Errors
    /// Errors of the HTTP layer or the API.
    pub async fn batch(&self, ids: &[Identifier]) -> Result<Vec<Paper>> {
        let names: Vec<String> = once(ids).iter().filter_map(name).collect();
        Ok(self.named(&names).await?.into_iter().map(Paper::from).collect())
    }

    /// At most `limit` works that this one cites.
    ///
    /// # Errors
    /// Errors of the HTTP layer or the API.
    pub async fn reference_papers(&self, work: &Work, limit: usize) -> Result<Vec<Paper>> {
        self.linked(work, "references", limit).await
    }

    /// At most `limit` works that cite this one.
    ///
    /// # Errors
    /// Errors of the HTTP layer or the API.
    pub async fn citing_papers(&self, work: &Work, limit: usize) -> Result<Vec<Paper>> {
        self.linked(work, "citations", limit).await
    }

    /// The full text of a work of the open access subset; `None` for any other.
    ///
    /// # Errors
    /// Errors of the HTTP layer or the API, and a text that cannot be read.
    pub async fn open_text(&self, work: &Work) -> Result<Option<SourcePage>> {
        let pmcid =
            work.ids.iter().find_map(|id| if let Identifier::Pmcid(id) = id { Some(id) } else { None });
        let Some(pmcid) = pmcid else { return Ok(None) };
        let request = self.request(&format!("{pmcid}/fullTextXML"), &[]);
        let Some(response) = self.texts.fetch(request).await? else { return Ok(None) };
        // Parsing takes as long as the text is, which may be megabytes.
        let read = tokio::task::spawn_blocking(move || full_text::read(&response)).await;
        match read {
            Ok(Ok(page)) => Ok(Some(page)),
            Ok(Err(why)) => Err(self.texts.unexpected(format!("its full text cannot be read: {why}"))),
            Err(error) => Err(self.texts.unexpected(format!("its full text cannot be read: {error}"))),
        }
    }

    /// The works that an answer about this one's citations lists, with their abstracts: the lists have none.
    async fn linked(&self, work: &Work, kind: &str, limit: usize) -> Result<Vec<Paper>> {
        let Some((source, id)) = self.own_name(work).await? else { return Ok(Vec::new()) };
        let mut names: Vec<String> = Vec::new();
        let mut seen = 0;
        // The size of a page decides what the next one begins with: it stays the same.
        let size = limit.clamp(1, LINK_PAGE).to_string();
        for page in 1..=LINK_PAGES {
            let number = page.to_string();
            let parameters = [("page", number.as_str()), ("pageSize", size.as_str()), ("format", "json")];
            let links: Option<WireLinks> = self.get(&format!("{source}/{id}/{kind}"), &parameters).await?;
            let Some(links) = links else { break };
            let (total, entries) = links.entries();
            seen += entries.len();
            names.extend(entries.iter().filter_map(wire::WireLink::query));
            if entries.is_empty() || seen >= total || names.len() >= limit {
                break;
            }
        }
        names.truncate(limit);
        Ok(self.named(&names).await?.into_iter().map(Paper::from).collect())
    }

    /// The collection and the number that the service files a work under.
    async fn own_name(&self, work: &Work) -> Result<Option<(String, String)>> {
        let pmid = work.ids.iter().find_map(|id| if let Identifier::Pmid(id) = id { Some(id) } else { None });
        if let Some(pmid) = pmid {
            return Ok(Some(("MED".to_owned(), pmid.clone())));
        }
        let names: Vec<String> = work.identifiers().filter_map(|id| name(&id)).collect();
        Ok(self.named(&names).await?.into_iter().find_map(WireRecord::into_name))
    }

    /// The records that these queries name, one record each.
    async fn named(&self, names: &[String]) -> Result<Vec<WireRecord>> {
        let mut found = Vec::new();
        for part in names.chunks(ALTERNATIVES) {
            // A preprint and its article, or a record of two collections, may share a name.
            found.extend(self.list(&part.join(" OR "), part.len() * 2).await?);
        }
        Ok(found)
    }

    /// At most `limit` records of a search in the service's own syntax, page by page.
    async fn list(&self, query: &str, limit: usize) -> Result<Vec<WireRecord>> {
        let mut found = Vec::new();
        let mut cursor = "*".to_owned();
        while found.len() < limit {
            let count = (limit - found.len()).clamp(1, PAGE).to_string();
            let parameters = [
                ("query", query),
                ("resultType", "core"),
                ("format", "json"),
                ("pageSize", count.as_str()),
                ("cursorMark", cursor.as_str()),
            ];
            let Some(page) = self.get::<WirePage>("search", &parameters).await? else { break };
            let next = page.next_cursor_mark.clone();
            let (before, total) = (found.len(), page.hit_count);
            found.extend(self.results(page)?);
            let more = total.is_none_or(|total| (found.len() as u64) < total);
            match next {
                Some(next) if more && next != cursor && found.len() > before => cursor = next,
                _ => break,
            }
        }
        found.truncate(limit);
        Ok(found)
    }

    /// The records of a page. The service reports a query that it cannot read with status 200.
    fn results(&self, page: WirePage) -> Result<Vec<WireRecord>> {
        match (page.result_list, page.err_msg) {
            (Some(list), _) => Ok(list.result.map(|records| records.0).unwrap_or_default()),
            (None, Some(why)) => Err(self.api.unexpected(why)),
            (None, None) => Err(self.api.unexpected("its JSON has no `resultList`")),
        }
    }

    async fn get<T: DeserializeOwned>(&self, path: &str, query: &[(&str, &str)]) -> Result<Option<T>> {
        self.api.ask(self.request(path, query)).await
    }

    fn request(&self, path: &str, query: &[(&str, &str)]) -> Request {
        let request = Request::get(self.api.url(path, query));
        match &self.mailto {
            Some(mailto) => request.secret_query("email", SecretString::from(mailto.clone())),
            None => request,
        }
    }
}

/// The query that finds the work with this identifier. The service has no others: arXiv's preprints are not in it.
fn name(id: &Identifier) -> Option<String> {
    Some(match id {
        // A DOI may have every character but a blank.
        Identifier::Doi(doi) => format!("DOI:\"{}\"", doi.as_str().replace(['"', '\\'], " ")),
        Identifier::Pmid(id) => format!("(EXT_ID:{id} AND SRC:MED)"),
        Identifier::Pmcid(id) => format!("PMCID:{id}"),
        _ => return None,
    })
}

#[async_trait]
impl EvidenceSource for EuropePmc {
    answer_by_row!(EUROPE_PMC);

    async fn search(&self, query: &str, _: Option<&str>, limit: usize) -> lyra_research::Result<Answer> {
        Ok(hits(self.papers(query, limit).await?).into())
    }
}

#[async_trait]
impl ScholarlySource for EuropePmc {
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

    async fn full_text(&self, work: &Work) -> lyra_research::Result<Option<SourcePage>> {
        Ok(self.open_text(work).await?)
    }
}

#[async_trait]
impl ApiSource for EuropePmc {
    async fn probe(&self) -> Result<Probe> {
        let this = Self { api: self.api.uncached(), ..self.clone() };
        let begun = Instant::now();
        let parameters =
            [("query", "sleep AND memory"), ("resultType", "idlist"), ("format", "json"), ("pageSize", "1")];
        let page: Option<WirePage> = this.get("search", &parameters).await?;
        Ok(Probe { matches: page.and_then(|page| page.hit_count).unwrap_or(0), took: begun.elapsed() })
    }

    async fn pause(&self) -> Option<(Duration, String)> {
        self.api.pause().await
    }
}
