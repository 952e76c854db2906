//! A document of a corpus: what is known about it, its text, and what the person wrote beside it.

mod about;
mod beside;

use super::found::citation;
use super::{HERE, address, document_address, parts};
use crate::failure::{Failed, Failure};
use crate::parts::place;
use crate::shell::Page;
use crate::visit::Visit;
use crate::words::Words;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use lyra_corpus::{Document, Passage};
use lyra_usecases::App;
use maud::{Markup, html};
use serde::Deserialize;

/// Bytes of a full text that are shown at once.
const PART: usize = 120_000;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::pages) struct Wanted {
    /// Which part of a long text, from 1.
    part: String,
}

/// The part of the full text that is shown.
struct Shown<'a> {
    parts: &'a [Vec<Passage<'a>>],
    /// From 0.
    at: usize,
    /// Address of the document.
    address: String,
}

impl Shown<'_> {
    fn address_of(&self, part: usize) -> String {
        format!("{}?part={}", self.address, part + 1)
    }

    /// The passages of all parts with the number of their part and their own, in order.
    fn passages(&self) -> impl Iterator<Item = (usize, usize, Passage<'_>)> {
        let all = self
            .parts
            .iter()
            .enumerate()
            .flat_map(|(part, passages)| passages.iter().map(move |p| (part, *p)));
        all.enumerate().map(|(nth, (part, passage))| (part, nth, passage))
    }
}

pub(in crate::pages) async fn show(
    State(app): State<App>,
    Path((corpus, id)): Path<(String, String)>,
    Query(wanted): Query<Wanted>,
    visit: Visit,
) -> Result<Response, Failure> {
    let words = visit.words;
    let document = app.show_corpus_document(&corpus, &id).await.shown_to(&visit)?;
    let passages = document.passages();
    let parts = parts::of(&passages, PART);
    let at = wanted.part.trim().parse().map_or(0, |part: usize| part.clamp(1, parts.len()) - 1);
    let shown = Shown { parts: &parts, at, address: document_address(&corpus, &id) };
    let title = if document.title.is_empty() { words.t("common.untitled") } else { &document.title };
    let content = html! {
        div.stack.wide {
            header.stack.tight {
                p.crumbs {
                    a href=(HERE) { (words.t("corpora.title")) } " / " a href=(address(&corpus)) { (corpus) } " / " (id)
                }
                h1 lang=[document.language.as_deref()] { (title) }
                p.small { (place::about(words, &citation(&document))) }
                @if document.is_retracted { p.note { (words.t("corpora.retracted_note")) } }
            }
            div.columns {
                article.reading lang=[document.language.as_deref()] { (text(words, &document, &shown)) }
                aside.stack.wide {
                    (beside::notes(words, &document))
                    (about::facts(words, &corpus, &document))
                    (contents(words, &shown))
                }
            }
        }
    };
    Ok(Page { title, here: HERE, content }.answer(&visit))
}

/// Abstract, claims, and a part of the full text.
fn text(words: Words, document: &Document, shown: &Shown<'_>) -> Markup {
    let here = words.0.code();
    html! {
        @if shown.at == 0 {
            @if !document.text.is_empty() {
                h2 lang=(here) { (words.t("corpora.abstract")) }
                @for line in lines(&document.text) { p { (line) } }
            }
            @if !document.claim.is_empty() {
                h2 lang=(here) { (words.t("corpora.patent_claims")) }
                @for line in lines(&document.claim) { p { (line) } }
            }
            @if document.text.is_empty() && document.claim.is_empty() && document.desc.is_empty() {
                p.quiet lang=(here) { (words.t("corpora.no_text")) }
            }
        }
        @if !document.desc.is_empty() {
            h2 lang=(here) {
                (words.t("corpora.full_text"))
                @if shown.parts.len() > 1 {
                    " " span.quiet.small { (words.with("corpora.part", &[("n", &(shown.at + 1).to_string()), ("all", &shown.parts.len().to_string())])) }
                }
            }
            (passages(words, shown))
            (turning(words, shown))
        }
    }
}

/// Sections with their headings and pages; each is named where it begins.
fn passages(words: Words, shown: &Shown<'_>) -> Markup {
    let mut before: (Option<&str>, Option<u32>) = (None, None);
    let mut sections = Vec::new();
    for (part, nth, passage) in shown.passages() {
        let heading = passage.heading.filter(|_| passage.heading != before.0);
        let page = passage.page.filter(|_| passage.page != before.1);
        before = (passage.heading, passage.page);
        if part == shown.at {
            sections.push((nth, heading, page, passage.text));
        }
    }
    html! {
        @for (nth, heading, page, text) in sections {
            @if let Some(heading) = heading { h3 id=(format!("section-{nth}")) { (heading) } }
            @if let Some(page) = page {
                p.small.quiet lang=(words.0.code()) { (words.with("corpora.page", &[("n", &page.to_string())])) }
            }
            @for line in lines(text) { p { (line) } }
        }
    }
}

/// To the parts before and after.
fn turning(words: Words, shown: &Shown<'_>) -> Markup {
    html! {
        @if shown.parts.len() > 1 {
            nav.actions aria-label=(words.t("corpora.parts")) lang=(words.0.code()) {
                @if shown.at > 0 { a.button rel="prev" href=(shown.address_of(shown.at - 1)) { (words.t("corpora.part_before")) } }
                @if shown.at + 1 < shown.parts.len() {
                    a.button rel="next" href=(shown.address_of(shown.at + 1)) { (words.t("corpora.part_after")) }
                }
            }
        }
    }
}

/// The headings of the full text.
fn contents(words: Words, shown: &Shown<'_>) -> Markup {
    let mut before = None;
    let mut headings = Vec::new();
    for (part, nth, passage) in shown.passages() {
        if let Some(heading) = passage.heading.filter(|_| passage.heading != before) {
            headings.push((part, nth, heading));
        }
        before = passage.heading;
    }
    html! {
        @if headings.len() > 1 {
            nav.stack.tight aria-labelledby="contents-title" {
                h2 #contents-title { (words.t("corpora.contents")) }
                ol.stack.tight.small {
                    @for (part, nth, heading) in headings {
                        li {
                            @let page = if part == shown.at { String::new() } else { shown.address_of(part) };
                            a href=(format!("{page}#section-{nth}")) { (heading) }
                        }
                    }
                }
            }
        }
    }
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::Language;
    use lyra_corpus::Section;

    #[test]
    fn a_long_text_is_turned_over_and_its_contents_lead_to_each_part() {
        let section =
            |line, heading: &str, page| Section { line, heading: Some(heading.to_owned()), page: Some(page) };
        let document = Document {
            desc: "One.\nTwo.\n<i>Three</i>.".to_owned(),
            sections: vec![section(0, "Methods", 1), section(1, "Methods", 2), section(2, "Results", 2)],
            ..Document::default()
        };
        let passages = document.passages();
        let parts = parts::of(&passages, 8);
        let words = Words(Language::English);
        let shown = Shown { parts: &parts, at: 1, address: "/d".to_owned() };
        let page = text(words, &document, &shown).into_string();
        assert!(page.contains("Part 2 of 2") && page.contains("&lt;i&gt;Three&lt;/i&gt;"), "{page}");
        assert!(page.contains(r#"href="/d?part=1""#) && !page.contains("One."), "{page}");
        let contents = contents(words, &shown).into_string();
        assert!(contents.contains(r##"href="/d?part=1#section-0""##), "{contents}");
        assert!(contents.contains(r##"href="#section-2""##), "{contents}");
        assert_eq!(contents.matches("<li>").count(), 2, "{contents}");
    }
}
