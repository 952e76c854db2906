//! Sources: which there are and how they are doing, what requires human verification, and what was decided about domains.

mod domains;
mod table;
mod waiting;

use crate::failure::{Failed, Failure};
use crate::shell::Page;
use crate::visit::Visit;
use crate::words::Words;
use axum::extract::State;
use axum::response::Response;
use lyra_usecases::App;
use maud::{Markup, html};

/// Address of the section.
const HERE: &str = "/sources";

pub(super) async fn show(State(app): State<App>, visit: Visit) -> Result<Response, Failure> {
    let words = visit.words;
    let sources = app.list_sources().await.shown_to(&visit)?;
    let queue = app.auth_queue(None).await.shown_to(&visit)?;
    let rules = app.override_rules().await.shown_to(&visit)?;
    let blocked = app.blocked_domains().await.shown_to(&visit)?;
    let content = html! {
        div.stack.wide {
            header.stack.tight {
                h1 { (words.t("sources.title")) }
                p.quiet { (words.t("sources.lead")) }
            }
            section.stack aria-labelledby="waiting" {
                h2 #waiting { (words.t("sources.waiting")) }
                div.stack #queue data-live { (waiting::list(&visit, &queue)) }
            }
            section.stack aria-labelledby="list-title" {
                h2 #list-title { (words.t("sources.all")) }
                @if visit.may_write { (test(words)) }
                div #list data-live { (table::of(words, &sources)) }
            }
            section.stack aria-labelledby="domains-title" {
                h2 #domains-title { (words.t("sources.domains")) }
                p.quiet { (words.t("sources.domains_note")) }
                @if visit.may_write { (domains::form(words)) }
                div.stack #rules data-live { (domains::decisions(&visit, &rules)) (domains::blocked(&visit, &blocked, &rules)) }
            }
        }
    };
    Ok(Page { title: words.t("sources.title"), here: HERE, content }.answer(&visit))
}

/// The button that asks every source, and the place for their answers.
fn test(words: Words) -> Markup {
    html! {
        div.stack.tight data-tests {
            div.row.middle {
                button.button type="button" data-test-sources { (words.t("sources.test")) }
                p.small.quiet { (words.t("sources.test_note")) }
            }
            p.small role="status" data-test-status
                data-asking=(words.t("sources.asking"))
                data-answered=(words.t("sources.answered")) {}
            div.table data-test-answers hidden {
                table {
                    caption { (words.t("sources.test_result")) }
                    thead {
                        tr {
                            th scope="col" { (words.t("sources.name")) }
                            th scope="col" { (words.t("sources.answer")) }
                            th.number scope="col" { (words.t("sources.milliseconds")) }
                            th.number scope="col" { (words.t("sources.matches")) }
                        }
                    }
                    tbody data-yes=(words.t("sources.answers")) data-no=(words.t("sources.silent")) {}
                }
            }
        }
    }
}
