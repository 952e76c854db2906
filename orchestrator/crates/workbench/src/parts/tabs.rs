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
