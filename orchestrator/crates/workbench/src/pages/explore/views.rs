//! The prepared views, for all tasks or for one.

use super::Wanted;
use crate::words::Words;
use lyra_usecases::{App, AppError};
use maud::{Markup, html};

/// Tasks to choose from, the newest.
const TASKS: u32 = 100;

/// What a view shows, in the reader's language.
const TITLES: [(&str, &str); 16] = [
    ("v_claim_evidence_summary", "explore.v_claim_evidence_summary"),
    ("v_contradictions", "explore.v_contradictions"),
    ("v_unsupported_claims", "explore.v_unsupported_claims"),
    ("v_evidence_chain", "explore.v_evidence_chain"),
    ("v_hub_pages", "explore.v_hub_pages"),
    ("v_citation_flow", "explore.v_citation_flow"),
    ("v_citation_clusters", "explore.v_citation_clusters"),
    ("v_orphan_sources", "explore.v_orphan_sources"),
    ("v_evidence_timeline", "explore.v_evidence_timeline"),
    ("v_claim_temporal_support", "explore.v_claim_temporal_support"),
    ("v_emerging_consensus", "explore.v_emerging_consensus"),
    ("v_outdated_evidence", "explore.v_outdated_evidence"),
    ("v_source_authority", "explore.v_source_authority"),
    ("v_controversy_by_era", "explore.v_controversy_by_era"),
    ("v_citation_age_gap", "explore.v_citation_age_gap"),
    ("v_evidence_freshness", "explore.v_evidence_freshness"),
];

/// What a view shows; a view without a text of its own is described as the store does.
pub(super) fn title(words: Words, app: &App, name: &str) -> String {
    let full = full_name(name);
    let known = TITLES.iter().find(|(known, _)| *known == full).map(|(_, key)| words.t(key).to_owned());
    let described =
        || app.views().iter().find(|view| view.name == full).map(|view| view.description.to_owned());
    known.or_else(described).unwrap_or(full)
}

/// The name with the start that it may omit.
fn full_name(name: &str) -> String {
    let name = name.trim();
    if name.starts_with("v_") { name.to_owned() } else { format!("v_{name}") }
}

/// A statement that reads the view. Its name is part of a statement that a person sees before it runs.
pub(super) fn statement(name: &str) -> String {
    let name: String = full_name(name).chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
    format!("SELECT *\nFROM {name}\nLIMIT 50")
}

/// The choice of a view and of a task.
///
/// # Errors
/// When the store cannot be read.
pub(super) async fn form(app: &App, words: Words, wanted: &Wanted) -> Result<Markup, AppError> {
    let tasks = app.task_summaries(TASKS, None).await?.tasks;
    let task = wanted.task.trim();
    let listed = tasks.iter().any(|summary| summary.task.id.as_str() == task);
    let view = full_name(&wanted.view);
    Ok(html! {
        form.row.grow method="get" action="/explore" {
            label.field {
                (words.t("explore.view"))
                select name="view" required {
                    @for info in app.views() {
                        option value=(info.name) selected[info.name == view] { (title(words, app, info.name)) }
                    }
                }
            }
            label.field {
                (words.t("explore.task"))
                select name="task" {
                    option value="" { (words.t("explore.all_tasks")) }
                    @if !task.is_empty() && !listed { option value=(task) selected { (task) } }
                    @for summary in &tasks {
                        option value=(summary.task.id) selected[summary.task.id.as_str() == task] { (summary.task.query) }
                    }
                }
            }
            button.button { (words.t("explore.show")) }
        }
    })
}
