//! `GraphML`, for Gephi, yEd, Cytoscape, igraph and `NetworkX`.

use super::edge_fields;
use super::table::Table;
use super::xml::escape;
use crate::{EvidenceGraph, Node};
use std::fmt::Write;

impl EvidenceGraph {
    /// The graph as `GraphML` (<http://graphml.graphdrawing.org>), every attribute typed.
    pub fn graphml(&self) -> String {
        let nodes = Table::new(self.nodes().map(Node::fields));
        let edges = Table::new(self.edges().map(|(.., link, facts)| edge_fields(link, facts)));
        let mut out = String::from(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n",
        );
        declare(&mut out, "node", &nodes);
        declare(&mut out, "edge", &edges);
        out.push_str("  <graph id=\"evidence\" edgedefault=\"directed\">\n");
        for (node, cells) in self.nodes().zip(nodes.rows()) {
            let _ = writeln!(out, "    <node id=\"{}\">", escape(&node.name()));
            data(&mut out, "node", &cells);
            out.push_str("    </node>\n");
        }
        for (i, ((from, to, ..), cells)) in self.edges().zip(edges.rows()).enumerate() {
            let (from, to) = (escape(&from.name()), escape(&to.name()));
            let _ = writeln!(out, "    <edge id=\"e{i}\" source=\"{from}\" target=\"{to}\">");
            data(&mut out, "edge", &cells);
            out.push_str("    </edge>\n");
        }
        out.push_str("  </graph>\n</graphml>\n");
        out
    }
}

fn declare(out: &mut String, of: &str, table: &Table) {
    for (i, (name, kind)) in table.columns.iter().enumerate() {
        let kind = kind.xml();
        let name = escape(name);
        let _ =
            writeln!(out, "  <key id=\"{of}{i}\" for=\"{of}\" attr.name=\"{name}\" attr.type=\"{kind}\"/>");
    }
}

fn data(out: &mut String, of: &str, cells: &[Option<String>]) {
    for (i, cell) in cells.iter().enumerate() {
        if let Some(cell) = cell {
            let _ = writeln!(out, "      <data key=\"{of}{i}\">{}</data>", escape(cell));
        }
    }
}
