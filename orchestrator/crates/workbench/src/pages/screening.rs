//! Screening: documents of a task judged one by one, the most informative first.

mod card;
mod decided;
mod numbers;

use crate::failure::{Failed, Failure, id};
use crate::parts::file::{CSV, attachment};
use crate::parts::{tabs, terms};
use crate::shell::Page;
use crate::visit::Visit;
use crate::words::Words;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use decided::Wanted;
use lyra_domain::{PageId, SUGGESTED_REASONS, TaskId};
use lyra_usecases::{App, AppError, ErrorCode, ScreeningExport, ScreeningState};
use maud::{Markup, html};

/// Documents that are sent with the page: the one to judge, and those that come after it.
const SENT: usize = 6;
/// Farthest that a reader without JavaScript skips.
const MOST_SKIPPED: usize = 40;
/// Decided documents of a page of their list.
const DECIDED: u32 = 20;
/// Reasons that have a key.
const KEYED: usize = 9;

/// Files of a screening: name in the address, format, and media type.
const FILES: [(&str, ScreeningExport, &str); 3] = [
    ("decisions.csv", ScreeningExport::Csv, CSV),
    ("included.ris", ScreeningExport::Ris, "application/x-research-info-systems; charset=utf-8"),
    ("included.bib", ScreeningExport::BibTex, "text/x-bibtex; charset=utf-8"),
];

pub(super) async fn show(
    State(app): State<App>,
    Path(task): Path<String>,
    Query(wanted): Query<Wanted>,
    visit: Visit,
) -> Result<Response, Failure> {
    let words = visit.words;
    let task: TaskId = id(&task, &visit)?;
    let question = app.task(&task).await.shown_to(&visit)?.query;
    let skip = wanted.skip.trim().parse().unwrap_or(0).min(MOST_SKIPPED);
    let state = app.screening(&task, skip + SENT).await.shown_to(&visit)?;
    let page: Option<PageId> = wanted.page.trim().parse().ok();
    let again = match &page {
        Some(page) => app.document_to_screen(&task, page).await.shown_to(&visit)?,
        None => None,
    };
    let list = app
        .decided_page(&task, &wanted.filter(), DECIDED, wanted.cursor.as_deref())
        .await
        .shown_to(&visit)?;
    let asked = terms::of_query(&question);
    let skip = skip.min(state.next.len().saturating_sub(1));
    let next: Vec<_> =
        state.next.iter().skip(skip).filter(|next| Some(&next.card.page.id) != page.as_ref()).collect();
    let first_is_next = again.is_none();
    let title = words.t("screening.title");
    let content = html! {
        div.stack.wide data-events-of=(task) {
            (tabs::head(words, &task, &question, "screening.title", None))
            div.columns {
                section.stack #screen data-screening=(task) aria-label=(words.t("screening.document")) {
                    div.queue #queue data-live {
                        @if let Some((shown, decision)) = &again {
                            (card::of_decided(words, &asked, shown, decision.as_ref()))
                        }
                        @for (at, document) in next.iter().enumerate() {
                            (card::of_next(words, &asked, document, at == 0 && first_is_next))
                        }
                        @if again.is_none() && next.is_empty() { (nothing(words, &state)) }
                    }
                    @if again.is_some() || !next.is_empty() { (steps(&visit, &task, skip)) }
                    @if visit.may_write { div #reasons data-live { (reasons(words, &state.reasons)) } }
                }
                aside.stack.wide {
                    div.stack #numbers data-live { (numbers::progress(words, &state)) }
                    div.stack #files data-live { (links(words, &task)) }
                }
            }
            div #curve data-live { (numbers::curve(words, &state)) }
            section.stack aria-labelledby="decided-title" {
                h2 #decided-title { (words.t("screening.decided")) }
                (decided::form(words, &wanted, &state.reasons))
                div #decided data-live { (decided::list(words, &task, &wanted, &list)) }
            }
            (texts(words))
        }
    };
    Ok(Page { title, here: "/", content }.answer(&visit))
}

/// A file of the screening.
pub(super) async fn file(
    State(app): State<App>,
    Path((task, file)): Path<(String, String)>,
    visit: Visit,
) -> Result<Response, Failure> {
    let task: TaskId = id(&task, &visit)?;
    let known = FILES.into_iter().find(|(name, ..)| *name == file);
    let missing = || AppError::new(ErrorCode::NotFound, format!("a screening has no file `{file}`"));
    let (name, format, kind) = known.ok_or_else(missing).shown_to(&visit)?;
    let text = app.export_screening(&task, format).await.shown_to(&visit)?;
    Ok(attachment(&format!("{task}-{name}"), kind, text))
}

/// Why there is no document to judge.
fn nothing(words: Words, state: &ScreeningState) -> Markup {
    let done = state.progress.documents() > 0;
    html! {
        div.empty {
            h2 { (words.t(if done { "screening.all_done" } else { "screening.no_documents" })) }
            p { (words.t(if done { "screening.all_done_note" } else { "screening.no_documents_note" })) }
        }
    }
}

/// The buttons for a document. Skipping and going back are links, for readers without JavaScript.
fn steps(visit: &Visit, task: &TaskId, skip: usize) -> Markup {
    let words = visit.words;
    let at = |skip: usize| format!("/tasks/{task}/screening?skip={skip}");
    html! {
        div.verdicts role="group" aria-label=(words.t("screening.verdict")) {
            @if visit.may_write {
                button.button.main type="button" data-verdict="include" { (words.t("screening.include")) " " kbd { "i" } }
                button.button type="button" data-verdict="exclude" { (words.t("screening.exclude")) " " kbd { "e" } }
                button.button type="button" data-verdict="undecided" { (words.t("screening.put_off")) " " kbd { "d" } }
            }
            a.button.step data-step="-1" href=(at(skip.saturating_sub(1))) { (words.t("screening.back")) " " kbd { "k" } }
            a.button.step data-step="1" href=(at(skip + 1)) { (words.t("screening.skip")) " " kbd { "j" } }
        }
    }
}

/// The reasons for an exclusion, the first nine with their keys, and a field for another one.
fn reasons(words: Words, reasons: &[String]) -> Markup {
    html! {
        details #why {
            summary { (words.t("screening.why")) }
            div.stack.tight {
                div.why role="group" aria-label=(words.t("screening.why")) {
                    button.button #why-0 type="button" data-reason="" {
                        (words.t("screening.no_reason")) " " kbd { "Enter" }
                    }
                    @for (at, reason) in reasons.iter().enumerate() {
                        button.button id=(format!("why-{}", at + 1)) type="button" data-reason=(reason) {
                            (reason_text(words, reason))
                            @if at < KEYED { " " kbd { (at + 1) } }
                        }
                    }
                }
                form.row #own-reason {
                    label.field.grows {
                        (words.t("screening.own_reason"))
                        input #own-reason-field name="reason" maxlength="200" required;
                    }
                    button.button { (words.t("screening.exclude")) }
                }
            }
        }
    }
}

/// A suggested reason in the reader's language; another one as it was written.
pub(super) fn reason_text(words: Words, reason: &str) -> &str {
    const TEXTS: [&str; 8] = [
        "screening.wrong_population",
        "screening.wrong_intervention",
        "screening.wrong_outcome",
        "screening.wrong_study_type",
        "screening.not_a_study",
        "screening.duplicate",
        "screening.no_full_text",
        "screening.other",
    ];
    let known = SUGGESTED_REASONS.iter().position(|known| *known == reason);
    known.map_or(reason, |at| words.t(TEXTS[at]))
}

/// The flow, and the files.
fn links(words: Words, task: &TaskId) -> Markup {
    html! {
        h2 { (words.t("screening.files")) }
        ul.stack.tight {
            li { a href=(format!("/tasks/{task}/prisma")) { (words.t("prisma.title")) } }
            @for ((name, ..), text) in
                FILES.iter().zip(["screening.decisions_csv", "screening.included_ris", "screening.included_bib"]) {
                li { a href=(format!("/tasks/{task}/screening/{name}")) download { (words.t(text)) } }
            }
        }
    }
}

/// Texts that the module shows, as data.
fn texts(words: Words) -> Markup {
    html! {
        template #screening-texts data-include=(words.t("screening.said_include"))
            data-exclude=(words.t("screening.said_exclude")) data-undecided=(words.t("screening.said_undecided"))
            data-reason=(words.t("screening.said_reason")) {}
    }
}
