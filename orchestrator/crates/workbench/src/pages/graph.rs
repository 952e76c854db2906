//! Graph: the claims, passages, and works of a task with their relations, as a picture and as tables.
//!
//! The picture is SVG, for readers without JavaScript; `assets/graph.js` draws the same view on a canvas that can be moved.

mod drawing;
mod form;
mod tables;
mod wanted;

use crate::failure::{Failed, Failure, id};
use crate::parts::tabs;
use crate::shell::Page;
use crate::visit::Visit;
use crate::words::Words;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use lyra_domain::TaskId;
use lyra_usecases::App;
use lyra_wire::GraphView;
use maud::{Markup, html};
use wanted::Wanted;

pub(super) async fn show(
    State(app): State<App>,
    Path(task): Path<String>,
    Query(query): Query<Vec<(String, String)>>,
    visit: Visit,
) -> Result<Response, Failure> {
    let words = visit.words;
    let wanted = Wanted::of(&query);
    let task: TaskId = id(&task, &visit)?;
    let stored = app.task(&task).await.shown_to(&visit)?;
    let view = app.graph_view(&task, &wanted.filter()).await.shown_to(&visit)?;
    let content = html! {
        div.stack.wide data-events-of=(task) {
            header.stack.tight {
                p.crumbs { a href="/" { (words.t("common.ask")) } " / " a href={ "/tasks/" (task) } { (task) } }
                h1 { (stored.query) }
                (tabs::of_task(words, &task, "graph.title"))
            }
            section.stack aria-labelledby="graph-title" {
                div.between {
                    h2 #graph-title { (words.t("graph.title")) }
                    span.quiet.small #graph-count data-live { (count(words, &view)) }
                }
                (form::form(words, &wanted, &task, &view))
                (stage(words, &wanted, &task, &view))
                (drawing::legend(words))
            }
            div #graph-tables data-live { (tables::all(words, &wanted, &task, &view)) }
        }
    };
    Ok(Page { title: &stored.query, here: "/", content }.answer(&visit))
}

/// How much is shown, and what was left out.
fn count(words: Words, view: &GraphView) -> Markup {
    let shown = words.with(
        "graph.count",
        &[
            ("nodes", &words.number(view.nodes.len() as u64)),
            ("edges", &words.number(view.edges.len() as u64)),
        ],
    );
    html! {
        (shown)
        @if let Some(matched) = view.matched_count {
            " " (words.count("graph.matched_one", "graph.matched_other", matched as u64))
        }
        @if view.left_out_count > 0 {
            " " (words.count("graph.left_out_one", "graph.left_out_other", view.left_out_count as u64))
        }
    }
}

/// Where the graph is drawn, with what the module says about it.
fn stage(words: Words, wanted: &Wanted, task: &TaskId, view: &GraphView) -> Markup {
    html! {
        div.graph #graph data-graph
            data-name=(words.t("graph.canvas")) data-keys=(words.t("graph.canvas_keys"))
            data-open=(words.t("graph.open")) data-follow=(words.t("graph.follow")) data-expand=(words.t("graph.expand"))
            data-clear=(words.t("graph.clear")) data-neighbors=(words.t("graph.neighbors"))
            data-more=(words.t("graph.more_neighbors")) data-relation-count=(words.t("graph.relation_count"))
            data-hidden-count=(words.t("graph.hidden_count")) data-confidence=(words.t("common.confidence"))
            data-found=(words.t("graph.found"))
            data-claim=(words.t("graph.claim")) data-passage=(words.t("graph.passage")) data-work=(words.t("graph.work"))
            data-contested=(words.t("common.contested")) data-supported=(words.t("graph.supported"))
            data-refuted=(words.t("graph.refuted")) data-undecided=(words.t("graph.undecided"))
            data-retracted=(words.t("common.retracted")) data-cluster=(words.t("graph.cluster"))
            data-supports=(words.t("common.supports")) data-refutes=(words.t("common.refutes"))
            data-neutral=(words.t("common.neutral")) data-origin=(words.t("graph.origin"))
            data-cites=(words.t("graph.cites")) data-part-of=(words.t("graph.part_of")) {
            div #graph-source hidden data-live data-source=(wanted.route(task)) data-page=(wanted.address(task)) {}
            div.stage {
                div.tools hidden {
                    label.field {
                        span.hidden { (words.t("graph.highlight")) }
                        input type="search" data-highlight placeholder=(words.t("graph.highlight")) maxlength="100";
                    }
                    span.small.quiet data-count {}
                    span.zoom {
                        button.button type="button" data-zoom="in" aria-label=(words.t("graph.zoom_in")) { "+" }
                        button.button type="button" data-zoom="out" aria-label=(words.t("graph.zoom_out")) { "−" }
                        button.button type="button" data-zoom="fit" { (words.t("graph.fit")) }
                    }
                }
                div #graph-picture.drawing data-live { (drawing::picture(words, view)) }
            }
            aside.panel hidden aria-label=(words.t("graph.selected")) {}
            p.hidden role="status" data-said {}
        }
    }
}
