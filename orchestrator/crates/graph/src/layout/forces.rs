//! Forces between nodes, applied round by round with a speed that adapts (`ForceAtlas2`).

use super::Point;
use super::tree::Tree;

/// How much nodes repel each other.
const REPULSION: f64 = 60.0;
/// How much the middle attracts.
const GRAVITY: f64 = 30.0;
/// Furthest that a node moves in one round, in pixels.
const MOST_STEP: f64 = 400.0;

/// What moves.
pub(super) struct Bodies<'a> {
    /// Of each node, at least 1.
    pub(super) masses: &'a [f64],
    /// Two different nodes, and how strongly they attract each other.
    pub(super) edges: &'a [(usize, usize, f64)],
}

/// Moves nodes from where they start for this many rounds. Points stay finite.
pub(super) fn settle(bodies: &Bodies<'_>, mut points: Vec<Point>, rounds: usize) -> Vec<Point> {
    let n = points.len();
    if n < 2 {
        return points;
    }
    let mut tree = Tree::default();
    let mut forces = vec![Point::default(); n];
    let mut before = vec![Point::default(); n];
    let mut speed = Speed::new(n);
    for _ in 0..rounds {
        tree.build(&points, bodies.masses);
        for ((force, &point), &mass) in forces.iter_mut().zip(&points).zip(bodies.masses) {
            let push = tree.push(point);
            let distance = point.x.hypot(point.y).max(1e-9);
            let pull = GRAVITY * mass / distance;
            force.x = REPULSION * mass * push.x - pull * point.x;
            force.y = REPULSION * mass * push.y - pull * point.y;
        }
        for &(a, b, weight) in bodies.edges {
            let (x, y) = (points[b].x - points[a].x, points[b].y - points[a].y);
            let pull = weight;
            forces[a].x += x * pull;
            forces[a].y += y * pull;
            forces[b].x -= x * pull;
            forces[b].y -= y * pull;
        }
        speed.adapt(bodies.masses, &forces, &before);
        for (at, point) in points.iter_mut().enumerate() {
            let (force, old) = (forces[at], before[at]);
            let swinging = bodies.masses[at] * (force.x - old.x).hypot(force.y - old.y);
            let size = force.x.hypot(force.y).max(1e-9);
            let factor = speed.of(swinging).min(MOST_STEP / size);
            point.x += force.x * factor;
            point.y += force.y * factor;
        }
        std::mem::swap(&mut forces, &mut before);
    }
    points
}

/// The common speed of all nodes: as high as the swinging between rounds allows.
struct Speed {
    nodes: f64,
    common: f64,
    efficiency: f64,
}

impl Speed {
    fn new(nodes: usize) -> Self {
        Self { nodes: nodes as f64, common: 1.0, efficiency: 1.0 }
    }

    /// Compares the forces with those of the round before, as the authors' program does.
    fn adapt(&mut self, masses: &[f64], forces: &[Point], before: &[Point]) {
        let (mut swinging, mut traction) = (0.0, 0.0);
        for ((mass, new), old) in masses.iter().zip(forces).zip(before) {
            swinging += mass * (new.x - old.x).hypot(new.y - old.y);
            traction += mass * 0.5 * (new.x + old.x).hypot(new.y + old.y);
        }
        if swinging <= 0.0 || traction <= 0.0 {
            return;
        }
        let usual = 0.05 * self.nodes.sqrt();
        let mut tolerance =
            (usual * traction / (self.nodes * self.nodes)).clamp(usual.sqrt().min(10.0), 10.0);
        if swinging / traction > 2.0 {
            if self.efficiency > 0.05 {
                self.efficiency *= 0.5;
            }
            tolerance = tolerance.max(1.0);
        }
        let target = tolerance * self.efficiency * traction / swinging;
        if swinging > tolerance * traction {
            if self.efficiency > 0.05 {
                self.efficiency *= 0.7;
            }
        } else if self.common < 1_000.0 {
            self.efficiency *= 1.3;
        }
        self.common += (target - self.common).min(0.5 * self.common);
    }

    /// The speed of a node that swings this much.
    fn of(&self, swinging: f64) -> f64 {
        self.common / (1.0 + (self.common * swinging).sqrt())
    }
}
