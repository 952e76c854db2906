//! Pictures of numbers, as SVG: pure functions, numbers in and markup out.
//!
//! Every picture has a title, a description, and a table of the same numbers. It holds no words: the page passes them,
//! because pages exist in several languages. It holds no colors and no styles either, because the content
//! security policy of the pages forbids them: a class of the stylesheet sets `color`, and shapes are filled and stroked with
//! `currentColor`. The classes are `support`, `refute`, `neutral`, `axis`, `grid`, `curve`, `area`, `mark`, and `label`,
//! all below `picture` or `key`.
//!
//! Sides are distinguished without color: support is solid, its mark a triangle that points up; refutation is hatched, its
//! mark a triangle that points down; neutral is an open circle.
//!
//! Numbers outside the range that a picture documents move to the nearest end of that range, and NaN to its lower end,
//! so that all coordinates are finite and lie within the picture.

pub mod bar;
mod beta;
pub mod flow;
pub mod forest;
mod frame;
pub mod frontier;
pub mod gauge;
mod glyph;
pub mod history;
mod label;
pub mod network;
pub mod posterior;
pub mod reliability;
pub mod risk_coverage;
mod scale;
pub mod screening;
pub mod shares;
mod table;
#[cfg(test)]
mod tests;
pub mod timeline;

/// What a source says about a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// For it.
    Supports,
    /// Against it.
    Refutes,
    /// Neither; adds nothing to the confidence.
    Neutral,
}

impl Side {
    /// The class that colors it.
    fn class(self) -> &'static str {
        match self {
            Self::Supports => "support",
            Self::Refutes => "refute",
            Self::Neutral => "neutral",
        }
    }
}
