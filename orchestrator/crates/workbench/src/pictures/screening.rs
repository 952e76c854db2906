//! How many relevant documents screening found, beside what a random order would have found.

use super::frame::{
    Anchor, Ids, Sample, Size, area, curve, dashes, entry, figure, fitted, kept, line, svg, text,
};
use super::scale::{Scale, points, round_step};
use super::{label, table};
use maud::{Markup, html};

const SIZE: Size = Size(380.0, 250.0);
const LEFT: f64 = 48.0;
const RIGHT: f64 = 368.0;
const TOP: f64 = 26.0;
const BASE: f64 = 196.0;
/// Most rows of the table.
const ROWS: usize = 20;

/// A point of the curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Point {
    /// Documents that were screened by then.
    pub screened: u64,
    /// Documents that were included by then; more than `screened` counts as `screened`.
    pub included: u64,
}

/// How far a random order is expected to be when all documents are screened.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Expected {
    /// Documents that can be screened.
    pub documents: u64,
    /// Relevant ones among them, as far as is known; ≥ 0.
    pub relevant: f64,
}

/// What the picture and its table say.
#[derive(Debug, Clone, Copy)]
pub struct Texts<'a> {
    /// Name of the picture; also the caption of the table.
    pub title: &'a str,
    /// What the picture shows, in a sentence.
    pub description: &'a str,
    /// The horizontal axis: screened documents.
    pub screened: &'a str,
    /// The vertical axis: included documents.
    pub included: &'a str,
    /// The line of a random order.
    pub random: &'a str,
}

/// Included against screened documents, in the order of the points, with the line of a random order.
pub fn picture(id: &str, found: &[Point], expected: Expected, texts: &Texts<'_>) -> Markup {
    let documents = expected.documents.max(1) as f64;
    let relevant = if expected.relevant.is_finite() { expected.relevant.clamp(0.0, 1e12) } else { 0.0 };
    let most = found.iter().map(|point| point.included.min(point.screened)).max().unwrap_or(0) as f64;
    let step = round_step(most.max(relevant) / 4.0, 1.0);
    let top = (most.max(relevant) / step).ceil().max(1.0) * step;
    let (x, y) = (Scale::new((0.0, documents), (LEFT, RIGHT)), Scale::new((0.0, top), (BASE, TOP)));
    let place =
        |point: &Point| (x.at(point.screened as f64), y.at(point.included.min(point.screened) as f64));
    let places: Vec<(f64, f64)> = std::iter::once((LEFT, BASE)).chain(found.iter().map(place)).collect();
    let end = places.last().map_or(LEFT, |(x, _)| *x);
    let drawn = html! {
        @for share in [0.0, 0.5, 1.0] {
            @let height = y.at(share * top);
            (line(if share == 0.0 { "axis" } else { "grid" }, (LEFT, height), (RIGHT, height), 1.0))
            (text(LEFT - 8.0, height + 4.0, Anchor::End, &label::count(share * top)))
        }
        @for share in [0.0, 0.5, 1.0] {
            @let tick = label::count(share * documents);
            @let at = x.at(share * documents);
            (line("axis", (at, BASE), (at, BASE + 5.0), 1.0))
            (text(kept(at, &tick, LEFT, RIGHT), BASE + 19.0, Anchor::Middle, &tick))
        }
        (area(&points(places.iter().copied().chain([(end, BASE)]))))
        (dashes("axis", (LEFT, BASE), (RIGHT, y.at(relevant))))
        (curve("curve", &points(places), 2.0))
        (fitted(0.0, TOP - 13.0, Anchor::Start, texts.included, RIGHT))
        (fitted(f64::midpoint(LEFT, RIGHT), BASE + 42.0, Anchor::Middle, texts.screened, RIGHT - LEFT))
    };
    let legend = html! { (entry(Sample::Curve, texts.included)) (entry(Sample::Dashes, texts.random)) };
    figure(&svg(&Ids::new(id), SIZE, texts.title, texts.description, &drawn), &legend)
}

/// The points with what a random order would have found by then; of many points, 20 and the last.
pub fn table(found: &[Point], expected: Expected, texts: &Texts<'_>) -> Markup {
    let every = found.len().div_ceil(ROWS).max(1);
    let shown =
        found.iter().enumerate().filter(|(at, _)| (at + 1).is_multiple_of(every) || at + 1 == found.len());
    let rows = shown.map(|(_, point)| {
        let random = expected.relevant.max(0.0) * point.screened as f64 / expected.documents.max(1) as f64;
        [point.screened.to_string(), point.included.to_string(), label::weight(random)]
    });
    table::table(texts.title, [texts.screened, texts.included, texts.random], rows)
}
