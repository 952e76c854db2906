//! Groups of nodes that are connected among themselves more than with others.

use super::Network;
use std::collections::VecDeque;

/// A gain in modularity below this is rounding, not an improvement.
const LEAST_GAIN: f64 = 1e-12;
/// Rounds over all nodes within one level; a few are usual.
const MAX_ROUNDS: usize = 100;

/// A division into clusters.
#[derive(Debug, Clone, PartialEq)]
pub struct Clusters {
    /// Clusters of two nodes or more, the largest first, then by first node; members sorted.
    pub clusters: Vec<Vec<usize>>,
    /// Newman's modularity of the division, in [−0.5, 1): how many more edges stay within clusters than would by chance.
    pub modularity: f64,
}

impl Network {
    /// Clusters by the Louvain method (Blondel, Guillaume, Lambiotte, Lefebvre 2008) at resolution 1, on the graph
    /// without directions, where an edge both ways weighs 2. Nodes are visited in order and ties go to the smaller
    /// cluster number, so that the result depends only on the graph. A cluster with unconnected pieces is split.
    pub fn clusters(&self) -> Clusters {
        let base = Level::of(self);
        let mut community: Vec<usize> = (0..self.len()).collect();
        let mut level = base.clone();
        loop {
            let moved = level.improve();
            let count = moved.iter().max().map_or(0, |&last| last + 1);
            for c in &mut community {
                *c = moved[*c];
            }
            if count == level.links.len() {
                break;
            }
            level = level.merge(&moved, count);
        }
        let pieces = self.pieces(&community);
        let mut clusters: Vec<Vec<usize>> = vec![Vec::new(); self.len()];
        for (node, &piece) in pieces.iter().enumerate() {
            clusters[piece].push(node);
        }
        clusters.retain(|members| members.len() > 1);
        clusters.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        Clusters { clusters, modularity: base.modularity(&pieces) }
    }

    /// Numbers the connected pieces of every community; a piece is named after its first node.
    fn pieces(&self, community: &[usize]) -> Vec<usize> {
        let mut piece = vec![usize::MAX; self.len()];
        for start in 0..self.len() {
            if piece[start] != usize::MAX {
                continue;
            }
            piece[start] = start;
            let mut queue = VecDeque::from([start]);
            while let Some(node) = queue.pop_front() {
                for &next in self.forward.of(node).iter().chain(self.backward.of(node)) {
                    let next = next as usize;
                    if piece[next] == usize::MAX && community[next] == community[start] {
                        piece[next] = start;
                        queue.push_back(next);
                    }
                }
            }
        }
        piece
    }
}

/// An undirected weighted graph whose nodes are communities of the level below.
#[derive(Clone)]
struct Level {
    /// Other nodes with the weight between, sorted by node.
    links: Vec<Vec<(usize, f64)>>,
    /// Twice the weight within each node.
    inner: Vec<f64>,
    /// Sum of the weights at each node, the inner one twice.
    degree: Vec<f64>,
    /// Twice the weight of the whole graph.
    total: f64,
}

impl Level {
    fn of(network: &Network) -> Self {
        let mut links = vec![Vec::new(); network.len()];
        let mut inner = vec![0.0; network.len()];
        for (node, links) in links.iter_mut().enumerate() {
            let mut ends: Vec<usize> = network
                .forward
                .of(node)
                .iter()
                .chain(network.backward.of(node))
                .map(|&other| other as usize)
                .filter(|&other| other != node)
                .collect();
            ends.sort_unstable();
            *links = ends.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as f64)).collect();
            if network.forward.has(node, node) {
                inner[node] = 2.0;
            }
        }
        Self::new(links, inner)
    }

    fn new(links: Vec<Vec<(usize, f64)>>, inner: Vec<f64>) -> Self {
        let degree: Vec<f64> = links
            .iter()
            .zip(&inner)
            .map(|(links, inner)| inner + links.iter().map(|(_, weight)| weight).sum::<f64>())
            .collect();
        Self { links, inner, total: degree.iter().sum(), degree }
    }

    /// Moves nodes one by one to the neighboring community with the greatest gain, until none moves. Returns each
    /// node's community, numbered from 0 without gaps in the order of first members.
    fn improve(&self) -> Vec<usize> {
        let n = self.links.len();
        let mut community: Vec<usize> = (0..n).collect();
        let mut weight_of = self.degree.clone();
        let mut towards = vec![0.0; n];
        for _ in 0..MAX_ROUNDS {
            let mut moved = false;
            for node in 0..n {
                let own = community[node];
                let mut near = vec![own];
                for &(other, weight) in &self.links[node] {
                    let there = community[other];
                    if towards[there] == 0.0 && there != own {
                        near.push(there);
                    }
                    towards[there] += weight;
                }
                weight_of[own] -= self.degree[node];
                let gain = |c: usize| towards[c] - self.degree[node] * weight_of[c] / self.total;
                near.sort_unstable();
                let (mut best, mut most) = (own, gain(own));
                for &candidate in &near {
                    let gained = gain(candidate);
                    if gained > most + LEAST_GAIN * self.total {
                        (best, most) = (candidate, gained);
                    }
                }
                weight_of[best] += self.degree[node];
                for &c in &near {
                    towards[c] = 0.0;
                }
                moved |= best != own;
                community[node] = best;
            }
            if !moved {
                break;
            }
        }
        let mut number = vec![usize::MAX; n];
        let mut next = 0;
        for c in &mut community {
            if number[*c] == usize::MAX {
                number[*c] = next;
                next += 1;
            }
            *c = number[*c];
        }
        community
    }

    /// The graph whose nodes are these communities.
    fn merge(&self, community: &[usize], count: usize) -> Self {
        let mut pairs = Vec::new();
        let mut inner = vec![0.0; count];
        for (node, links) in self.links.iter().enumerate() {
            let own = community[node];
            inner[own] += self.inner[node];
            for &(other, weight) in links {
                if community[other] == own {
                    inner[own] += weight;
                } else {
                    pairs.push((own, community[other], weight));
                }
            }
        }
        pairs.sort_by_key(|&(a, b, _)| (a, b));
        let mut links = vec![Vec::new(); count];
        for same in pairs.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            links[same[0].0].push((same[0].1, same.iter().map(|(.., weight)| weight).sum()));
        }
        Self::new(links, inner)
    }

    /// `Σ over communities of inner/2m − (degree/2m)²`.
    fn modularity(&self, community: &[usize]) -> f64 {
        if self.total <= 0.0 {
            return 0.0;
        }
        let mut within = vec![0.0; self.links.len()];
        let mut degree = vec![0.0; self.links.len()];
        for (node, links) in self.links.iter().enumerate() {
            let own = community[node];
            degree[own] += self.degree[node];
            within[own] += self.inner[node];
            within[own] += links
                .iter()
                .filter(|(other, _)| community[*other] == own)
                .map(|(_, weight)| weight)
                .sum::<f64>();
        }
        within.iter().zip(&degree).map(|(w, d)| w / self.total - (d / self.total).powi(2)).sum()
    }
}
