//! Search engines and a site with articles.

use super::Question;
use super::works::{Example, examples, words};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use lyra_web::serp::{Engines, SerpPage};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Engines with the recorded page that each answers with, under `data/serp` of the shared data.
const RECORDED: [(&str, &str); 5] = [
    ("duckduckgo", "serp_celina/tests/fixtures/ddg_html.html"),
    ("mojeek", "serp_web_search_mcp/tests/fixtures/mojeek.html"),
    ("brave", "serp_web_search_mcp/tests/fixtures/brave.html"),
    ("bing", "serp_web_search_mcp/tests/fixtures/bing.html"),
    ("startpage", "serp_web_search_mcp/tests/fixtures/startpage.html"),
];
/// Results whose links are replaced; no more of them are fetched.
pub(super) const SHOWN: usize = 6;
/// Passages that one article mentions.
const PER_ARTICLE: usize = 4;
/// A result page of our own for where the recorded ones are not there, in the markup of the first of those engines.
const OWN: &str = "duckduckgo";

/// Result pages and articles.
pub(super) struct Web {
    /// Of the site, which goes by another name than the engines: links that stay with an engine are no results.
    address: String,
    /// Recorded result pages by engine, each with the addresses that it lists, as they stand in it.
    recorded: BTreeMap<&'static str, (String, Vec<String>)>,
    articles: Vec<Article>,
}

/// A piece for general readers about some studies of one topic.
struct Article {
    path: String,
    title: String,
    html: String,
    /// Its topics, for ranking.
    text: String,
}

impl Web {
    /// # Errors
    /// When the example corpus, the engines or a recording cannot be read.
    pub(super) fn new(address: &str) -> anyhow::Result<Self> {
        let mut recorded = BTreeMap::new();
        let engines = Engines::built_in()?;
        for (name, file) in RECORDED {
            let Some(html) = recording(file) else { continue };
            let Some(engine) = engines.get(name) else { continue };
            let asked = engine.address("recorded", None)?;
            if let SerpPage::Results { results, .. } = engines.read(engine, &html, &asked) {
                let listed: Option<Vec<String>> =
                    results.iter().take(SHOWN).map(|result| written(&html, &result.url)).collect();
                // A link that cannot be replaced would lead out.
                if let Some(listed) = listed {
                    recorded.insert(name, (html, listed));
                }
            }
        }
        let examples = examples()?;
        let articles = examples.chunks(PER_ARTICLE).enumerate().map(|(i, part)| article(i, part)).collect();
        Ok(Self { address: site(address), recorded, articles })
    }

    /// Engines that answer.
    pub(super) fn engines(&self) -> Vec<&'static str> {
        let found: Vec<_> = self.recorded.keys().copied().collect();
        if found.is_empty() { vec![OWN] } else { found }
    }

    pub(super) fn answer(&self, question: &Question) -> Option<Response> {
        let path = question.path.as_str();
        if let Some(engine) = path.strip_prefix("/serp/") {
            return Some(self.results(engine, question.parameter("q")));
        }
        if path == "/robots.txt" {
            return Some(
                ([(header::CONTENT_TYPE, "text/plain")], "User-agent: *\nAllow: /\n").into_response(),
            );
        }
        if path == "/landing" {
            return Some(html(landing()));
        }
        let article = self.articles.iter().find(|article| article.path == path);
        let missing = || (StatusCode::NOT_FOUND, "gone").into_response();
        path.starts_with("/articles/")
            .then(|| article.map_or_else(missing, |article| html(article.html.clone())))
    }

    /// The engine's result page with the articles that share most words with the query in place of what it listed.
    fn results(&self, engine: &str, query: &str) -> Response {
        let wanted = words(query);
        let mut ranked: Vec<(usize, &Article)> = self
            .articles
            .iter()
            .map(|article| (words(&article.text).intersection(&wanted).count(), article))
            .collect();
        ranked.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.path.cmp(&b.1.path)));
        let at = |article: &Article| format!("{}{}", self.address, article.path);
        let Some((page, listed)) = self.recorded.get(engine) else {
            let entries = ranked.iter().take(SHOWN).fold(String::new(), |mut entries, (_, article)| {
                let (url, title) = (at(article), &article.title);
                let _ = write!(
                    entries,
                    "<div class='result'><a class='result__a' href='{url}'>{title}</a></div>"
                );
                entries
            });
            return html(format!("<html><body><div id='links'>{entries}</div></body></html>"));
        };
        let mut page = page.clone();
        for (old, (_, article)) in listed.iter().zip(ranked) {
            // In the form in which the page has it: plain, or as the value of a redirect's parameter.
            let new = if old.contains("%2F") { encoded(&at(article)) } else { at(article) };
            page = page.replace(old.as_str(), &new);
        }
        html(page)
    }
}

/// The address as the page has it, when it has it in a form that can be replaced.
fn written(page: &str, url: &str) -> Option<String> {
    let dashes = |url: &str| encoded(url).replace('-', "%2D");
    let short = url.trim_end_matches('/');
    let forms =
        [dashes(url), dashes(short), encoded(url), encoded(short), url.replace('&', "&amp;"), url.to_owned()];
    forms.into_iter().find(|form| page.contains(form.as_str()))
}

fn encoded(url: &str) -> String {
    url::form_urlencoded::byte_serialize(url.as_bytes()).collect()
}

fn html(body: String) -> Response {
    ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], body).into_response()
}

/// A recorded result page; none, with the reason printed, when the shared data is not there.
fn recording(file: &str) -> Option<String> {
    let bytes = std::fs::read(crate::shared()?.join("data/serp").join(file)).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn article(number: usize, told: &[Example]) -> Article {
    let topic =
        told.first().and_then(|example| example.passage.id.rsplit_once('-')).map_or("", |(topic, _)| topic);
    let title =
        format!("What {} studies found: {}, part {}", told.len(), topic.replace('-', " "), number + 1);
    let mut body = String::new();
    for Example { passage, .. } in told {
        let _ = write!(
            body,
            "<h2>{}</h2><p>This study appeared in {} in {}. {}</p>",
            passage.title, passage.venue, passage.year, passage.text
        );
    }
    // A reader who wants more is sent to one of the studies: the article names a work.
    let source = told.first().map(Example::doi).unwrap_or_default();
    let html = format!(
        "<!doctype html><html lang=en><head><meta charset=utf-8><title>{title}</title></head><body>\
         <nav><a href='/'>Home</a> <a href='/articles'>Articles</a></nav><article><h1>{title}</h1>{body}\
         <p>The first of these studies is at https://doi.org/{source}.</p></article>\
         <footer>An invented page of a replay server</footer></body></html>"
    );
    let text = told
        .iter()
        .map(|example| [example.passage.title.as_str(), &example.passage.text].join(" "))
        .collect::<Vec<_>>()
        .join(" ");
    Article { path: format!("/articles/{topic}-{}", number + 1), title, html, text }
}

/// The site's address, given the engines'.
pub(super) fn site(address: &str) -> String {
    address.replace("127.0.0.1", "localhost")
}

/// Title of the work without abstract.
const UNABRIDGED: &str = "A short daytime nap and memory in adults: a trial without an abstract";

/// A work as Semantic Scholar sends it that may show no abstract, free to read elsewhere.
pub(super) fn unabridged(address: &str) -> Value {
    json!({
        "paperId": format!("{:040x}", 9_999), "externalIds": {"DOI": "10.5555/nap-unabridged"},
        "title": UNABRIDGED, "abstract": null, "year": 2021, "venue": "Journal of Invented Naps",
        "authors": [{"name": "Nora Sleeper"}], "citationCount": 3, "referenceCount": 0,
        "openAccessPdf": {"url": format!("{}/landing", site(address))},
    })
}

/// Its landing page: the text is in its citation metadata.
fn landing() -> String {
    format!(
        "<!doctype html><html lang=en><head><meta charset=utf-8><title>{UNABRIDGED}</title>\
         <meta name='citation_title' content='{UNABRIDGED}'><meta name='citation_doi' content='10.5555/nap-unabridged'>\
         <meta name='citation_abstract' content='Fifty healthy adults learned word pairs in the morning and either took a \
         short daytime nap or stayed awake. A short daytime nap improved memory of the word pairs in adults. The gap was \
         still there a week later.'></head><body><p>Sign in to read on, or buy this article.</p></body></html>"
    )
}

/// The built-in engines, served here.
pub(super) fn engines_file(address: &str) -> String {
    let built_in = include_str!("../../../config/engines.yaml");
    let mut name = "";
    let line = |line: &'static str| {
        if let Some(key) = line.strip_prefix("  ").and_then(|rest| rest.strip_suffix(':'))
            && !key.starts_with(' ')
        {
            name = key;
        }
        if line.starts_with("    url: ") {
            format!("    url: \"{address}/serp/{name}?q={{query}}\"")
        } else {
            line.to_owned()
        }
    };
    built_in.lines().map(line).collect::<Vec<_>>().join("\n") + "\n"
}

/// The built-in domains, without waiting between requests to one that no list names.
pub(super) fn domains_file() -> String {
    include_str!("../../../config/domains.yaml").replace(
        "default: { category: unverified, qps: 1.0 }",
        "default: { category: unverified, qps: 100.0 }",
    )
}
