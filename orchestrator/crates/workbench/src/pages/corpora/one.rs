//! A corpus: what it holds, search in it, more files for it, and its removal.

use super::{HERE, address, document_address, facts, found};
use crate::failure::{Failed, Failure};
use crate::parts::drop;
use crate::shell::Page;
use crate::visit::Visit;
use crate::words::Words;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use found::Wanted;
use lyra_corpus::{CorpusInfo, Duplicates, Label, Labels};
use lyra_usecases::{App, AppError, EXAMPLE};
use maud::{Markup, html};
use tokio_util::sync::CancellationToken;

/// Documents up to which duplicates are looked for without being asked.
const SOON_COMPARED: u64 = 2_000;
/// Groups of duplicates that are listed.
const GROUPS: usize = 50;
/// Tags and collections that are listed.
const LABELS: usize = 100;

pub(in crate::pages) async fn show(
    State(app): State<App>,
    Path(name): Path<String>,
    Query(wanted): Query<Wanted>,
    visit: Visit,
) -> Result<Response, Failure> {
    let words = visit.words;
    let corpus = app.show_corpus(&name).await.shown_to(&visit)?;
    let labels = app.corpus_labels(&name).await.shown_to(&visit)?;
    let found = found::search(&app, &name, &wanted).await.shown_to(&visit)?;
    let alike = if wanted.duplicates.is_some() || corpus.documents <= SOON_COMPARED {
        Some(duplicates(&app, &name).await.shown_to(&visit)?)
    } else {
        None
    };
    let content = html! {
        div.stack.wide {
            header.stack.tight {
                p.crumbs { a href=(HERE) { (words.t("corpora.title")) } " / " (name) }
                h1 { (name) }
                div #facts data-live { (numbers(words, &corpus, &labels)) }
                @if name == EXAMPLE { p.note { (words.t("corpora.example_note")) } }
            }
            div.columns {
                section.stack aria-labelledby="search-title" {
                    h2 #search-title { (words.t("corpora.search")) }
                    (found::form(words, &wanted, &labels))
                    @if let Some(found) = &found { (found::list(words, &name, &wanted, found)) }
                    @if found.is_none() && wanted.narrows() { p.quiet { (words.t("corpora.narrowed")) } }
                }
                aside.stack.wide {
                    @if visit.may_write { (drop::form(words, Some(&name))) }
                    (listed_labels(words, &name, &labels))
                    (same_works(words, &name, alike.as_deref()))
                    @if visit.may_write { (removal(words, &name)) }
                }
            }
        }
    };
    Ok(Page { title: &name, here: HERE, content }.answer(&visit))
}

/// Duplicates of a corpus; the search ends with the request.
async fn duplicates(app: &App, name: &str) -> Result<Vec<Duplicates>, AppError> {
    let cancel = CancellationToken::new();
    let _ends = cancel.clone().drop_guard();
    app.corpus_duplicates(name, &cancel).await
}

fn numbers(words: Words, corpus: &CorpusInfo, labels: &Labels) -> Markup {
    let count = |n: usize| words.number(n as u64);
    html! {
        p.facts {
            span { (words.t("corpora.documents")) " " b { (words.number(corpus.documents)) } }
            span { (words.t("corpora.by_meaning")) " " b { (facts::embedded(words, corpus)) } }
            span { (words.t("corpora.tags")) " " b { (count(labels.tags.len())) } }
            span { (words.t("corpora.collections")) " " b { (count(labels.collections.len())) } }
            span { (words.t("corpora.size")) " " b { (facts::size(corpus.bytes)) } }
            span { (words.t("corpora.created")) " " (facts::date(corpus.created)) }
            @if !corpus.embedder.is_empty() { span { (words.t("corpora.embedder")) " " (corpus.embedder) } }
        }
        @if !corpus.unfinished.is_empty() { p.small { (words.t("corpora.unfinished_note")) } }
        @if !corpus.pending.is_empty() { p.small.quiet { (words.t("corpora.pending_note")) } }
    }
}

/// The most frequent tags, and the collections. The fields of the search take them.
fn listed_labels(words: Words, corpus: &str, labels: &Labels) -> Markup {
    let list = |title: &'static str, field: &str, labels: &[Label]| {
        html! {
            @if !labels.is_empty() {
                details id=(format!("{field}-list")) {
                    summary { (words.t(title)) " (" (words.number(labels.len() as u64)) ")" }
                    ul.stack.tight.small {
                        @for label in labels.iter().take(LABELS) {
                            li {
                                a href=(format!("{}?{}#search-title", address(corpus), found::field(field, &label.name))) { (label.name) }
                                " " span.quiet { (words.number(label.documents)) }
                            }
                        }
                        @if labels.len() > LABELS {
                            li.quiet { (words.with("corpora.more_labels", &[("n", &words.number((labels.len() - LABELS) as u64))])) }
                        }
                    }
                }
            }
        }
    };
    html! {
        @if !labels.tags.is_empty() || !labels.collections.is_empty() {
            section.stack.tight aria-labelledby="labels-title" {
                h2 #labels-title { (words.t("corpora.labels")) }
                (list("corpora.collections", "collection", &labels.collections))
                (list("corpora.tags", "tag", &labels.tags))
            }
        }
    }
}

/// Documents that are probably one work, if they were looked for.
fn same_works(words: Words, corpus: &str, alike: Option<&[Duplicates]>) -> Markup {
    html! {
        section.stack.tight #duplicates data-live aria-labelledby="duplicates-title" {
            h2 #duplicates-title { (words.t("corpora.duplicates")) }
            @match alike {
                None => {
                    p.small { a.button href=(format!("{}?duplicates=1#duplicates", address(corpus))) { (words.t("corpora.find_duplicates")) } }
                }
                Some([]) => p.small.quiet { (words.t("corpora.no_duplicates")) },
                Some(groups) => {
                    p.small { (words.count("corpora.duplicates_one", "corpora.duplicates_other", groups.len() as u64)) }
                    details #duplicates-list {
                        summary.small { (words.t("corpora.show_duplicates")) }
                        ol.stack.small {
                            @for group in groups.iter().take(GROUPS) {
                                li {
                                    p.quiet { (group.reasons.iter().map(|reason| said(words, reason)).collect::<Vec<_>>().join(", ")) }
                                    ul {
                                        @for one in &group.documents {
                                            li {
                                                a href=(document_address(corpus, &one.doc_id)) {
                                                    @if one.title.is_empty() { (one.doc_id) } @else { (one.title) }
                                                }
                                                @if let Some(year) = one.year { " " span.quiet { (year) } }
                                            }
                                        }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Why documents are alike.
fn said(words: Words, reason: &str) -> &str {
    match reason {
        "same identifier" => words.t("corpora.same_identifier"),
        "same title and year" => words.t("corpora.same_title"),
        "similar title and same first author" => words.t("corpora.similar_title"),
        other => other,
    }
}

fn removal(words: Words, corpus: &str) -> Markup {
    html! {
        section.stack.tight aria-labelledby="remove-title" {
            h2 #remove-title { (words.t("corpora.remove_title")) }
            p.small.quiet { (words.t("corpora.remove_note")) }
            p {
                button.button type="button" data-api=(format!("DELETE /api/v1{}", address(corpus)))
                    data-ask=(words.with("corpora.remove_ask", &[("name", corpus)])) data-then=(HERE) {
                    (words.t("corpora.remove"))
                }
            }
        }
    }
}
