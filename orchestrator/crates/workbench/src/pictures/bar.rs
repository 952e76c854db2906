//! The small bar of a claim's or task's evidence.

use super::frame::{Ids, hatch, named, names};
use super::{Side, table};
use maud::{Markup, html};

/// No segment is narrower than this share of the bar, in percent: one refutation among a thousand passages is visible.
const LEAST: f64 = 1.5;
/// Between two segments, in percent.
const GAP: f64 = 0.3;

/// Passages by what they say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Supporting.
    pub supports: u64,
    /// Neither.
    pub neutral: u64,
    /// Refuting.
    pub refutes: u64,
    /// Not judged.
    pub unjudged: u64,
}

/// What the picture and its table say.
#[derive(Debug, Clone, Copy)]
pub struct Texts<'a> {
    /// Name of the picture, with its numbers; also the caption of the table.
    pub title: &'a str,
    /// What the picture shows, in a sentence.
    pub description: &'a str,
    /// Head of the table's column of names.
    pub relation: &'a str,
    /// Head of the table's column of counts.
    pub passages: &'a str,
    /// Supports.
    pub supports: &'a str,
    /// Neutral.
    pub neutral: &'a str,
    /// Refutes.
    pub refutes: &'a str,
    /// Not judged.
    pub unjudged: &'a str,
}

/// How a segment is drawn.
#[derive(Debug, Clone, Copy)]
enum Segment {
    Judged(Side),
    Unjudged,
}

/// A bar as wide as its place and 10 pixels high: support solid, neutral pale, refutation hatched, and a thin line for
/// what is not judged. Widths are shares; where one is too small to be seen, it is drawn wider. Without passages there
/// is only the line.
///
/// `id` begins the ids of the picture and is unique in the page.
pub fn picture(id: &str, counts: Counts, texts: &Texts<'_>) -> Markup {
    let ids = Ids::new(id);
    html! {
        svg class="picture bar" width="100%" height="10" role="img" aria-labelledby=(names(&ids)) {
            (named(&ids, texts.title, texts.description))
            @if counts.refutes > 0 { (hatch(&ids)) }
            @for (segment, from, to) in segments(counts) { (drawn(&ids, segment, from, to)) }
        }
    }
}

/// The counts.
pub fn table(counts: Counts, texts: &Texts<'_>) -> Markup {
    let rows = [
        (texts.supports, counts.supports),
        (texts.neutral, counts.neutral),
        (texts.refutes, counts.refutes),
        (texts.unjudged, counts.unjudged),
    ];
    let rows = rows.map(|(name, count)| [name.to_owned(), count.to_string()]);
    table::table(texts.title, [texts.relation, texts.passages], rows)
}

/// Segments from left to right, each with its ends in percent.
fn segments(counts: Counts) -> Vec<(Segment, f64, f64)> {
    let all = [
        (Segment::Judged(Side::Supports), counts.supports),
        (Segment::Judged(Side::Neutral), counts.neutral),
        (Segment::Judged(Side::Refutes), counts.refutes),
        (Segment::Unjudged, counts.unjudged),
    ];
    let total: f64 = all.iter().map(|(_, count)| *count as f64).sum();
    if total == 0.0 {
        return vec![(Segment::Unjudged, 0.0, 100.0)];
    }
    let widths =
        all.map(|(_, count)| if count == 0 { 0.0 } else { (count as f64 / total * 100.0).max(LEAST) });
    let scale = 100.0 / widths.iter().sum::<f64>();
    let mut from = 0.0;
    let mut placed = Vec::new();
    for ((segment, _), width) in all.into_iter().zip(widths) {
        if width > 0.0 {
            let to = f64::min(from + width * scale, 100.0);
            placed.push((segment, from, to));
            from = to;
        }
    }
    if let Some(last) = placed.last_mut() {
        last.2 = 100.0;
    }
    placed
}

fn drawn(ids: &Ids, segment: Segment, from: f64, to: f64) -> Markup {
    let percent = |value: f64| format!("{value:.2}%");
    let end = if to < 100.0 { to - GAP } else { to };
    let (x, width) = (percent(from), percent(end - from));
    match segment {
        Segment::Judged(Side::Supports) => html! {
            rect class="support" x=(x) y="0" width=(width) height="10" fill="currentColor" {}
        },
        Segment::Judged(Side::Refutes) => html! {
            rect class="refute" x=(x) y="0" width=(width) height="10" fill="currentColor" fill-opacity="0.12" {}
            rect x=(x) y="0" width=(width) height="10" fill=(ids.hatch()) {}
        },
        Segment::Judged(Side::Neutral) => html! {
            rect class="neutral" x=(x) y="2" width=(width) height="6" fill="currentColor" fill-opacity="0.6" {}
        },
        Segment::Unjudged => html! {
            rect class="axis" x=(x) y="4.5" width=(width) height="1" fill="currentColor" {}
        },
    }
}
