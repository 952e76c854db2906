//! The evidence graph of one task: its nodes and relations, the network of citations among its pages, and the export
//! formats.
//!
//! Pure: no I/O, and it does not fail for any input. Built from the store's rows; `evidence_source` edges are derived
//! here and never written anywhere.

mod evidence;
mod export;
mod layout;
mod network;
mod part;

pub use evidence::{EdgeFacts, EvidenceGraph, Link, Node, NodeType, Scope};
pub use layout::Point;
pub use network::{Analysis, Betweenness, Cluster, Clusters, LoopLimits, Loops, Network, NodeMetrics};
pub use part::{Bond, Item, Kind, Part, PartEdge, PartNode, Tie, Wanted, Whole};
