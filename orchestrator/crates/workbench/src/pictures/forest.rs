//! What each source adds to a claim's confidence, source by source.

use super::beta::Beta;
use super::frame::{Anchor, Ids, Sample, Size, bar, dashes, entry, figure, fitted, hatch, line, svg, text};
use super::scale::Scale;
use super::{Side, frame, glyph, label, table};
use maud::{Markup, html};

/// Rows of the picture; the sources after them are summed.
pub const ROWS: usize = 200;

const WIDTH: f64 = 736.0;
/// Height of a row, and of the heads.
const ROW: f64 = 22.0;
const HEAD: f64 = 30.0;
/// Room for the axes below the rows.
const FOOT: f64 = 30.0;
/// Width of a source's label.
const LABEL: f64 = 228.0;
/// Right end of the years.
const YEAR: f64 = 276.0;
/// Middle of the bars, and how far they reach to each side.
const MIDDLE: f64 = 356.0;
const REACH: f64 = 56.0;
/// Ends of the axis of confidence.
const CONFIDENCE: (f64, f64) = (440.0, 592.0);

/// A source (work) and what it says.
#[derive(Debug, Clone, Copy)]
pub struct Row<'a> {
    /// Its title or name; from outside, any text.
    pub label: &'a str,
    /// Year of publication.
    pub year: Option<i32>,
    /// What it says.
    pub side: Side,
    /// The certainty that counts, in [0, 1]; a neutral source counts nothing.
    pub weight: f64,
}

/// Sources that are not listed, summed.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Rest {
    /// How many.
    pub sources: u64,
    /// Sum of the weights that support, ≥ 0.
    pub supports: f64,
    /// Sum of the weights that refute, ≥ 0.
    pub refutes: f64,
}

/// What the picture and its table say.
#[derive(Debug, Clone, Copy)]
pub struct Texts<'a> {
    /// Name of the picture; also the caption of the table.
    pub title: &'a str,
    /// What the picture shows, in a sentence.
    pub description: &'a str,
    /// Head of the sources.
    pub source: &'a str,
    /// Head of the years.
    pub year: &'a str,
    /// Head of the table's column of sides.
    pub side: &'a str,
    /// Head of the table's column of weights.
    pub weight: &'a str,
    /// Supports.
    pub supports: &'a str,
    /// Refutes.
    pub refutes: &'a str,
    /// Neutral.
    pub neutral: &'a str,
    /// The confidence after a source and all above it; up to about 22 letters are shown above its column.
    pub confidence: &'a str,
    /// Its 90 % credible interval.
    pub interval: &'a str,
    /// The confidence with all sources.
    pub posterior: &'a str,
    /// Sources that are not listed; their number follows.
    pub rest: &'a str,
}

/// The posterior after a row.
struct Step {
    mean: f64,
    low: f64,
    high: f64,
}

/// One row per source in the order given: its weight as a bar, to the left for refutation and to the right for support,
/// and the confidence with its 90 % interval after this source and all above it, from the flat prior on. The last row
/// is the claim's posterior.
///
/// Sources after the first [`ROWS`] are added to `rest`, whose row is the last; without sources in it, it has none.
pub fn picture(id: &str, rows: &[Row<'_>], rest: Rest, texts: &Texts<'_>) -> Markup {
    let ids = Ids::new(id);
    let (listed, more) = rows.split_at(rows.len().min(ROWS));
    let rest = more.iter().fold(rest, Rest::with);
    let steps = steps(listed, rest);
    let bottom = HEAD + ROW * (listed.len() + usize::from(rest.sources > 0)) as f64;
    let confidence = Scale::unit(CONFIDENCE);
    let last = steps.last().map_or(0.5, |step| step.mean);
    let middle_of = |i: usize| HEAD + ROW * (i as f64 + 0.5);
    let drawn = html! {
        (hatch(&ids))
        (heads(texts))
        (line("axis", (0.0, HEAD - 4.0), (WIDTH, HEAD - 4.0), 1.0))
        (line("axis", (MIDDLE, HEAD), (MIDDLE, bottom), 1.0))
        @for tick in [0.0, 0.5, 1.0] {
            (line("grid", (confidence.at(tick), HEAD), (confidence.at(tick), bottom), 1.0))
        }
        (dashes("axis", (confidence.at(last), HEAD), (confidence.at(last), bottom)))
        @for (i, (row, step)) in listed.iter().zip(&steps).enumerate() {
            @let y = middle_of(i);
            g {
                title { (full(row, step, texts)) }
                (fitted(0.0, y + 4.0, Anchor::Start, row.label, LABEL))
                @if let Some(year) = row.year { (text(YEAR, y + 4.0, Anchor::End, &year.to_string())) }
                (weight(&ids, row, y))
                (estimate(&confidence, step, y))
            }
        }
        @if let (true, Some(step)) = (rest.sources > 0, steps.last()) {
            @let y = middle_of(listed.len());
            @let (refutes, supports) = (label::weight(rest.refutes), label::weight(rest.supports));
            (fitted(0.0, y + 4.0, Anchor::Start, &summed(rest, texts), LABEL))
            (glyph::side(Side::Refutes, MIDDLE - 12.0, y))
            (fitted(MIDDLE - 20.0, y + 4.0, Anchor::End, &refutes, REACH))
            (glyph::side(Side::Supports, MIDDLE + 12.0, y))
            (fitted(MIDDLE + 20.0, y + 4.0, Anchor::Start, &supports, REACH))
            (estimate(&confidence, step, y))
        }
        (foot(&confidence, bottom))
    };
    let legend = html! {
        (entry(Sample::Side(Side::Supports), texts.supports))
        (entry(Sample::Side(Side::Refutes), texts.refutes))
        (entry(Sample::Side(Side::Neutral), texts.neutral))
        (entry(Sample::Estimate, &format!("{}, {}", texts.confidence, texts.interval)))
        (entry(Sample::Dashes, &format!("{} {}", texts.posterior, label::share(last, 2))))
    };
    figure(&svg(&ids, Size(WIDTH, bottom + FOOT), texts.title, texts.description, &drawn), &legend)
}

/// Every source with its year, side, and weight, and the confidence and interval after it.
pub fn table(rows: &[Row<'_>], rest: Rest, texts: &Texts<'_>) -> Markup {
    let steps = steps(rows, rest);
    let listed = rows.iter().zip(&steps).map(|(row, step)| {
        [
            row.label.to_owned(),
            row.year.map(|year| year.to_string()).unwrap_or_default(),
            named(row.side, texts).to_owned(),
            if row.side == Side::Neutral { String::new() } else { label::share(row.weight, 2) },
            label::share(step.mean, 2),
            range(step),
        ]
    });
    let summed = steps.get(rows.len()).map(|step| {
        let sides = format!("{} / {}", texts.supports, texts.refutes);
        let weights = format!("{} / {}", label::weight(rest.supports), label::weight(rest.refutes));
        [summed(rest, texts), String::new(), sides, weights, label::share(step.mean, 2), range(step)]
    });
    let columns = [texts.source, texts.year, texts.side, texts.weight, texts.confidence, texts.interval];
    table::table(texts.title, columns, listed.chain(summed))
}

impl Rest {
    fn with(self, row: &Row<'_>) -> Self {
        let (supports, refutes) = weights(row);
        Self {
            sources: self.sources.saturating_add(1),
            supports: self.supports + supports,
            refutes: self.refutes + refutes,
        }
    }
}

/// What a row adds to α and to β.
fn weights(row: &Row<'_>) -> (f64, f64) {
    let weight = Scale::unit((0.0, 1.0)).at(row.weight);
    match row.side {
        Side::Supports => (weight, 0.0),
        Side::Refutes => (0.0, weight),
        Side::Neutral => (0.0, 0.0),
    }
}

/// The posterior after each row, and after the rest if there are sources in it.
fn steps(rows: &[Row<'_>], rest: Rest) -> Vec<Step> {
    let rest = (rest.sources > 0).then_some((rest.supports.max(0.0), rest.refutes.max(0.0)));
    let added = rows.iter().map(weights).chain(rest);
    added
        .scan((1.0, 1.0), |(alpha, beta), (supports, refutes)| {
            *alpha += supports;
            *beta += refutes;
            let shape = Beta::new(*alpha, *beta);
            let (low, high) = shape.interval();
            Some(Step { mean: shape.mean(), low, high })
        })
        .collect()
}

fn named<'a>(side: Side, texts: &Texts<'a>) -> &'a str {
    match side {
        Side::Supports => texts.supports,
        Side::Refutes => texts.refutes,
        Side::Neutral => texts.neutral,
    }
}

fn range(step: &Step) -> String {
    label::range(step.low, step.high, 2)
}

fn summed(rest: Rest, texts: &Texts<'_>) -> String {
    format!("{} ({})", texts.rest, rest.sources)
}

/// A row in full, for a pointer over it.
fn full(row: &Row<'_>, step: &Step, texts: &Texts<'_>) -> String {
    let year = row.year.map(|year| format!(" ({year})")).unwrap_or_default();
    let weight =
        if row.side == Side::Neutral { String::new() } else { format!(" {}", label::share(row.weight, 2)) };
    format!(
        "{}{year} · {}{weight} · {} {} [{}]",
        label::full(row.label),
        named(row.side, texts),
        texts.confidence,
        label::share(step.mean, 2),
        range(step)
    )
}

fn heads(texts: &Texts<'_>) -> Markup {
    let y = HEAD - 13.0;
    html! {
        (fitted(0.0, y, Anchor::Start, texts.source, LABEL))
        (fitted(YEAR, y, Anchor::End, texts.year, YEAR - LABEL - 4.0))
        (fitted(MIDDLE - 6.0, y, Anchor::End, texts.refutes, REACH + 10.0))
        (fitted(MIDDLE + 6.0, y, Anchor::Start, texts.supports, REACH + 10.0))
        (fitted(CONFIDENCE.0, y, Anchor::Start, texts.confidence, CONFIDENCE.1 - CONFIDENCE.0))
        (fitted(WIDTH, y, Anchor::End, texts.interval, WIDTH - CONFIDENCE.1 - 8.0))
    }
}

/// The bar of a row's weight, with the mark of its side at the end.
fn weight(ids: &Ids, row: &Row<'_>, y: f64) -> Markup {
    let (supports, refutes) = weights(row);
    let length = REACH * (supports + refutes);
    let (left, end) = match row.side {
        Side::Supports => (MIDDLE, MIDDLE + length + 7.0),
        Side::Refutes => (MIDDLE - length, MIDDLE - length - 7.0),
        Side::Neutral => (MIDDLE, MIDDLE),
    };
    html! {
        @if length > 0.0 { (bar(ids, row.side, left, y - 4.0, length, 8.0)) }
        (glyph::side(row.side, end, y))
    }
}

/// The confidence after a row: a dot with its interval, and the numbers beside them.
fn estimate(confidence: &Scale, step: &Step, y: f64) -> Markup {
    let numbers = format!("{} [{}]", label::share(step.mean, 2), range(step));
    html! {
        (line("curve", (confidence.at(step.low), y), (confidence.at(step.high), y), 1.25))
        (frame::estimate(confidence.at(step.mean), y))
        (fitted(WIDTH, y + 4.0, Anchor::End, &numbers, WIDTH - CONFIDENCE.1 - 4.0))
    }
}

/// The axes below the rows.
fn foot(confidence: &Scale, bottom: f64) -> Markup {
    let weights = [(MIDDLE - REACH, "1"), (MIDDLE, "0"), (MIDDLE + REACH, "1")];
    let shares = [(0.0, "0"), (0.5, "0.5"), (1.0, "1")].map(|(share, text)| (confidence.at(share), text));
    html! {
        (line("axis", (MIDDLE - REACH, bottom), (MIDDLE + REACH, bottom), 1.0))
        (line("axis", (CONFIDENCE.0, bottom), (CONFIDENCE.1, bottom), 1.0))
        @for (x, written) in weights.into_iter().chain(shares) {
            (line("axis", (x, bottom), (x, bottom + 5.0), 1.0))
            (text(x, bottom + 19.0, Anchor::Middle, written))
        }
    }
}
