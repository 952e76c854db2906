//! The evidence graph of one task: its nodes and relations, what the citations among its pages look like as a network,
//! and the formats it is exported in.
//!
//! Pure: no I/O, and no input makes it fail. Built from the store's rows; `evidence_source` edges are derived here and
//! never written anywhere.

mod bibliography;
mod evidence;
mod export;
mod network;

pub use bibliography::{Reference, Role, bibtex, ris, sort_references};
pub use evidence::{EdgeFacts, EvidenceGraph, Link, Node, NodeType, Scope};
pub use network::{Analysis, Betweenness, Cluster, Clusters, LoopLimits, Loops, Network, NodeMetrics};
