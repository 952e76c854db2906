//! A run: a lane's list, or a blend of lanes.

use super::recipe::Filled;
use super::{HERE, alarms, codes, compared, documents, form, frontier, lanes, recipe, review, saved};
use crate::failure::{Failed, Failure};
use crate::parts::moment;
use crate::shell::Page;
use crate::visit::Visit;
use crate::words::Words;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use lyra_usecases::App;
use lyra_usecases::fusion::ProvenanceRequest;
use lyra_wire::fusion::ProvenanceView;
use maud::{Markup, html};
use serde::Deserialize;

/// Runs to compare with.
const OTHERS: u32 = 100;
/// Documents whose places a review needs: its largest size beside its sample.
const REVIEWED: usize = 40;

/// What the address asks for; an empty field asks for nothing.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(in crate::pages) struct Wanted {
    offset: String,
    with: String,
    depth: String,
    review: String,
}

pub(in crate::pages) async fn show(
    State(app): State<App>,
    Path(run): Path<String>,
    Query(wanted): Query<Wanted>,
    visit: Visit,
) -> Result<Response, Failure> {
    let words = visit.words;
    let fusion = app.fusion();
    let size = review::size(&wanted.review);
    let request = ProvenanceRequest {
        run_id: run.clone(),
        top_k_lane: if size.is_some() { REVIEWED } else { 0 },
        sample: size.is_some(),
        ..ProvenanceRequest::default()
    };
    let view = fusion.provenance(&request).await.shown_to(&visit)?;
    let offset: usize = wanted.offset.trim().parse().unwrap_or(0);
    let found = fusion.run_documents(&run, offset, documents::STEP).await.shown_to(&visit)?;
    let others = fusion.runs(OTHERS).await.shown_to(&visit)?;
    let depth = wanted.depth.trim().parse().unwrap_or(compared::DEPTH);
    let comparison = match wanted.with.trim() {
        "" => None,
        other => Some(fusion.compare(&run, other, depth).await.shown_to(&visit)?),
    };
    let candidates = match size {
        Some(size) => Some(review::candidates(&app, &view, size).await.shown_to(&visit)?),
        None => None,
    };
    let is_blend = view.kind == "fusion";
    let names = lanes::names(&view);
    let content = html! {
        div.stack.wide data-fusion {
            (header(words, &view, is_blend))
            div.columns {
                div.stack.wide {
                    @if is_blend { (lanes::section(words, &view)) } @else { (query(words, &view)) }
                    (warnings(words, &view))
                    (documents::section(words, &found, &names, offset))
                    @if is_blend { (frontier::section(words, &view)) }
                    (compared::section(words, &view.run_id, &view.corpus, &others, depth, comparison.as_ref()))
                    @if is_blend { (review::section(&visit, &view, candidates.as_deref())) }
                }
                aside.stack.wide {
                    (files(words, &view.run_id))
                    @if is_blend {
                        section.stack.tight aria-labelledby="change" {
                            h2 #change { (words.t("fusion.change")) }
                            p.small.quiet { (words.t("fusion.change_note")) }
                            (recipe::change_form(words, &view, &Filled::of_run(&view)))
                        }
                    } @else {
                        section.stack.tight aria-labelledby="blend" {
                            h2 #blend { (words.t("fusion.blend")) }
                            p.small { a href={ (HERE) "#recent-runs" } { (words.t("fusion.blend_with_others")) } }
                        }
                        @if visit.may_write { (saved::form(words, &view.run_id)) }
                    }
                    (codes::section(words, &view.code_distributions))
                }
            }
        }
    };
    Ok(Page { title: &title(words, &view), here: HERE, content }.answer(&visit))
}

/// The lane's name, or what a blend is called.
fn title(words: Words, view: &ProvenanceView) -> String {
    view.lane.clone().unwrap_or_else(|| form::kind(words, &view.kind).to_owned())
}

fn header(words: Words, view: &ProvenanceView, is_blend: bool) -> Markup {
    let n = |count: usize| words.number(count as u64);
    html! {
        header.stack.tight {
            p.crumbs { a href=(HERE) { (words.t("fusion.title")) } " / " code { (view.run_id) } }
            h1 { (title(words, view)) }
            p.facts {
                span { (words.t("fusion.corpus")) " " a href={ "/corpora/" (super::escaped(&view.corpus)) } { (view.corpus) } }
                @if !is_blend { span { (form::kind(words, &view.kind)) } }
                span { b { (n(view.meta.count_returned)) } " " (words.t("fusion.documents_found")) }
                @if let Some(total) = view.meta.total { span { (words.with("fusion.matched", &[("n", &words.number(total))])) } }
                @if view.meta.truncated { span { (words.t("fusion.truncated")) } }
                span { (words.number(view.meta.took_ms)) " ms" }
                span { (words.t("fusion.created")) " " (moment::time(&view.created_at)) }
                span { (words.t("fusion.expires")) " " (moment::time(&view.expires_at)) }
            }
            @if let Some(from) = view.changed_from.first() {
                p.small {
                    (words.t("fusion.changed_from")) " " a href=(super::address(from)) { (from) }
                    " · " a href={ (super::address(&view.run_id)) "?with=" (super::escaped(from)) "#compare" } { (words.t("fusion.compare_with_it")) }
                }
            }
        }
    }
}

/// The query of a lane.
fn query(words: Words, view: &ProvenanceView) -> Markup {
    let search = view.recipe.get("search");
    let kind = search.and_then(|search| search.get("kind"));
    let text =
        kind.and_then(|kind| kind.get("query").or_else(|| kind.get("text"))).and_then(|text| text.as_str());
    let filters = search.and_then(|search| search.get("filters")).and_then(|filters| filters.as_array());
    html! {
        section.stack.tight aria-labelledby="query" {
            h2 #query { (words.t("fusion.query")) }
            p.code.query { bdi { (text.unwrap_or_default()) } }
            @if let Some(filters) = filters.filter(|filters| !filters.is_empty()) {
                p.small { (words.t("fusion.filters")) }
                ul { @for filter in filters { li.code { (filter) } } }
            }
        }
    }
}

/// What deserves a second look, before the documents.
fn warnings(words: Words, view: &ProvenanceView) -> Markup {
    html! {
        section.stack.tight aria-labelledby="alarms" {
            h2 #alarms { (words.t("fusion.alarms")) }
            @if view.alarms.is_empty() { p.small.quiet { (words.t("fusion.no_alarms")) } }
            (alarms::list(words, "run", &view.alarms))
        }
    }
}

/// The run as files.
fn files(words: Words, run: &str) -> Markup {
    html! {
        section.stack.tight aria-labelledby="files" {
            h2 #files { (words.t("fusion.export")) }
            p.small.quiet { (words.t("fusion.export_note")) }
            p.row.middle {
                @for format in ["csv", "xlsx", "ris"] {
                    a.button download href={ "/api/v1/fusion/runs/" (super::escaped(run)) "/file?format=" (format) } { (format.to_uppercase()) }
                }
            }
        }
    }
}
