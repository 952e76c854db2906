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
use axum::Extension;
use axum::extract::{Query, State};
use axum::http::HeaderMap;
use axum::response::Response;
use form::Wanted;
use lyra_store::AuditOutcome;
use lyra_usecases::fusion::LaneOutcome;
use lyra_usecases::{App, AppError, Caller, ErrorCode, Mutation};
use maud::html;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::json;

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
    Extension(caller): Extension<Caller>,
    visit: Visit,
) -> Result<Response, Failure> {
    let words = visit.words;
    let wanted = Wanted::of(&fields);
    let fusion = app.fusion();
    let corpora = fusion.corpora().await.shown_to(&visit)?;
    let outcomes = if wanted.go && own_request(&headers) {
        let work = Box::pin(searched(app.clone(), wanted.clone()));
        storing(&app, caller, &visit, "search_lanes", work, |lanes: &Vec<LaneOutcome>| runs(lanes)).await?
    } else {
        Ok(Vec::new())
    };
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
async fn searched(app: App, wanted: Wanted) -> Result<Vec<LaneOutcome>, AppError> {
    let fusion = app.fusion_over(wanted.corpus()).await?;
    fusion.multilane(wanted.lanes(fusion)).await.map(|done| done.lanes)
}

/// The runs that lanes left.
fn runs(outcomes: &[LaneOutcome]) -> Vec<&str> {
    outcomes.iter().filter_map(|lane| Some(lane.found.as_ref().ok()?.run_id.as_str())).collect()
}

/// Does what stores runs, which a read-only visitor may do a number of times per hour. The audit log records it, even if
/// the visitor is gone meanwhile.
async fn storing<T: Send + 'static>(
    app: &App,
    caller: Caller,
    visit: &Visit,
    action: &'static str,
    work: impl Future<Output = Result<T, AppError>> + Send + 'static,
    runs: fn(&T) -> Vec<&str>,
) -> Result<Result<T, AppError>, Failure> {
    let admitted = app.admit_search(&caller);
    let call = Mutation::begin(caller, action, json!({ "address": visit.address }));
    if let Err(refusal) = admitted {
        app.audit(call, AuditOutcome::Refused, Some(refusal.to_string())).await;
        return Err(Failure::of_search(visit, refusal));
    }
    let app = app.clone();
    let done = tokio::spawn(async move {
        let done = work.await;
        let (outcome, detail) = match &done {
            Ok(stored) => (AuditOutcome::Ok, json!({ "run_ids": runs(stored) }).to_string()),
            Err(error) => (AuditOutcome::Error, error.code.to_string()),
        };
        app.audit(call, outcome, Some(detail)).await;
        done
    });
    Ok(done.await.unwrap_or_else(|error| Err(AppError::new(ErrorCode::Internal, error.to_string()))))
}

/// Whether a person asked, by a page of this server or by the address: another site's link starts no search, nor does a
/// page that loads itself again.
fn own_request(headers: &HeaderMap) -> bool {
    let is = |name: &str, expected: &[&str]| {
        let sent = headers.get(name).and_then(|sent| sent.to_str().ok());
        sent.is_none_or(|sent| expected.contains(&sent))
    };
    is("sec-fetch-site", &["same-origin", "none"]) && is("sec-fetch-mode", &["navigate"])
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
