//! A passage that was judged against a claim, with what a person can do about it.

use crate::parts::place;
use crate::visit::Visit;
use crate::words::Words;
use lyra_domain::quote::places;
use lyra_domain::{Evidence, Relation};
use maud::{Markup, html};
use serde_json::json;

/// The judged relations, in the order of their buttons: relation, class and word, text.
pub(crate) const SIDES: [(Relation, &str, &str); 3] = [
    (Relation::Supports, "supports", "common.supports"),
    (Relation::Refutes, "refutes", "common.refutes"),
    (Relation::Neutral, "neutral", "common.neutral"),
];

/// How a passage stands on the claim's page.
pub(crate) struct State<'a> {
    /// The whole passage that the judged sentences are from.
    pub(crate) context: Option<&'a str>,
    /// A person set or confirmed the relation.
    pub(crate) corrected: bool,
    /// It is left out of the numbers that are shown.
    pub(crate) left_out: bool,
}

/// A side's word with its shape: a triangle up or down, or a circle.
pub(crate) fn side(words: Words, relation: Relation) -> Markup {
    let (_, class, text) = SIDES.iter().find(|(known, ..)| *known == relation).unwrap_or(&SIDES[2]);
    html! {
        span class=(format!("side {class}")) {
            svg viewBox="0 0 10 10" width="10" height="10" aria-hidden="true" {
                @match relation {
                    Relation::Supports => path class="support" d="M5 1 9.5 9h-9z" {},
                    Relation::Refutes => path class="refute" d="M5 9 .5 1h9z" {},
                    _ => circle class="neutral" cx="5" cy="5" r="3.5" {},
                }
            }
            (words.t(text))
        }
    }
}

/// The passage as an item of a list.
pub(crate) fn item(visit: &Visit, evidence: &Evidence, state: &State<'_>) -> Markup {
    let words = visit.words;
    let word =
        SIDES.iter().find(|(known, ..)| *known == evidence.relation).map_or("neutral", |(_, word, _)| *word);
    let id = &evidence.edge_id;
    let out = if state.left_out { " out" } else { "" };
    let reader = format!("/pages/{}?edge={id}#{}", evidence.page_id, evidence.fragment_id);
    html! {
        li #(id) class=(format!("card passage {word}{out}")) data-item data-edge=(id) {
            div.between {
                span {
                    (judgment(words, evidence))
                    @if state.corrected { " " span.pill { (words.t("claim.by_person")) } }
                }
                label.check.small {
                    input type="checkbox" name="without" value=(id) checked[state.left_out];
                    (words.t("claim.leave_out"))
                }
            }
            (content(words, evidence, state.context))
            div.actions {
                @if visit.may_write { (buttons(words, evidence, state.corrected)) }
                a.small data-opens href=(reader) { (words.t("claim.read")) }
            }
        }
    }
}

/// The side, and how certain the judgment is.
pub(crate) fn judgment(words: Words, evidence: &Evidence) -> Markup {
    html! { (side(words, evidence.relation)) " " span.quiet.small { (format!("{:.2}", evidence.nli_confidence.get())) } }
}

/// The judged sentences, what they name differently, where they can be read, and the passage around them.
pub(crate) fn content(words: Words, evidence: &Evidence, context: Option<&str>) -> Markup {
    html! {
        blockquote { p { (evidence.text) } }
        @if let Some(differences) = differences(words, evidence) { p.small.quiet { (differences) } }
        (place::line(words, &evidence.citation()))
        @if let Some(context) = context.filter(|context| *context != evidence.text) {
            details id=(format!("context-{}", evidence.edge_id)) {
                summary.small { (words.t("claim.in_context")) }
                p.context.small { (marked(context, &evidence.text)) }
            }
        }
    }
}

/// What claim and passage name differently.
fn differences(words: Words, evidence: &Evidence) -> Option<String> {
    let found = &evidence.discrepancies;
    let list =
        |key, names: &[String]| (!names.is_empty()).then(|| words.with(key, &[("names", &names.join(", "))]));
    let all: Vec<String> = [list("claim.missing", &found.missing), list("claim.differs", &found.differs)]
        .into_iter()
        .flatten()
        .collect();
    (!all.is_empty()).then(|| all.join(" · "))
}

fn buttons(words: Words, evidence: &Evidence, corrected: bool) -> Markup {
    let path = format!("/api/v1/edges/{}/correction", evidence.edge_id);
    let undo = if corrected { format!("POST {path}") } else { format!("DELETE {path}") };
    let undo_body = corrected.then(|| json!({ "relation": evidence.relation.as_str() }).to_string());
    html! {
        @for (relation, word, text) in SIDES {
            button.quiet type="button" id=(format!("{}-{word}", evidence.edge_id)) data-relation=(word)
                aria-pressed=(relation == evidence.relation) data-api=(format!("POST {path}"))
                data-body=(json!({ "relation": word })) data-undo=(undo) data-undo-body=[undo_body.as_deref()]
                data-said=(words.with("claim.corrected", &[("side", words.t(text))])) { (words.t(text)) }
        }
        @if corrected {
            button.quiet type="button" data-api=(format!("DELETE {path}")) data-said=(words.t("claim.judgment_restored")) {
                (words.t("claim.restore_judgment"))
            }
        }
    }
}

/// The passage with the judged sentences marked, where they stand in it word for word.
pub(crate) fn marked(context: &str, judged: &str) -> Markup {
    let mut places = places(context, judged);
    places.sort_by_key(|place| place.start);
    let (mut before_and_marked, mut end) = (Vec::new(), 0);
    // A sentence that is quoted twice is marked once.
    for place in places {
        if place.start >= end {
            before_and_marked.push((&context[end..place.start], &context[place.clone()]));
            end = place.end;
        }
    }
    html! {
        @for (before, marked) in before_and_marked { (before) mark { (marked) } }
        (context[end..])
    }
}
