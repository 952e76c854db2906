//! The web as a source of evidence: queries the engines, and fetches and reads the best results.

use super::{FetchedPage, Pages, Rules, SerpAnswer, WebSearch};
use crate::Error;
use crate::cookies::session_domain;
use crate::registry::WEB;
use async_trait::async_trait;
use futures::StreamExt;
use futures::future::join_all;
use lyra_domain::{Priority, Work};
use lyra_research::ports::{Answer, EvidenceSource, Hit, PageLink, SourceKind, SourcePage, Waiting};
use lyra_research::{PortError, Result};
use lyra_web::bounds;
use lyra_web::serp::{Category, ChallengeKind, SerpPage, SerpResult};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Constant of reciprocal rank fusion over the engines' lists.
const RRF_K: f64 = 60.0;
/// With fewer results than this, the engines of the last mile are queried as well.
const FEW: usize = 5;
/// What begins the name of a part that is an engine's answer, and of one that is a page.
const ENGINE: &str = "engine:";
const PAGE: &str = "page:";
/// Pages fetched in parallel.
const AT_ONCE: usize = 6;

/// The limits of one search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebBudget {
    /// Engines to query; empty means the configured APIs, else the engines of the category `general`.
    pub engines: Vec<String>,
    /// Most pages to fetch.
    pub pages: usize,
    /// Time for engines and pages together; the results until then are the answer.
    pub time: Duration,
}

impl Default for WebBudget {
    fn default() -> Self {
        Self { engines: Vec::new(), pages: 10, time: Duration::from_mins(1) }
    }
}

/// Answers queries from the web.
pub struct WebSource {
    search: WebSearch,
    pages: Pages,
    rules: Rules,
    budget: WebBudget,
    /// Most links of one page.
    links: usize,
}

impl WebSource {
    /// Asks with `search`, fetches with `pages`, and reports no links.
    pub fn new(search: WebSearch, pages: Pages, rules: Rules, budget: WebBudget) -> Self {
        Self { search, pages, rules, budget, links: 0 }
    }

    /// With at most so many links of each page.
    #[must_use]
    pub fn with_links(self, most: usize) -> Self {
        Self { links: most, ..self }
    }

    /// The results of all engines as one list, best first, with a note for every engine without results. APIs come
    /// first, and result pages are only read if none of them answers. Engines of the last mile are queried one by one,
    /// and only while the others found little.
    async fn ask_engines(&self, query: &str, language: Option<&str>) -> Answers {
        let named = !self.budget.engines.is_empty();
        let mut answers = Answers::default();
        if !named {
            self.ask_apis(query, language, &mut answers).await;
            if answers.answered {
                return answers;
            }
        }
        let names = if named { self.budget.engines.clone() } else { self.search.readable(Category::General) };
        let limit = self.budget.time / 3;
        let asked = join_all(names.iter().map(|name| self.ask(name, query, language, limit))).await;
        for (name, answer) in names.iter().zip(asked) {
            answers.take(name, answer);
        }
        let last_mile = if named { Vec::new() } else { self.search.readable(Category::LastMile) };
        for name in last_mile {
            if answers.found() >= FEW {
                break;
            }
            let answer = self.ask(&name, query, language, limit).await;
            answers.take(&name, answer);
        }
        answers
    }

    /// Asks the configured APIs one by one while they found little, because most are paid for by the request. Together
    /// they take at most half of the time.
    async fn ask_apis(&self, query: &str, language: Option<&str>, answers: &mut Answers) {
        let until = Instant::now() + self.budget.time / 2;
        for api in self.search.apis() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || answers.found() >= FEW {
                break;
            }
            let answer = self.ask(api.name(), query, language, left.min(self.budget.time / 3)).await;
            answers.take(api.name(), answer);
        }
    }

    /// One engine's answer within this time, or why it is missing.
    async fn ask(
        &self,
        name: &str,
        query: &str,
        language: Option<&str>,
        limit: Duration,
    ) -> Result<SerpAnswer, String> {
        let asked = tokio::time::timeout(limit, self.search.ask(name, query, language)).await;
        match asked {
            Err(_) => Err("did not answer in time".to_owned()),
            Ok(answer) => answer.map_err(|error| error.to_string()),
        }
    }

    /// Fetches the results in order, several in parallel, until the budget is used up.
    async fn fetch(&self, results: Vec<SerpResult>, until: Instant) -> Fetched {
        let fetching = futures::stream::iter(results.into_iter().take(self.budget.pages).enumerate())
            .map(|(place, result)| async move { (place, self.pages.fetch(&result.url).await, result) })
            .buffer_unordered(AT_ONCE);
        let mut fetching = std::pin::pin!(fetching);
        let (mut pages, mut notes, mut waiting) = (Vec::new(), Vec::new(), Vec::new());
        loop {
            match tokio::time::timeout_at(until, fetching.next()).await {
                Ok(Some((place, Ok(page), result))) => {
                    let left_out = page.extracted.left_out.as_ref();
                    notes.extend(left_out.map(|why| format!("{}: {why}", page.url)));
                    pages.push((place, result, page));
                }
                Ok(Some((_, Err(error), result))) => {
                    if let Error::Challenge { kind, .. } = &error {
                        let part = format!("{PAGE}{}", result.url);
                        waiting.extend(wanted(part, &result.url, *kind, Priority::Medium));
                    }
                    notes.push(error.to_string());
                }
                Ok(None) => break,
                Err(_) => {
                    let seconds = self.budget.time.as_secs();
                    notes.push(format!(
                        "the limit of {seconds} s for one web search is reached: some pages were skipped"
                    ));
                    break;
                }
            }
        }
        pages.sort_by_key(|(place, ..)| *place);
        Fetched { pages: pages.into_iter().map(|(_, result, page)| (result, page)).collect(), notes, waiting }
    }

    /// Fetches the best results of the engines.
    async fn gather(&self, answers: Answers, limit: usize, until: Instant) -> Result<Answer> {
        let Answers { lists, mut notes, mut waiting, .. } = answers;
        let mut results = fused(lists);
        results.truncate(limit);
        let Fetched { pages, notes: more, waiting: others } = self.fetch(results, until).await;
        notes.extend(more);
        waiting.extend(others);
        let most = self.links;
        // Pages may be long and hold many links.
        let taking = tokio::task::spawn_blocking(move || taken(pages, most));
        let (hits, pages) = taking.await.map_err(|_| PortError::Failed {
            what: "the pages found".to_owned(),
            why: "taking over what they say failed".to_owned(),
        })?;
        Ok(Answer { hits, pages, notes, waiting })
    }
}

/// The outcome of fetching the results.
struct Fetched {
    pages: Vec<(SerpResult, FetchedPage)>,
    notes: Vec<String>,
    waiting: Vec<Waiting>,
}

/// The auth queue entry for this address.
fn wanted(part: String, url: &str, kind: ChallengeKind, priority: Priority) -> Option<Waiting> {
    let host = url.parse::<url::Url>().ok()?.host_str().map(session_domain)?;
    let auth_type = kind.as_str().to_owned();
    Some(Waiting { part, url: url.to_owned(), domain: host, auth_type, priority })
}

/// The combined answer of the engines.
#[derive(Default)]
struct Answers {
    lists: Vec<Vec<SerpResult>>,
    notes: Vec<String>,
    waiting: Vec<Waiting>,
    /// Some engine answered, even if without results.
    answered: bool,
}

impl Answers {
    /// Results so far.
    fn found(&self) -> usize {
        self.lists.iter().map(Vec::len).sum()
    }

    fn take(&mut self, name: &str, answer: Result<SerpAnswer, String>) {
        let (url, page) = match answer {
            Ok(SerpAnswer { url, page, .. }) => (url, Ok(page)),
            Err(why) => (String::new(), Err(why)),
        };
        let note = match page {
            Ok(SerpPage::Results { results, .. }) => {
                self.lists.push(results);
                self.answered = true;
                return;
            }
            Ok(SerpPage::NoResults) => {
                self.answered = true;
                return;
            }
            Ok(SerpPage::Challenge { kind }) => {
                self.waiting.extend(wanted(format!("{ENGINE}{name}"), &url, kind, Priority::High));
                format!("requires human verification ({}); queued in the auth queue", kind.as_str())
            }
            Ok(SerpPage::Refused { why }) => format!("refuses: {why}"),
            Ok(SerpPage::Drift { why }) => format!("its pages have changed or need a browser: {why}"),
            Err(why) => why,
        };
        self.notes.push(format!("{name}: {note}"));
    }
}

/// One list out of several, by reciprocal ranks; pages that several engines name come first.
fn fused(lists: Vec<Vec<SerpResult>>) -> Vec<SerpResult> {
    let mut scores: HashMap<String, (f64, SerpResult)> = HashMap::new();
    for result in lists.into_iter().flatten() {
        let Ok(url) = result.url.parse() else { continue };
        let score = 1.0 / (RRF_K + result.rank as f64);
        let entry = scores.entry(lyra_web::same_page_key(&url)).or_insert_with(|| (0.0, result.clone()));
        entry.0 += score;
        if result.rank < entry.1.rank {
            entry.1 = result;
        }
    }
    let mut fused: Vec<(f64, SerpResult)> = scores.into_values().collect();
    fused.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.url.cmp(&b.1.url)));
    fused.into_iter().map(|(_, result)| result).collect()
}

#[async_trait]
impl EvidenceSource for WebSource {
    fn name(&self) -> &str {
        WEB.name
    }

    fn kind(&self) -> SourceKind {
        WEB.kind()
    }

    async fn search(&self, query: &str, language: Option<&str>, limit: usize) -> Result<Answer> {
        let until = Instant::now() + self.budget.time;
        let answers = self.ask_engines(query, language).await;
        // A page that requires a person is an answer: retrying at once would not help.
        if !answers.answered && answers.waiting.is_empty() {
            let why = answers.notes.join("; ");
            return Err(PortError::Unavailable { what: "every search engine".to_owned(), why });
        }
        self.gather(answers, limit, until).await
    }

    fn confined_to(&self, engines: &[String]) -> Option<Arc<dyn EvidenceSource>> {
        let budget = WebBudget { engines: engines.to_vec(), ..self.budget.clone() };
        let confined = Self::new(self.search.clone(), self.pages.clone(), self.rules.clone(), budget);
        Some(Arc::new(confined.with_links(self.links)))
    }

    async fn resume(&self, part: &str, query: &str, language: Option<&str>, limit: usize) -> Result<Answer> {
        let until = Instant::now() + self.budget.time;
        let mut answers = Answers::default();
        if let Some(engine) = part.strip_prefix(ENGINE) {
            let answer = self.ask(engine, query, language, self.budget.time / 3).await;
            answers.take(engine, answer);
            if !answers.answered && answers.waiting.is_empty() {
                let why = answers.notes.join("; ");
                return Err(PortError::Unavailable { what: "the engine".to_owned(), why });
            }
        } else if let Some(url) = part.strip_prefix(PAGE) {
            let (title, snippet, published) = (String::new(), String::new(), None);
            let url = url.to_owned();
            answers.lists.push(vec![SerpResult { rank: 1, title, url, snippet, published }]);
        } else {
            let why = format!("`{part}` is neither an engine nor a page");
            return Err(PortError::Refused { what: WEB.name.to_owned(), why });
        }
        self.gather(answers, limit, until).await
    }
}

/// Pages as the pipeline takes them, best first: their hits, and each by its address with at most `most` links.
fn taken(pages: Vec<(SerpResult, FetchedPage)>, most: usize) -> (Vec<Hit>, HashMap<String, SourcePage>) {
    let take = |(i, (result, page)): (usize, (SerpResult, FetchedPage))| {
        let (hit, links) = (hit(i + 1, &result, &page), links(&page, most));
        let address = page.url.clone();
        (hit, (address, SourcePage { links, ..page.into_source_page() }))
    };
    pages.into_iter().enumerate().map(take).unzip()
}

/// At most `most` links in the body, none of them in passages that address an AI.
fn links(page: &FetchedPage, most: usize) -> Vec<PageLink> {
    let Ok(address) = page.final_url.parse() else { return Vec::new() };
    let positions = page.quarantined_positions();
    let quarantined = page.fragments.iter().filter(|fragment| positions.contains(&fragment.position));
    let mut ranges: Vec<(u32, u32)> = quarantined.map(|f| (f.char_start, f.char_end)).collect();
    ranges.sort_unstable();
    let is_quarantined = |at: u32| {
        let begun = ranges.partition_point(|(start, _)| *start <= at);
        ranges[..begun].last().is_some_and(|(_, end)| at < *end)
    };
    page.extracted
        .body_links(&address, most, is_quarantined)
        .into_iter()
        .map(|link| PageLink { url: link.url.to_string(), text: link.text, context: link.context })
        .collect()
}

fn hit(rank: usize, result: &SerpResult, page: &FetchedPage) -> Hit {
    let said = &page.extracted;
    // No text beyond this point contains passages that address an AI.
    let quarantined = page.quarantined_positions();
    let safe = page.fragments.iter().filter(|fragment| !quarantined.contains(&fragment.position));
    let safe: Vec<&str> = safe.map(|fragment| fragment.text_content.as_str()).collect();
    let mut work = Work {
        title: bounds::title(if said.title.is_empty() { result.title.clone() } else { said.title.clone() }),
        year: said.published.or(result.published).map(|date| date.year),
        venue: said.site.clone(),
        authors: said.authors.clone(),
        source_api: WEB.name.to_owned(),
        ..Work::default()
    };
    work.doi.clone_from(&said.doi);
    Hit {
        rank,
        score: 1.0 / (RRF_K + rank as f64),
        work,
        url: page.url.clone(),
        document: None,
        language: said.language.clone(),
        text: Some(safe.join("\n\n")),
        embedding: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(rank: usize, url: &str) -> SerpResult {
        let (title, url) = (url.to_owned(), url.to_owned());
        SerpResult { rank, title, url, snippet: String::new(), published: None }
    }

    #[test]
    fn pages_that_several_engines_name_come_first_and_once() {
        let found = fused(vec![
            vec![result(1, "https://a.example/"), result(2, "https://b.example/x")],
            vec![result(1, "https://c.example/"), result(2, "http://www.b.example/x/")],
        ]);
        let urls: Vec<&str> = found.iter().map(|r| r.url.as_str()).collect();
        assert_eq!(urls, ["https://b.example/x", "https://a.example/", "https://c.example/"]);
    }
}
