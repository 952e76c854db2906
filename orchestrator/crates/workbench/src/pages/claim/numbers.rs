//! The posterior of a claim, and how each source adds to it.

use crate::parts::figures;
use crate::visit::Visit;
use lyra_domain::ClaimReport;
use maud::{Markup, html};

/// The numbers of `counted`, which is `report` without the passages that are left out.
pub(crate) fn section(visit: &Visit, report: &ClaimReport, counted: &ClaimReport, left_out: usize) -> Markup {
    let words = visit.words;
    let posterior = &counted.posterior;
    let works = counted.works();
    let number = |value: f64, text: &'static str| {
        html! { div { span.value { (format!("{value:.2}")) } span.label { (words.t(text)) } } }
    };
    html! {
        section.card.stack aria-label=(words.t("common.confidence")) {
            @if left_out > 0 {
                div.note.between {
                    span {
                        (words.count("claim.without_one", "claim.without_other", left_out as u64)) " "
                        (words.with("claim.with_all", &[("confidence", &format!("{:.2}", report.posterior.confidence()))]))
                    }
                    a href=(visit.path()) { (words.t("claim.show_all")) }
                }
            }
            div.columns.half {
                div.stack {
                    div.numbers {
                        (number(posterior.confidence(), "common.confidence"))
                        (number(posterior.uncertainty(), "common.uncertainty"))
                        (number(posterior.controversy(), "common.controversy"))
                        div {
                            span.value { (words.number(counted.independent_sources as u64)) }
                            span.label { (words.t("claim.independent")) }
                        }
                    }
                    p.quiet.small {
                        (words.with("claim.explained", &[
                            ("alpha", &format!("{:.2}", posterior.alpha)),
                            ("beta", &format!("{:.2}", posterior.beta)),
                            ("supporting", &words.number(works.supporting as u64)),
                            ("refuting", &words.number(works.refuting as u64)),
                        ]))
                    }
                    @if !counted.has_evidence() { p { (words.t("task.nothing_known")) } }
                }
                (figures::curve(words, "posterior", *posterior))
            }
            @if let Some(sources) = figures::sources(words, "sources", counted) { (sources) }
        }
    }
}
