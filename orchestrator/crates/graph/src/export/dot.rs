//! DOT, the language of Graphviz.

use crate::{EvidenceGraph, Link, NodeType};
use lyra_domain::Relation;
use std::fmt::Write;

impl EvidenceGraph {
    /// The graph for `dot` and its kin: claims as boxes, fragments as notes, pages as ellipses; edges labeled and
    /// colored by relation, with the confidence if any.
    pub fn dot(&self) -> String {
        let mut out =
            String::from("digraph evidence {\n  rankdir=LR;\n  node [fontsize=10];\n  edge [fontsize=8];\n");
        for node in self.nodes() {
            let shape = match node.node_type {
                NodeType::Claim => "box",
                NodeType::Fragment => "note",
                NodeType::Page => "ellipse",
            };
            let (name, label) = (quote(&node.name()), quote(&node.label()));
            let _ = writeln!(
                out,
                "  {name} [label={label}, shape={shape}, node_type={}];",
                node.node_type.word()
            );
        }
        for (from, to, link, facts) in self.edges() {
            let label = facts
                .nli_confidence
                .map_or_else(|| link.word().to_owned(), |p| format!("{} {p:.3}", link.word()));
            let colour = match link {
                Link::Stored(Relation::Supports) => "forestgreen",
                Link::Stored(Relation::Refutes) => "firebrick",
                Link::Stored(Relation::Cites) => "steelblue",
                Link::Stored(Relation::Neutral | Relation::Origin) | Link::EvidenceSource => "gray",
            };
            let (from, to) = (quote(&from.name()), quote(&to.name()));
            let _ = writeln!(
                out,
                "  {from} -> {to} [label={}, color={colour}, relation={}];",
                quote(&label),
                link.word()
            );
        }
        out.push_str("}\n");
        out
    }
}

/// A quoted string. Graphviz expands backslashes in labels, so they are doubled; control characters become spaces.
fn quote(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
