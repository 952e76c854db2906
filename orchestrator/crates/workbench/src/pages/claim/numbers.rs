//! The posterior of a claim, and how each source adds to it.

use crate::parts::numbers;
use crate::visit::Visit;
use lyra_domain::ClaimReport;
use maud::{Markup, html};

/// The numbers of `counted`, which is `report` without the passages that are left out.
pub(crate) fn section(visit: &Visit, report: &ClaimReport, counted: &ClaimReport, left_out: usize) -> Markup {
    let words = visit.words;
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
            (numbers::explained(words, "", counted))
        }
    }
}
