//! Corpora: what is imported, and a place to drop more.

pub(super) mod document;
mod facts;
mod found;
pub(super) mod one;
mod parts;
mod snippet;

use crate::failure::{Failed, Failure};
use crate::parts::drop;
use crate::shell::Page;
use crate::visit::Visit;
use crate::words::Words;
use axum::extract::State;
use axum::response::Response;
use lyra_corpus::CorpusInfo;
use lyra_usecases::{App, EXAMPLE};
use maud::{Markup, html};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

/// Address of the section.
const HERE: &str = "/corpora";

pub(super) async fn show(State(app): State<App>, visit: Visit) -> Result<Response, Failure> {
    let words = visit.words;
    let corpora = app.list_corpora().await.shown_to(&visit)?;
    let content = html! {
        div.stack.wide {
            header.stack.tight {
                h1 { (words.t("corpora.title")) }
                p.quiet { (words.t("corpora.lead")) }
            }
            div.columns {
                div #corpora data-live {
                    @if corpora.is_empty() { (nothing(&visit)) } @else { (table(words, &corpora)) }
                }
                @if visit.may_write { aside { (drop::form(words, None)) } }
            }
        }
    };
    Ok(Page { title: words.t("corpora.title"), here: HERE, content }.answer(&visit))
}

fn nothing(visit: &Visit) -> Markup {
    let words = visit.words;
    html! {
        div.empty {
            h2 { (words.t("corpora.none")) }
            p { @if visit.may_write { (words.t("corpora.none_note")) } @else { (words.t("corpora.none_read_only")) } }
        }
    }
}

fn table(words: Words, corpora: &[CorpusInfo]) -> Markup {
    html! {
        div.table {
            table {
                caption.hidden { (words.t("corpora.title")) }
                thead {
                    tr {
                        th scope="col" { (words.t("corpora.name")) }
                        th.number scope="col" { (words.t("corpora.documents")) }
                        th.number scope="col" { (words.t("corpora.by_meaning")) }
                        th.number scope="col" { (words.t("corpora.size")) }
                        th scope="col" { (words.t("corpora.created")) }
                    }
                }
                tbody {
                    @for corpus in corpora {
                        tr data-item {
                            th scope="row" {
                                a data-opens href=(address(&corpus.name)) { (corpus.name) }
                                @if corpus.name == EXAMPLE { " " span.pill { (words.t("corpora.example")) } }
                            }
                            td.number { (words.number(corpus.documents)) }
                            td.number { (facts::embedded(words, corpus)) }
                            td.number { (facts::size(corpus.bytes)) }
                            td { (facts::date(corpus.created)) }
                        }
                    }
                }
            }
        }
    }
}

/// The page of a corpus.
fn address(corpus: &str) -> String {
    format!("{HERE}/{}", utf8_percent_encode(corpus, NON_ALPHANUMERIC))
}

/// The page of a document. An id can be any text, such as a DOI with its slash.
fn document_address(corpus: &str, document: &str) -> String {
    format!("{}/documents/{}", address(corpus), utf8_percent_encode(document, NON_ALPHANUMERIC))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_stays_one_part_of_an_address() {
        assert_eq!(
            document_address("my-papers", "10.1/a b?"),
            "/corpora/my%2Dpapers/documents/10%2E1%2Fa%20b%3F"
        );
    }
}
