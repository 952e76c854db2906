//! What the evidence says about the claim behind a task's question.

use crate::parts::claim::{confidence, spread};
use crate::words::Words;
use lyra_domain::ClaimReport;
use maud::{Markup, html};

/// The claim behind the question with its numbers. They describe the evidence; the reader draws the conclusion.
pub(crate) fn of_question(words: Words, report: &ClaimReport) -> Markup {
    let works = report.works();
    let claim = &report.claim;
    let count = |n: usize| words.number(n as u64);
    html! {
        section.card.stack aria-labelledby="answer-title" {
            div.between {
                h2 #answer-title { (words.t("task.answer")) }
                a href=(format!("/claims/{}", claim.id)) { (words.t("task.see_evidence")) }
            }
            p { (claim.claim_text) }
            div.between { (spread(words, report)) (confidence(words, report)) }
            p.quiet {
                @if report.has_evidence() {
                    (words.with("task.works", &[
                        ("supporting", &count(works.supporting)),
                        ("refuting", &count(works.refuting)),
                        ("silent", &count(works.silent)),
                    ]))
                } @else { (words.t("task.nothing_known")) }
            }
        }
    }
}
