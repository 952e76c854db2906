//! How far a task is.

use crate::words::Words;
use lyra_domain::TaskStatus;
use maud::{Markup, html};

/// A task's status as a pill.
pub(crate) fn status(words: Words, status: TaskStatus) -> Markup {
    let (text, class) = match status {
        TaskStatus::Created => ("task.created", "pill busy"),
        TaskStatus::Exploring => ("task.exploring", "pill busy"),
        TaskStatus::Paused => ("task.paused", "pill"),
        TaskStatus::Completed => ("task.completed", "pill"),
        TaskStatus::Failed => ("task.failed", "pill bad"),
        TaskStatus::Cancelled => ("task.cancelled", "pill"),
    };
    html! { span class=(class) { (words.t(text)) } }
}
