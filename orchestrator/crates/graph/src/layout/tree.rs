//! A quadtree over points with masses, for forces that distant points exert together (Barnes and Hut 1986).

use super::Point;

/// Cells are split no further: points that are still together act one by one.
const MOST_DEPTH: usize = 24;
/// Points of a cell that is not split.
const LEAF: usize = 6;
/// A cell acts as one when its width is at most this share of its distance.
const OPENING: f64 = 1.1;

/// A square with its points. Cells stand in depth-first order.
struct Cell {
    /// Middle of its masses.
    middle: Point,
    mass: f64,
    /// The square of the distance from which it acts as one.
    far: f64,
    /// The cell after all that are within it.
    skip: usize,
    /// Where its points are, for a cell that is not split; empty otherwise.
    points: (usize, usize),
}

/// The tree of one round. Kept between rounds, so that memory is taken once.
#[derive(Default)]
pub(super) struct Tree {
    cells: Vec<Cell>,
    /// Points with their masses, grouped by cell.
    bodies: Vec<(Point, f64)>,
    spare: Vec<(Point, f64)>,
}

impl Tree {
    /// Builds the tree of these points, which are finite, and their masses.
    pub(super) fn build(&mut self, points: &[Point], masses: &[f64]) {
        self.cells.clear();
        self.bodies.clear();
        self.bodies.extend(points.iter().copied().zip(masses.iter().copied()));
        self.spare.clear();
        self.spare.extend_from_slice(&self.bodies);
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for point in points {
            low = low.min(point.x).min(point.y);
            high = high.max(point.x).max(point.y);
        }
        if !points.is_empty() {
            let half = ((high - low) / 2.0).max(1e-9);
            let middle = Point { x: low + half, y: low + half };
            self.split(0, points.len(), middle, half, 0);
        }
    }

    fn split(&mut self, from: usize, to: usize, square: Point, half: f64, depth: usize) {
        let (mut x, mut y, mut mass) = (0.0, 0.0, 0.0);
        for (point, own) in &self.bodies[from..to] {
            x += point.x * own;
            y += point.y * own;
            mass += own;
        }
        let at = self.cells.len();
        let leaf = to - from <= LEAF || depth == MOST_DEPTH;
        let far = 2.0 * half / OPENING;
        self.cells.push(Cell {
            middle: Point { x: x / mass, y: y / mass },
            mass,
            far: far * far,
            skip: 0,
            points: if leaf { (from, to) } else { (0, 0) },
        });
        if !leaf {
            let ends = self.sort(from, to, square);
            let quarter = half / 2.0;
            let mut start = from;
            for (number, end) in ends.into_iter().enumerate() {
                if end > start {
                    let x = if number % 2 == 0 { square.x - quarter } else { square.x + quarter };
                    let y = if number < 2 { square.y - quarter } else { square.y + quarter };
                    self.split(start, end, Point { x, y }, quarter, depth + 1);
                }
                start = end;
            }
        }
        self.cells[at].skip = self.cells.len();
    }

    /// Groups points by their quarter of a square; returns where each group ends.
    fn sort(&mut self, from: usize, to: usize, square: Point) -> [usize; 4] {
        let quarter = |point: Point| usize::from(point.x >= square.x) + 2 * usize::from(point.y >= square.y);
        let mut counts = [0; 4];
        for (point, _) in &self.bodies[from..to] {
            counts[quarter(*point)] += 1;
        }
        let mut next = [from; 4];
        for number in 1..4 {
            next[number] = next[number - 1] + counts[number - 1];
        }
        for body in &self.bodies[from..to] {
            let place = &mut next[quarter(body.0)];
            self.spare[*place] = *body;
            *place += 1;
        }
        self.bodies[from..to].copy_from_slice(&self.spare[from..to]);
        next
    }

    /// The sum over all masses of `mass/d²` times the vector from them to a point: what pushes a unit mass there away.
    /// Masses on the point itself push nowhere.
    pub(super) fn push(&self, at: Point) -> Point {
        let mut sum = Point::default();
        let mut add = |other: Point, mass: f64| {
            let (x, y) = (at.x - other.x, at.y - other.y);
            let square = x * x + y * y;
            if square > 0.0 {
                let share = mass / square.max(1e-2);
                sum.x += x * share;
                sum.y += y * share;
            }
        };
        let mut next = 0;
        while let Some(cell) = self.cells.get(next) {
            let (x, y) = (at.x - cell.middle.x, at.y - cell.middle.y);
            if x * x + y * y > cell.far {
                add(cell.middle, cell.mass);
                next = cell.skip;
            } else if cell.points.1 > 0 {
                for (point, mass) in &self.bodies[cell.points.0..cell.points.1] {
                    add(*point, *mass);
                }
                next = cell.skip;
            } else {
                next += 1;
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        // A cell that acts as one may be as wide as it is far, so a few points in it are not placed exactly.
        #[test]
        fn the_push_is_near_the_exact_one(points in prop::collection::vec((-1e3_f64..1e3, -1e3_f64..1e3), 1..200)) {
            let points: Vec<Point> = points.into_iter().map(|(x, y)| Point { x, y }).collect();
            let masses: Vec<f64> = (0..points.len()).map(|at| 1.0 + (at % 3) as f64).collect();
            let mut tree = Tree::default();
            tree.build(&points, &masses);
            let at = Point { x: 2_500.0, y: 100.0 };
            let (mut exact, got) = (Point::default(), tree.push(at));
            for (point, mass) in points.iter().zip(&masses) {
                let (x, y) = (at.x - point.x, at.y - point.y);
                exact.x += mass * x / (x * x + y * y);
                exact.y += mass * y / (x * x + y * y);
            }
            let size = exact.x.hypot(exact.y);
            prop_assert!((exact.x - got.x).hypot(exact.y - got.y) < 0.3 * size, "{got:?} is not {exact:?}");
        }
    }

    #[test]
    fn points_on_one_place_end_the_tree() {
        let mut tree = Tree::default();
        tree.build(&[Point { x: 3.0, y: 3.0 }; 50], &[1.0; 50]);
        let push = tree.push(Point { x: 13.0, y: 3.0 });
        assert!((push.x - 5.0).abs() < 1e-9 && push.y.abs() < 1e-9, "{push:?}");
        assert_eq!(tree.push(Point { x: 3.0, y: 3.0 }), Point::default());
        tree.build(&[], &[]);
        assert_eq!(tree.push(Point::default()), Point::default());
    }
}
