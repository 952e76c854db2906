//! What to expect at each depth of reading: precision, recall, and Fβ of the two, with their intervals.

use super::frame::{Anchor, Ids, Sample, Size, curve, dashes, entry, figure, fitted, line, svg, text};
use super::scale::{Scale, points};
use super::{glyph, label, table};
use maud::{Markup, html};

const SIZE: Size = Size(460.0, 290.0);
const LEFT: f64 = 48.0;
const RIGHT: f64 = 444.0;
const TOP: f64 = 14.0;
const BASE: f64 = 232.0;
/// Least distance between two written depths, in pixels.
const APART: f64 = 30.0;

/// A depth of reading.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Documents read.
    pub depth: usize,
    /// Precision.
    pub precision: Band,
    /// Recall.
    pub recall: Band,
    /// Fβ of the two.
    pub combined: Band,
}

/// A share with its interval, each in [0, 1].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Band {
    /// Expected value.
    pub mean: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// What the picture and its table say.
#[derive(Debug, Clone, Copy)]
pub struct Texts<'a> {
    /// Name of the picture; also the caption of the table.
    pub title: &'a str,
    /// What the picture shows, in a sentence.
    pub description: &'a str,
    /// The horizontal axis: documents read.
    pub depth: &'a str,
    /// Name of the precision.
    pub precision: &'a str,
    /// Name of the recall.
    pub recall: &'a str,
    /// Name of Fβ.
    pub combined: &'a str,
}

/// The three curves over the depth, on a logarithmic axis, with a line for each interval: dots, crosses on dashes, and diamonds.
pub fn picture(id: &str, measured: &[Point], texts: &Texts<'_>) -> Markup {
    let mut sorted: Vec<&Point> = measured.iter().filter(|point| point.depth > 0).collect();
    sorted.sort_by_key(|point| point.depth);
    let ln = |depth: usize| (depth as f64).ln();
    let ends = sorted.first().zip(sorted.last()).map_or((0.0, 1.0), |(a, b)| (ln(a.depth), ln(b.depth)));
    let (x, y) = (Scale::new(ends, (LEFT + 8.0, RIGHT - 8.0)), Scale::unit((BASE, TOP)));
    let of = |value: fn(&Point) -> Band| -> Vec<(f64, f64)> {
        sorted.iter().map(|point| (x.at(ln(point.depth)), y.at(value(point).mean))).collect()
    };
    // Side by side, so that none covers another.
    let intervals = |value: fn(&Point) -> Band, aside: f64| -> Vec<((f64, f64), (f64, f64))> {
        let ends = |point: &&Point| {
            let (at, band) = (x.at(ln(point.depth)) + aside, value(point));
            ((at, y.at(band.low)), (at, y.at(band.high)))
        };
        sorted.iter().map(ends).collect()
    };
    let (precision, recall, combined) =
        (of(|point| point.precision), of(|point| point.recall), of(|point| point.combined));
    let mut ticks: Vec<(f64, usize)> = Vec::new();
    for point in &sorted {
        let at = x.at(ln(point.depth));
        if ticks.last().is_none_or(|(last, _)| at - last >= APART) {
            ticks.push((at, point.depth));
        }
    }
    let drawn = html! {
        @for tick in [0.0, 0.25, 0.5, 0.75, 1.0] {
            (line(if tick == 0.0 { "axis" } else { "grid" }, (LEFT, y.at(tick)), (RIGHT, y.at(tick)), 1.0))
            (text(LEFT - 8.0, y.at(tick) + 4.0, Anchor::End, &format!("{tick}")))
        }
        @for (at, depth) in ticks {
            (line("axis", (at, BASE), (at, BASE + 5.0), 1.0))
            (text(at, BASE + 19.0, Anchor::Middle, &label::count(depth as f64)))
        }
        @for (low, high) in intervals(|point| point.precision, -3.0) { (line("support", low, high, 1.0)) }
        @for (low, high) in intervals(|point| point.recall, 3.0) { (dashes("refute", low, high)) }
        @for (low, high) in intervals(|point| point.combined, 0.0) { (line("label", low, high, 0.5)) }
        (curve("support", &points(precision.iter().copied()), 1.5))
        @for pair in recall.windows(2) { (dashes("refute", pair[0], pair[1])) }
        (curve("label", &points(combined.iter().copied()), 1.0))
        @for (at, height) in &precision { (glyph::dot(*at, *height)) }
        @for (at, height) in &recall { (glyph::cross(*at, *height)) }
        @for (at, height) in &combined { (glyph::diamond(*at, *height)) }
        (fitted(f64::midpoint(LEFT, RIGHT), BASE + 44.0, Anchor::Middle, texts.depth, RIGHT - LEFT))
    };
    let legend = html! {
        (entry(Sample::Dot, texts.precision))
        (entry(Sample::Cross, texts.recall))
        (entry(Sample::Diamond, texts.combined))
    };
    figure(&svg(&Ids::new(id), SIZE, texts.title, texts.description, &drawn), &legend)
}

/// The depths with their numbers.
pub fn table(measured: &[Point], texts: &Texts<'_>) -> Markup {
    let share = |of: Band| {
        format!("{} ({}–{})", label::share(of.mean, 2), label::share(of.low, 2), label::share(of.high, 2))
    };
    let rows = measured.iter().map(|point| {
        [point.depth.to_string(), share(point.precision), share(point.recall), share(point.combined)]
    });
    table::table(texts.title, [texts.depth, texts.precision, texts.recall, texts.combined], rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TEXTS: Texts<'static> = Texts {
        title: "T",
        description: "D",
        depth: "Documents",
        precision: "P*",
        recall: "R*",
        combined: "F*",
    };

    proptest! {
        #[test]
        fn every_place_is_finite(
            given in prop::collection::vec((any::<u32>(), prop::num::f64::ANY, prop::num::f64::ANY), 0..12)
        ) {
            let band = |a: f64, b: f64| Band { mean: a, low: b, high: a };
            let given: Vec<Point> = given
                .into_iter()
                .map(|(depth, a, b)| Point {
                    depth: depth as usize,
                    precision: band(a, b),
                    recall: band(b, a),
                    combined: band(a, a),
                })
                .collect();
            let html = picture("f", &given, &TEXTS).into_string();
            prop_assert!(!html.contains("NaN") && !html.contains("inf"), "{html}");
            let rows = table(&given, &TEXTS).into_string().matches("<tr>").count();
            prop_assert_eq!(rows, given.len() + 1);
        }
    }
}
