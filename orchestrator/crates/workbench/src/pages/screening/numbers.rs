//! Progress, recall, the stopping test, and the curve.

use crate::parts::figures;
use crate::pictures::screening::{Expected, Point, Texts, picture, table};
use crate::words::Words;
use lyra_usecases::{ScreeningState, shapes};
use maud::{Markup, html};

/// A share in percent without decimals; nearly all is not written as all.
fn percent(share: f64) -> String {
    let rounded = (share * 100.0).round();
    if share < 1.0 && rounded >= 100.0 { "> 99 %".to_owned() } else { format!("{rounded:.0} %") }
}

/// How far it is, and what is known about what was missed.
pub(super) fn progress(words: Words, state: &ScreeningState) -> Markup {
    let at = state.progress;
    let decided = at.included + at.excluded;
    let (decided_text, all) = (words.number(decided), words.number(at.documents()));
    let removed = at.blocked + at.quarantined;
    html! {
        h2 { (words.t("screening.progress")) }
        div.stack.tight {
            label.small for="screened" { (words.with("screening.screened_of", &[("n", &decided_text), ("of", &all)])) }
            progress #screened value=(decided) max=(at.documents().max(1)) {}
            p.facts {
                span { (words.t("screening.included")) " " b #count-included { (words.number(at.included)) } }
                span { (words.t("screening.excluded")) " " b #count-excluded { (words.number(at.excluded)) } }
                span { (words.t("screening.undecided")) " " b #count-undecided { (words.number(at.undecided)) } }
                span { (words.t("screening.open")) " " b #count-open { (words.number(at.open)) } }
            }
            @if removed > 0 { p.small.quiet { (words.count("screening.removed_one", "screening.removed_other", removed)) } }
        }
        div.stack.tight {
            h3 { (words.t("screening.recall")) }
            @match state.recall {
                None => p.small.quiet { (words.t("screening.no_recall")) },
                Some(recall) => {
                    div.numbers {
                        div {
                            span.value #recall-estimate { (recall.estimate.map_or_else(|| "–".to_owned(), percent)) }
                            span.label { (words.t("screening.estimate")) }
                        }
                        div {
                            span.value #recall-bound { (percent(recall.at_least)) "–100 %" }
                            span.label { (words.t("screening.interval")) }
                        }
                    }
                    @if recall.estimate.is_none() { p.small.quiet { (words.t("screening.no_estimate_yet")) } }
                }
            }
            details #recall-note {
                summary.small { (words.t("screening.how_recall")) }
                p.small { (words.t("screening.recall_note")) }
            }
        }
        div.stack.tight {
            h3 { (words.t("screening.stopping")) }
            p.small {
                (words.count("screening.in_a_row_one", "screening.in_a_row_other", state.stopping.excluded_in_a_row as u64))
            }
            p.small { (words.with("screening.p_value", &[("p", &p_value(state.stopping.p_value))])) }
            details #stopping-note {
                summary.small { (words.t("screening.how_stopping")) }
                p.small { (words.t("screening.stopping_note")) }
            }
        }
    }
}

fn p_value(p: f64) -> String {
    if p < 0.001 { "< 0.001".to_owned() } else { format!("= {p:.3}") }
}

/// Included against screened documents.
pub(super) fn curve(words: Words, state: &ScreeningState) -> Markup {
    let points: Vec<Point> = shapes::screening_curve(&state.labels)
        .into_iter()
        .map(|point| Point { screened: point.screened, included: point.included })
        .collect();
    let Some(last) = points.last().copied() else { return html! {} };
    let documents = state.progress.documents();
    // What a random order would have found of the relevant documents that are expected; of those that were found, at least.
    let estimate = state.recall.and_then(|recall| recall.estimate);
    let relevant = estimate.map_or_else(
        || last.included as f64 * documents as f64 / last.screened.max(1) as f64,
        |share| last.included as f64 / share.max(1e-9),
    );
    let texts = Texts {
        title: words.t("screening.curve"),
        description: words.t("screening.curve_note"),
        screened: words.t("screening.screened"),
        included: words.t("screening.included"),
        random: words.t("screening.random"),
    };
    let expected = Expected { documents, relevant };
    let id = "stopping-curve";
    html! {
        section.stack.tight aria-labelledby="curve-title" {
            h2 #curve-title { (texts.title) }
            p.small.quiet.measure { (texts.description) }
            (figures::figure(words, id, &picture(id, &points, expected, &texts), &table(&points, expected, &texts)))
        }
    }
}
