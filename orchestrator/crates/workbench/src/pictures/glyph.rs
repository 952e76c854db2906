//! Marks of one size, centered on a point.

use super::Side;
use super::scale::{Px, points};
use maud::{Markup, html};

/// How far a mark reaches from its center, in pixels, with its line.
pub(super) const REACH: f64 = 5.0;

/// The mark of a side.
pub(super) fn side(side: Side, x: f64, y: f64) -> Markup {
    match side {
        Side::Supports => triangle(side, [(x, y - 4.0), (x + 4.2, y + 3.4), (x - 4.2, y + 3.4)]),
        Side::Refutes => triangle(side, [(x, y + 4.0), (x + 4.2, y - 3.4), (x - 4.2, y - 3.4)]),
        Side::Neutral => html! {
            circle class="neutral" cx=(Px(x)) cy=(Px(y)) r="3.2" fill="none" stroke="currentColor" stroke-width="1.3" {}
        },
    }
}

fn triangle(side: Side, corners: [(f64, f64); 3]) -> Markup {
    html! { polygon class=(side.class()) points=(points(corners)) fill="currentColor" {} }
}

/// A filled dot.
pub(super) fn dot(x: f64, y: f64) -> Markup {
    html! { circle class="mark" cx=(Px(x)) cy=(Px(y)) r="3.2" fill="currentColor" {} }
}

/// A square on its corner: what a person did.
pub(super) fn diamond(x: f64, y: f64) -> Markup {
    let corners = [(x, y - 4.6), (x + 4.6, y), (x, y + 4.6), (x - 4.6, y)];
    html! { polygon class="mark" points=(points(corners)) fill="currentColor" {} }
}

/// A cross: retracted.
pub(super) fn cross(x: f64, y: f64) -> Markup {
    html! {
        g class="mark" stroke="currentColor" stroke-width="1.4" stroke-linecap="round" {
            line x1=(Px(x - 3.2)) y1=(Px(y - 3.2)) x2=(Px(x + 3.2)) y2=(Px(y + 3.2)) {}
            line x1=(Px(x - 3.2)) y1=(Px(y + 3.2)) x2=(Px(x + 3.2)) y2=(Px(y - 3.2)) {}
        }
    }
}
