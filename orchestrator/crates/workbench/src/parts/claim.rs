//! A claim as a card: its statement, its numbers, and how its passages are spread.

use crate::parts::figures;
use crate::parts::passage::side;
use crate::pictures::bar::Counts;
use crate::words::Words;
use lyra_domain::{AdoptionStatus, ClaimReport, Relation};
use maud::{Markup, html};

/// The claim as an item of a list, with a check box that belongs to the form of this id.
pub(crate) fn card(words: Words, report: &ClaimReport, form: &str) -> Markup {
    let claim = &report.claim;
    html! {
        li #(claim.id) class="card claim selectable" data-item data-claim=(claim.id) {
            h3 { a data-opens href=(format!("/claims/{}", claim.id)) { (claim.claim_text) } }
            label.check.small {
                input type="checkbox" id=(format!("select-{}", claim.id)) form=(form) name="claims" value=(claim.id)
                    data-as="list" data-selects autocomplete="off";
                (words.t("task.select")) span.hidden { " " (claim.claim_text) }
            }
            (summary(words, report))
        }
    }
}

/// What stands out about the claim, its numbers, and the spread of its passages as a bar.
pub(crate) fn summary(words: Words, report: &ClaimReport) -> Markup {
    let counts = Counts {
        supports: report.supporting_count as u64,
        neutral: report.neutral_count as u64,
        refutes: report.refuting_count as u64,
        unjudged: report.not_judged_count as u64,
    };
    html! {
        div.between {
            div.row.middle { (states(words, report)) (spread(words, report)) }
            (confidence(words, report))
        }
        (figures::spread(words, &format!("bar-{}", report.claim.id), counts))
    }
}

/// What stands out about a claim.
pub(crate) fn states(words: Words, report: &ClaimReport) -> Markup {
    html! {
        @if report.claim.is_of_question() { span.pill { (words.t("claim.of_question")) } }
        @if report.claim.adoption_status == AdoptionStatus::NotAdopted { span.pill.bad { (words.t("claim.rejected")) } }
        @if report.is_contradicted() { span.pill.bad { (words.t("common.contested")) } }
    }
}

/// Passages on each side, in words and shapes.
pub(crate) fn spread(words: Words, report: &ClaimReport) -> Markup {
    let counts = [
        (Relation::Supports, report.supporting_count),
        (Relation::Refutes, report.refuting_count),
        (Relation::Neutral, report.neutral_count),
    ];
    html! {
        span.facts {
            @for (relation, count) in counts {
                span { (side(words, relation)) " " b { (words.number(count as u64)) } }
            }
            @if report.not_judged_count > 0 {
                span { (words.t("common.not_judged")) " " b { (words.number(report.not_judged_count as u64)) } }
            }
        }
    }
}

/// Confidence with its standard deviation.
pub(crate) fn confidence(words: Words, report: &ClaimReport) -> Markup {
    let posterior = &report.posterior;
    html! {
        span.facts {
            span {
                (words.t("common.confidence")) " "
                b { (format!("{:.2} ± {:.2}", posterior.confidence(), posterior.uncertainty())) }
            }
        }
    }
}
