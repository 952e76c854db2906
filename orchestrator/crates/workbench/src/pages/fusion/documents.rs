//! The documents of a run: what each lane adds to each, and the passages that the queries hit.

use super::lanes;
use crate::pictures::shares;
use crate::words::Words;
use lyra_wire::fusion::{Piece, RunDocument, RunDocuments};
use maud::{Markup, html};

/// Documents of a page.
pub(super) const STEP: usize = 20;
/// Passages shown at first.
const PASSAGES: usize = 2;
/// Codes of a document that are named.
const CODES: usize = 4;
/// Width of a document's bar, in pixels.
const WIDTH: f64 = 220.0;

pub(super) fn section(words: Words, found: &RunDocuments, names: &[String], offset: usize) -> Markup {
    let here = super::address(&found.run_id);
    html! {
        section.stack aria-labelledby="documents" {
            h2 #documents { (words.t("fusion.documents")) }
            @if found.documents.is_empty() { p.quiet { (words.t("fusion.no_documents")) } }
            ol.claims { @for document in &found.documents { (card(words, &found.corpus, document, names)) } }
            nav.row.middle aria-label=(words.t("fusion.pages_of_documents")) {
                @if offset > 0 { a.button href={ (here) "?offset=" (offset.saturating_sub(STEP)) "#documents" } { (words.t("fusion.before")) } }
                @if let Some(next) = found.next_offset { a.button href={ (here) "?offset=" (next) "#documents" } { (words.t("fusion.after")) } }
                @if !found.documents.is_empty() {
                    p.small.quiet {
                        (words.with("fusion.range", &[
                            ("from", &words.number(offset as u64 + 1)),
                            ("to", &words.number((offset + found.documents.len()) as u64)),
                            ("all", &words.number(found.total as u64)),
                        ]))
                    }
                }
            }
        }
    }
}

fn card(words: Words, corpus: &str, document: &RunDocument, names: &[String]) -> Markup {
    let title = document.hits.iter().find(|hit| hit.field == "title");
    let mut passages = document.hits.iter().filter(|hit| hit.field != "title");
    let first: Vec<_> = passages.by_ref().take(PASSAGES).collect();
    let more: Vec<_> = passages.collect();
    let id = format!("document-{}", document.rank);
    let language = document.language.as_deref();
    html! {
        li.card.claim id=(id) data-item {
            h3 {
                span.quiet { (document.rank) ". " }
                @if document.found {
                    a data-opens href=(super::document_address(corpus, &document.doc_id)) lang=[language] {
                        @match title {
                            Some(title) => (marked(&title.pieces)),
                            None if document.title.is_empty() => (words.t("common.untitled")),
                            None => (document.title),
                        }
                    }
                } @else { (words.t("fusion.gone")) }
            }
            p.facts {
                span { code { (document.doc_id) } }
                @if let Some(year) = document.year { span { (year) } }
                @if let Some(label) = &document.label { span.pill { (words.with("fusion.judged", &[("label", label)])) } }
                @for code in document.codes.iter().take(CODES) { span { code { (code) } } }
            }
            @if !document.shares.is_empty() { (added(words, &id, document, names)) }
            @for hit in &first { (passage(words, hit.field, &hit.pieces, language)) }
            @if !more.is_empty() {
                details id={ (id) "-more" } {
                    summary.small { (words.count("fusion.more_hit_one", "fusion.more_hit_other", more.len() as u64)) }
                    div.stack.tight { @for hit in &more { (passage(words, hit.field, &hit.pieces, language)) } }
                }
            }
        }
    }
}

/// What each lane adds, as a bar and in numbers.
fn added(words: Words, id: &str, document: &RunDocument, names: &[String]) -> Markup {
    let (parts, said) = lanes::parts(words, names, &document.shares);
    let title = words.with("fusion.added_to", &[("n", &document.rank.to_string())]);
    html! {
        div.added {
            (shares::picture(&format!("{id}-added"), &parts, WIDTH, &title, &said))
            p.small {
                @for (at, part) in parts.iter().enumerate() {
                    @let name = names.get(part.kind).map_or("", String::as_str);
                    @if at > 0 { " · " }
                    span.quiet { (part.letter) " " (lanes::title(words, name)) } " " b { (super::percent(part.share)) }
                    @if let Some(rank) = document.ranks.get(name) { " " span.quiet { (words.with("fusion.rank_there", &[("n", &rank.to_string())])) } }
                }
            }
        }
    }
}

fn passage(words: Words, field: &str, pieces: &[Piece], language: Option<&str>) -> Markup {
    html! {
        p.small.snippet {
            span.quiet { (name(words, field)) ": " }
            bdi lang=[language] { (marked(pieces)) }
        }
    }
}

/// Text with its hits marked; all of it is text.
fn marked(pieces: &[Piece]) -> Markup {
    html! { @for piece in pieces { @if piece.hit { mark { (piece.text) } } @else { (piece.text) } } }
}

fn name(words: Words, field: &str) -> &str {
    match field {
        "abst" => words.t("corpora.abstract"),
        "claim" => words.t("corpora.patent_claims"),
        "desc" => words.t("corpora.full_text"),
        other => other,
    }
}
