//! The evidence graph of one task: claims, fragments and pages with the relations between them.
//!
//! Pure. Built from the store's rows; `evidence_source` edges are derived here and never written anywhere.

mod node_link;

use lyra_domain::{NliScores, Relation};
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap, HashSet};

/// What a node stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeType {
    /// A claim of the task.
    Claim,
    /// A fragment of a page.
    Fragment,
    /// A page.
    Page,
}

impl NodeType {
    fn word(self) -> &'static str {
        match self {
            Self::Claim => "claim",
            Self::Fragment => "fragment",
            Self::Page => "page",
        }
    }
}

/// A node: its id in the store, and what is worth exporting of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Kind.
    pub node_type: NodeType,
    /// Id in the store, such as `claim_…`.
    pub obj_id: String,
    /// Further columns of the export.
    pub attributes: Map<String, Value>,
}

/// What an edge says, the derived relation included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Link {
    /// A stored relation.
    Stored(Relation),
    /// Derived: the claim has evidence on the page.
    EvidenceSource,
}

impl Link {
    /// The word in exports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Stored(relation) => relation.as_str(),
            Self::EvidenceSource => "evidence_source",
        }
    }
}

/// What is known of an edge beside its ends.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct EdgeFacts {
    /// Probability of the relation.
    pub nli_confidence: Option<f64>,
    /// All three probabilities.
    pub nli_scores: Option<NliScores>,
    /// Model that judged.
    pub nli_model: Option<String>,
    /// The sentences that were judged.
    pub premise: Option<String>,
    /// Category of the source's domain.
    pub source_domain_category: Option<String>,
    /// Category of the target's domain.
    pub target_domain_category: Option<String>,
    /// `semantic_scholar`, `openalex` or `extraction`.
    pub citation_source: Option<String>,
}

/// The graph. Edges run fragment → claim, page → page, and claim → page for the derived ones.
#[derive(Debug, Clone, Default)]
pub struct EvidenceGraph {
    graph: DiGraph<Node, (Link, EdgeFacts)>,
    by_id: HashMap<String, NodeIndex>,
    page_of: HashMap<String, String>,
}

impl EvidenceGraph {
    /// An empty graph.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a node; one with the same id is kept as it was.
    pub fn add_node(&mut self, node: Node) {
        if !self.by_id.contains_key(&node.obj_id) {
            let id = node.obj_id.clone();
            let index = self.graph.add_node(node);
            self.by_id.insert(id, index);
        }
    }

    /// Says which page a fragment was cut from.
    pub fn place(&mut self, fragment: &str, page: &str) {
        self.page_of.insert(fragment.to_owned(), page.to_owned());
    }

    /// Adds an edge between nodes that are there. `false` when one of them is not.
    pub fn add_edge(&mut self, source: &str, target: &str, relation: Relation, facts: EdgeFacts) -> bool {
        match (self.by_id.get(source), self.by_id.get(target)) {
            (Some(&from), Some(&to)) => {
                self.graph.add_edge(from, to, (Link::Stored(relation), facts));
                true
            }
            _ => false,
        }
    }

    /// Adds one claim → page edge for every claim and page with supporting, refuting or neutral evidence on it.
    /// Call it once, when every edge is in.
    pub fn derive_evidence_sources(&mut self) {
        let mut pairs: Vec<(NodeIndex, NodeIndex)> = Vec::new();
        let mut seen = HashSet::new();
        for edge in self.graph.edge_references() {
            let judged = matches!(
                edge.weight().0,
                Link::Stored(Relation::Supports | Relation::Refutes | Relation::Neutral)
            );
            let page = self.page_of.get(&self.graph[edge.source()].obj_id).and_then(|id| self.by_id.get(id));
            if let (true, Some(&page)) = (judged, page)
                && seen.insert((edge.target(), page))
            {
                pairs.push((edge.target(), page));
            }
        }
        for (claim, page) in pairs {
            self.graph.add_edge(claim, page, (Link::EvidenceSource, EdgeFacts::default()));
        }
    }

    /// Number of nodes by kind and edges by relation.
    pub fn counts(&self) -> BTreeMap<&'static str, usize> {
        let mut counts = BTreeMap::new();
        for node in self.graph.node_weights() {
            *counts.entry(node.node_type.word()).or_default() += 1;
        }
        for (link, _) in self.graph.edge_weights() {
            *counts.entry(link.word()).or_default() += 1;
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(node_type: NodeType, id: &str) -> Node {
        Node { node_type, obj_id: id.to_owned(), attributes: Map::new() }
    }

    fn sample() -> EvidenceGraph {
        let mut graph = EvidenceGraph::new();
        for (kind, id) in [
            (NodeType::Claim, "claim_1"),
            (NodeType::Fragment, "frag_1"),
            (NodeType::Fragment, "frag_2"),
            (NodeType::Page, "page_1"),
        ] {
            graph.add_node(node(kind, id));
        }
        graph.place("frag_1", "page_1");
        graph.place("frag_2", "page_1");
        for fragment in ["frag_1", "frag_2"] {
            assert!(graph.add_edge(fragment, "claim_1", Relation::Supports, EdgeFacts::default()));
        }
        graph
    }

    #[test]
    fn evidence_sources_are_one_per_claim_and_page() {
        let mut graph = sample();
        graph.derive_evidence_sources();
        assert_eq!(graph.counts()["supports"], 2);
        assert_eq!(graph.counts()["evidence_source"], 1);
    }

    #[test]
    fn an_edge_without_its_ends_is_refused_and_a_node_is_kept_once() {
        let mut graph = sample();
        assert!(!graph.add_edge("frag_9", "claim_1", Relation::Refutes, EdgeFacts::default()));
        graph.add_node(node(NodeType::Page, "page_1"));
        assert_eq!(graph.counts()["page"], 1);
    }

    #[test]
    fn node_link_names_every_edge_end() {
        let mut graph = sample();
        graph.derive_evidence_sources();
        let json = graph.node_link();
        let ids: HashSet<&str> =
            json["nodes"].as_array().unwrap().iter().map(|n| n["id"].as_str().unwrap()).collect();
        for edge in json["edges"].as_array().unwrap() {
            assert!(
                ids.contains(edge["source"].as_str().unwrap())
                    && ids.contains(edge["target"].as_str().unwrap())
            );
        }
        assert_eq!(json["stats"]["evidence_source"], 1);
    }
}
