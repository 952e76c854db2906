//! The views of a task, as links to one another.

use crate::words::Words;
use lyra_domain::TaskId;
use maud::{Markup, html};

/// Views of a task: what follows the task in the address, and the text of the link.
const VIEWS: &[(&str, &str)] = &[
    ("", "task.claims"),
    ("/graph", "graph.title"),
    ("/timeline", "timeline.title"),
    ("/matrix", "matrix.title"),
    ("/screening", "screening.title"),
];

/// The head of a view of a task: the way back to its question, the title, and the links to the other views. `title` is
/// the text of the title; `part_of` is the text of the view that it belongs to, if it is not one itself.
pub(crate) fn head(
    words: Words,
    task: &TaskId,
    question: &str,
    title: &'static str,
    part_of: Option<&'static str>,
) -> Markup {
    let here = part_of.unwrap_or(title);
    html! {
        header.stack.tight {
            p.crumbs {
                a href="/" { (words.t("common.ask")) } " / " a href={ "/tasks/" (task) } { (question) }
                @if part_of.is_some() {
                    @for (path, text) in VIEWS.iter().filter(|(_, text)| *text == here) {
                        " / " a href={ "/tasks/" (task) (path) } { (words.t(text)) }
                    }
                }
            }
            h1 { (words.t(title)) }
            (of_task(words, task, here))
        }
    }
}

/// Links to all views of a task; `here` is the text of the one that is shown.
pub(crate) fn of_task(words: Words, task: &TaskId, here: &str) -> Markup {
    html! {
        nav.tabs aria-label=(words.t("task.views")) {
            @for (path, text) in VIEWS {
                a href={ "/tasks/" (task) (path) } aria-current=[(*text == here).then_some("page")] { (words.t(text)) }
            }
        }
    }
}
