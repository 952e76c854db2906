//! The lanes of a blend: their runs, their weights, and how much each adds to the first documents.

use super::percent;
use crate::pictures::shares::{self, Part};
use crate::words::Words;
use lyra_wire::fusion::ProvenanceView;
use maud::{Markup, html};
use std::collections::BTreeMap;

/// The boost by codes among contributions.
const CODE: &str = "code";
/// Width of the bar of all lanes, in pixels.
const WIDTH: f64 = 420.0;

/// The lanes in the order of the blend, and the codes: each has a letter and a color on the whole page.
pub(super) fn names(view: &ProvenanceView) -> Vec<String> {
    view.parents.iter().map(|parent| parent.lane.clone()).chain([CODE.to_owned()]).collect()
}

/// What a part is called on the page.
pub(super) fn title(words: Words, name: &str) -> &str {
    if name == CODE { words.t("fusion.codes_part") } else { name }
}

/// The parts of a score, and the same in words.
pub(super) fn parts(words: Words, names: &[String], shares: &BTreeMap<String, f64>) -> (Vec<Part>, String) {
    let present = || {
        names
            .iter()
            .enumerate()
            .filter_map(|(kind, name)| Some((kind, name, *shares.get(name)?)))
            .filter(|(.., share)| *share > 0.0)
    };
    let parts =
        present().map(|(kind, _, share)| Part { letter: shares::letter(kind), kind, share }).collect();
    let said: Vec<String> =
        present().map(|(_, name, share)| format!("{} {}", title(words, name), percent(share))).collect();
    (parts, said.join(", "))
}

pub(super) fn section(words: Words, view: &ProvenanceView) -> Markup {
    let names = names(view);
    let (parts, said) = parts(words, &names, &view.contributions);
    html! {
        section.stack.tight aria-labelledby="lanes" {
            h2 #lanes { (words.t("fusion.lanes")) }
            p.small.quiet { (words.t("fusion.lanes_note")) }
            div.drawing { (shares::picture("lanes-bar", &parts, WIDTH, words.t("fusion.lanes"), &said)) }
            div.table {
                table {
                    caption.hidden { (words.t("fusion.lanes")) }
                    thead {
                        tr {
                            th scope="col" { (words.t("fusion.lane")) }
                            th.number scope="col" { (words.t("fusion.documents")) }
                            th.number scope="col" { (words.t("fusion.weight")) }
                            th.number scope="col" { (words.t("fusion.share")) }
                        }
                    }
                    tbody {
                        @for (kind, parent) in view.parents.iter().enumerate() {
                            tr {
                                th scope="row" { (shares::key(kind, &parent.lane)) " " a href=(super::address(&parent.run_id)) { (words.t("fusion.its_run")) } }
                                td.number { (words.number(parent.count_returned as u64)) }
                                td.number { (parent.weight) }
                                td.number { (share(view, &parent.lane)) }
                            }
                        }
                        tr {
                            th scope="row" { (shares::key(view.parents.len(), title(words, CODE))) }
                            td {} td {}
                            td.number { (share(view, CODE)) }
                        }
                    }
                }
            }
        }
    }
}

fn share(view: &ProvenanceView, name: &str) -> String {
    percent(view.contributions.get(name).copied().unwrap_or_default())
}
