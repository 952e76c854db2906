//! Nodes that would be drawn over each other are pushed apart.

use super::Point;
use std::collections::HashMap;

/// Space between two nodes, in pixels.
const SPACE: f64 = 5.0;
/// Rounds, at most.
const ROUNDS: usize = 40;
/// Nodes that one node is compared with in a round, at most.
const COMPARED: usize = 48;

/// Pushes nodes with these radii apart, as far as the rounds go.
pub(super) fn apart(points: &mut [Point], radii: &[f64]) {
    let reach = radii.iter().copied().fold(0.0, f64::max);
    let cell = (2.0 * reach + SPACE).max(1.0);
    let key = |point: Point| ((point.x / cell).floor() as i64, (point.y / cell).floor() as i64);
    for _ in 0..ROUNDS {
        let mut grid: HashMap<(i64, i64), Vec<usize>> = HashMap::with_capacity(points.len());
        for (at, &point) in points.iter().enumerate() {
            grid.entry(key(point)).or_default().push(at);
        }
        let mut moved = false;
        for at in 0..points.len() {
            let (column, row) = key(points[at]);
            let near = (-1..=1).flat_map(|x| (-1..=1).map(move |y| (x, y)));
            let others = near.filter_map(|(x, y)| grid.get(&(column + x, row + y))).flatten();
            for &other in others.filter(|&&other| other > at).take(COMPARED) {
                let (mut x, mut y) = (points[other].x - points[at].x, points[other].y - points[at].y);
                let wanted = radii[at] + radii[other] + SPACE;
                let square = x * x + y * y;
                if square >= wanted * wanted {
                    continue;
                }
                let mut distance = square.sqrt();
                if distance < 1e-6 {
                    let angle = (at * 31 + other) as f64;
                    (x, y, distance) = (angle.cos(), angle.sin(), 1.0);
                }
                let half = 0.5 * (wanted - square.sqrt()) / distance;
                points[at].x -= x * half;
                points[at].y -= y * half;
                points[other].x += x * half;
                points[other].y += y * half;
                moved = true;
            }
        }
        if !moved {
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_on_one_point_do_not_overlap_afterwards() {
        let mut points = vec![Point::default(); 20];
        apart(&mut points, &[4.0; 20]);
        for (at, a) in points.iter().enumerate() {
            for b in &points[at + 1..] {
                assert!((a.x - b.x).hypot(a.y - b.y) > 8.0, "{a:?} and {b:?}");
            }
        }
    }
}
