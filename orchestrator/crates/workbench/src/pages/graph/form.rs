//! What the graph shows, as a form.

use super::wanted::{KINDS, LIMITS, RELATIONS, Wanted};
use crate::words::Words;
use lyra_domain::TaskId;
use lyra_usecases::MOST_STEPS;
use lyra_wire::GraphView;
use maud::{Markup, html};

/// The form, whose fields change the graph as they change.
pub(super) fn form(words: Words, wanted: &Wanted, task: &TaskId, view: &GraphView) -> Markup {
    html! {
        form.card.stack.graph-form method="get" data-narrows aria-label=(words.t("graph.filter")) {
            div.row {
                label.field.grows {
                    (words.t("graph.find"))
                    input type="search" name="text" value=(wanted.text) maxlength="200";
                }
                label.field {
                    (words.t("graph.limit"))
                    select name="limit" {
                        @for limit in LIMITS {
                            option value=(limit) selected[limit == wanted.limit] { (words.number(limit as u64)) }
                        }
                        @if !LIMITS.contains(&wanted.limit) {
                            option value=(wanted.limit) selected { (words.number(wanted.limit as u64)) }
                        }
                    }
                }
                noscript { button.button { (words.t("task.apply")) } }
            }
            div.row.middle {
                (choices("kinds", words.t("graph.kinds"), words, &KINDS, &wanted.kinds))
                (choices("relations", words.t("graph.relations"), words, &RELATIONS, &wanted.relations))
            }
            div #graph-near data-live { (near(words, wanted, task, view)) }
        }
    }
}

fn choices(name: &str, title: &str, words: Words, of: &[(&str, &'static str)], chosen: &[&str]) -> Markup {
    html! {
        fieldset.choices.small {
            legend.quiet { (title) }
            @for (word, text) in of {
                label.check {
                    input type="checkbox" name=(name) value=(word) checked[chosen.contains(word)];
                    (words.t(text))
                }
            }
        }
    }
}

/// What the graph is narrowed to by links, which the form keeps.
fn near(words: Words, wanted: &Wanted, task: &TaskId, view: &GraphView) -> Markup {
    let name = |id: &String| {
        view.nodes
            .iter()
            .find(|node| node.node_id == *id)
            .map_or_else(|| id.clone(), |node| node.label.clone())
    };
    html! {
        @for (field, ids) in [("around", &wanted.around), ("expand", &wanted.expand)] {
            @if !ids.is_empty() { input type="hidden" name=(field) value=(ids.join(",")); }
        }
        @if !wanted.around.is_empty() {
            div.row.middle.small {
                span { (words.t("graph.near")) " " b { (wanted.around.iter().map(name).collect::<Vec<_>>().join("; ")) } }
                label.check {
                    (words.t("graph.steps"))
                    select name="steps" {
                        @for steps in 1..=MOST_STEPS {
                            option value=(steps) selected[steps == wanted.steps] { (steps) }
                        }
                    }
                }
            }
        }
        @if !wanted.around.is_empty() || !wanted.expand.is_empty() {
            @let whole = Wanted { around: Vec::new(), expand: Vec::new(), steps: 1, from: 0, ..wanted.clone() };
            p.small { a href=(whole.address(task)) data-graph-link { (words.t("graph.whole")) } }
        }
    }
}
