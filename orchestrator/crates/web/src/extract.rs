//! Main text of a page: paragraphs, headings, lists and tables in order, and what the page says of itself.
//!
//! Readability's rules (through `dom_smoothie`) find the main content. It is held against the elements that pages
//! mark as their article (`choice`) and against the page's title (`anchor`), cleared of what stands beside the text
//! (`boilerplate`, `edges`, `aside`), and given what the rules left out between its paragraphs (`overlap`). A page that
//! the rules cannot read gives its visible body.

mod anchor;
mod aside;
mod blocks;
mod boilerplate;
mod choice;
mod date;
mod edges;
mod encoding;
mod endings;
mod labels;
mod lead;
mod links;
mod markdown;
mod metadata;
mod outline;
mod overlap;
mod stated;
mod title;

pub(crate) use blocks::Builder;
pub use blocks::{Block, BlockKind, Link};
pub use date::PublishedDate;
pub use encoding::{Decoded, decode};
pub use links::BodyLink;
pub(crate) use metadata::names;

use crate::dom::{Parsed, Visit, is_hidden, parse, visible_text, walk};
use dom_query::Document;
use lyra_domain::{ArxivId, Doi};
use serde::{Deserialize, Serialize};
use url::Url;

/// Elements and levels of nesting above which a page is not scored by the rules for main content: their time grows with
/// the square of either, so that a hostile page would hold a thread for minutes. Articles stay far below.
const MAX_ELEMENTS: usize = 30_000;
const MAX_DEPTH: usize = 200;

/// Parts of a body that are not main text, for pages that the rules cannot read.
const BOILERPLATE: &str = "nav, header, footer, aside, form, button, select, [role='navigation'], [role='banner'], \
     [role='contentinfo'], [role='search'], [role='complementary']";

/// A page's main text and what it says of itself. Offsets count characters (Unicode scalar values) of `text`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Extracted {
    /// Title of the article, without the site's name where that is marked off.
    pub title: String,
    /// Names in the order of the by-line.
    pub authors: Vec<String>,
    /// When it was published, as far as the page says.
    pub published: Option<PublishedDate>,
    /// Name of the site.
    pub site: Option<String>,
    /// ISO 639-1 code: what the text is in, else what the page declares.
    pub language: Option<String>,
    /// The address that the page gives as its own.
    pub canonical_url: Option<Url>,
    /// DOI in the page's citation metadata.
    pub doi: Option<Doi>,
    /// Identifier that arXiv stamps on the first page of its copies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arxiv: Option<ArxivId>,
    /// PDF of the same work in the page's citation metadata.
    pub pdf_url: Option<Url>,
    /// Abstract in the page's citation metadata.
    pub abstract_text: Option<String>,
    /// The main text: blocks with a blank line between them.
    pub text: String,
    /// What stands where in `text`, in order.
    pub blocks: Vec<Block>,
    /// Of a PDF, the page that each block begins on, from 1; otherwise empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pages: Vec<u32>,
    /// Of a PDF, what its readers marked in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<Mark>,
    /// Links in the main text.
    pub links: Vec<Link>,
    /// What was not read because the page goes beyond a limit, and which.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out: Option<String>,
}

/// A passage that a reader marked in a PDF, or a note.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Mark {
    /// Page, from 1.
    pub page: u32,
    /// The marked text on one line; empty for a note.
    pub text: String,
    /// What the reader wrote, one paragraph a line; may be empty.
    pub comment: String,
    /// Its color as `#rrggbb`.
    pub color: Option<String>,
}

impl Extracted {
    /// Reads an HTML page that was fetched from `address`. Never fails: a page without text gives an empty text.
    pub fn from_html(html: &str, address: &Url) -> Self {
        let Parsed { document, cut } = parse(html);
        let base =
            document.base_uri().and_then(|href| address.join(&href).ok()).unwrap_or_else(|| address.clone());
        let said = metadata::read(&document, &base);
        let own: Vec<&Url> = [address, &base].into_iter().chain(&said.canonical_url).collect();
        let chosen = if readable(&document) { choice::choose(&document, &base, &own, &said) } else { None };
        let choice::Chosen { content, title, byline, site, language } = chosen.unwrap_or_else(|| {
            choice::Chosen { content: body(&document, &base), title: None, ..Default::default() }
        });
        let title = title.unwrap_or_else(|| visible_title(&document));
        Self {
            title: said.title.unwrap_or_else(|| crate::dom::single_spaces(&title)),
            authors: if said.authors.is_empty() { metadata::names(byline.as_deref()) } else { said.authors },
            published: said.published.or_else(|| PublishedDate::in_address(address)),
            site: said.site.or(site),
            language: lyra_text::language(&content.text)
                .map(str::to_owned)
                .or_else(|| said.language.or(language).as_deref().and_then(primary_subtag)),
            canonical_url: said.canonical_url,
            doi: said.doi,
            pdf_url: said.pdf_url,
            abstract_text: said.abstract_text,
            text: content.text,
            blocks: content.blocks,
            links: content.links,
            pages: Vec::new(),
            left_out: cut.then(|| "its end was not read: the page has too many elements".to_owned()),
            ..Self::default()
        }
    }

    /// Plain text: paragraphs are what blank lines separate.
    pub fn from_plain_text(text: &str) -> Self {
        let mut builder = Builder::default();
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        for paragraph in text.split("\n\n") {
            builder.push(BlockKind::Paragraph, &crate::dom::single_spaces(paragraph));
        }
        let first = builder.blocks.first().map(|block| block.end as usize).filter(|length| *length <= 200);
        Self {
            title: first.map(|length| builder.text.chars().take(length).collect()).unwrap_or_default(),
            language: lyra_text::language(&builder.text).map(str::to_owned),
            text: builder.text,
            blocks: builder.blocks,
            ..Self::default()
        }
    }

    /// Text of a block.
    pub fn text_of(&self, block: &Block) -> String {
        self.text.chars().skip(block.start as usize).take((block.end - block.start) as usize).collect()
    }
}

/// Small enough to be scored.
fn readable(document: &Document) -> bool {
    let (mut elements, mut depth, mut deepest) = (0_usize, 0_usize, 0_usize);
    walk(document.root(), |visit| {
        match visit {
            Visit::Enter(..) => {
                elements += 1;
                depth += 1;
                deepest = deepest.max(depth);
            }
            Visit::Leave(_) => depth = depth.saturating_sub(1),
            Visit::Text(_) => {}
        }
        elements <= MAX_ELEMENTS && deepest <= MAX_DEPTH
    });
    elements <= MAX_ELEMENTS && deepest <= MAX_DEPTH
}

/// The body without what is not main text.
fn body(document: &Document, base: &Url) -> blocks::Content {
    document.select(BOILERPLATE).remove();
    for node in document.select("[hidden], [aria-hidden], [style]").nodes() {
        if is_hidden(node).is_some() {
            node.remove_from_parent();
        }
    }
    let body = document.select("body");
    body.nodes().first().map_or_else(blocks::Content::default, |body| blocks::read(*body, base))
}

fn visible_title(document: &Document) -> String {
    let of =
        |css: &str| document.select(css).nodes().first().map(|node| visible_text(*node)).unwrap_or_default();
    // `title` stands in `head`, whose contents are invisible as a whole, but not by itself.
    Some(of("title")).filter(|title| !title.is_empty()).unwrap_or_else(|| of("h1"))
}

/// `en` of `en-GB` and `en_US`, when it is a two-letter code.
fn primary_subtag(tag: &str) -> Option<String> {
    let code = tag.trim().split(['-', '_']).next()?.to_ascii_lowercase();
    (code.len() == 2 && code.chars().all(|c| c.is_ascii_lowercase())).then_some(code)
}

#[cfg(test)]
mod main_text_tests;
#[cfg(test)]
mod tests;
