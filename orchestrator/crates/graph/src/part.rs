//! A part of a task's graph to look at: some kinds of nodes and relations, what contains a text, what is near a node.
//!
//! Where passages are not shown, their works stand for them: a judgment then leads from a work to a claim.

mod choose;
#[cfg(test)]
mod tests;

use lyra_domain::named_enum;
use std::collections::BTreeSet;

named_enum! {
    /// What a node is.
    pub enum Kind {
        /// A claim.
        Claim = "claim",
        /// A passage of a work.
        Passage = "passage",
        /// A work, or any other page.
        Work = "work",
    }
}

named_enum! {
    /// What an edge says.
    pub enum Tie {
        /// A passage, or a work by a passage, supports a claim.
        Supports = "supports",
        /// It refutes the claim.
        Refutes = "refutes",
        /// It does neither.
        Neutral = "neutral",
        /// The claim was found there.
        Origin = "origin",
        /// A work cites another.
        Cites = "cites",
        /// A passage is from a work.
        PartOf = "part_of",
    }
}

/// A node of the whole graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Its id in the store.
    pub id: String,
    /// What it is.
    pub kind: Kind,
    /// What a text is looked for in, in lower case.
    pub text: String,
    /// The work of a passage, as its place among the items.
    pub work: Option<usize>,
}

/// A relation between two items, by their places.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bond {
    /// Where it starts.
    pub from: usize,
    /// Where it ends.
    pub to: usize,
    /// What it says; not [`Tie::PartOf`], which follows from the items.
    pub tie: Tie,
    /// How sure the model is, 0 to 1; unknown for citations and origins.
    pub confidence: Option<f64>,
}

/// The graph of a task.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Whole {
    /// Its nodes; ids are distinct.
    pub items: Vec<Item>,
    /// Its relations. Those with an end that is no item are ignored.
    pub bonds: Vec<Bond>,
}

/// Which part of a graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// Kinds of nodes.
    pub kinds: BTreeSet<Kind>,
    /// Kinds of relations.
    pub ties: BTreeSet<Tie>,
    /// Only nodes whose text contains all these words, in lower case, and their neighbors. Empty for all.
    pub words: Vec<String>,
    /// Only nodes near these, by their ids. Empty for all.
    pub around: BTreeSet<String>,
    /// How many relations away from `around` a node may be.
    pub steps: usize,
    /// Nodes whose neighbors are kept beyond `around`, and before others where the limit cuts.
    pub expand: BTreeSet<String>,
    /// Most nodes.
    pub limit: usize,
}

/// A part of a graph.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Part {
    /// Its nodes, the heaviest first, then by id.
    pub nodes: Vec<PartNode>,
    /// Its relations, by their ends.
    pub edges: Vec<PartEdge>,
    /// Nodes that meet every condition, before the limit.
    pub fitting: usize,
}

/// A node of a part.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PartNode {
    /// Its place among the items of the whole.
    pub item: usize,
    /// Its relations as a share of the most that any node of its kind has, or of 4 if that is more; 0 to 1.
    pub weight: f64,
    /// Its relations, of the kinds that are shown, to nodes of the kinds that are shown.
    pub relations: usize,
    /// How many of them lead out of the part.
    pub hidden: usize,
    /// Whether its text contains the words; false where none are looked for.
    pub matched: bool,
}

/// A relation of a part.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PartEdge {
    /// Where it starts, as a place among the nodes.
    pub from: usize,
    /// Where it ends.
    pub to: usize,
    /// What it says.
    pub tie: Tie,
    /// Relations of the whole that it stands for.
    pub count: usize,
    /// The highest confidence among them, when known.
    pub confidence: Option<f64>,
}
