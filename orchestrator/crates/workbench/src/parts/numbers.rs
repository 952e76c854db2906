//! The numbers of a claim: its posterior as figures and as a curve, and what each work adds to it.

use crate::parts::figures;
use crate::words::Words;
use lyra_domain::ClaimReport;
use maud::{Markup, html};

/// The numbers with what they are made from. `of` ends the ids of the pictures, which a page has once.
pub(crate) fn explained(words: Words, of: &str, report: &ClaimReport) -> Markup {
    let posterior = &report.posterior;
    let works = report.works();
    let number = |value: f64, text: &'static str| {
        html! { div { span.value { (format!("{value:.2}")) } span.label { (words.t(text)) } } }
    };
    html! {
        div.columns.half {
            div.stack {
                div.numbers {
                    (number(posterior.confidence(), "common.confidence"))
                    (number(posterior.uncertainty(), "common.uncertainty"))
                    (number(posterior.controversy(), "common.controversy"))
                    div {
                        span.value { (words.number(report.independent_sources as u64)) }
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
                @if !report.has_evidence() { p { (words.t("task.nothing_known")) } }
            }
            (figures::curve(words, &format!("posterior{of}"), *posterior))
        }
        @if let Some(sources) = figures::sources(words, &format!("sources{of}"), report) { (sources) }
    }
}
