//! How many judgments stand at which risk, when only the surest are kept.

use super::frame::{Anchor, Ids, Size, area, curve, figure, fitted, line, svg, text};
use super::scale::{Scale, points, round_step};
use super::{label, table};
use maud::{Markup, html};

const SIZE: Size = Size(380.0, 270.0);
const LEFT: f64 = 48.0;
const RIGHT: f64 = 368.0;
const TOP: f64 = 26.0;
const BASE: f64 = 216.0;

/// What is left above a threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Judgments of at least this confidence are kept.
    pub threshold: f64,
    /// The share that is kept, in [0, 1].
    pub coverage: f64,
    /// The share of the kept ones that is wrong, in [0, 1].
    pub risk: f64,
}

/// What the picture and its table say.
#[derive(Debug, Clone, Copy)]
pub struct Texts<'a> {
    /// Name of the picture; also the caption of the table.
    pub title: &'a str,
    /// What the picture shows, in a sentence.
    pub description: &'a str,
    /// Head of the table's column of thresholds.
    pub threshold: &'a str,
    /// The horizontal axis: coverage.
    pub coverage: &'a str,
    /// The vertical axis: risk.
    pub risk: &'a str,
}

/// Risk against coverage, in any order of the points. The vertical axis ends at a round number above the largest risk.
pub fn picture(id: &str, measured: &[Point], texts: &Texts<'_>) -> Markup {
    let mut sorted: Vec<&Point> = measured.iter().collect();
    sorted.sort_by(|a, b| a.coverage.total_cmp(&b.coverage));
    let largest = sorted.iter().map(|point| point.risk).fold(0.0, f64::max);
    let top = round_step(largest.min(1.0), 0.01).min(1.0);
    let (x, y) = (Scale::unit((LEFT, RIGHT)), Scale::new((0.0, top), (BASE, TOP)));
    let places: Vec<(f64, f64)> =
        sorted.iter().map(|point| (x.at(point.coverage), y.at(point.risk))).collect();
    let ends = places.first().zip(places.last()).map(|(first, last)| [(last.0, BASE), (first.0, BASE)]);
    let shaded = places.iter().copied().chain(ends.into_iter().flatten());
    let drawn = html! {
        @for share in [0.0, 0.5, 1.0] {
            @let height = y.at(share * top);
            (line(if share == 0.0 { "axis" } else { "grid" }, (LEFT, height), (RIGHT, height), 1.0))
            (text(LEFT - 8.0, height + 4.0, Anchor::End, &short(share * top)))
        }
        @for tick in [0.0, 0.25, 0.5, 0.75, 1.0] {
            (line("axis", (x.at(tick), BASE), (x.at(tick), BASE + 5.0), 1.0))
            (text(x.at(tick), BASE + 19.0, Anchor::Middle, &format!("{tick}")))
        }
        (area(&points(shaded)))
        (curve("curve", &points(places), 1.5))
        (fitted(0.0, TOP - 13.0, Anchor::Start, texts.risk, RIGHT))
        (fitted(f64::midpoint(LEFT, RIGHT), BASE + 42.0, Anchor::Middle, texts.coverage, RIGHT - LEFT))
    };
    figure(&svg(&Ids::new(id), SIZE, texts.title, texts.description, &drawn), &html! {})
}

/// The points, in the order given.
pub fn table(measured: &[Point], texts: &Texts<'_>) -> Markup {
    let rows = measured
        .iter()
        .map(|point| [point.threshold, point.coverage, point.risk].map(|v| label::share(v, 3)));
    table::table(texts.title, [texts.threshold, texts.coverage, texts.risk], rows)
}

/// A round number without trailing zeros.
fn short(value: f64) -> String {
    let written = format!("{value:.3}");
    written.trim_end_matches('0').trim_end_matches('.').to_owned()
}
