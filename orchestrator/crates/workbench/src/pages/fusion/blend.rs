//! Blending runs, and changing a blend: both lead to the page of the new run.

use super::recipe::{self, Filled};
use super::{Fields, HERE, failed, own_request, storing};
use crate::failure::{Failed, Failure};
use crate::shell::Page;
use crate::visit::Visit;
use axum::Extension;
use axum::extract::{Path, Query, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Redirect, Response};
use lyra_usecases::fusion::{BlendRequest, ProvenanceRequest, RunRef, recipe as recipe_of};
use lyra_usecases::{App, AppError, Caller, ErrorCode};
use lyra_wire::fusion::ProposedView;
use maud::{Markup, html};

/// The form for runs that were chosen; with `go`, their blend.
pub(in crate::pages) async fn show(
    State(app): State<App>,
    Query(fields): Query<Fields>,
    headers: HeaderMap,
    Extension(caller): Extension<Caller>,
    visit: Visit,
) -> Result<Response, Failure> {
    let chosen: Vec<RunRef> =
        fields.iter().filter(|(name, _)| name == "run").map(|(_, run)| named(run)).collect();
    let filled = Filled::of(&fields);
    let error = if goes(&fields, &headers) {
        let work = blended(app.clone(), chosen.clone(), filled.clone());
        match storing(&app, caller, &visit, "blend_runs", work, |run: &String| vec![run.as_str()]).await? {
            Ok(run) => return Ok(Redirect::to(&super::address(&run)).into_response()),
            Err(error) => told(error).shown_to(&visit)?,
        }
    } else {
        None
    };
    let words = visit.words;
    let runs = lanes(&app, chosen).await.shown_to(&visit)?;
    let proposed = proposed(&app, runs.first().map(|(_, run)| run.as_str())).await.shown_to(&visit)?;
    let content = page(
        &visit,
        error.as_ref(),
        &html! {
            @if runs.is_empty() { p { (words.t("fusion.none_chosen")) " " a href=(HERE) { (words.t("fusion.title")) } } }
            @else {
                ul.stack.tight {
                    @for (lane, run) in &runs { li { a href=(super::address(run)) { (lane) } " " code.quiet { (run) } } }
                }
                (recipe::blend_form(words, &runs, &filled, &proposed))
            }
        },
    );
    Ok(Page { title: words.t("fusion.blend"), here: HERE, content }.answer(&visit))
}

/// A blend with other parameters, as a new run.
pub(in crate::pages) async fn change(
    State(app): State<App>,
    Path(run): Path<String>,
    Query(fields): Query<Fields>,
    headers: HeaderMap,
    Extension(caller): Extension<Caller>,
    visit: Visit,
) -> Result<Response, Failure> {
    let filled = Filled::of(&fields);
    let error = if goes(&fields, &headers) {
        let work = changed(app.clone(), run.clone(), filled.clone());
        match storing(&app, caller, &visit, "change_blend", work, |run: &String| vec![run.as_str()]).await? {
            Ok(new) => return Ok(Redirect::to(&super::address(&new)).into_response()),
            Err(error) => told(error).shown_to(&visit)?,
        }
    } else {
        None
    };
    let request = ProvenanceRequest { run_id: run.clone(), top_k_lane: 0, ..ProvenanceRequest::default() };
    let view = app.fusion().provenance(&request).await.shown_to(&visit)?;
    let words = visit.words;
    let content = page(
        &visit,
        error.as_ref(),
        &html! {
            p { a href=(super::address(&run)) { (run) } }
            (recipe::change_form(words, &view, &filled))
        },
    );
    Ok(Page { title: words.t("fusion.change"), here: HERE, content }.answer(&visit))
}

fn page(visit: &Visit, error: Option<&AppError>, content: &Markup) -> Markup {
    let words = visit.words;
    html! {
        div.stack.wide {
            header.stack.tight {
                p.crumbs { a href=(HERE) { (words.t("fusion.title")) } }
                h1 { (words.t("fusion.blend")) }
            }
            @if let Some(error) = error { (failed(error)) }
            (content)
        }
    }
}

fn goes(fields: &Fields, headers: &HeaderMap) -> bool {
    fields.iter().any(|(name, _)| name == "go") && own_request(headers)
}

/// An error of what was filled in belongs on the form; any other is a page of its own.
fn told(error: AppError) -> Result<Option<AppError>, AppError> {
    if error.code == ErrorCode::InvalidArgument { Ok(Some(error)) } else { Err(error) }
}

/// A run as `NAME=RUN` or `RUN`.
fn named(text: &str) -> RunRef {
    match text.rsplit_once('=') {
        Some((lane, run)) => RunRef { run_id: run.to_owned(), lane: Some(lane.to_owned()) },
        None => RunRef { run_id: text.to_owned(), lane: None },
    }
}

async fn blended(app: App, runs: Vec<RunRef>, filled: Filled) -> Result<String, AppError> {
    let request = BlendRequest { runs, recipe: recipe_of(filled.input()?)?, peek: None };
    Ok(app.fusion().blend(request).await?.run_id)
}

async fn changed(app: App, run: String, filled: Filled) -> Result<String, AppError> {
    Ok(app.fusion().change(&run, filled.input()?).await?.run_id)
}

/// The target profile that the codes of a run propose; none without a run.
pub(super) async fn proposed(app: &App, run: Option<&str>) -> Result<Vec<ProposedView>, AppError> {
    let Some(run) = run else { return Ok(Vec::new()) };
    let request = ProvenanceRequest { run_id: run.to_owned(), top_k_lane: 0, ..ProvenanceRequest::default() };
    Ok(app.fusion().provenance(&request).await?.proposed_profile)
}

/// The chosen runs with the names of their lanes, each of its own.
async fn lanes(app: &App, chosen: Vec<RunRef>) -> Result<Vec<(String, String)>, AppError> {
    let mut runs: Vec<(String, String)> = Vec::new();
    for RunRef { run_id, lane } in chosen {
        let lane = if let Some(lane) = lane {
            lane
        } else {
            let run_id = run_id.clone();
            let request = ProvenanceRequest { run_id, top_k_lane: 0, ..ProvenanceRequest::default() };
            app.fusion().provenance(&request).await?.lane.unwrap_or_default()
        };
        let same =
            runs.iter().filter(|(known, _)| *known == lane || known.starts_with(&format!("{lane} "))).count();
        let lane = if same == 0 { lane } else { format!("{lane} {}", same + 1) };
        runs.push((lane, run_id));
    }
    Ok(runs)
}
