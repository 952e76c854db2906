//! Search lanes: queries of several lanes, the runs that they leave, and blends of those.

mod alarms;
pub(super) mod blend;
mod codes;
mod compared;
mod documents;
mod form;
mod frontier;
mod lanes;
mod outcome;
mod recent;
mod recipe;
mod review;
pub(super) mod run;
mod saved;

use crate::failure::{Failed, Failure};
use crate::shell::Page;
use crate::visit::Visit;
use axum::extract::{Query, State};
use axum::http::HeaderMap;
use axum::response::Response;
use form::Wanted;
use lyra_usecases::fusion::LaneOutcome;
use lyra_usecases::{App, AppError};
use maud::html;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// What is escaped in a part of an address; ids of runs stay readable.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_');
/// Address of the section.
const HERE: &str = "/fusion";

/// Fields of an address in their order; names may be there several times.
type Fields = Vec<(String, String)>;

pub(super) async fn show(
    State(app): State<App>,
    Query(fields): Query<Fields>,
    headers: HeaderMap,
    visit: Visit,
) -> Result<Response, Failure> {
    let words = visit.words;
    let wanted = Wanted::of(&fields);
    let fusion = app.fusion();
    let corpora = fusion.corpora().await.shown_to(&visit)?;
    let outcomes =
        if wanted.go && own_request(&headers) { searched(&app, &wanted).await } else { Ok(Vec::new()) };
    let first = outcome::first(outcomes.as_deref().unwrap_or_default());
    let proposed = blend::proposed(&app, first).await.shown_to(&visit)?;
    let recent = fusion.runs(recent::LISTED).await.shown_to(&visit)?;
    let saved = fusion.saved_searches().await.shown_to(&visit)?;
    let content = html! {
        div.stack.wide data-fusion {
            header.stack.tight {
                h1 { (words.t("fusion.title")) }
                p.quiet.measure { (words.t("fusion.lead")) }
            }
            div.columns {
                div.stack.wide {
                    (form::form(words, &wanted, &corpora, &fusion.lanes(), outcomes.as_deref().unwrap_or_default()))
                    @match &outcomes {
                        Err(error) => (failed(error)),
                        Ok(outcomes) if !outcomes.is_empty() => (outcome::section(words, outcomes, &proposed)),
                        Ok(_) => {},
                    }
                }
                aside.stack.wide {
                    (saved::section(words, visit.may_write, &saved))
                    (recent::section(words, &recent))
                }
            }
        }
    };
    Ok(Page { title: words.t("fusion.title"), here: HERE, content }.answer(&visit))
}

/// Searches every lane that has a query. What is wrong with one lane is its own outcome.
async fn searched(app: &App, wanted: &Wanted) -> Result<Vec<LaneOutcome>, AppError> {
    let fusion = app.fusion_over(wanted.corpus()).await?;
    fusion.multilane(wanted.lanes(fusion)).await.map(|done| done.lanes)
}

/// Whether a page of this server asked, or a person by the address: another site's link starts no search.
fn own_request(headers: &HeaderMap) -> bool {
    let site = headers.get("sec-fetch-site").and_then(|site| site.to_str().ok());
    site.is_none_or(|site| ["same-origin", "none"].contains(&site))
}

/// Why something was not done, and what would be right.
fn failed(error: &AppError) -> maud::Markup {
    html! {
        p.note role="alert" lang="en" {
            (error.message)
            @if let Some(advice) = error.remedy.as_ref().and_then(|remedy| remedy.advice()) { "; " (advice) }
        }
    }
}

fn escaped(text: &str) -> String {
    utf8_percent_encode(text, ESCAPED).to_string()
}

/// Address of a run's page.
fn address(run: &str) -> String {
    format!("{HERE}/runs/{}", escaped(run))
}

/// Address of a document of a corpus.
fn document_address(corpus: &str, document: &str) -> String {
    format!("/corpora/{}/documents/{}", escaped(corpus), escaped(document))
}

/// A share as a percentage.
fn percent(share: f64) -> String {
    let share = share.clamp(0.0, 1.0) * 100.0;
    if share > 0.0 && share < 0.5 { "<1 %".to_owned() } else { format!("{share:.0} %") }
}

#[cfg(test)]
mod tests;
