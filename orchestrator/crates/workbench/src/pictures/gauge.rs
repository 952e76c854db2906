//! A claim's confidence in a line of text.

use super::frame::{Ids, Size, line, svg};
use super::glyph;
use super::scale::Scale;
use maud::{Markup, html};

const SIZE: Size = Size(96.0, 14.0);
const ENDS: (f64, f64) = (4.0, 92.0);
const MIDDLE: f64 = 7.0;

/// What the picture says.
#[derive(Debug, Clone, Copy)]
pub struct Texts<'a> {
    /// Name of the picture, with its numbers.
    pub title: &'a str,
    /// What the picture shows, in a sentence.
    pub description: &'a str,
}

/// A gauge from 0 to 1 of 96 × 14 pixels: a dot at `confidence` (in [0, 1]), and an interval of `uncertainty` (the
/// posterior standard deviation) to both sides, clipped to the gauge. Its middle has a tick.
///
/// `id` begins the ids of the picture and is unique in the page.
pub fn picture(id: &str, confidence: f64, uncertainty: f64, texts: &Texts<'_>) -> Markup {
    let x = Scale::unit(ENDS);
    let deviation = if uncertainty.is_nan() { 0.0 } else { uncertainty.max(0.0) };
    let drawn = html! {
        (line("axis", (ENDS.0, MIDDLE), (ENDS.1, MIDDLE), 1.0))
        @for (tick, half) in [(0.0, 3.0), (0.5, 3.0), (1.0, 3.0)] {
            (line("axis", (x.at(tick), MIDDLE - half), (x.at(tick), MIDDLE + half), 1.0))
        }
        (line("curve", (x.at(confidence - deviation), MIDDLE), (x.at(confidence + deviation), MIDDLE), 2.5))
        (glyph::dot(x.at(confidence), MIDDLE))
    };
    html! { span class="picture gauge" { (svg(&Ids::new(id), SIZE, texts.title, texts.description, &drawn)) } }
}
