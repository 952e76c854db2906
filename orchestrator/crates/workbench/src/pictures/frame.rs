//! What all pictures share: the frame with its title and description, axes, and the legend.

use super::label::{self, SIZE};
use super::scale::Px;
use super::{Side, glyph};
use maud::{Markup, html};

/// Start of the ids within a picture. Other characters than ASCII letters, digits, `-`, and `_` become `-`.
#[derive(Debug)]
pub(super) struct Ids(String);

impl Ids {
    pub(super) fn new(prefix: &str) -> Self {
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
        Self(prefix.chars().take(100).map(plain).collect())
    }

    fn of(&self, name: &str) -> String {
        format!("{}-{name}", self.0)
    }

    /// The paint of what refutes.
    pub(super) fn hatch(&self) -> String {
        format!("url(#{}-hatch)", self.0)
    }
}

/// Width and height of a picture, in pixels at 100 %.
#[derive(Debug, Clone, Copy)]
pub(super) struct Size(pub(super) f64, pub(super) f64);

/// A picture with its legend, if it has one.
pub(super) fn figure(picture: &Markup, legend: &Markup) -> Markup {
    html! {
        figure class="picture" {
            (picture)
            @if !legend.0.is_empty() { figcaption class="legend" { (legend) } }
        }
    }
}

/// A picture that shrinks with its place and never grows.
pub(super) fn svg(ids: &Ids, size: Size, title: &str, description: &str, content: &Markup) -> Markup {
    framed("img", ids, size, title, description, content)
}

/// The same with links in it, which an image may not have.
pub(super) fn linked_svg(ids: &Ids, size: Size, title: &str, description: &str, content: &Markup) -> Markup {
    framed("group", ids, size, title, description, content)
}

fn framed(role: &str, ids: &Ids, size: Size, title: &str, description: &str, content: &Markup) -> Markup {
    let Size(width, height) = size;
    html! {
        svg viewBox={ "0 0 " (Px(width)) " " (Px(height)) } width=(Px(width)) height=(Px(height)) font-size=(Px(SIZE))
            role=(role) aria-labelledby=(names(ids)) {
            (named(ids, title, description))
            (content)
        }
    }
}

/// The ids of title and description.
pub(super) fn names(ids: &Ids) -> String {
    format!("{} {}", ids.of("title"), ids.of("description"))
}

/// Title and description.
pub(super) fn named(ids: &Ids, title: &str, description: &str) -> Markup {
    html! {
        title id=(ids.of("title")) { (title) }
        desc id=(ids.of("description")) { (description) }
    }
}

/// The pattern of what refutes: thin diagonal lines. Stands once in each picture that uses [`Ids::hatch`].
pub(super) fn hatch(ids: &Ids) -> Markup {
    html! {
        defs {
            pattern id=(ids.of("hatch")) width="4" height="4" patternUnits="userSpaceOnUse"
                patternTransform="rotate(45)" {
                line class="refute" x1="1" y1="0" x2="1" y2="4" stroke="currentColor" stroke-width="1.5" {}
            }
        }
    }
}

/// Where a text begins, has its middle, or ends.
#[derive(Debug, Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl Anchor {
    fn word(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Middle => "middle",
            Self::End => "end",
        }
    }
}

/// One line of text, as it is.
pub(super) fn text(x: f64, y: f64, anchor: Anchor, text: &str) -> Markup {
    html! { text class="label" x=(Px(x)) y=(Px(y)) text-anchor=(anchor.word()) fill="currentColor" { (text) } }
}

/// One line of text from outside, shortened until it fits into `width` pixels.
pub(super) fn fitted(x: f64, y: f64, anchor: Anchor, text: &str, width: f64) -> Markup {
    self::text(x, y, anchor, &label::fit(text, width))
}

/// Where a text of the middle anchor must stand so that it stays between `left` and `right`.
pub(super) fn kept(x: f64, text: &str, left: f64, right: f64) -> f64 {
    let half = label::width(text) / 2.0;
    if right - left <= 2.0 * half { f64::midpoint(left, right) } else { x.clamp(left + half, right - half) }
}

/// A straight line of a class.
pub(super) fn line(class: &str, (x1, y1): (f64, f64), (x2, y2): (f64, f64), width: f64) -> Markup {
    html! {
        line class=(class) x1=(Px(x1)) y1=(Px(y1)) x2=(Px(x2)) y2=(Px(y2))
            stroke="currentColor" stroke-width=(Px(width)) {}
    }
}

/// A dashed straight line of a class.
pub(super) fn dashes(class: &str, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) -> Markup {
    html! {
        line class=(class) x1=(Px(x1)) y1=(Px(y1)) x2=(Px(x2)) y2=(Px(y2))
            stroke="currentColor" stroke-width="1" stroke-dasharray="4 3" {}
    }
}

/// A curve through points (`x,y x,y`) of a class.
pub(super) fn curve(class: &str, points: &str, width: f64) -> Markup {
    html! {
        polyline class=(class) points=(points) fill="none" stroke="currentColor" stroke-width=(Px(width))
            stroke-linejoin="round" {}
    }
}

/// A lightly filled area with these corners (`x,y x,y`).
pub(super) fn area(points: &str) -> Markup {
    html! { polygon class="area" points=(points) fill="currentColor" fill-opacity="0.16" {} }
}

/// A rectangle painted for a side: solid, hatched with an outline, or pale.
pub(super) fn bar(ids: &Ids, side: Side, x: f64, y: f64, width: f64, height: f64) -> Markup {
    let class = side.class();
    match side {
        Side::Supports => html! {
            rect class=(class) x=(Px(x)) y=(Px(y)) width=(Px(width)) height=(Px(height)) fill="currentColor" {}
        },
        Side::Refutes => html! {
            rect class=(class) x=(Px(x)) y=(Px(y)) width=(Px(width)) height=(Px(height))
                fill=(ids.hatch()) stroke="currentColor" stroke-width="0.75" {}
        },
        Side::Neutral => html! {
            rect class=(class) x=(Px(x)) y=(Px(y)) width=(Px(width)) height=(Px(height))
                fill="currentColor" fill-opacity="0.7" {}
        },
    }
}

/// The dot of an estimate on its interval.
pub(super) fn estimate(x: f64, y: f64) -> Markup {
    html! { circle class="curve" cx=(Px(x)) cy=(Px(y)) r="3" fill="currentColor" {} }
}

/// What a legend explains.
#[derive(Debug, Clone, Copy)]
pub(super) enum Sample<'a> {
    /// The mark of a side.
    Side(Side),
    /// The paint of a side, in the picture of these ids.
    Bar(&'a Ids, Side),
    Curve,
    Area,
    /// An area with a thick line at its foot.
    Interval,
    /// A dot with an interval.
    Estimate,
    Dashes,
    Dot,
    Diamond,
    Cross,
}

/// An entry of a legend.
pub(super) fn entry(sample: Sample<'_>, text: &str) -> Markup {
    let (x, y) = (8.0, 6.0);
    let drawn = match sample {
        Sample::Side(side) => glyph::side(side, x, y),
        Sample::Curve => line("curve", (0.0, y), (16.0, y), 1.5),
        Sample::Bar(ids, side) => bar(ids, side, 3.0, 1.0, 10.0, 10.0),
        Sample::Area => area("0,1 16,1 16,11 0,11"),
        Sample::Interval => html! {
            (area("0,1 16,1 16,10 0,10"))
            (line("curve", (0.0, 10.0), (16.0, 10.0), 2.0))
        },
        Sample::Estimate => html! {
            (line("curve", (0.0, y), (16.0, y), 1.25))
            (estimate(x, y))
        },
        Sample::Dashes => dashes("axis", (0.0, y), (16.0, y)),
        Sample::Dot => glyph::dot(x, y),
        Sample::Diamond => glyph::diamond(x, y),
        Sample::Cross => glyph::cross(x, y),
    };
    html! {
        span class="key" {
            svg viewBox="0 0 16 12" width="16" height="12" aria-hidden="true" focusable="false" { (drawn) }
            " " (text)
        }
    }
}
