//! Web search engines: the results of their result pages and of their APIs, or why they have no results.

mod api;
mod engine;
mod redirect;

pub use api::{Parameters, Refusal, SEARCH_APIS, SearchApi};
pub use engine::{Category, Engine, Engines, Transport};

use crate::dom::{single_spaces, visible_text};
use crate::extract::PublishedDate;
use crate::{canonical, same_page_key};
use dom_query::{Document, NodeRef};
use engine::{Marker, Sign};
use redirect::unwrapped;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use url::Url;

/// One search result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SerpResult {
    /// Place in the list, from 1, advertisements not counted.
    pub rank: usize,
    /// Title as shown.
    pub title: String,
    /// Address of the page itself, redirects of the engine decoded, tracking removed.
    pub url: String,
    /// The engine's excerpt; may be empty.
    pub snippet: String,
    /// When the page was published, as far as the engine says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<PublishedDate>,
}

/// The kind of a result page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum SerpPage {
    /// A list of results.
    Results {
        /// The results, in order.
        results: Vec<SerpResult>,
        /// Skipped advertisements.
        ads: usize,
        /// Entries of the list that had no title or no usable link: when this grows, the markup is changing.
        unread: usize,
    },
    /// The engine reports no results.
    NoResults,
    /// The engine requires a person.
    Challenge {
        /// What kind of challenge.
        kind: ChallengeKind,
    },
    /// The engine declines to answer.
    Refused {
        /// The marker's text.
        why: String,
    },
    /// A page without results and without any known marker: the markup has changed, or it needs a browser.
    Drift {
        /// What was found instead.
        why: String,
    },
}

/// The kind of a challenge page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChallengeKind {
    /// A puzzle.
    Captcha,
    /// Cloudflare's widget.
    Turnstile,
    /// Cloudflare's waiting page.
    Cloudflare,
    /// Consent to cookies.
    Consent,
    /// A login.
    Login,
}

impl ChallengeKind {
    /// Its name, as in `auth_queue.auth_type`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Captcha => "captcha",
            Self::Turnstile => "turnstile",
            Self::Cloudflare => "cloudflare",
            Self::Consent => "consent",
            Self::Login => "login",
        }
    }
}

impl Engines {
    /// Reads a result page of `engine`; `address` is where it came from, for relative links.
    ///
    /// Results win over markers: a page may load a captcha script and still list results.
    pub fn read(&self, engine: &Engine, html: &str, address: &Url) -> SerpPage {
        let document = crate::dom::parse(html).document;
        let list = List::of(engine, &document, address);
        if !list.results.is_empty() {
            return SerpPage::Results { results: list.results, ads: list.ads, unread: list.unread };
        }
        let page = Seen::of(&document);
        if let Some(kind) = engine.challenges.iter().chain(self.challenges()).find_map(|c| c.shown(&page)) {
            return SerpPage::Challenge { kind };
        }
        if let Some(marker) = engine.refusals.iter().find(|marker| page.shows(marker)) {
            return SerpPage::Refused { why: marker.to_string() };
        }
        if engine.no_results.iter().any(|marker| page.shows(marker)) {
            return SerpPage::NoResults;
        }
        let title: String = page.title.chars().take(SHOWN_TITLE).collect();
        SerpPage::Drift {
            why: format!(
                "{} entries of {} could be read, {} were advertisements, and no marker says why; the page's title is {title:?}",
                0,
                list.unread + list.ads,
                list.ads
            ),
        }
    }

    /// Which challenge any page shows, an engine's or not.
    pub fn challenge(&self, html: &str) -> Option<ChallengeKind> {
        let document = crate::dom::parse(html).document;
        let page = Seen::of(&document);
        self.challenges().iter().find_map(|challenge| challenge.shown(&page))
    }

    /// The challenge on a page with a main text of `chars` characters. A short article remains an article even if its
    /// comment form has a CAPTCHA, or its site has a login box.
    pub fn challenge_beside(&self, html: &str, chars: usize) -> Option<ChallengeKind> {
        if chars > CHALLENGE_CHARS {
            return None;
        }
        let document = crate::dom::parse(html).document;
        let page = Seen::of(&document);
        let shown = self.challenges().iter().find_map(|challenge| challenge.shown(&page))?;
        (chars < ARTICLE_CHARS || !page.is_article()).then_some(shown)
    }
}

/// Characters shown of the title of a page that is not understood.
const SHOWN_TITLE: usize = 100;
/// A page with a longer main text has content besides any challenge.
const CHALLENGE_CHARS: usize = 600;
/// The shortest main text of an article that has a challenge beside it.
const ARTICLE_CHARS: usize = 120;
/// Selectors that mark a page as an article.
const ARTICLE: &str = "article, meta[property='og:type'][content='article'], [itemtype*='schema.org/Article'], \
     [itemtype*='schema.org/NewsArticle'], [itemtype*='schema.org/BlogPosting']";

/// The entries of a result list.
#[derive(Default)]
struct List {
    results: Vec<SerpResult>,
    ads: usize,
    unread: usize,
}

impl List {
    fn of(engine: &Engine, document: &Document, address: &Url) -> Self {
        let mut list = Self::default();
        let mut seen = HashSet::new();
        for entry in document.select_matcher(&engine.result).nodes() {
            if engine.ads.iter().any(|ads| within(entry, ads)) {
                list.ads += 1;
                continue;
            }
            match read_entry(engine, entry, address) {
                Entry::Result { title, url, snippet } => {
                    if seen.insert(same_page_key(&url)) {
                        let rank = list.results.len() + 1;
                        let (url, published) = (url.into(), None);
                        list.results.push(SerpResult { rank, title, url, snippet, published });
                    }
                }
                Entry::Advertisement => list.ads += 1,
                Entry::Unread => list.unread += 1,
            }
        }
        list
    }
}

fn within(entry: &NodeRef<'_>, matcher: &dom_query::Matcher) -> bool {
    entry.is_match(matcher) || entry.ancestors_it(None).any(|ancestor| ancestor.is_match(matcher))
}

enum Entry {
    Result { title: String, url: Url, snippet: String },
    Advertisement,
    Unread,
}

fn read_entry(engine: &Engine, entry: &NodeRef<'_>, address: &Url) -> Entry {
    let entry = dom_query::Selection::from(*entry);
    let title = entry.select_matcher(&engine.title).nodes().first().map(|node| visible_text(*node));
    let link = entry.select_matcher(engine.link.as_ref().unwrap_or(&engine.title));
    let (Some(title), Some(href)) = (title.filter(|title| !title.is_empty()), link.attr("href")) else {
        return Entry::Unread;
    };
    let Ok(url) = address.join(href.trim()) else { return Entry::Unread };
    let target = unwrapped(&url, &engine.redirects);
    if [&url, &target].iter().any(|url| engine.is_ad_link(url)) {
        return Entry::Advertisement;
    }
    let Some(url) = canonical(target.as_str()) else { return Entry::Unread };
    // A link that stays with the engine is a page of its own, or a redirect that is not known.
    if url.host_str() == address.host_str() && url.port() == address.port() {
        return Entry::Unread;
    }
    let snippet = entry.select_matcher(&engine.snippet).nodes().first().map(|node| visible_text(*node));
    Entry::Result { title, url, snippet: snippet.unwrap_or_default() }
}

/// A page as markers look at it.
pub(crate) struct Seen<'a> {
    document: &'a Document,
    title: String,
    text: String,
}

impl<'a> Seen<'a> {
    fn of(document: &'a Document) -> Self {
        let title = single_spaces(&document.select("title").text());
        let text = visible_text(document.root()).to_lowercase();
        Self { document, title, text }
    }

    fn is_article(&self) -> bool {
        self.document.select(ARTICLE).exists()
    }

    fn shows(&self, marker: &Marker) -> bool {
        match &marker.sign {
            Sign::Selector(matcher) => self.document.select_matcher(matcher).exists(),
            Sign::Text(text) => self.text.contains(text.as_str()),
            Sign::Title(title) => self.title.to_lowercase().contains(title.as_str()),
        }
    }
}

#[cfg(test)]
mod tests;
