//! Which part of a page is its main text: what Readability's rules say, held against the elements by which pages mark
//! it.

use super::anchor;
use super::blocks::{self, Content};
use super::boilerplate;
use super::edges;
use super::labels::Labels;
use super::lead;
use super::metadata::Said;
use super::outline::{Amount, Part, outline};
use super::overlap::{Runs, filled};
use super::stated;
use dom_query::{Document, NodeRef};
use url::Url;

/// Characters outside links from which an element can be an article.
const ENOUGH: usize = 200;
/// Characters of a text that is so short that another is looked for in what the page's scripts would show.
const LITTLE: usize = 300;
/// As above, where the rules found little or a menu.
const LEAST: usize = 80;
/// Characters outside links up to which a text may be too short for its page.
const SHORT: usize = 1_500;

/// Articles that a list of articles has at least.
const LISTED: usize = 4;
/// The share of a text from which it counts as part of another.
const CONTAINED: f64 = 0.95;

/// What was chosen.
#[derive(Default)]
pub(super) struct Chosen {
    pub(super) content: Content,
    pub(super) title: Option<String>,
    pub(super) byline: Option<String>,
    pub(super) site: Option<String>,
    pub(super) language: Option<String>,
}

/// The main text of a page that is within the limits for scoring. Changes the document. `own` are addresses of the
/// page.
pub(super) fn choose(document: &Document, base: &Url, own: &[&Url], said: &Said) -> Option<Chosen> {
    let body = document.select("body");
    let body = *body.nodes().first()?;
    boilerplate::note(body);
    let config = dom_smoothie::Config { keep_classes: true, ..dom_smoothie::Config::default() };
    let article =
        dom_smoothie::Readability::with_document(document.clone(), Some(base.as_str()), Some(config))
            .and_then(|mut readability| readability.parse())
            .ok()?;
    let scored = Candidate::cleared(&Document::fragment(article.content), base);
    let content = compared(body, base, scored);
    let content = stated_instead(document, base, &content)
        .unwrap_or_else(|| anchor::anchored(body, base, own, content, said));
    let content = stated_instead(document, base, &content).unwrap_or(content);
    let mut authors = said.authors.clone();
    authors.extend(super::metadata::names(article.byline.as_deref()));
    let trimmed = edges::trimmed(&content, own, &authors);
    Some(Chosen {
        content: lead::with_lead(trimmed, body, base, said),
        title: Some(article.title),
        byline: article.byline,
        site: article.site_name,
        language: article.lang,
    })
}

/// What the page brings along for its scripts to show, where that is much more than a text that is hardly one.
fn stated_instead(document: &Document, base: &Url, content: &Content) -> Option<Content> {
    if content.text.chars().count() >= LITTLE {
        return None;
    }
    Some(stated::text(document, base)).filter(|stated| stated.text.len() > 2 * content.text.len().max(ENOUGH))
}

/// A text that may be the main one.
pub(super) struct Candidate {
    pub(super) content: Content,
    amount: Amount,
}

impl Candidate {
    /// What is left of the tree without what is beside the text.
    pub(super) fn cleared(tree: &Document, base: &Url) -> Self {
        boilerplate::clear(tree.root());
        Self::of(tree, base)
    }

    /// The same, whatever the elements are called: in a forum, comments are the text.
    pub(super) fn loosely_cleared(tree: &Document, base: &Url) -> Self {
        boilerplate::clear_loosely(tree.root());
        Self::of(tree, base)
    }

    fn of(tree: &Document, base: &Url) -> Self {
        let amount = outline(tree.root()).first().map(|part| part.amount).unwrap_or_default();
        Self { content: blocks::read(tree.root(), base), amount }
    }
}

/// What the rules found, or the element that the page marks as its article where the rules took something else or too
/// little, or both: what the rules left out between paragraphs of that element.
fn compared(body: NodeRef<'_>, base: &Url, scored: Candidate) -> Content {
    let is_poor = scored.amount.is_linked(50) || scored.amount.plain() < ENOUGH;
    let marked = marked(&outline(body), if is_poor { LEAST } else { ENOUGH });
    let most = marked.iter().flatten().map(|(_, amount)| worth(amount)).max().unwrap_or_default();
    let marked = marked.map(|found| found.filter(|(_, amount)| worth(amount) * 10 >= most * 3));
    let runs = Runs::of(&scored.content.text);
    let inside = |node: NodeRef<'_>| runs.share_in(&Runs::of(&blocks::read(node, base).text));
    let Some(&(first, _)) = marked.iter().flatten().next() else { return scored.content };
    let cleared = Candidate::cleared(&first.to_fragment(), base);
    if is_better(&cleared, &scored, inside(first)) {
        return cleared.content;
    }
    // The widest of them: leads stand in the element of the article, and before that of its text.
    let around = marked.iter().rev().flatten().find(|(node, _)| inside(*node) >= CONTAINED);
    match around {
        Some((node, _)) => filled(scored.content, &Candidate::cleared(&node.to_fragment(), base).content),
        None => scored.content,
    }
}

/// Whether the element that is marked most specifically is a better choice than what the rules found, of which the
/// share `inside` stands in it.
fn is_better(marked: &Candidate, scored: &Candidate, inside: f64) -> bool {
    let (found, length) = (worth(&scored.amount), worth(&marked.amount));
    let is_elsewhere = inside < 0.5 && (length * 10 > found * 7 || scored.amount.is_linked(50));
    let is_short = scored.amount.plain() < SHORT && found * 2 < length && !marked.amount.is_linked(30);
    marked.amount.plain() >= LEAST && (is_elsewhere || is_short)
}

/// Kinds of marks, see [`mark`].
const MARKS: usize = 4;

/// Of each kind of mark the element with the most text, the most specific first.
fn marked<'a>(parts: &[Part<'a>], least: usize) -> [Option<(NodeRef<'a>, Amount)>; MARKS] {
    let mut best = [None; MARKS];
    for part in parts.iter().filter(|part| part.amount.plain() >= least) {
        let Some(rank) = mark(part) else { continue };
        if best[rank].is_none_or(|(_, amount)| worth(&part.amount) > worth(&amount)) {
            best[rank] = Some((part.node, part.amount));
        }
    }
    best
}

/// Paragraphs count more than other text.
fn worth(amount: &Amount) -> usize {
    amount.plain() + 3 * amount.prose
}

/// How specifically an element is marked as the article; 0 is the most specific.
fn mark(part: &Part<'_>) -> Option<usize> {
    let name = part.name.as_str();
    if !matches!(name, "article" | "div" | "main" | "section" | "td") && !name.contains('-') {
        return None;
    }
    if part
        .node
        .attr("itemprop")
        .is_some_and(|names| names.split_whitespace().any(|name| name == "articleBody"))
    {
        return Some(0);
    }
    let labels = Labels::of(&part.node);
    if labels
        .both(&["entry", "post", "article", "story", "news", "blog", "single"], &["content", "body", "text"])
    {
        return Some(1);
    }
    if name == "article" || part.node.attr("role").is_some_and(|role| &*role == "article") {
        return Some(2);
    }
    let main = name == "main"
        || part.node.attr("role").is_some_and(|role| &*role == "main")
        || labels.exactly(&["content", "main"])
        || labels.both(&["main", "page"], &["content"]);
    (main && part.amount.articles < LISTED).then_some(3)
}
