//! What makes up a score: a bar of parts side by side, with a letter in each that is wide enough.

use super::frame::{Anchor, Ids, Size, svg, text};
use super::label;
use super::scale::Px;
use maud::{Markup, html};

/// Kinds of parts with a color of their own; further ones begin again.
const KINDS: usize = 6;
/// Least width of a part that has its letter in it, in pixels.
const LETTER: f64 = 13.0;
const HEIGHT: f64 = 18.0;

/// A part of a score.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// Its letter, which the legend explains.
    pub letter: char,
    /// Its place among all parts, from 0, which decides its color.
    pub kind: usize,
    /// Its share, in [0, 1].
    pub share: f64,
}

/// The letter of the part with this place: `A` for the first.
pub fn letter(kind: usize) -> char {
    char::from_u32('A' as u32 + (kind % 26) as u32).unwrap_or('A')
}

/// The class of a part's color.
fn class(kind: usize) -> String {
    format!("part-{}", kind % KINDS)
}

/// A bar of this width, in pixels at 100 %. Shares that add up to more than 1 are cut off at its end.
pub fn picture(id: &str, parts: &[Part], width: f64, title: &str, description: &str) -> Markup {
    let width = if width.is_finite() { width.clamp(20.0, 2_000.0) } else { 20.0 };
    let mut at = 0.0;
    let mut places = Vec::new();
    for part in parts {
        let share = if part.share.is_nan() { 0.0 } else { part.share.clamp(0.0, 1.0) };
        let end = (at + share * width).min(width);
        if end - at > 0.01 {
            places.push((part, at, end - at));
        }
        at = end;
    }
    let drawn = html! {
        @for (part, at, wide) in places {
            g class=(class(part.kind)) {
                rect x=(Px(at + 0.5)) y="0.5" width=(Px((wide - 1.0).max(0.5))) height=(Px(HEIGHT - 1.0))
                    fill="currentColor" fill-opacity="0.3" stroke="currentColor" stroke-width="1" {}
            }
            @if wide >= LETTER {
                (text(at + wide / 2.0, HEIGHT / 2.0 + 4.0, Anchor::Middle, &part.letter.to_string()))
            }
        }
    };
    html! { span class="picture shares" { (svg(&Ids::new(id), Size(width, HEIGHT), title, description, &drawn)) } }
}

/// An entry of the legend: the paint and the letter of a part, and what it is.
pub fn key(kind: usize, name: &str) -> Markup {
    html! {
        span class="key" {
            svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false" {
                g class=(class(kind)) {
                    rect x="0.5" y="0.5" width="15" height="15" fill="currentColor" fill-opacity="0.3"
                        stroke="currentColor" stroke-width="1" {}
                }
                (text(8.0, 12.0, Anchor::Middle, &letter(kind).to_string()))
            }
            " " bdi { (label::full(name)) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn part(kind: usize, share: f64) -> Part {
        Part { letter: letter(kind), kind, share }
    }

    #[test]
    fn parts_fill_the_bar() {
        let html =
            picture("bar", &[part(0, 0.75), part(1, 0.25)], 200.0, "T", "A 75 %, B 25 %").into_string();
        assert!(html.contains(r#"class="part-0""#) && html.contains(r#"x="150.5""#), "{html}");
        assert!(html.contains(">A</text>") && html.contains(">B</text>"), "{html}");
        assert_eq!((letter(0), letter(25), letter(26)), ('A', 'Z', 'A'));
    }

    proptest! {
        #[test]
        fn parts_stay_within(shares in prop::collection::vec(prop::num::f64::ANY, 0..8), title in "\\PC{0,20}") {
            let parts: Vec<Part> = shares.iter().enumerate().map(|(kind, share)| part(kind, *share)).collect();
            let html = picture("x", &parts, 240.0, &title, "d").into_string();
            let after = |name: &str| -> Vec<f64> {
                let from = html.split("<rect x=\"").skip(1);
                from.filter_map(|rest| rest.split(&format!("{name}=\"")).nth(1)?.split('"').next()?.parse().ok()).collect()
            };
            let xs: Vec<f64> = html.split("<rect x=\"").skip(1).filter_map(|rest| rest.split('"').next()?.parse().ok()).collect();
            for (x, width) in xs.iter().zip(after("width")) {
                prop_assert!(*x >= 0.0 && x + width <= 240.01, "{html}");
            }
        }
    }
}
