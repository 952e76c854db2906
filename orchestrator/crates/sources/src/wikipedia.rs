//! Wikipedia, by the search and the extracts of MediaWiki (<https://www.mediawiki.org/wiki/API:Main_page>): background
//! on a question, and the works that its articles cite. An article is marked as one of an encyclopedia by its venue and
//! by the category of its domain.

mod wire;

use crate::api::{Api, ApiConfig, Probe};
use crate::http::{HttpClient, Request};
use crate::paper::{hits, plain_words};
use crate::registry::{WIKIPEDIA, answer_by_row};
use crate::{ApiSource, Error, Paper, Result};
use async_trait::async_trait;
use lyra_domain::Identifier;
use lyra_research::ports::{Answer, EvidenceSource, Hit, ScholarlySource};
use std::time::Duration;
use tokio::time::Instant;
use url::Url;
use wire::Reply;

/// What every request asks for.
const COMMON: [(&str, &str); 3] = [("action", "query"), ("format", "json"), ("formatversion", "2")];
/// What is asked of each article: its introduction as text, its addresses, when it was last edited, whether it only
/// lists meanings of its title, and its links to DOIs.
const PROPERTIES: [(&str, &str); 9] = [
    ("prop", "extracts|info|revisions|pageprops|extlinks"),
    ("exintro", "1"),
    ("explaintext", "1"),
    ("exlimit", "max"),
    ("inprop", "url"),
    ("rvprop", "timestamp"),
    ("ppprop", "disambiguation"),
    ("elquery", "doi.org"),
    ("ellimit", "max"),
];
/// Most articles on a page: the API extracts no more introductions at once.
const PAGE: usize = 20;
/// Reading has no fixed limit, as long as requests follow one another.
const INTERVAL: Duration = Duration::from_millis(500);

/// The API. Cheap to clone.
#[derive(Clone)]
pub struct Wikipedia {
    api: Api,
}

impl Wikipedia {
    /// A client of the API under `config.base_url` (`https://en.wikipedia.org/w`). Questions in another language go to
    /// that language's Wikipedia, unless the settings name an address.
    pub fn new(http: HttpClient, config: &ApiConfig) -> Self {
        Self { api: Api::new(http, WIKIPEDIA.name, config, INTERVAL, 2) }
    }

    /// At most `limit` articles in this language (ISO 639-1), most relevant first; pages that list the meanings of a
    /// title are omitted.
    ///
    /// # Errors
    /// Errors of the HTTP layer or the API.
    pub async fn articles(&self, query: &str, language: Option<&str>, limit: usize) -> Result<Vec<Paper>> {
        let query = plain_words(query);
        let api = Api { base: edition(&self.api.base, language), ..self.api.clone() };
        let mut found = Vec::new();
        let mut offset = 0;
        while found.len() < limit && !query.is_empty() {
            let (from, count) = (offset.to_string(), limit.clamp(1, PAGE).to_string());
            let search = [
                ("generator", "search"),
                ("gsrsearch", query.as_str()),
                ("gsrlimit", &count),
                ("gsroffset", &from),
            ];
            let parameters: Vec<_> = COMMON.into_iter().chain(search).chain(PROPERTIES).collect();
            let Some(reply) = ask(&api, &parameters).await? else { break };
            let before = found.len();
            found.extend(reply.articles());
            match reply.next {
                Some(next) if next > offset && found.len() > before => offset = next,
                _ => break,
            }
        }
        found.truncate(limit);
        Ok(found)
    }
}

/// Asks the API, which states its errors in an answer with status 200.
async fn ask(api: &Api, parameters: &[(&str, &str)]) -> Result<Option<Found>> {
    let reply: Option<Reply> = api.ask(Request::get(api.url("api.php", parameters))).await?;
    let Some(reply) = reply else { return Ok(None) };
    if let Some(error) = reply.error {
        let message = error.info.or(error.code).unwrap_or_else(|| "no reason given".to_owned());
        return Err(Error::Rejected { provider: WIKIPEDIA.name.to_owned(), status: 200, message });
    }
    Ok(Some(Found { next: reply.next.and_then(|next| next.gsroffset), query: reply.query }))
}

/// An answer without error.
struct Found {
    next: Option<usize>,
    query: Option<wire::Query>,
}

impl Found {
    /// The articles in the order of the search; the API lists them by their numbers.
    fn articles(&self) -> impl Iterator<Item = Paper> {
        let mut pages: Vec<&wire::Page> =
            self.query.iter().flat_map(|query| &query.pages).flat_map(|pages| &pages.0).collect();
        pages.sort_by_key(|page| page.index.unwrap_or(u64::MAX));
        pages.into_iter().filter_map(wire::Page::paper)
    }
}

/// The address of a language's Wikipedia, where the address is one of a Wikipedia.
fn edition(base: &Url, language: Option<&str>) -> Url {
    let mut edition = base.clone();
    let is_wikipedia = base.host_str().is_some_and(|host| host.ends_with(".wikipedia.org"));
    let code = language.filter(|code| code.len() == 2 && code.bytes().all(|byte| byte.is_ascii_lowercase()));
    if let Some(code) = code.filter(|_| is_wikipedia) {
        // A host of two letters and a known domain is valid.
        let _ = edition.set_host(Some(&format!("{code}.wikipedia.org")));
    }
    edition
}

#[async_trait]
impl EvidenceSource for Wikipedia {
    answer_by_row!(WIKIPEDIA);

    async fn search(
        &self,
        query: &str,
        language: Option<&str>,
        limit: usize,
    ) -> lyra_research::Result<Answer> {
        Ok(hits(self.articles(query, language, limit).await?).into())
    }

    fn leads_to_works(&self) -> bool {
        true
    }
}

// Wikipedia has no records of works; the `references` of its articles name them.
#[async_trait]
impl ScholarlySource for Wikipedia {
    /// Articles cite works by DOI.
    fn own_reference(&self, entry: &str) -> Option<Identifier> {
        wire::cited(entry)
    }

    /// It has articles, no records of works.
    async fn lookup(&self, _: &[Identifier]) -> lyra_research::Result<Vec<Hit>> {
        Ok(Vec::new())
    }
}

#[async_trait]
impl ApiSource for Wikipedia {
    async fn probe(&self) -> Result<Probe> {
        let api = self.api.uncached();
        let begun = Instant::now();
        let search = [("list", "search"), ("srsearch", "sleep and memory"), ("srlimit", "1"), ("srprop", "")];
        let parameters: Vec<_> = COMMON.into_iter().chain(search).collect();
        let found = ask(&api, &parameters).await?;
        let matches = found.and_then(|found| found.query?.searchinfo?.totalhits).unwrap_or(0);
        Ok(Probe { matches, took: begun.elapsed() })
    }

    async fn pause(&self) -> Option<(Duration, String)> {
        self.api.pause().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(base: &str, language: Option<&str>, expect: &str) {
        assert_eq!(edition(&base.parse().unwrap(), language).as_str(), expect);
    }

    #[test]
    fn each_language_has_its_own_wikipedia() {
        let english = "https://en.wikipedia.org/w";
        check(english, None, english);
        check(english, Some("ja"), "https://ja.wikipedia.org/w");
        check(english, Some("x.example/"), english);
        check("http://127.0.0.1:8000/w", Some("ja"), "http://127.0.0.1:8000/w");
        check("https://wiki.example.org/w", Some("ja"), "https://wiki.example.org/w");
    }
}
