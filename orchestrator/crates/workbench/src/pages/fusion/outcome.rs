//! How the lanes of a search went, and the form to blend them.

use super::{alarms, recipe};
use crate::words::Words;
use lyra_usecases::fusion::LaneOutcome;
use lyra_wire::fusion::{ProposedView, RunHandle};
use maud::{Markup, html};

/// Codes named for a lane.
const CODES: usize = 5;

/// The id of the first run, of which a target profile is proposed.
pub(super) fn first(outcomes: &[LaneOutcome]) -> Option<&str> {
    outcomes.iter().find_map(|outcome| Some(outcome.found.as_ref().ok()?.run_id.as_str()))
}

pub(super) fn section(words: Words, outcomes: &[LaneOutcome], proposed: &[ProposedView]) -> Markup {
    let found: Vec<&RunHandle> = outcomes.iter().filter_map(|outcome| outcome.found.as_ref().ok()).collect();
    let failed = outcomes.len() - found.len();
    let runs = found
        .iter()
        .map(|run| (run.lane.clone().unwrap_or_default(), run.run_id.clone()))
        .collect::<Vec<_>>();
    html! {
        section.stack #found aria-labelledby="found-title" {
            h2 #found-title { (words.t("fusion.found")) }
            @if failed > 0 { p.note { (words.count("fusion.failed_one", "fusion.failed_other", failed as u64)) } }
            ul.claims { @for run in &found { li { (card(words, run)) } } }
        }
        @if !runs.is_empty() {
            section.stack aria-labelledby="blend-title" {
                h2 #blend-title { (words.t("fusion.blend")) }
                (recipe::blend_form(words, &runs, &recipe::Filled::default(), proposed))
            }
        }
    }
}

/// A lane's run.
fn card(words: Words, run: &RunHandle) -> Markup {
    let lane = run.lane.as_deref().unwrap_or_default();
    html! {
        div.card.stack.tight {
            h3 { a href=(super::address(&run.run_id)) { (lane) } }
            p.facts {
                span { b { (words.number(run.meta.count_returned as u64)) } " " (words.t("fusion.documents_found")) }
                @if run.meta.truncated { span { (words.t("fusion.truncated")) } }
                span { (words.number(run.meta.took_ms)) " ms" }
                @if run.cached { span { (words.t("fusion.cached")) } }
                span { code { (run.run_id) } }
            }
            @for system in run.code_freqs.iter().flatten() {
                p.small {
                    span.quiet { (system.system.to_uppercase()) " " }
                    @for (at, code) in system.codes.iter().take(CODES).enumerate() {
                        @if at > 0 { ", " }
                        code { (code.code) } " " (super::percent(code.share))
                    }
                }
            }
            (alarms::list(words, &run.run_id, &run.alarms))
        }
    }
}
