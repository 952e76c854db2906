//! Classification codes of a run: how often each occurs, and the target profile that is proposed of them.

use crate::words::Words;
use lyra_wire::fusion::{ProposedView, SystemCodes};
use maud::{Markup, html};

/// Codes of each system without JSON's limits.
const LISTED: usize = 15;

pub(super) fn section(words: Words, systems: &[SystemCodes]) -> Markup {
    html! {
        @if !systems.is_empty() {
            section.stack.tight aria-labelledby="codes" {
                h2 #codes { (words.t("fusion.codes")) }
                @for system in systems { (frequencies(words, system)) }
            }
        }
    }
}

/// A proposed profile, as the field of the target profile takes it. A module puts it there.
pub(super) fn proposal(words: Words, proposed: &[ProposedView]) -> Markup {
    html! {
        @if !proposed.is_empty() {
            details #proposed {
                summary.small { (words.t("fusion.proposed")) }
                div.stack.tight {
                    p.small.quiet { (words.t("fusion.proposed_note")) }
                    pre.code data-proposed tabindex="0" role="group" aria-label=(words.t("fusion.proposed")) { (lines(proposed)) }
                    p { button.button type="button" data-use-proposed hidden { (words.t("fusion.use_proposed")) } }
                }
            }
        }
    }
}

fn lines(proposed: &[ProposedView]) -> String {
    let lines: Vec<String> =
        proposed.iter().map(|code| format!("{}={:.2}", code.code, code.weight)).collect();
    lines.join("\n")
}

fn frequencies(words: Words, system: &SystemCodes) -> Markup {
    let distinct = words.number(system.distinct as u64);
    html! {
        details id={ "codes-" (system.system) } open[system.codes.len() <= LISTED] {
            summary.small { (system.system.to_uppercase()) " · " (words.with("fusion.distinct", &[("n", &distinct)])) }
            div.table {
                table {
                    caption.hidden { (system.system.to_uppercase()) }
                    thead {
                        tr {
                            th scope="col" { (words.t("fusion.code")) }
                            th.number scope="col" { (words.t("fusion.documents")) }
                            th.number scope="col" { (words.t("fusion.share")) }
                        }
                    }
                    tbody {
                        @for code in system.codes.iter().take(LISTED) {
                            tr {
                                th scope="row" { code { (code.code) } }
                                td.number { (words.number(code.count as u64)) }
                                td.number { (super::percent(code.share)) }
                            }
                        }
                    }
                }
            }
        }
    }
}
