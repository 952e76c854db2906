//! Components side by side: the largest first, each as far up, then as far left, as it fits above none that is placed.

use super::Point;
use std::collections::HashSet;

/// Wished width of the whole, as a multiple of its height.
const ASPECT: f64 = 1.5;
/// Coordinates are whole numbers of these parts of a pixel.
const PARTS: f64 = 10.0;
/// Furthest coordinate, so that all are exact in tenths.
const FURTHEST: f64 = 1e7;

/// Some nodes with their points.
pub(super) struct Part {
    pub(super) members: Vec<usize>,
    pub(super) points: Vec<Point>,
}

/// A box around a part.
struct Frame {
    left: f64,
    top: f64,
    width: f64,
    height: f64,
}

impl Frame {
    fn around(part: &Part, radii: &[f64], gap: f64) -> Self {
        let (mut low, mut high) = ((f64::MAX, f64::MAX), (f64::MIN, f64::MIN));
        for (&node, point) in part.members.iter().zip(&part.points) {
            let reach = radii[node] + gap / 2.0;
            low = (low.0.min(point.x - reach), low.1.min(point.y - reach));
            high = (high.0.max(point.x + reach), high.1.max(point.y + reach));
        }
        Self { left: low.0, top: low.1, width: high.0 - low.0, height: high.1 - low.1 }
    }
}

/// The points of `n` nodes, which are all in one of the parts, around the origin.
pub(super) fn side_by_side(n: usize, parts: Vec<Part>, radii: &[f64], gap: f64) -> Vec<Point> {
    let mut framed: Vec<(Frame, Part)> =
        parts.into_iter().map(|part| (Frame::around(&part, radii, gap), part)).collect();
    framed.sort_by(|(a, _), (b, _)| (b.height * b.width).total_cmp(&(a.height * a.width)));
    let area: f64 = framed.iter().map(|(frame, _)| frame.width * frame.height).sum();
    let widest = framed.iter().map(|(frame, _)| frame.width).fold(0.0, f64::max);
    let mut skyline = Skyline::new(widest.max((area * ASPECT).sqrt()));
    let mut points = vec![Point::default(); n];
    for (frame, part) in framed {
        let corner = skyline.place(frame.width, frame.height);
        for (&node, point) in part.members.iter().zip(&part.points) {
            points[node] = Point { x: point.x - frame.left + corner.x, y: point.y - frame.top + corner.y };
        }
    }
    centered(&mut points);
    rounded(&mut points);
    points
}

/// How far down a strip is filled, from left to right.
struct Skyline {
    width: f64,
    /// Left end and depth of each step; the first begins at 0.
    steps: Vec<(f64, f64)>,
}

impl Skyline {
    fn new(width: f64) -> Self {
        Self { width, steps: vec![(0.0, 0.0)] }
    }

    /// Where a box of this size has its upper left corner.
    fn place(&mut self, width: f64, height: f64) -> Point {
        let mut best = Point { x: 0.0, y: f64::INFINITY };
        for (at, &(left, _)) in self.steps.iter().enumerate() {
            if at > 0 && left + width > self.width + 1e-6 {
                break;
            }
            let below = self.steps[at..].iter().take_while(|(step, _)| *step < left + width);
            let depth = below.map(|(_, depth)| *depth).fold(0.0, f64::max);
            if depth < best.y {
                best = Point { x: left, y: depth };
            }
        }
        let (end, floor) = (best.x + width, best.y + height);
        let after = self.steps.iter().rev().find(|(left, _)| *left <= end).map_or(0.0, |(_, depth)| *depth);
        self.steps.retain(|(left, _)| *left < best.x || *left > end);
        self.steps.push((best.x, floor));
        if end < self.width {
            self.steps.push((end, after));
        }
        self.steps.sort_by(|a, b| a.0.total_cmp(&b.0));
        best
    }
}

/// Moves the middle of all points to the origin.
fn centered(points: &mut [Point]) {
    let ends = |of: fn(&Point) -> f64| {
        let values = points.iter().map(of);
        values.fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)))
    };
    let ((left, right), (top, bottom)) = (ends(|point| point.x), ends(|point| point.y));
    for point in points {
        point.x -= f64::midpoint(left, right);
        point.y -= f64::midpoint(top, bottom);
    }
}

/// Rounds all coordinates to tenths. A point that is taken moves to the next free one on a spiral.
fn rounded(points: &mut [Point]) {
    let tenths = |value: f64| (value.clamp(-FURTHEST, FURTHEST) * PARTS).round() as i64;
    let mut taken = HashSet::with_capacity(points.len());
    for point in points {
        let (x, y) = (tenths(point.x), tenths(point.y));
        let mut place = (x, y);
        let mut turn = 0_u32;
        while !taken.insert(place) {
            turn += 1;
            let seed = super::seed(turn as usize, 2.0);
            place = (x + seed.x.round() as i64, y + seed.y.round() as i64);
        }
        *point = Point { x: place.0 as f64 / PARTS, y: place.1 as f64 / PARTS };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn boxes_do_not_overlap(sizes in prop::collection::vec((1.0_f64..90.0, 1.0_f64..90.0), 1..60)) {
            let mut skyline = Skyline::new(150.0);
            let placed: Vec<(Point, f64, f64)> =
                sizes.iter().map(|&(width, height)| (skyline.place(width, height), width, height)).collect();
            for (at, (a, width, height)) in placed.iter().enumerate() {
                prop_assert!(a.x >= 0.0 && a.y >= 0.0 && a.x + width <= 150.0 + 1e-6);
                for (b, other_width, other_height) in &placed[at + 1..] {
                    let beside = a.x + width <= b.x + 1e-6 || b.x + other_width <= a.x + 1e-6;
                    let above = a.y + height <= b.y + 1e-6 || b.y + other_height <= a.y + 1e-6;
                    prop_assert!(beside || above, "{a:?} {width} {height} and {b:?} {other_width} {other_height}");
                }
            }
        }
    }

    #[test]
    fn points_that_round_to_one_are_told_apart() {
        let mut points = vec![Point { x: f64::MAX, y: 0.01 }; 300];
        rounded(&mut points);
        let distinct: HashSet<(u64, u64)> = points.iter().map(|p| (p.x.to_bits(), p.y.to_bits())).collect();
        assert_eq!(distinct.len(), 300);
    }
}
