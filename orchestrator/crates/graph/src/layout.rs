//! Where the nodes of a network are drawn.
//!
//! Forces are those of `ForceAtlas2` (Jacomy, Venturini, Heymann, Bastian 2014): nodes at a distance `d` repel each other by
//! `k·m₁m₂/d`, edges attract by `d`, gravity pulls to the middle by `g·m`, where the mass `m` is a node's degree plus one.
//! Distant nodes act together (Barnes and Hut 1986), so a round takes `O(n log n + m)` steps.
//!
//! Connected components are placed one by one: first their clusters, as nodes with the sum of their masses, then the
//! nodes, starting around their cluster. After that, the component is scaled to the room that its nodes need, nodes that
//! overlap are pushed apart, and the components are packed side by side.
//! The number of rounds depends on the number of nodes alone, and nothing on the order of rows or on chance: the same graph
//! gives the same picture.

mod forces;
mod pack;
mod spread;
mod tree;

use crate::network::{Clusters, Network};
use forces::{Bodies, settle};
use std::collections::HashMap;

/// A point of a drawing, in pixels at 100 %. The origin is its middle, and `y` grows downward.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Point {
    /// To the right.
    pub x: f64,
    /// Down.
    pub y: f64,
}

/// The golden angle, by which the seeds of a sunflower follow each other.
const GOLDEN: f64 = 2.399_963_229_728_653;
/// Rounds times nodes, about, for all components together: the bound on the work.
const WORK: usize = 600_000;
/// Least and most rounds.
const ROUNDS: (usize, usize) = (60, 300);
/// Distance of neighboring nodes that start in one cluster.
const SPACING: f64 = 10.0;
/// Room of a node in a large component: the side of its share of the component's box. Few nodes have up to `FEW` times as
/// much, for their labels.
const ROOM: f64 = 84.0;
const FEW: f64 = 1.7;
/// Space between components.
const GAP: f64 = 36.0;
/// Largest radius that is kept free around a node.
const MOST_RADIUS: f64 = 100.0;

impl Network {
    /// A point for every node, in the order of their numbers: finite, no two the same, in tenths of a pixel.
    ///
    /// `radii` has how far each node reaches, in pixels from 0 to 100; nodes without one have 4. At most `60·n` to `300·n`
    /// rounds over nodes are spent, fewer the more nodes there are: 120 rounds for 5,000.
    pub fn layout(&self, clusters: &Clusters, radii: &[f64]) -> Vec<Point> {
        let n = self.len();
        let radius = |node: usize| {
            let radius = radii.get(node).copied().unwrap_or(4.0);
            if radius.is_finite() { radius.clamp(0.0, MOST_RADIUS) } else { 4.0 }
        };
        let radii: Vec<f64> = (0..n).map(radius).collect();
        let rounds = (WORK / n.max(1)).clamp(ROUNDS.0, ROUNDS.1);
        let mut cluster_of = vec![usize::MAX; n];
        for (number, members) in clusters.clusters.iter().enumerate() {
            for &member in members {
                cluster_of[member] = number;
            }
        }
        let (mut parts, mut alone) = (Vec::new(), Vec::new());
        for members in self.components() {
            if let [node] = members[..] {
                alone.push(node);
            } else {
                let points = self.component(&members, &cluster_of, &radii, rounds);
                parts.push(pack::Part { members, points });
            }
        }
        if !alone.is_empty() {
            let reach = alone.iter().map(|&node| radii[node]).fold(0.0, f64::max);
            let points = (0..alone.len()).map(|at| seed(at, 2.0 * reach + 8.0)).collect();
            parts.push(pack::Part { members: alone, points });
        }
        pack::side_by_side(n, parts, &radii, GAP)
    }

    /// The points of a connected component's members.
    fn component(&self, members: &[usize], cluster_of: &[usize], radii: &[f64], rounds: usize) -> Vec<Point> {
        let place: HashMap<usize, usize> = members.iter().enumerate().map(|(at, &node)| (node, at)).collect();
        let mut edges: Vec<(usize, usize, f64)> = Vec::new();
        for (at, &node) in members.iter().enumerate() {
            for &other in self.forward().of(node) {
                if let Some(&there) = place.get(&(other as usize))
                    && there != at
                {
                    edges.push((at.min(there), at.max(there), 1.0));
                }
            }
        }
        merge(&mut edges);
        let mut masses = vec![1.0; members.len()];
        for &(a, b, _) in &edges {
            masses[a] += 1.0;
            masses[b] += 1.0;
        }
        let starts = self.starts(members, cluster_of, &edges, &masses, rounds);
        let mut points = settle(&Bodies { masses: &masses, edges: &edges }, starts, rounds);
        turn(&mut points);
        scale(&mut points);
        let own: Vec<f64> = members.iter().map(|&node| radii[node]).collect();
        spread::apart(&mut points, &own);
        points
    }

    /// Where the members of a component start: around their cluster, which has settled among the clusters before.
    fn starts(
        &self,
        members: &[usize],
        cluster_of: &[usize],
        edges: &[(usize, usize, f64)],
        masses: &[f64],
        rounds: usize,
    ) -> Vec<Point> {
        // Clusters in the order of their first members; a node without one is its own.
        let mut numbers: HashMap<(usize, usize), usize> = HashMap::new();
        let mut group = Vec::with_capacity(members.len());
        for &node in members {
            let key = (cluster_of[node], if cluster_of[node] == usize::MAX { node } else { 0 });
            let next = numbers.len();
            group.push(*numbers.entry(key).or_insert(next));
        }
        let mut sums = vec![0.0; numbers.len()];
        for (at, &mass) in masses.iter().enumerate() {
            sums[group[at]] += mass;
        }
        let mut between: Vec<(usize, usize, f64)> = edges
            .iter()
            .map(|&(a, b, weight)| (group[a].min(group[b]), group[a].max(group[b]), weight))
            .filter(|(a, b, _)| a != b)
            .collect();
        merge(&mut between);
        let wide = SPACING * 4.0;
        let middles = (0..sums.len()).map(|at| seed(at, wide)).collect();
        let middles = settle(&Bodies { masses: &sums, edges: &between }, middles, rounds);
        let mut seen = vec![0; sums.len()];
        let placed = members.iter().zip(&group).map(|(&node, &group)| {
            let offset = seed(seen[group], SPACING);
            seen[group] += 1;
            // A little to one side, by its id, so that no two nodes start on one point and no shape is a perfect balance.
            let turn = turn_of(&self.ids()[node]);
            Point { x: middles[group].x + offset.x + turn.cos(), y: middles[group].y + offset.y + turn.sin() }
        });
        placed.collect()
    }

    /// Sets of nodes that are connected, whichever way edges point: the largest first, then by first node; members sorted.
    fn components(&self) -> Vec<Vec<usize>> {
        let mut seen = vec![false; self.len()];
        let mut found = Vec::new();
        for start in 0..self.len() {
            if seen[start] {
                continue;
            }
            seen[start] = true;
            let mut members = vec![start];
            let mut next = 0;
            while let Some(&node) = members.get(next) {
                next += 1;
                for &other in self.forward().of(node).iter().chain(self.backward().of(node)) {
                    let other = other as usize;
                    if !seen[other] {
                        seen[other] = true;
                        members.push(other);
                    }
                }
            }
            members.sort_unstable();
            found.push(members);
        }
        found.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        found
    }
}

/// Turns points so that they reach furthest to the sides (their first principal axis): screens are wide.
fn turn(points: &mut [Point]) {
    let n = points.len() as f64;
    let middle = points.iter().fold((0.0, 0.0), |sum, point| (sum.0 + point.x / n, sum.1 + point.y / n));
    let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
    for point in points.iter() {
        let (x, y) = (point.x - middle.0, point.y - middle.1);
        (xx, xy, yy) = (xx + x * x, xy + x * y, yy + y * y);
    }
    let (sin, cos) = (0.5 * (2.0 * xy).atan2(xx - yy)).sin_cos();
    for point in points {
        let (x, y) = (point.x, point.y);
        (point.x, point.y) = (x * cos + y * sin, y * cos - x * sin);
    }
}

/// Scales points so that their box has the room that they need.
fn scale(points: &mut [Point]) {
    let ends = |of: fn(&Point) -> f64| {
        let values = points.iter().map(of);
        values.fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)))
    };
    let ((left, right), (top, bottom)) = (ends(|point| point.x), ends(|point| point.y));
    let n = points.len() as f64;
    let room = ((right - left).max(ROOM) * (bottom - top).max(ROOM) / n).sqrt();
    let factor = ROOM * (1.0 + 4.0 / n.sqrt()).min(FEW) / room;
    for point in points {
        point.x *= factor;
        point.y *= factor;
    }
}

/// Sorts edges and adds the weights of those with the same ends.
fn merge(edges: &mut Vec<(usize, usize, f64)>) {
    edges.sort_by_key(|&(a, b, _)| (a, b));
    edges.dedup_by(|later, kept| {
        let same = (later.0, later.1) == (kept.0, kept.1);
        if same {
            kept.2 += later.2;
        }
        same
    });
}

/// The seed of a sunflower with this number, whose neighbors are about `spacing` away.
fn seed(at: usize, spacing: f64) -> Point {
    let distance = spacing * 0.57 * (at as f64).sqrt();
    let angle = at as f64 * GOLDEN;
    Point { x: distance * angle.cos(), y: distance * angle.sin() }
}

/// An angle that belongs to an id (FNV-1a, then the finalizer of `SplitMix64`).
fn turn_of(id: &str) -> f64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in id.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((hash ^ (hash >> 31)) >> 11) as f64 / (1_u64 << 53) as f64 * std::f64::consts::TAU
}
