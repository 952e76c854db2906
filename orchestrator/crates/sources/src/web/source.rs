//! The web as a source of evidence: every engine asked, the best results fetched and read.

use super::{FetchedPage, Pages, Rules, WebSearch};
use async_trait::async_trait;
use futures::StreamExt;
use futures::future::join_all;
use lyra_domain::Work;
use lyra_domain::domains::decide;
use lyra_research::ports::{EvidenceSource, Hit, PageLink, SourcePage};
use lyra_research::{PortError, Result};
use lyra_web::serp::{Category, SerpPage, SerpResult};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// Name of the source.
pub const WEB: &str = "web";
/// Constant of reciprocal rank fusion over the engines' lists.
const RRF_K: f64 = 60.0;
/// With fewer results than this the engines of the last mile are asked too.
const FEW: usize = 5;
/// Pages fetched at once.
const AT_ONCE: usize = 6;

/// What one search may use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebBudget {
    /// Engines to ask; empty means those of the category `general`.
    pub engines: Vec<String>,
    /// Pages fetched at most.
    pub pages: usize,
    /// Time for engines and pages together; what has arrived by then is the answer.
    pub time: Duration,
}

impl Default for WebBudget {
    fn default() -> Self {
        Self { engines: Vec::new(), pages: 10, time: Duration::from_mins(1) }
    }
}

/// Answers queries from the web. One value serves one search at a time.
pub struct WebSource {
    search: WebSearch,
    pages: Pages,
    rules: Rules,
    budget: WebBudget,
    /// What the last search fetched, by address, and what went wrong beside.
    last: Mutex<Last>,
}

#[derive(Default)]
struct Last {
    pages: HashMap<String, Arc<FetchedPage>>,
    notes: Vec<String>,
}

impl WebSource {
    /// Asks with `search`, fetches with `pages`.
    pub fn new(search: WebSearch, pages: Pages, rules: Rules, budget: WebBudget) -> Self {
        Self { search, pages, rules, budget, last: Mutex::default() }
    }

    /// Results of every engine as one list, best first, with a note for every engine that gave none. Engines of the last
    /// mile are asked one by one, and only as long as the others found little.
    async fn ask_engines(&self, query: &str, language: Option<&str>) -> Answers {
        let engines = self.rules.engines();
        let of = |category: Category| {
            engines.iter().filter(move |e| e.category == category).map(|e| e.name.clone()).collect::<Vec<_>>()
        };
        let named = !self.budget.engines.is_empty();
        let names = if named { self.budget.engines.clone() } else { of(Category::General) };
        let mut answers = Answers::default();
        let asked = join_all(names.iter().map(|name| self.ask(name, query, language))).await;
        for (name, answer) in names.iter().zip(asked) {
            answers.take(name, answer);
        }
        let last_mile = if named { Vec::new() } else { of(Category::LastMile) };
        for name in last_mile {
            if answers.lists.iter().map(Vec::len).sum::<usize>() >= FEW {
                break;
            }
            let answer = self.ask(&name, query, language).await;
            answers.take(&name, answer);
        }
        answers
    }

    /// One engine's answer, or why there is none.
    async fn ask(&self, name: &str, query: &str, language: Option<&str>) -> Result<SerpPage, String> {
        let asked = tokio::time::timeout(self.budget.time / 3, self.search.ask(name, query, language)).await;
        match asked {
            Err(_) => Err("did not answer in time".to_owned()),
            Ok(answer) => answer.map(|answer| answer.page).map_err(|error| error.to_string()),
        }
    }

    /// Fetches the results in order, several at once, until the budget is used.
    async fn fetch(
        &self,
        results: Vec<SerpResult>,
        until: Instant,
    ) -> (Vec<(SerpResult, FetchedPage)>, Vec<String>) {
        let fetching = futures::stream::iter(results.into_iter().take(self.budget.pages).enumerate())
            .map(|(place, result)| async move { (place, self.pages.fetch(&result.url).await, result) })
            .buffer_unordered(AT_ONCE);
        let mut fetching = std::pin::pin!(fetching);
        let (mut pages, mut notes) = (Vec::new(), Vec::new());
        loop {
            match tokio::time::timeout_at(until, fetching.next()).await {
                Ok(Some((place, Ok(page), result))) => pages.push((place, result, page)),
                Ok(Some((_, Err(error), _))) => notes.push(error.to_string()),
                Ok(None) => break,
                Err(_) => {
                    let seconds = self.budget.time.as_secs();
                    notes.push(format!(
                        "the {seconds} s for one web search are used up: some pages were left out"
                    ));
                    break;
                }
            }
        }
        pages.sort_by_key(|(place, ..)| *place);
        (pages.into_iter().map(|(_, result, page)| (result, page)).collect(), notes)
    }
}

/// What the engines answered together.
#[derive(Default)]
struct Answers {
    lists: Vec<Vec<SerpResult>>,
    notes: Vec<String>,
    /// Some engine did its work, if only by finding nothing.
    answered: bool,
}

impl Answers {
    fn take(&mut self, name: &str, answer: Result<SerpPage, String>) {
        let note = match answer {
            Ok(SerpPage::Results { results, .. }) => {
                self.lists.push(results);
                self.answered = true;
                return;
            }
            Ok(SerpPage::NoResults) => {
                self.answered = true;
                return;
            }
            Ok(SerpPage::Challenge { kind }) => format!("wants a person ({})", kind.as_str()),
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
        WEB
    }

    async fn search(&self, query: &str, language: Option<&str>, limit: usize) -> Result<Vec<Hit>> {
        let until = Instant::now() + self.budget.time;
        let Answers { lists, mut notes, answered } = self.ask_engines(query, language).await;
        let mut results = fused(lists);
        if !answered {
            let why = notes.join("; ");
            return Err(PortError::Unavailable { what: "every search engine".to_owned(), why });
        }
        results.truncate(limit);
        let (pages, failed) = self.fetch(results, until).await;
        notes.extend(failed);
        let mut last = Last { pages: HashMap::new(), notes };
        let mut hits = Vec::new();
        for (i, (result, page)) in pages.into_iter().enumerate() {
            if !page.findings.is_empty() {
                last.notes.push(findings_note(&page));
            }
            hits.push(hit(i + 1, &result, &page));
            last.pages.insert(page.url.clone(), Arc::new(page));
        }
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = last;
        Ok(hits)
    }

    fn notes(&self) -> Vec<String> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).notes.clone()
    }

    fn page(&self, url: &str) -> Option<SourcePage> {
        let page = self.last.lock().unwrap_or_else(PoisonError::into_inner).pages.get(url).cloned()?;
        let safe = |fragment: &&lyra_domain::Fragment| !page.quarantined.contains(&fragment.position);
        Some(SourcePage {
            domain: page.domain.domain.clone(),
            domain_category: page.domain.category.to_string(),
            fragments: page.fragments.iter().filter(safe).cloned().collect(),
            links: links(&page, &self.rules),
        })
    }
}

/// Links in the body, but not in passages that address an AI.
fn links(page: &FetchedPage, rules: &Rules) -> Vec<PageLink> {
    let Ok(address) = page.final_url.parse() else { return Vec::new() };
    let quarantined: Vec<_> =
        page.fragments.iter().filter(|fragment| page.quarantined.contains(&fragment.position)).collect();
    let domains = rules.domains();
    page.extracted
        .body_links(&address)
        .into_iter()
        .filter(|link| !quarantined.iter().any(|f| (f.char_start..f.char_end).contains(&link.start)))
        .map(|link| {
            let decision = decide(link.url.host_str().unwrap_or_default(), &domains, &[], |_| false);
            PageLink {
                url: link.url.to_string(),
                domain: decision.domain,
                domain_category: decision.category.to_string(),
                text: link.text,
                context: link.context,
            }
        })
        .collect()
}

fn findings_note(page: &FetchedPage) -> String {
    let mut rules: Vec<&str> = page.findings.iter().map(|finding| finding.rule.as_str()).collect();
    rules.sort_unstable();
    rules.dedup();
    format!(
        "{} holds text that addresses the AI that reads it ({}); {} of its passages were left out",
        page.final_url,
        rules.join(", "),
        page.quarantined.len()
    )
}

fn hit(rank: usize, result: &SerpResult, page: &FetchedPage) -> Hit {
    let said = &page.extracted;
    // Passages that address an AI are in no text that goes on from here.
    let quarantined = |fragment: &&lyra_domain::Fragment| !page.quarantined.contains(&fragment.position);
    let safe: Vec<&str> =
        page.fragments.iter().filter(quarantined).map(|f| f.text_content.as_str()).collect();
    let mut work = Work {
        title: if said.title.is_empty() { result.title.clone() } else { said.title.clone() },
        year: said.published.map(|date| date.year),
        venue: said.site.clone(),
        authors: said.authors.clone(),
        source_api: WEB.to_owned(),
        ..Work::default()
    };
    work.doi.clone_from(&said.doi);
    Hit {
        rank,
        score: 1.0 / (RRF_K + rank as f64),
        work,
        url: page.url.clone(),
        doc_id: None,
        language: said.language.clone(),
        text: Some(safe.join("\n\n")),
        embedding: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(rank: usize, url: &str) -> SerpResult {
        SerpResult { rank, title: url.to_owned(), url: url.to_owned(), snippet: String::new() }
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
