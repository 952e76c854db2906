//! Reader: a document or fetched page with every judged passage marked.

mod marks;

use crate::failure::{Failed, Failure, id};
use crate::parts::{passage, place};
use crate::shell::Page;
use crate::visit::Visit;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use lyra_domain::PageId;
use lyra_store::{ReadFragment, ReadPage};
use lyra_usecases::App;
use maud::{Markup, html};
use serde::Deserialize;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Wanted {
    /// Shows passages in quarantine, as text.
    quarantined: Option<String>,
    /// The judgment that the visitor comes from.
    edge: Option<String>,
}

pub(super) async fn show(
    State(app): State<App>,
    Path(page): Path<String>,
    Query(wanted): Query<Wanted>,
    visit: Visit,
) -> Result<Response, Failure> {
    let words = visit.words;
    let page: PageId = id(&page, &visit)?;
    let read = app.read_page(&page, wanted.quarantined.is_some()).await.shown_to(&visit)?;
    let title = if read.page.citation.title.is_empty() {
        words.t("common.untitled")
    } else {
        &read.page.citation.title
    };
    let came_from = wanted.edge.as_deref();
    let content = html! {
        div.stack.wide {
            header.stack.tight {
                p.crumbs { a href="/" { (words.t("common.ask")) } " / " (read.domain) }
                h1 { (title) }
                (place::below_title(words, &read.page.citation))
                p.facts {
                    span { (words.t("reader.fetched")) " " time datetime=(read.fetched_at) { (read.fetched_at) } }
                    @if let Some(language) = &read.language { span { (language) } }
                }
            }
            @if read.quarantined > 0 { (apart(&visit, read.quarantined, wanted.quarantined.is_some())) }
            div.columns {
                article.reading lang=[read.language.as_deref()] #text data-live { (text(&read, came_from, &visit)) }
                aside.stack #judged data-live { (judged(&read, came_from, &visit)) }
            }
        }
    };
    Ok(Page { title, here: "/", content }.answer(&visit))
}

/// What is kept apart, and how to see it.
fn apart(visit: &Visit, n: u64, shown: bool) -> Markup {
    let words = visit.words;
    html! {
        p.note {
            (words.count("reader.quarantined_one", "reader.quarantined_other", n)) " "
            @if !shown { a href=(format!("{}?quarantined=1", visit.path())) rel="nofollow" { (words.t("reader.show_quarantined")) } }
        }
    }
}

/// The passages in order, each heading once.
fn text(read: &ReadPage, came_from: Option<&str>, visit: &Visit) -> Markup {
    let words = visit.words;
    let mut heading: Option<&str> = None;
    html! {
        @if read.fragments.is_empty() { p.quiet { (words.t("reader.no_text")) } }
        @for fragment in &read.fragments {
            @if let Some(above) = fragment.heading.as_deref().filter(|above| Some(*above) != heading) {
                h2 { (above) }
                @let _ = heading.insert(above);
            }
            @let here = fragment.judged.iter().any(|mark| Some(mark.edge.as_str()) == came_from);
            p #(fragment.id) .here[here] data-fragment=(fragment.id) {
                @if fragment.rule.is_some() { span.pill.bad { (words.t("reader.quarantined")) } " " }
                (marks::marked(fragment))
            }
        }
    }
}

/// The judged claims, in the order of the text; each leads to its claim and to its passage.
fn judged(read: &ReadPage, came_from: Option<&str>, visit: &Visit) -> Markup {
    let words = visit.words;
    let all = || {
        read.fragments
            .iter()
            .flat_map(|fragment: &ReadFragment| fragment.judged.iter().map(move |mark| (fragment, mark)))
    };
    html! {
        h2 { (words.t("reader.judged")) }
        @if all().next().is_none() { p.quiet.small { (words.t("reader.nothing_judged")) } }
        ul.stack.tight {
            @for (fragment, mark) in all() {
                li.stack.tight data-item data-edge=(mark.edge) data-current[Some(mark.edge.as_str()) == came_from] {
                    p.small { (passage::side(words, mark.relation)) " " a data-opens href=(format!("/claims/{}#{}", mark.claim, mark.edge)) { (mark.claim_text) } }
                    p.small { a href=(format!("#{}", fragment.id)) { (words.t("reader.jump")) } }
                }
            }
        }
    }
}
