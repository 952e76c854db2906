//! All analyses of a network, by id.

use super::betweenness::EXACT_STEPS;
use super::pagerank::DAMPING;
use super::{LoopLimits, Network};
use serde::Serialize;

/// The analysis of a network. Lists of ids are sorted as their parts of [`Network`] say.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Analysis {
    /// Number of distinct edges.
    pub edge_count: usize,
    /// Every node, the most cited first, then by `PageRank`, then by id.
    pub nodes: Vec<NodeMetrics>,
    /// Sources that betweenness was estimated from; `None` when it is exact.
    pub betweenness_sampled_sources: Option<usize>,
    /// Nodes that cite themselves.
    pub self_citations: Vec<String>,
    /// Pairs that cite each other.
    pub mutual_citations: Vec<[String; 2]>,
    /// Circles of three nodes or more, from the first along the citations.
    pub citation_loops: Vec<Vec<String>>,
    /// Longest loop that was searched for, in nodes.
    pub loop_length_limit: usize,
    /// There are more loops than are listed.
    pub citation_loops_truncated: bool,
    /// Strongly connected components of two nodes or more; complete even where the loops are not.
    pub strong_components: Vec<Vec<String>>,
    /// Clusters of two nodes or more, the largest first.
    pub clusters: Vec<Cluster>,
    /// Modularity of the division into clusters.
    pub modularity: f64,
}

/// A node's place in the network.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NodeMetrics {
    /// Its id.
    pub id: String,
    /// In (0, 1], summing to 1.
    pub pagerank: f64,
    /// In [0, 1].
    pub betweenness: f64,
    /// Edges that end in it.
    pub cited_by_count: usize,
    /// Edges that leave it.
    pub cites_count: usize,
}

/// A group of nodes connected among themselves more than with others.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cluster {
    /// Members, sorted.
    pub ids: Vec<String>,
    /// Edges between members.
    pub internal_citations: usize,
}

impl Network {
    /// All analyses, with the usual damping and limits.
    pub fn analyse(&self) -> Analysis {
        let limits = LoopLimits::default();
        let betweenness = self.betweenness(EXACT_STEPS);
        let loops = self.loops(limits);
        let clusters = self.clusters();
        let name = |&node: &usize| self.ids[node].clone();
        let names = |nodes: &Vec<usize>| nodes.iter().map(name).collect::<Vec<_>>();
        let mut nodes: Vec<NodeMetrics> = self
            .pagerank(DAMPING)
            .into_iter()
            .zip(betweenness.scores)
            .enumerate()
            .map(|(node, (pagerank, betweenness))| NodeMetrics {
                id: self.ids[node].clone(),
                pagerank,
                betweenness,
                cited_by_count: self.in_degree(node),
                cites_count: self.out_degree(node),
            })
            .collect();
        nodes.sort_by(|a, b| {
            b.cited_by_count
                .cmp(&a.cited_by_count)
                .then_with(|| b.pagerank.total_cmp(&a.pagerank))
                .then_with(|| a.id.cmp(&b.id))
        });
        Analysis {
            edge_count: self.edge_count(),
            nodes,
            betweenness_sampled_sources: betweenness.sampled_sources,
            self_citations: self.self_loops().iter().map(name).collect(),
            mutual_citations: self.mutual().iter().map(|(a, b)| [name(a), name(b)]).collect(),
            citation_loops: loops.loops.iter().map(names).collect(),
            loop_length_limit: limits.max_length,
            citation_loops_truncated: loops.truncated,
            strong_components: self.strong_components().iter().map(names).collect(),
            clusters: clusters
                .clusters
                .iter()
                .map(|members| Cluster {
                    ids: names(members),
                    internal_citations: members
                        .iter()
                        .flat_map(|&member| self.forward.of(member))
                        .filter(|&&to| members.binary_search(&(to as usize)).is_ok())
                        .count(),
                })
                .collect(),
            modularity: clusters.modularity,
        }
    }
}
