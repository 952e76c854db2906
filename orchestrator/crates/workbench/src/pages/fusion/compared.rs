//! A run beside another one of its corpus.

use crate::words::Words;
use lyra_wire::fusion::{
    Comparison, IntervalView, MovedDocument, OwnDocument, PairView, PairedView, RunInfo,
};
use maud::{Markup, html};

/// Depths to choose from.
const DEPTHS: [usize; 4] = [10, 20, 50, 200];
/// Depth without a choice.
pub(super) const DEPTH: usize = 50;
/// Documents of each list.
const LISTED: usize = 50;

/// The choice of another run, and what differs if one was chosen.
pub(super) fn section(
    words: Words,
    run: &str,
    corpus: &str,
    others: &[RunInfo],
    depth: usize,
    compared: Option<&Comparison>,
) -> Markup {
    let with = compared.map(|compared| compared.other.run_id.as_str());
    let others: Vec<&RunInfo> =
        others.iter().filter(|other| other.run_id != run && other.corpus == corpus).collect();
    html! {
        section.stack #compare aria-labelledby="compare-title" {
            h2 #compare-title { (words.t("fusion.compare")) }
            @if others.is_empty() && with.is_none() { p.small.quiet { (words.t("fusion.nothing_to_compare")) } }
            @else {
                form.row method="get" action={ (super::address(run)) "#compare" } {
                    label.field.grows {
                        (words.t("fusion.compare_with"))
                        select name="with" {
                            @if let Some(with) = with.filter(|with| others.iter().all(|other| other.run_id != *with)) {
                                option value=(with) selected { (with) }
                            }
                            @for other in others {
                                option value=(other.run_id) selected[with == Some(other.run_id.as_str())] {
                                    (other.lane.as_deref().unwrap_or_else(|| super::form::kind(words, &other.kind)))
                                    " · " (words.number(other.count_returned as u64)) " · " (other.run_id)
                                }
                            }
                        }
                    }
                    label.field.amount {
                        (words.t("fusion.compare_depth"))
                        select name="depth" { @for one in DEPTHS { option value=(one) selected[one == depth] { (one) } } }
                    }
                    button.button { (words.t("fusion.compare_run")) }
                }
            }
            @if let Some(compared) = compared { (differences(words, corpus, compared)) }
        }
    }
}

fn differences(words: Words, corpus: &str, compared: &Comparison) -> Markup {
    let n = |count: usize| words.number(count as u64);
    html! {
        p role="status" {
            (words.with("fusion.compared", &[
                ("shared", &n(compared.shared)), ("depth", &n(compared.depth)),
                ("overlap", &super::percent(compared.overlap)),
                ("this", &n(compared.only_this.len())), ("other", &n(compared.only_other.len())),
            ]))
            " " a href=(super::address(&compared.other.run_id)) { (words.t("fusion.other_run")) }
        }
        (better(words, compared.paired.as_ref()))
        @if !compared.moved.is_empty() { (moved(words, corpus, &compared.moved)) }
        div.columns.half {
            (own(words, corpus, "only-this", "fusion.only_this", &compared.only_this))
            (own(words, corpus, "only-other", "fusion.only_other", &compared.only_other))
        }
    }
}

/// Which of the two is better, as far as judgments tell.
fn better(words: Words, paired: Option<&PairedView>) -> Markup {
    let Some(paired) = paired else { return html! { p.small.quiet { (words.t("fusion.not_paired")) } } };
    let two = |value: f64| format!("{value:.2}");
    let share = |of: IntervalView| {
        // Differences may be below 0, so that a dash between the ends would be read as a sign.
        words.with(
            "fusion.interval",
            &[("mean", &two(of.mean)), ("low", &two(of.low)), ("high", &two(of.high))],
        )
    };
    let row = |name: &'static str, PairView { this, other, difference }: PairView| {
        html! {
            tr {
                th scope="row" { (words.t(name)) }
                td.number { (share(this)) }
                td.number { (share(other)) }
                td.number { (share(difference)) }
            }
        }
    };
    html! {
        div.table tabindex="0" role="group" aria-label=(words.t("fusion.paired")) {
            table {
                caption { (words.t("fusion.paired")) }
                thead {
                    tr {
                        td {}
                        th.number scope="col" { (words.t("fusion.here")) }
                        th.number scope="col" { (words.t("fusion.there")) }
                        th.number scope="col" { (words.t("fusion.difference")) }
                    }
                }
                tbody {
                    (row("fusion.precision", paired.precision))
                    (row("fusion.recall", paired.recall))
                }
            }
        }
        p.small.quiet { (words.with("fusion.paired_note", &[("n", &words.number(paired.judged as u64))])) }
    }
}

fn link(words: Words, corpus: &str, id: &str, title: &str) -> Markup {
    html! {
        a href=(super::document_address(corpus, id)) { @if title.is_empty() { (words.t("common.untitled")) } @else { (title) } }
        " " code.quiet { (id) }
    }
}

fn moved(words: Words, corpus: &str, moved: &[MovedDocument]) -> Markup {
    html! {
        div.table tabindex="0" role="group" aria-label=(words.t("fusion.moved")) {
            table {
                caption { (words.t("fusion.moved")) }
                thead {
                    tr {
                        th scope="col" { (words.t("fusion.document")) }
                        th.number scope="col" { (words.t("fusion.rank_here")) }
                        th.number scope="col" { (words.t("fusion.rank_other")) }
                        th.number scope="col" { (words.t("fusion.gained")) }
                    }
                }
                tbody {
                    @for document in moved.iter().take(LISTED) {
                        tr {
                            th scope="row" { (link(words, corpus, &document.doc_id, &document.title)) }
                            td.number { (document.rank) }
                            td.number { (document.other_rank) }
                            td.number { (gain(document.gained)) }
                        }
                    }
                }
            }
        }
    }
}

/// Places gained or lost, with an arrow.
fn gain(gained: i64) -> String {
    match gained {
        0 => "=".to_owned(),
        up if up > 0 => format!("▲ {up}"),
        down => format!("▼ {}", -down),
    }
}

fn own(words: Words, corpus: &str, id: &str, title: &'static str, list: &[OwnDocument]) -> Markup {
    html! {
        div.stack.tight {
            h3 id=(id) { (words.t(title)) " (" (words.number(list.len() as u64)) ")" }
            ol.stack.tight.small aria-labelledby=(id) {
                @for document in list.iter().take(LISTED) {
                    li {
                        span.quiet { (document.rank) ". " }
                        (link(words, corpus, &document.doc_id, &document.title))
                        @if let Some(rank) = document.other_rank {
                            " " span.quiet { (words.with("fusion.rank_in_other", &[("n", &rank.to_string())])) }
                        }
                    }
                }
            }
        }
    }
}
