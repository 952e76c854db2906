//! Claims, fragments and pages with the relations between them.

use crate::Network;
use lyra_domain::{NliScores, Relation};
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap, HashSet};

/// The kind of a node.
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
    /// The word in exports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Claim => "claim",
            Self::Fragment => "fragment",
            Self::Page => "page",
        }
    }
}

/// A node: its id in the store, and its exported fields.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Kind.
    pub node_type: NodeType,
    /// Id in the store, such as `claim_…`.
    pub obj_id: String,
    /// Further columns of the export.
    pub attributes: Map<String, Value>,
}

/// The relation of an edge, including the derived one.
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

/// The part of the graph to analyze as a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scope {
    /// Only pages and `cites`: claims and fragments would distort the citation structure.
    #[default]
    Citations,
    /// Every node and every relation.
    Everything,
}

/// The attributes of an edge.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct EdgeFacts {
    /// Id in the store; `None` for a derived edge.
    pub edge_id: Option<String>,
    /// Probability of the relation.
    pub nli_confidence: Option<f64>,
    /// All three probabilities.
    pub nli_scores: Option<NliScores>,
    /// Model that judged.
    pub nli_model: Option<String>,
    /// The sentences that decided.
    pub premise: Option<String>,
    /// Terms of the claim missing from the passage, separated by semicolons.
    pub missing: Option<String>,
    /// What both state differently, separated by semicolons.
    pub differs: Option<String>,
    /// Category of the source's domain.
    pub source_domain_category: Option<String>,
    /// Category of the target's domain.
    pub target_domain_category: Option<String>,
    /// `semantic_scholar`, `openalex` or `extraction`.
    pub citation_source: Option<String>,
    /// Sentence around a citation.
    pub citation_context: Option<String>,
    /// A person set the relation.
    pub edge_human_corrected: bool,
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

    /// Adds a node; an existing one with the same id stays unchanged.
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

    /// Adds an edge between existing nodes. `false` when one of them is missing.
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

    /// Pages and citations, or the whole graph, as a network whose ids are those of the store.
    pub fn network(&self, scope: Scope) -> Network {
        let within = |node: NodeType| scope == Scope::Everything || node == NodeType::Page;
        let ids = self.graph.node_weights().filter(|n| within(n.node_type)).map(|n| n.obj_id.clone());
        let edges = self
            .edges()
            .filter(|(.., link, _)| scope == Scope::Everything || *link == Link::Stored(Relation::Cites))
            .map(|(from, to, ..)| (from.obj_id.as_str(), to.obj_id.as_str()));
        Network::new(ids, edges)
    }

    /// The node with this id in the store.
    pub fn node(&self, obj_id: &str) -> Option<&Node> {
        self.by_id.get(obj_id).map(|&index| &self.graph[index])
    }

    /// Every node, in the order they were added.
    pub fn nodes(&self) -> impl Iterator<Item = &Node> {
        self.graph.node_weights()
    }

    /// Every edge with its ends, in the order they were added.
    pub fn edges(&self) -> impl Iterator<Item = (&Node, &Node, Link, &EdgeFacts)> {
        self.graph.edge_references().map(|edge| {
            let (link, facts) = edge.weight();
            (&self.graph[edge.source()], &self.graph[edge.target()], *link, facts)
        })
    }

    /// Number of nodes by kind; every kind is there.
    pub fn node_counts(&self) -> BTreeMap<&'static str, usize> {
        let kinds = [NodeType::Claim, NodeType::Fragment, NodeType::Page];
        let mut counts: BTreeMap<_, _> = kinds.map(|kind| (kind.word(), 0)).into();
        for node in self.nodes() {
            *counts.entry(node.node_type.word()).or_default() += 1;
        }
        counts
    }

    /// Number of edges by relation; every relation is there.
    pub fn edge_counts(&self) -> BTreeMap<&'static str, usize> {
        let links = Relation::ALL.iter().copied().map(Link::Stored).chain([Link::EvidenceSource]);
        let mut counts: BTreeMap<_, _> = links.map(|link| (link.word(), 0)).collect();
        for (link, _) in self.graph.edge_weights() {
            *counts.entry(link.word()).or_default() += 1;
        }
        counts
    }
}

#[cfg(test)]
mod tests;
