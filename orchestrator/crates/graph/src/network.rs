//! A compact directed graph of ids, and its analyses.
//!
//! Nodes are numbered in the order of their ids and neighbors are sorted, so that no result depends on the order in
//! which rows were read. Parallel edges count once. Memory is linear in nodes and edges throughout.

mod adjacency;
mod analysis;
mod betweenness;
mod clusters;
mod loops;
mod pagerank;

pub use analysis::{Analysis, Cluster, NodeMetrics};
pub use betweenness::Betweenness;
pub use clusters::Clusters;
pub use loops::{LoopLimits, Loops};

pub(crate) use adjacency::Adjacency;
use std::collections::HashMap;

/// A directed graph of ids. Nodes are the numbers `0..len()`, in the order of their ids.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Network {
    ids: Vec<String>,
    forward: Adjacency,
    backward: Adjacency,
}

impl Network {
    /// The graph of these nodes and edges (from, to). Duplicate nodes and edges are merged; an edge with an unknown end
    /// is dropped.
    pub fn new<'a>(
        ids: impl IntoIterator<Item = String>,
        edges: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Self {
        let mut ids: Vec<String> = ids.into_iter().collect();
        ids.sort_unstable();
        ids.dedup();
        let number: HashMap<&str, u32> = ids.iter().zip(0..).map(|(id, i)| (id.as_str(), i)).collect();
        let mut pairs: Vec<(u32, u32)> =
            edges.into_iter().filter_map(|(from, to)| Some((*number.get(from)?, *number.get(to)?))).collect();
        pairs.sort_unstable();
        pairs.dedup();
        let forward = Adjacency::new(ids.len(), &pairs);
        for pair in &mut pairs {
            *pair = (pair.1, pair.0);
        }
        pairs.sort_unstable();
        Self { backward: Adjacency::new(ids.len(), &pairs), forward, ids }
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there is no node.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Number of distinct edges, loops of a node to itself included.
    pub fn edge_count(&self) -> usize {
        self.forward.edge_count()
    }

    /// Id of each node, sorted.
    pub fn ids(&self) -> &[String] {
        &self.ids
    }

    /// Neighbors along the edges.
    pub(crate) fn forward(&self) -> &Adjacency {
        &self.forward
    }

    /// Neighbors against the edges.
    pub(crate) fn backward(&self) -> &Adjacency {
        &self.backward
    }

    /// How many edges end in a node.
    pub fn in_degree(&self, node: usize) -> usize {
        self.backward.of(node).len()
    }

    /// How many edges leave a node.
    pub fn out_degree(&self, node: usize) -> usize {
        self.forward.of(node).len()
    }
}
