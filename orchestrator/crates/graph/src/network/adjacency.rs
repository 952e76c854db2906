//! Compressed sparse rows: the neighbors of every node in one array.

/// Neighbors of nodes `0..n`, each list sorted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Adjacency {
    /// Where a node's neighbors begin; one entry more than there are nodes.
    starts: Vec<usize>,
    neighbours: Vec<u32>,
}

impl Adjacency {
    /// From sorted, distinct pairs (node, neighbor) with both below `nodes`.
    pub(super) fn new(nodes: usize, pairs: &[(u32, u32)]) -> Self {
        let mut starts = vec![0; nodes + 1];
        for &(node, _) in pairs {
            starts[node as usize + 1] += 1;
        }
        for i in 0..nodes {
            starts[i + 1] += starts[i];
        }
        Self { starts, neighbours: pairs.iter().map(|&(_, neighbour)| neighbour).collect() }
    }

    pub(crate) fn of(&self, node: usize) -> &[u32] {
        match (self.starts.get(node), self.starts.get(node + 1)) {
            (Some(&from), Some(&to)) => &self.neighbours[from..to],
            _ => &[],
        }
    }

    pub(super) fn has(&self, node: usize, neighbour: usize) -> bool {
        self.of(node).binary_search(&(neighbour as u32)).is_ok()
    }

    pub(super) fn edge_count(&self) -> usize {
        self.neighbours.len()
    }
}
