//! A finding of a report: its claim, where it was found, and its evidence.

use crate::parts::passage::{self, SIDES};
use crate::parts::{claim, place};
use crate::words::Words;
use lyra_domain::{ClaimReport, Evidence, Relation};
use lyra_usecases::answer::Finding;
use maud::{Markup, html};

/// How passages are shown.
#[derive(Debug, Clone, Copy)]
pub(super) enum Passages {
    /// All of them, to be read.
    All,
    /// The surest of each side, with buttons that correct them.
    Correctable(usize),
}

/// The finding as an item of a list.
pub(super) fn item(words: Words, finding: &Finding, passages: Passages) -> Markup {
    let report = &finding.report;
    html! {
        li #(report.claim.id) class="card claim" {
            h3 { (report.claim.claim_text) }
            (claim::summary(words, report))
            @for origin in finding.origins() {
                div.stack.tight {
                    p.quiet.small { (words.t("claim.origin")) }
                    (place::line(words, &origin.citation))
                    details {
                        summary.small { (words.t("report.passage")) }
                        p.context.small { (passage::marked(&origin.text, &report.claim.claim_text)) }
                    }
                }
            }
            (evidence(words, report, passages, false))
        }
    }
}

/// The passages for and against a claim.
pub(super) fn evidence(words: Words, report: &ClaimReport, passages: Passages, open: bool) -> Markup {
    html! {
        @if report.has_evidence() {
            details open[open] {
                summary { (words.t("claim.evidence")) }
                div.columns.half {
                    @for (relation, _, text) in &SIDES[..2] { (side(words, report, *relation, text, passages)) }
                }
            }
        }
    }
}

/// The passages of a side, the surest first.
fn side(
    words: Words,
    report: &ClaimReport,
    relation: Relation,
    text: &'static str,
    passages: Passages,
) -> Markup {
    let all: Vec<&Evidence> =
        report.evidence.iter().filter(|evidence| evidence.relation == relation).collect();
    let shown = match passages {
        Passages::All => all.len(),
        Passages::Correctable(most) => all.len().min(most),
    };
    html! {
        section.stack.tight {
            p { b { (words.t(text)) } " " span.quiet { (words.number(all.len() as u64)) } }
            ul.claims {
                @for evidence in &all[..shown] {
                    li class={ "passage " (evidence.relation) } {
                        span {
                            (passage::judgment(words, evidence))
                            @if evidence.human_corrected { " " span.pill { (words.t("claim.by_person")) } }
                        }
                        @if let Some(reason) = &evidence.correction_reason {
                            p.quiet.small { (words.with("report.reason", &[("reason", reason)])) }
                        }
                        (passage::content(words, evidence, None))
                        @if matches!(passages, Passages::Correctable(_)) { (buttons(words, evidence)) }
                    }
                }
            }
            @if shown < all.len() {
                p.quiet.small { (words.with("report.more", &[("n", &words.number((all.len() - shown) as u64))])) }
            }
        }
    }
}

/// A person's own judgment of a passage.
fn buttons(words: Words, evidence: &Evidence) -> Markup {
    html! {
        div.actions role="group" aria-label=(words.t("report.judge")) {
            @for (relation, word, text) in SIDES {
                button.quiet type="button" data-edge=(evidence.edge_id) data-relation=(word)
                    aria-pressed=(relation == evidence.relation) { (words.t(text)) }
            }
        }
    }
}
