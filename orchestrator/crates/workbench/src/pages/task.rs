//! Task: watch it work, read its answer and its claims, select several, stop it, resume it, add searches, change its
//! budget, and delete it.

mod answer;
pub(super) mod export;
pub(super) mod filter;
pub(super) mod select;
mod work;

use crate::failure::{Failed, Failure, id};
use crate::parts::{claim, progress, tabs};
use crate::shell::Page;
use crate::visit::Visit;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use filter::Wanted;
use lyra_domain::TaskId;
use lyra_usecases::App;
use maud::{Markup, html};
use std::time::Duration;

/// Claims of one page of the list.
const CLAIMS: u32 = 30;

pub(super) async fn show(
    State(app): State<App>,
    Path(task): Path<String>,
    Query(wanted): Query<Wanted>,
    visit: Visit,
) -> Result<Response, Failure> {
    let words = visit.words;
    let task: TaskId = id(&task, &visit)?;
    let (filter, cursor) = (wanted.filter(), wanted.cursor.as_deref());
    let (task_progress, page, asked) = tokio::join!(
        app.task_status(&task, Duration::ZERO),
        app.claim_page(&task, &filter, wanted.sort(), CLAIMS, cursor),
        app.question_claim(&task),
    );
    let task_progress = task_progress.shown_to(&visit)?;
    let (page, asked) = (page.shown_to(&visit)?, asked.shown_to(&visit)?);
    let shown = &task_progress.task;
    let content = html! {
        div.stack.wide data-events-of=(task) {
            header.stack.tight {
                p.crumbs { a href="/" { (words.t("common.ask")) } " / " (task) }
                div #head data-live {
                    div.between {
                        h1 { (shown.query) }
                        (progress::status(words, shown.status))
                    }
                }
                div #work data-live { (work::progress(words, &task_progress)) }
                @if visit.may_write { div.actions #controls data-live { (work::controls(words, &task_progress)) } }
                (tabs::of_task(words, &task, "task.claims"))
            }
            div #answer data-live { @if let Some(report) = &asked { (answer::of_question(words, report)) } }
            div.columns {
                section.stack aria-labelledby="claims-title" {
                    div.between #count data-live {
                        h2 #claims-title { (words.t("task.claims")) }
                        span.quiet.small { (words.count("task.shown_one", "task.shown_other", page.total)) }
                    }
                    @if page.total > 0 || wanted.narrows() { (select::bar(&visit, &task)) }
                    div #results data-live {
                        ul.claims data-list {
                            @for report in &page.claims { (claim::card(words, report, select::FORM)) }
                        }
                        @if page.claims.is_empty() { (nothing(&visit, &wanted)) }
                        @if let Some(cursor) = &page.next_cursor {
                            p { a.button data-more href=(wanted.with_cursor(&task, cursor)) { (words.t("common.more")) } }
                        }
                    }
                }
                aside.stack.wide {
                    (filter::form(words, &wanted))
                    div #details data-live { (work::details(words, &task_progress)) }
                    @if visit.may_write {
                        div.stack {
                            (work::add_search(words, &task))
                            div #limits data-live { (work::budget(words, shown)) }
                        }
                    }
                    (export::links(words, &task))
                    @if visit.may_write { (work::removal(words, shown)) }
                }
            }
        }
    };
    Ok(Page { title: &shown.query, here: "/", content }.answer(&visit))
}

/// Why the list is empty.
fn nothing(visit: &Visit, wanted: &Wanted) -> Markup {
    let words = visit.words;
    html! {
        div.empty {
            p { @if wanted.narrows() { (words.t("task.nothing_fits")) } @else { (words.t("task.no_claims")) } }
            @if wanted.narrows() { a.button href=(visit.path()) { (words.t("task.show_all")) } }
        }
    }
}
