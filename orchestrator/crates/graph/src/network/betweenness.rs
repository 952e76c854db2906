//! Betweenness centrality by Brandes' algorithm.

use super::Network;

/// Most steps (sources times nodes and edges) that are spent by default: one to two seconds.
pub(super) const EXACT_STEPS: u64 = 200_000_000;
/// Path counts are divided by this factor when they exceed it.
const SCALE: f64 = 1e150;
const UNSEEN: u32 = u32::MAX;

/// Betweenness of every node.
#[derive(Debug, Clone, PartialEq)]
pub struct Betweenness {
    /// In [0, 1], by node.
    pub scores: Vec<f64>,
    /// The number of sampled sources, when there were too many to visit; `None` when the scores are exact.
    pub sampled_sources: Option<usize>,
}

impl Network {
    /// The share of shortest directed paths between other nodes that pass through each node, divided by the number of
    /// ordered pairs `(n−1)(n−2)` (Brandes 2001, "A faster algorithm for betweenness centrality").
    ///
    /// Takes `n·(n+m)` steps and memory of `O(n+m)`. If that exceeds `max_steps`, only shortest paths from evenly
    /// sampled sources are followed and their sum is scaled up (Brandes and Pich 2007), which is an estimate: nodes of
    /// high betweenness are right within a few percent, small values are noise. `sampled_sources` then holds their
    /// number.
    pub fn betweenness(&self, max_steps: u64) -> Betweenness {
        let n = self.len();
        if n < 3 {
            return Betweenness { scores: vec![0.0; n], sampled_sources: None };
        }
        let per_source = (n + self.edge_count()) as u64;
        let sources = usize::try_from(max_steps / per_source).unwrap_or(n).clamp(1, n);
        let mut search = Search::new(n);
        let mut scores = vec![0.0; n];
        for i in 0..sources {
            // Ids derive from hashes, so that evenly spaced nodes are as good as random ones.
            search.follow(self, i * n / sources, &mut scores);
        }
        let pairs = ((n - 1) * (n - 2)) as f64 * (sources as f64 / n as f64);
        for score in &mut scores {
            // Only an estimate can exceed 1.
            *score = (*score / pairs).min(1.0);
        }
        Betweenness { scores, sampled_sources: (sources < n).then_some(sources) }
    }
}

/// Buffers of one search over shortest paths.
struct Search {
    distance: Vec<u32>,
    /// Number of shortest paths from the source, divided by `SCALE` as often as `scaled` says for its distance.
    paths: Vec<f64>,
    scaled: Vec<u32>,
    dependency: Vec<f64>,
    /// Nodes in the order they were reached.
    order: Vec<u32>,
}

impl Search {
    fn new(n: usize) -> Self {
        Self {
            distance: vec![UNSEEN; n],
            paths: vec![0.0; n],
            scaled: Vec::new(),
            dependency: vec![0.0; n],
            order: Vec::with_capacity(n),
        }
    }

    /// Adds to every node what the shortest paths from `source` pass through it.
    fn follow(&mut self, network: &Network, source: usize, scores: &mut [f64]) {
        for node in self.order.drain(..) {
            let node = node as usize;
            (self.distance[node], self.paths[node], self.dependency[node]) = (UNSEEN, 0.0, 0.0);
        }
        self.scaled.clear();
        self.distance[source] = 0;
        self.paths[source] = 1.0;
        self.order.push(source as u32);
        self.scaled.push(0);

        let mut level_start = 0;
        while level_start < self.order.len() {
            let level_end = self.order.len();
            for i in level_start..level_end {
                let node = self.order[i] as usize;
                let beyond = self.distance[node] + 1;
                for &next in network.forward.of(node) {
                    let next = next as usize;
                    if self.distance[next] == UNSEEN {
                        self.distance[next] = beyond;
                        self.order.push(next as u32);
                    }
                    if self.distance[next] == beyond {
                        self.paths[next] += self.paths[node];
                    }
                }
            }
            self.rescale(level_end);
            level_start = level_end;
        }

        for &node in self.order.iter().rev() {
            let node = node as usize;
            let depth = self.distance[node] as usize;
            let mut through = 0.0;
            for &next in network.forward.of(node) {
                let next = next as usize;
                if self.distance[next] as usize == depth + 1 {
                    let share = if self.scaled[depth + 1] > self.scaled[depth] {
                        self.paths[node] / SCALE / self.paths[next]
                    } else {
                        self.paths[node] / self.paths[next]
                    };
                    through += share * (1.0 + self.dependency[next]);
                }
            }
            self.dependency[node] = through;
            if node != source {
                scores[node] += through;
            }
        }
    }

    /// The number of shortest paths can grow exponentially with their length. Only ratios of neighboring levels are
    /// needed, so a level whose counts are huge is scaled down as a whole.
    fn rescale(&mut self, level_start: usize) {
        let level = &self.order[level_start..];
        let most = level.iter().map(|&node| self.paths[node as usize]).fold(0.0, f64::max);
        let before = self.scaled.last().copied().unwrap_or(0);
        if most > SCALE {
            for &node in level {
                self.paths[node as usize] /= SCALE;
            }
        }
        self.scaled.push(before + u32::from(most > SCALE));
    }
}
