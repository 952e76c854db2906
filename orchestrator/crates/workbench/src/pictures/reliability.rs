//! How far probabilities can be believed: confidence against accuracy.

use super::frame::{Anchor, Ids, Sample, Size, curve, dashes, entry, figure, fitted, line, svg, text};
use super::scale::{Px, Scale, points};
use super::{glyph, label, table};
use maud::{Markup, html};

const SIZE: Size = Size(340.0, 446.0);
const LEFT: f64 = 48.0;
const RIGHT: f64 = 328.0;
const TOP: f64 = 26.0;
const BASE: f64 = 306.0;
/// Where the bars of the counts begin and stand.
const BARS_TOP: f64 = 348.0;
const BARS_BASE: f64 = 392.0;

/// Judgments of about the same confidence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bin {
    /// Confidence above this, in [0, 1],
    pub lower: f64,
    /// up to and with this.
    pub upper: f64,
    /// Judgments in the bin.
    pub count: u64,
    /// Share of correct ones; `None` without judgments.
    pub accuracy: Option<f64>,
    /// Their mean confidence; `None` without judgments.
    pub confidence: Option<f64>,
}

/// What the picture and its table say.
#[derive(Debug, Clone, Copy)]
pub struct Texts<'a> {
    /// Name of the picture; also the caption of the table.
    pub title: &'a str,
    /// What the picture shows, in a sentence.
    pub description: &'a str,
    /// The horizontal axis: confidence.
    pub confidence: &'a str,
    /// The vertical axis: accuracy.
    pub accuracy: &'a str,
    /// The lower bars: judgments in a bin.
    pub count: &'a str,
    /// The diagonal: perfect calibration.
    pub ideal: &'a str,
    /// Head of the table's column of bins.
    pub bin: &'a str,
}

/// The reliability diagram: for each bin that holds judgments, its mean confidence against its accuracy with the
/// distance from the diagonal, and below how many judgments it holds.
pub fn picture(id: &str, bins: &[Bin], texts: &Texts<'_>) -> Markup {
    let (x, y) = (Scale::unit((LEFT, RIGHT)), Scale::unit((BASE, TOP)));
    let most = bins.iter().map(|bin| bin.count).max().unwrap_or(0);
    let height = Scale::new((0.0, most as f64), (0.0, BARS_BASE - BARS_TOP));
    let measured: Vec<(f64, f64)> =
        bins.iter().filter_map(|bin| Some((bin.confidence?, bin.accuracy?))).collect();
    let places = measured.iter().map(|(confidence, accuracy)| (x.at(*confidence), y.at(*accuracy)));
    let drawn = html! {
        @for tick in [0.0, 0.25, 0.5, 0.75, 1.0] {
            @let written = format!("{tick}");
            (line(if tick == 0.0 { "axis" } else { "grid" }, (LEFT, y.at(tick)), (RIGHT, y.at(tick)), 1.0))
            (text(LEFT - 8.0, y.at(tick) + 4.0, Anchor::End, &written))
            (line("axis", (x.at(tick), BARS_BASE), (x.at(tick), BARS_BASE + 5.0), 1.0))
            (text(x.at(tick), BARS_BASE + 19.0, Anchor::Middle, &written))
        }
        (dashes("axis", (x.at(0.0), y.at(0.0)), (x.at(1.0), y.at(1.0))))
        @for (confidence, accuracy) in &measured {
            (line("area", (x.at(*confidence), y.at(*confidence)), (x.at(*confidence), y.at(*accuracy)), 1.0))
        }
        (curve("curve", &points(places.clone()), 1.25))
        @for (at, height) in places { (glyph::dot(at, height)) }
        (fitted(0.0, TOP - 13.0, Anchor::Start, texts.accuracy, RIGHT))
        (fitted(0.0, BARS_TOP - 13.0, Anchor::Start, texts.count, RIGHT))
        (line("grid", (LEFT, BARS_TOP), (RIGHT, BARS_TOP), 1.0))
        (text(LEFT - 8.0, BARS_TOP + 4.0, Anchor::End, &label::count(most as f64)))
        (text(LEFT - 8.0, BARS_BASE + 4.0, Anchor::End, "0"))
        (line("axis", (LEFT, BARS_BASE), (RIGHT, BARS_BASE), 1.0))
        @for bin in bins.iter().filter(|bin| bin.count > 0) { (counted(bin, &x, height.at(bin.count as f64))) }
        (fitted(f64::midpoint(LEFT, RIGHT), BARS_BASE + 42.0, Anchor::Middle, texts.confidence, RIGHT - LEFT))
    };
    let legend = entry(Sample::Dashes, texts.ideal);
    figure(&svg(&Ids::new(id), SIZE, texts.title, texts.description, &drawn), &legend)
}

/// The bins, empty ones too.
pub fn table(bins: &[Bin], texts: &Texts<'_>) -> Markup {
    let share = |value: Option<f64>| value.map(|value| label::share(value, 3)).unwrap_or_default();
    let rows = bins.iter().map(|bin| {
        let ends = format!("{}–{}", label::share(bin.lower, 2), label::share(bin.upper, 2));
        [ends, bin.count.to_string(), share(bin.confidence), share(bin.accuracy)]
    });
    table::table(texts.title, [texts.bin, texts.count, texts.confidence, texts.accuracy], rows)
}

/// The bar of a bin's count.
fn counted(bin: &Bin, x: &Scale, height: f64) -> Markup {
    let (left, right) = (x.at(bin.lower), x.at(bin.upper));
    let height = height.max(1.0);
    html! {
        rect class="area" x=(Px(left.min(right) + 0.5)) y=(Px(BARS_BASE - height))
            width=(Px(((right - left).abs() - 1.0).max(0.5))) height=(Px(height))
            fill="currentColor" fill-opacity="0.45" {
            title { (bin.count) }
        }
    }
}
