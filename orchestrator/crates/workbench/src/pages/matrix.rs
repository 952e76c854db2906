//! Matrix: which works carry which claims, and what stored facts connect the works.

mod table;
mod works;

use super::task::filter::{side_field, side_of, sort_field, sort_of};
use crate::failure::{Failed, Failure, id};
use crate::parts::file::{CSV, attachment};
use crate::parts::tabs;
use crate::shell::Page;
use crate::visit::Visit;
use crate::words::Words;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use lyra_domain::TaskId;
use lyra_store::ClaimFilter;
use lyra_usecases::{App, MatrixColumns, TaskMatrix};
use maud::{Markup, html};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;

/// Rows and columns of the page.
const CLAIMS: u32 = 25;
const WORKS: usize = 20;
/// The same of the file.
const FILE_CLAIMS: u32 = 200;
const FILE_WORKS: usize = 500;

/// What the address asks for; an empty field asks for nothing.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Wanted {
    text: String,
    side: String,
    sort: String,
    /// Any text: works that take no side are left out.
    sided: String,
    /// Works to pass over.
    works_from: String,
    cursor: Option<String>,
}

impl Wanted {
    fn filter(&self) -> ClaimFilter {
        let text = Some(self.text.trim().to_owned()).filter(|text| !text.is_empty());
        ClaimFilter { side: side_of(&self.side), text, ..ClaimFilter::default() }
    }

    /// What cannot be read as a number passes over nothing.
    fn skipped(&self) -> usize {
        self.works_from.trim().parse().unwrap_or(0)
    }

    /// The address of the same matrix from other works and claims on; `ending` is that of a file, or empty.
    fn address(&self, task: &TaskId, ending: &str, works_from: usize, cursor: Option<&str>) -> String {
        let from = if works_from > 0 { works_from.to_string() } else { String::new() };
        let fields = [
            ("text", self.text.as_str()),
            ("side", &self.side),
            ("sort", &self.sort),
            ("sided", &self.sided),
            ("works_from", &from),
            ("cursor", cursor.unwrap_or_default()),
        ];
        let given = fields.into_iter().filter(|(_, value)| !value.trim().is_empty());
        let query: Vec<String> = given
            .map(|(name, value)| format!("{name}={}", utf8_percent_encode(value, NON_ALPHANUMERIC)))
            .collect();
        let mark = if query.is_empty() { "" } else { "?" };
        format!("/tasks/{task}/matrix{ending}{mark}{}", query.join("&"))
    }

    async fn load(
        &self,
        app: &App,
        task: &TaskId,
        claims: u32,
        (skip, most): (usize, usize),
        visit: &Visit,
    ) -> Result<TaskMatrix, Failure> {
        let columns = MatrixColumns { skip, most, sided: !self.sided.is_empty() };
        let (filter, sort) = (self.filter(), sort_of(&self.sort));
        app.task_matrix(task, &filter, sort, claims, self.cursor.as_deref(), columns).await.shown_to(visit)
    }
}

pub(super) async fn show(
    State(app): State<App>,
    Path(task): Path<String>,
    Query(wanted): Query<Wanted>,
    visit: Visit,
) -> Result<Response, Failure> {
    let words = visit.words;
    let task: TaskId = id(&task, &visit)?;
    let shown = app.task(&task).await.shown_to(&visit)?;
    let loaded = wanted.load(&app, &task, CLAIMS, (wanted.skipped(), WORKS), &visit).await?;
    let matrix = loaded.matrix();
    let groups = works::groups(&loaded.links);
    let content = html! {
        div.stack.wide data-events-of=(task) {
            (tabs::head(words, &task, &shown.query, "matrix.title", None))
            (form(words, &wanted))
            section.stack #matrix data-live {
                p.quiet.small { (words.t("matrix.note")) }
                @if matrix.works.is_empty() {
                    p.quiet {
                        @if matrix.rows.is_empty() { (words.t("matrix.no_claims")) }
                        @else { (words.t("matrix.no_works")) }
                    }
                } @else {
                    (table::of(words, &matrix, &groups, wanted.skipped()))
                }
                (paging(words, &task, &wanted, &loaded))
            }
            section.stack #links data-live aria-labelledby="links-title" {
                h2 #links-title { (words.t("matrix.connected")) }
                (works::list(words, &matrix, &loaded.links, &groups, wanted.skipped()))
            }
        }
    };
    let title = format!("{} · {}", words.t("matrix.title"), shown.query);
    Ok(Page { title: &title, here: "/", content }.answer(&visit))
}

/// The matrix as a file: more rows and columns, from the same claim on.
pub(super) async fn export(
    State(app): State<App>,
    Path(task): Path<String>,
    Query(wanted): Query<Wanted>,
    visit: Visit,
) -> Result<Response, Failure> {
    let task: TaskId = id(&task, &visit)?;
    let loaded = wanted.load(&app, &task, FILE_CLAIMS, (0, FILE_WORKS), &visit).await?;
    Ok(attachment(&format!("matrix-{task}.csv"), CSV, table::file(visit.words, &loaded.matrix())))
}

/// Which claims and works.
fn form(words: Words, wanted: &Wanted) -> Markup {
    html! {
        form.row.grow method="get" data-narrows aria-label=(words.t("task.filter")) {
            label.field {
                (words.t("task.find"))
                input type="search" name="text" value=(wanted.text) maxlength="200";
            }
            (side_field(words, &wanted.side))
            (sort_field(words, &wanted.sort))
            label.check.small {
                input type="checkbox" name="sided" value="1" checked[!wanted.sided.is_empty()];
                (words.t("matrix.sided"))
            }
            noscript { button.button { (words.t("task.apply")) } }
        }
    }
}

/// What is shown of how much, and the way to the rest.
fn paging(words: Words, task: &TaskId, wanted: &Wanted, loaded: &TaskMatrix) -> Markup {
    let matrix = loaded.matrix();
    let (skipped, cursor) = (wanted.skipped(), wanted.cursor.as_deref());
    let last = skipped + matrix.works.len();
    let number = |n: usize| words.number(n as u64);
    html! {
        p.small #counts {
            (words.with("matrix.counts", &[
                ("claims", &number(matrix.rows.len())),
                ("all_claims", &words.number(loaded.page.total)),
                ("first", &number(if matrix.works.is_empty() { 0 } else { skipped + 1 })),
                ("last", &number(last)),
                ("all_works", &number(matrix.all_works)),
            ]))
            @if last < matrix.all_works {
                " " (words.with("matrix.left_out", &[("n", &number(matrix.all_works - last))]))
            }
        }
        div.row.middle {
            @if skipped > 0 {
                a.button href=(wanted.address(task, "", skipped.saturating_sub(WORKS), cursor)) {
                    (words.t("matrix.works_before"))
                }
            }
            @if last < matrix.all_works {
                a.button href=(wanted.address(task, "", last, cursor)) { (words.t("matrix.works_after")) }
            }
            @if cursor.is_some() {
                a.button href=(wanted.address(task, "", 0, None)) { (words.t("matrix.claims_first")) }
            }
            @if let Some(next) = &loaded.page.next_cursor {
                a.button href=(wanted.address(task, "", 0, Some(next))) { (words.t("matrix.claims_after")) }
            }
            @if !matrix.works.is_empty() {
                a href=(wanted.address(task, ".csv", 0, cursor)) download { (words.t("matrix.save")) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_keeps_what_is_shown() {
        let task = "task_1".parse().expect("an id");
        let wanted = Wanted { text: "a&b".to_owned(), works_from: "x".to_owned(), ..Wanted::default() };
        assert_eq!(wanted.skipped(), 0);
        assert_eq!(
            wanted.address(&task, "", 20, Some("c.1")),
            "/tasks/task_1/matrix?text=a%26b&works_from=20&cursor=c%2E1"
        );
        assert_eq!(Wanted::default().address(&task, ".csv", 0, None), "/tasks/task_1/matrix.csv");
    }
}
