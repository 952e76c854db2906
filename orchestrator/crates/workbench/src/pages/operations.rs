//! Operations: what runs, what is unhealthy, who has access, and who changed what. For full access only.

mod audit;
mod jobs;
#[cfg(test)]
mod tests;
mod tokens;

use crate::failure::{Failed, Failure};
use crate::shell::Page;
use crate::visit::Visit;
use crate::words::Words;
use audit::Wanted;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use lyra_usecases::App;
use maud::{Markup, html};

/// Jobs that are listed.
const JOBS: u32 = 100;
/// Entries of the audit log that are listed.
const ENTRIES: u32 = 100;

pub(super) async fn show(
    State(app): State<App>,
    Query(wanted): Query<Wanted>,
    visit: Visit,
) -> Result<Response, Failure> {
    let words = visit.words;
    if !visit.may_write {
        return Ok((StatusCode::FORBIDDEN, Page { content: closed(words), ..page(words) }.answer(&visit))
            .into_response());
    }
    let jobs = app.jobs(JOBS).await.shown_to(&visit)?;
    let tokens = app.tokens().await.shown_to(&visit)?;
    // One more than is shown tells whether there are more.
    let entries = app.audit_log(&wanted.filter(), ENTRIES + 1).await.shown_to(&visit)?;
    let now = app.now();
    let content = html! {
        div.stack.wide data-operations {
            header.stack.tight {
                h1 { (words.t("operations.title")) }
                p.quiet { (words.t("operations.lead")) }
            }
            (health(words))
            (jobs::list(words, &jobs))
            section.stack aria-labelledby="tokens-title" {
                h2 #tokens-title { (words.t("operations.tokens")) }
                p.small.quiet { (words.t("operations.tokens_note")) }
                (tokens::form(words))
                (tokens::list(words, &tokens, now))
            }
            (audit::log(words, &wanted, &entries, ENTRIES as usize, &tokens))
            (backups(words))
        }
    };
    Ok(Page { content, ..page(words) }.answer(&visit))
}

fn page(words: Words) -> Page<'static> {
    Page { title: words.t("operations.title"), here: "/operations", content: html! {} }
}

/// What a visitor without full access sees.
fn closed(words: Words) -> Markup {
    html! {
        div.empty {
            h1 { (words.t("operations.title")) }
            p { (words.t("operations.needs_full")) }
            p { code { "lyra token create NAME --scope full" } }
        }
    }
}

/// The doctor, who looks only when asked: that takes seconds.
fn health(words: Words) -> Markup {
    html! {
        section.stack aria-labelledby="health" data-doctor
            data-running=(words.t("operations.examining")) data-all-well=(words.t("operations.all_well"))
            data-found-one=(words.t("operations.found_one")) data-found-other=(words.t("operations.found_other"))
            data-ok=(words.t("operations.ok")) data-note=(words.t("operations.note")) data-broken=(words.t("operations.broken")) {
            div.between {
                h2 #health { (words.t("operations.health")) }
                button.button type="button" data-examine { (words.t("operations.examine")) }
            }
            p.quiet.small { (words.t("operations.health_note")) }
            p role="status" data-status {}
            div.table tabindex="0" role="group" aria-labelledby="health" hidden data-findings {
                table {
                    caption.hidden { (words.t("operations.health")) }
                    thead {
                        tr {
                            th scope="col" { (words.t("operations.part")) }
                            th scope="col" { (words.t("operations.state")) }
                            th scope="col" { (words.t("operations.seen")) }
                            th scope="col" { (words.t("operations.remedy")) }
                        }
                    }
                    tbody {}
                }
            }
            noscript { p.note { (words.t("operations.needs_script")) " " code { "lyra doctor" } } }
        }
    }
}

fn backups(words: Words) -> Markup {
    html! {
        section.stack.tight aria-labelledby="backups" {
            h2 #backups { (words.t("operations.backups")) }
            p { (words.t("operations.backups_note")) }
            p { button.button type="button" data-backup { (words.t("operations.save_backup")) } }
            noscript { p.note { (words.t("operations.needs_script")) " " code { "lyra backup create lyra.tar.gz" } } }
            p.small.quiet { (words.t("operations.backup_restore")) " " code { "lyra backup restore lyra.tar.gz" } }
        }
    }
}
