//! How a claim's confidence moved.

use super::frame::{Anchor, Ids, Sample, Size, area, curve, entry, figure, kept, line, svg, text};
use super::scale::{Scale, points};
use super::{Side, glyph, label, table};
use maud::{Markup, html};

const SIZE: Size = Size(680.0, 200.0);
const LEFT: f64 = 40.0;
const RIGHT: f64 = 672.0;
const TOP: f64 = 12.0;
const BASE: f64 = 160.0;
/// Marks stand no closer than this, in pixels; events closer together have none.
const CLOSEST: f64 = 9.0;
/// Largest width of a time's text.
const TIME: f64 = 150.0;

/// What moved the confidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Event {
    /// A passage was judged.
    Judged(Side),
    /// A person corrected a judgment, rejected the claim, or restored it.
    Person,
    /// A work was retracted.
    Retracted,
}

/// The confidence after an event.
#[derive(Debug, Clone, Copy)]
pub struct Point<'a> {
    /// When, in the words of the page.
    pub time: &'a str,
    /// Posterior mean, in [0, 1].
    pub confidence: f64,
    /// Posterior standard deviation, ≥ 0.
    pub uncertainty: f64,
    /// What happened.
    pub event: Event,
}

/// What the picture and its table say.
#[derive(Debug, Clone, Copy)]
pub struct Texts<'a> {
    /// Name of the picture; also the caption of the table.
    pub title: &'a str,
    /// What the picture shows, in a sentence.
    pub description: &'a str,
    /// Head of the table's column of times.
    pub time: &'a str,
    /// Head of the table's column of events.
    pub event: &'a str,
    /// The line: confidence.
    pub confidence: &'a str,
    /// The band: one standard deviation to both sides.
    pub uncertainty: &'a str,
    /// A passage that supports.
    pub supports: &'a str,
    /// A passage that refutes.
    pub refutes: &'a str,
    /// A neutral passage.
    pub neutral: &'a str,
    /// What a person did.
    pub person: &'a str,
    /// A retraction.
    pub retracted: &'a str,
}

/// The confidence after each event as a step line, in the order given and one step wide each, in a band of one standard
/// deviation to both sides, clipped to [0, 1]. Marks show what happened.
pub fn picture(id: &str, history: &[Point<'_>], texts: &Texts<'_>) -> Markup {
    let y = Scale::unit((BASE, TOP));
    let x = Scale::new((0.0, history.len() as f64), (LEFT, RIGHT));
    let step = (RIGHT - LEFT) / history.len().max(1) as f64;
    let stepped = |value: fn(&Point<'_>) -> f64| {
        let places = history.iter().enumerate();
        places
            .flat_map(move |(i, point)| [i, i + 1].map(|i| (x.at(i as f64), y.at(value(point)))))
            .collect::<Vec<_>>()
    };
    let widest = history.iter().map(|point| label::width(&label::fit(point.time, TIME))).fold(0.0, f64::max);
    let mean = stepped(|point| point.confidence);
    let upper = stepped(|point| point.confidence + deviation(point));
    let lower = stepped(|point| point.confidence - deviation(point));
    let drawn = html! {
        @for tick in [0.0, 0.5, 1.0] {
            (line(if tick == 0.0 { "axis" } else { "grid" }, (LEFT, y.at(tick)), (RIGHT, y.at(tick)), 1.0))
            (text(LEFT - 8.0, y.at(tick) + 4.0, Anchor::End, &format!("{tick}")))
        }
        (area(&points(upper.into_iter().chain(lower.into_iter().rev()))))
        (curve("curve", &points(mean), 1.5))
        @if step >= CLOSEST {
            @for (i, point) in history.iter().enumerate() {
                g {
                    title { (full(point, texts)) }
                    (mark(point.event, x.at(i as f64), y.at(point.confidence)))
                }
            }
        }
        @for i in named(history.len(), step, widest) {
            @let (at, time) = (x.at(i as f64), label::fit(history[i].time, TIME));
            (line("axis", (at, BASE), (at, BASE + 5.0), 1.0))
            (text(kept(at, &time, 0.0, SIZE.0), BASE + 20.0, Anchor::Middle, &time))
        }
    };
    let events = [
        Event::Judged(Side::Supports),
        Event::Judged(Side::Refutes),
        Event::Judged(Side::Neutral),
        Event::Person,
        Event::Retracted,
    ];
    let legend = html! {
        (entry(Sample::Curve, texts.confidence))
        (entry(Sample::Area, texts.uncertainty))
        @for event in events.into_iter().filter(|event| history.iter().any(|point| point.event == *event)) {
            (entry(sample(event), word(event, texts)))
        }
    };
    figure(&svg(&Ids::new(id), SIZE, texts.title, texts.description, &drawn), &legend)
}

/// The events in the order given.
pub fn table(history: &[Point<'_>], texts: &Texts<'_>) -> Markup {
    let rows = history.iter().map(|point| {
        [
            point.time.to_owned(),
            word(point.event, texts).to_owned(),
            label::share(point.confidence, 3),
            label::share(deviation(point), 3),
        ]
    });
    table::table(texts.title, [texts.time, texts.event, texts.confidence, texts.uncertainty], rows)
}

fn deviation(point: &Point<'_>) -> f64 {
    if point.uncertainty.is_nan() { 0.0 } else { point.uncertainty.max(0.0) }
}

fn word<'a>(event: Event, texts: &Texts<'a>) -> &'a str {
    match event {
        Event::Judged(Side::Supports) => texts.supports,
        Event::Judged(Side::Refutes) => texts.refutes,
        Event::Judged(Side::Neutral) => texts.neutral,
        Event::Person => texts.person,
        Event::Retracted => texts.retracted,
    }
}

fn sample(event: Event) -> Sample<'static> {
    match event {
        Event::Judged(side) => Sample::Side(side),
        Event::Person => Sample::Diamond,
        Event::Retracted => Sample::Cross,
    }
}

fn mark(event: Event, x: f64, y: f64) -> Markup {
    match event {
        Event::Judged(side) => glyph::side(side, x, y),
        Event::Person => glyph::diamond(x, y),
        Event::Retracted => glyph::cross(x, y),
    }
}

/// An event in full, for a pointer over it.
fn full(point: &Point<'_>, texts: &Texts<'_>) -> String {
    let (mean, deviation) = (label::share(point.confidence, 2), label::share(deviation(point), 2));
    format!("{} · {} · {mean} ± {deviation}", label::full(point.time), word(point.event, texts))
}

/// The events whose time is written: the first, the last, and as many between as have room for texts of this width.
fn named(events: usize, step: f64, width: f64) -> Vec<usize> {
    let apart = width + 16.0;
    let last = events.saturating_sub(1);
    let every = (apart / step).ceil().max(1.0) as usize;
    // The texts of the first and the last move inward where they would leave the picture.
    let has_room = |i: &usize| (*i).min(last - i) as f64 * step >= 1.5 * apart;
    let first = (events > 0).then_some(0);
    let end = (last as f64 * step >= 2.0 * apart).then_some(last);
    first.into_iter().chain((0..last).step_by(every).filter(has_room)).chain(end).collect()
}
