//! From values to coordinates.

use maud::Render;
use std::fmt::{Display, Formatter, Write as _};

/// A coordinate or length, written with at most two decimals. What is not finite is written as 0.
#[derive(Debug, Clone, Copy)]
pub(super) struct Px(pub(super) f64);

impl Display for Px {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let hundredths = if self.0.is_finite() { (self.0 * 100.0).round() } else { 0.0 };
        // Adding zero turns -0 into 0.
        write!(f, "{}", hundredths / 100.0 + 0.0)
    }
}

impl Render for Px {
    fn render_to(&self, buffer: &mut String) {
        // Writing to a string cannot fail.
        let _ = write!(buffer, "{self}");
    }
}

/// A linear map from a range of values to a range of coordinates. Values outside move to the nearest end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    values: (f64, f64),
    places: (f64, f64),
}

impl Scale {
    /// Maps `values` to `places`; a range of values without extent maps to the first place.
    pub(super) fn new(values: (f64, f64), places: (f64, f64)) -> Self {
        Self { values, places }
    }

    /// Maps [0, 1] to `places`.
    pub(super) fn unit(places: (f64, f64)) -> Self {
        Self::new((0.0, 1.0), places)
    }

    /// The coordinate of a value.
    pub(super) fn at(&self, value: f64) -> f64 {
        let share = (value - self.values.0) / (self.values.1 - self.values.0);
        let share = if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) };
        self.places.0 + share * (self.places.1 - self.places.0)
    }
}

/// Points of a line or polygon as SVG writes them: `x,y x,y`. A point at the place of the one before is left out.
pub(super) fn points(points: impl IntoIterator<Item = (f64, f64)>) -> String {
    let mut written = String::new();
    let mut last = String::new();
    for (x, y) in points {
        let point = format!("{},{}", Px(x), Px(y));
        if point != last {
            if !written.is_empty() {
                written.push(' ');
            }
            written.push_str(&point);
            last = point;
        }
    }
    written
}

/// The smallest of 1, 2, and 5 times a power of ten that is at least `least`; at least `floor`.
pub(super) fn round_step(least: f64, floor: f64) -> f64 {
    let least = if least.is_finite() { least.max(floor) } else { floor };
    let power = 10_f64.powf(least.log10().floor());
    // The logarithm of an exact power of ten may be a little off.
    let steps = [1.0, 2.0, 5.0, 10.0, 20.0].map(|factor| factor * power);
    steps.into_iter().find(|step| *step >= least * (1.0 - 1e-9)).unwrap_or(least)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_have_two_decimals_at_most() {
        for (value, written) in [
            (12.0, "12"),
            (0.126, "0.13"),
            (-0.001, "0"),
            (f64::NAN, "0"),
            (f64::INFINITY, "0"),
            (99.999, "100"),
        ] {
            assert_eq!(Px(value).to_string(), written);
        }
    }

    #[test]
    fn values_outside_move_to_the_nearest_end() {
        let scale = Scale::new((2.0, 4.0), (10.0, 0.0));
        for (value, place) in
            [(2.0, 10.0), (3.0, 5.0), (9.0, 0.0), (f64::NEG_INFINITY, 10.0), (f64::NAN, 10.0)]
        {
            assert_eq!(scale.at(value), place);
        }
        assert_eq!(Scale::new((3.0, 3.0), (1.0, 2.0)).at(3.0), 1.0);
    }

    #[test]
    fn steps_are_round() {
        for (least, step) in
            [(0.3, 1.0), (1.0, 1.0), (1.1, 2.0), (3.0, 5.0), (7.0, 10.0), (1000.0, 1000.0), (1001.0, 2000.0)]
        {
            assert_eq!(round_step(least, 1.0), step, "{least}");
        }
        assert_eq!(round_step(f64::NAN, 1.0), 1.0);
    }
}
