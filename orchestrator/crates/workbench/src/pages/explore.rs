//! Explore: the evidence as tables, by prepared views and by SQL.

mod result;
mod tables;
#[cfg(test)]
mod tests;
mod views;

use crate::failure::{self, Failed, Failure};
use crate::shell::Page;
use crate::visit::Visit;
use crate::words::Words;
use axum::extract::{Query, State};
use axum::response::Response;
use lyra_domain::TaskId;
use lyra_usecases::App;
use maud::{Markup, html};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;

/// Most rows of a view.
const ROWS: u32 = 200;

/// What the address asks for; an empty field asks for nothing.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Wanted {
    view: String,
    task: String,
    /// A statement to put into the field. It runs only when a person sends it.
    sql: String,
}

/// Statements to begin with: text of the link, and SQL.
const EXAMPLES: [(&str, &str); 3] = [
    (
        "explore.example_relations",
        "SELECT relation, count(*) AS passages\nFROM edges\nWHERE target_type = 'claim'\nGROUP BY relation\nORDER BY \
         passages DESC",
    ),
    (
        "explore.example_years",
        "SELECT year, count(*) AS works\nFROM works\nWHERE year IS NOT NULL\nGROUP BY year\nORDER BY year",
    ),
    (
        "explore.example_domains",
        "SELECT domain, count(*) AS pages\nFROM pages\nGROUP BY domain\nORDER BY pages DESC\nLIMIT 20",
    ),
];

pub(super) async fn show(
    State(app): State<App>,
    Query(wanted): Query<Wanted>,
    visit: Visit,
) -> Result<Response, Failure> {
    let words = visit.words;
    let task: Option<TaskId> = match wanted.task.trim() {
        "" => None,
        task => Some(failure::id(task, &visit)?),
    };
    let shown = match wanted.view.trim() {
        "" => None,
        name => Some(app.query_view(name, task.as_ref(), None, ROWS).await.shown_to(&visit)?),
    };
    let schema = app.schema().await.shown_to(&visit)?;
    let form = views::form(&app, words, &wanted).await.shown_to(&visit)?;
    let content = html! {
        div.stack.wide data-explore {
            header.stack.tight {
                h1 { (words.t("explore.title")) }
                p.quiet { (words.t("explore.lead")) }
            }
            div.columns {
                div.stack.wide {
                    section.stack aria-labelledby="views" {
                        h2 #views { (words.t("explore.views")) }
                        (form)
                        @if let Some(rows) = &shown {
                            @let caption = views::title(words, &app, wanted.view.trim());
                            (result::block(words, "view-rows", Some((&caption, rows))))
                            p.small { a href=(with_sql(&views::statement(&wanted.view))) { (words.t("explore.as_sql")) } }
                        }
                    }
                    section.stack aria-labelledby="own" {
                        h2 #own { (words.t("explore.own")) }
                        (statement(words, &wanted.sql))
                        (result::block(words, "own-rows", None))
                    }
                }
                aside { (tables::browser(words, &schema)) }
            }
        }
    };
    Ok(Page { title: words.t("explore.title"), here: "/explore", content }.answer(&visit))
}

/// The field for a statement.
fn statement(words: Words, sql: &str) -> Markup {
    html! {
        form.stack.tight method="post" data-sql data-result="own-rows" {
            label.field {
                (words.t("explore.statement"))
                textarea.code name="sql" rows="6" required maxlength="20000" spellcheck="false" autocapitalize="off"
                    data-search aria-describedby="sql-note sql-error" { (sql) }
            }
            p.small.quiet #sql-note { (words.t("explore.statement_note")) }
            p.note #sql-error role="alert" hidden {}
            div.row {
                button.button.main aria-keyshortcuts="Control+Enter" { (words.t("explore.run")) }
                label.field {
                    (words.t("explore.limit"))
                    select name="limit" { @for limit in [50, 100, 200] { option value=(limit) { (limit) } } }
                }
            }
            p.small.quiet { kbd { "Ctrl" } " + " kbd { "Enter" } " " (words.t("explore.run_key")) }
            p.small {
                (words.t("explore.examples")) " "
                @for (at, (text, sql)) in EXAMPLES.iter().enumerate() {
                    @if at > 0 { " · " }
                    a href=(with_sql(sql)) { (words.t(text)) }
                }
            }
            noscript { p.note { (words.t("explore.needs_script")) } }
        }
    }
}

/// This page with a statement in its field.
fn with_sql(sql: &str) -> String {
    format!("/explore?sql={}#own", utf8_percent_encode(sql, NON_ALPHANUMERIC))
}
