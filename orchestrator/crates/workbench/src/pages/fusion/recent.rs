//! The newest runs and blends, and a choice of runs to blend.

use super::{HERE, form};
use crate::parts::moment;
use crate::words::Words;
use lyra_wire::fusion::RunInfo;
use maud::{Markup, html};

/// Runs that are listed.
pub(super) const LISTED: u32 = 40;
/// Characters of a query that are shown.
const QUERY: usize = 90;

pub(super) fn section(words: Words, runs: &[RunInfo]) -> Markup {
    let (blends, lanes): (Vec<&RunInfo>, Vec<&RunInfo>) = runs.iter().partition(|run| run.kind == "fusion");
    html! {
        section.stack.tight aria-labelledby="recent-blends" {
            h2 #recent-blends { (words.t("fusion.recent_blends")) }
            @if blends.is_empty() { p.small.quiet { (words.t("fusion.no_blends")) } }
            ul.stack.tight.small { @for run in blends { li { (entry(words, run)) } } }
        }
        section.stack.tight aria-labelledby="recent-runs" {
            h2 #recent-runs { (words.t("fusion.recent_runs")) }
            @if lanes.is_empty() {
                p.small.quiet { (words.t("fusion.no_runs")) }
            } @else {
                form.stack.tight method="get" action={ (HERE) "/blend" } {
                    ul.stack.tight.small {
                        @for run in lanes {
                            li.chosen {
                                input type="checkbox" name="run" value=(run.run_id) id={ "choose-" (run.run_id) }
                                    aria-label=(words.with("fusion.choose", &[("run", &run.run_id)]));
                                div { (entry(words, run)) }
                            }
                        }
                    }
                    p { button.button { (words.t("fusion.blend_chosen")) } }
                }
            }
        }
    }
}

fn entry(words: Words, run: &RunInfo) -> Markup {
    let name = run.lane.as_deref().unwrap_or_else(|| form::kind(words, &run.kind));
    html! {
        a href=(super::address(&run.run_id)) { (name) }
        " " span.quiet { (run.corpus) " · " (words.number(run.count_returned as u64)) " · " (moment::time(&run.created_at)) }
        @if let Some(query) = &run.query { br; bdi.code { (query.chars().take(QUERY).collect::<String>()) @if query.chars().count() > QUERY { "…" } } }
    }
}
