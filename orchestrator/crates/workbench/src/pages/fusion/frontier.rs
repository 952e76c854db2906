//! What to expect at each depth of reading, with intervals, and the shape of the ranking.

use crate::parts::figures;
use crate::pictures::frontier::{Band, Point, Texts, picture, table};
use crate::words::Words;
use lyra_wire::fusion::{EstimateView, IntervalView, MetricsView, ProvenanceView};
use maud::{Markup, html};

pub(super) fn section(words: Words, view: &ProvenanceView) -> Markup {
    let texts = Texts {
        title: words.t("fusion.frontier"),
        description: words.t("fusion.frontier_description"),
        depth: words.t("fusion.depth"),
        precision: words.t("fusion.precision"),
        recall: words.t("fusion.recall"),
        combined: words.t("fusion.f_beta"),
    };
    let band = |of: IntervalView| Band { mean: of.mean, low: of.low, high: of.high };
    let points: Vec<Point> = view
        .frontier
        .iter()
        .map(|point| Point {
            depth: point.k,
            precision: band(point.precision),
            recall: band(point.recall),
            combined: band(point.f_beta),
        })
        .collect();
    html! {
        section.stack aria-labelledby="frontier" {
            h2 #frontier { (words.t("fusion.frontier")) }
            @if let Some(estimate) = &view.estimate {
                (said(words, estimate))
                (figures::figure(words, "frontier-picture", &picture("frontier-curves", &points, &texts), &table(&points, &texts)))
                details.small #how-computed {
                    summary { (words.t("fusion.how_computed")) }
                    p.measure { (words.t("fusion.how_estimated")) }
                    p.measure { (words.t("fusion.how_well")) }
                }
            } @else { p.note { (words.t("fusion.no_estimate")) } }
            @if let Some(metrics) = &view.metrics { (shape(words, metrics)) }
        }
    }
}

/// What the estimates come to: how much there is, and how far to read.
fn said(words: Words, estimate: &EstimateView) -> Markup {
    let whole = |value: f64| format!("{value:.0}");
    let IntervalView { mean, low, high } = estimate.relevant;
    html! {
        p.measure #relevant {
            (words.with("fusion.relevant", &[("n", &whole(mean)), ("low", &whole(low)), ("high", &whole(high))]))
        }
        @match &estimate.depths {
            Some(depths) => p.note #depths {
                (words.with("fusion.depths", &[
                    ("middle", &depths.middle.to_string()), ("from", &depths.from.to_string()), ("to", &depths.to.to_string()),
                    ("n", &estimate.judged.to_string()),
                ]))
            },
            None => p.note #depths { (words.with("fusion.no_depths", &[("n", &estimate.judged.to_string())])) },
        }
    }
}

/// The shape of the ranking, in numbers.
fn shape(words: Words, metrics: &MetricsView) -> Markup {
    let number = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| format!("{value:.3}"));
    html! {
        div.table {
            table {
                caption { (words.t("fusion.shape")) }
                thead {
                    tr {
                        th scope="col" { (words.t("fusion.measure")) }
                        th.number scope="col" { (words.t("fusion.value")) }
                        th scope="col" { (words.t("fusion.meaning")) }
                    }
                }
                tbody {
                    @for (name, value, meaning) in [
                        ("LAS", metrics.las, "fusion.las"),
                        ("CCW", metrics.ccw, "fusion.ccw"),
                        ("s_shape", Some(metrics.s_shape), "fusion.s_shape"),
                        ("Fstruct", metrics.f_struct, "fusion.f_struct"),
                    ] {
                        tr { th scope="row" { (name) } td.number { (number(value)) } td { (words.t(meaning)) } }
                    }
                }
            }
        }
    }
}
