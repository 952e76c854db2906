//! A task's graph as it is drawn: nodes with their places, edges, clusters, hubs, and loops.

use crate::schema;
use schemars::JsonSchema;
use serde::Serialize;

/// A part of a task's evidence graph, laid out. Nodes are named by their places in `nodes`, from 0.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct GraphView {
    /// The task.
    pub task_id: String,
    /// Claims, passages, and works, the heaviest first.
    pub nodes: Vec<GraphNode>,
    /// Relations between them.
    pub edges: Vec<GraphEdge>,
    /// Nodes that are connected among themselves more than with others, the largest cluster first.
    pub clusters: Vec<GraphCluster>,
    /// The nodes with the highest `PageRank`, at most 12, the highest first; relations count both ways.
    pub hubs: Vec<GraphHub>,
    /// Nodes that the betweenness of the hubs was estimated from; unknown when it is exact.
    pub betweenness_sampled_sources: Option<usize>,
    /// Works that cite each other in a circle, each from its first along the citations.
    pub loops: Vec<Vec<usize>>,
    /// Whether there are more loops than are listed.
    pub loops_truncated: bool,
    /// Nodes that meet all conditions.
    pub fitting_count: usize,
    /// How many of them `limit` left out. Kept are what was asked for by id, and then the heaviest node and, again and
    /// again, the heaviest neighbor of those that are kept.
    pub left_out_count: usize,
    /// Shown nodes whose text contains the words that were looked for; unknown when none were.
    pub matched_count: Option<usize>,
}

/// A node with its place.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct GraphNode {
    /// Id of the claim, the fragment, or the page.
    pub node_id: String,
    /// `claim`, `passage`, or `work`.
    #[schemars(schema_with = "schema::graph_kind")]
    pub kind: &'static str,
    /// The statement, the title, or the beginning of the passage; at most 140 characters.
    pub label: String,
    /// To the right, in pixels at 100 %.
    pub x: f64,
    /// Down, in pixels at 100 %.
    pub y: f64,
    /// Its relations as a share of the most that any node of its kind has, or of 4 if that is more; 0 to 1.
    pub weight: f64,
    /// Its relations of the kinds that are shown.
    pub relation_count: usize,
    /// How many of them lead to nodes that are not shown.
    pub hidden_count: usize,
    /// Its place among the clusters; unknown for a node in none.
    pub cluster: Option<usize>,
    /// Where the workbench shows it.
    pub path: String,
    /// Whether its text contains the words that were looked for. Only where some were.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub matched: bool,
    /// What all judgments of a claim say: `contested`, `supported`, `refuted`, or `open`. Only for claims.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::graph_side")]
    pub side: Option<&'static str>,
    /// Mean of the posterior, 0 to 1. Only for claims.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// Authors and venue of a work in short, when known; the title of the work that a passage is from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub citation: Option<String>,
    /// Year of publication. Only for works, when known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub year: Option<i32>,
    /// Whether the work was retracted. Only for works that were.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_retracted: bool,
}

/// A relation between two nodes.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct GraphEdge {
    /// The node that it starts from.
    pub from: usize,
    /// The node that it ends in.
    pub to: usize,
    /// `supports`, `refutes`, `neutral`, `origin`, `cites`, or `part_of`. Where passages are not shown, the first four
    /// start from the work of the passage.
    #[schemars(schema_with = "schema::graph_relation")]
    pub relation: &'static str,
    /// Judgments or citations that it stands for.
    pub count: usize,
    /// The highest probability among its judgments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nli_confidence: Option<f64>,
}

/// A cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GraphCluster {
    /// Its heaviest node, whose label names it.
    pub named_after: usize,
    /// Its nodes, the heaviest first.
    pub nodes: Vec<usize>,
}

/// A node that much leads to.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct GraphHub {
    /// The node.
    pub node: usize,
    /// `PageRank`, 0 to 1.
    pub pagerank: f64,
    /// Share of the shortest ways between other nodes that lead through it, 0 to 1.
    pub betweenness: f64,
}
