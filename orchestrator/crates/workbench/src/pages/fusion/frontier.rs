//! What a blend promises at each depth of reading, and the shape of its ranking. All of it is a proxy.

use crate::parts::figures;
use crate::pictures::frontier::{Point, Texts, picture, table};
use crate::words::Words;
use lyra_wire::fusion::{MetricsView, ProvenanceView};
use maud::{Markup, html};
use serde_json::Value;

pub(super) fn section(words: Words, view: &ProvenanceView) -> Markup {
    let texts = Texts {
        title: words.t("fusion.frontier"),
        description: words.t("fusion.frontier_description"),
        depth: words.t("fusion.depth"),
        precision: words.t("fusion.p_star"),
        recall: words.t("fusion.r_star"),
        combined: words.t("fusion.f_star"),
    };
    let points: Vec<Point> = view
        .frontier
        .iter()
        .map(|point| Point {
            depth: point.k,
            precision: point.p_star,
            recall: point.r_star,
            combined: point.f_beta_star,
        })
        .collect();
    let fitted = view.proxy.as_ref().is_some_and(|proxy| proxy.get("method") == Some(&Value::from("platt")));
    html! {
        section.stack aria-labelledby="frontier" {
            h2 #frontier { (words.t("fusion.frontier")) }
            p.note { (words.t("fusion.frontier_warning")) }
            (figures::figure(words, "frontier-picture", &picture("frontier-curves", &points, &texts), &table(&points, &texts)))
            details.small #how-computed {
                summary { (words.t("fusion.how_computed")) }
                p.measure { @if fitted { (words.t("fusion.how_fitted")) } @else { (words.t("fusion.how_standardized")) } }
                p.measure { (words.t("fusion.how_frontier")) }
            }
            @if let Some(metrics) = &view.metrics { (shape(words, metrics)) }
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
                        ("Fproxy", metrics.f_proxy, "fusion.f_proxy"),
                    ] {
                        tr { th scope="row" { (name) } td.number { (number(value)) } td { (words.t(meaning)) } }
                    }
                }
            }
        }
    }
}
