//! GEXF 1.3, Gephi's own format.

use super::edge_fields;
use super::table::Table;
use super::xml::escape;
use crate::{EvidenceGraph, Node};
use std::fmt::Write;

impl EvidenceGraph {
    /// The graph as GEXF (<https://gexf.net>), every attribute typed; labels are the beginnings of titles and texts.
    pub fn gexf(&self) -> String {
        let nodes = Table::new(self.nodes().map(Node::fields));
        let edges = Table::new(self.edges().map(|(.., link, facts)| edge_fields(link, facts)));
        let mut out = String::from(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<gexf xmlns=\"http://gexf.net/1.3\" version=\"1.3\">\n  \
             <graph mode=\"static\" defaultedgetype=\"directed\">\n",
        );
        declare(&mut out, "node", &nodes);
        declare(&mut out, "edge", &edges);
        out.push_str("    <nodes>\n");
        for (node, cells) in self.nodes().zip(nodes.rows()) {
            let (name, label) = (escape(&node.name()), escape(&node.label()));
            let _ = writeln!(out, "      <node id=\"{name}\" label=\"{label}\">");
            values(&mut out, &cells);
            out.push_str("      </node>\n");
        }
        out.push_str("    </nodes>\n    <edges>\n");
        for (i, ((from, to, link, _), cells)) in self.edges().zip(edges.rows()).enumerate() {
            let (from, to, label) = (escape(&from.name()), escape(&to.name()), link.word());
            let _ =
                writeln!(out, "      <edge id=\"{i}\" source=\"{from}\" target=\"{to}\" label=\"{label}\">");
            values(&mut out, &cells);
            out.push_str("      </edge>\n");
        }
        out.push_str("    </edges>\n  </graph>\n</gexf>\n");
        out
    }
}

fn declare(out: &mut String, of: &str, table: &Table) {
    let _ = writeln!(out, "    <attributes class=\"{of}\">");
    for (i, (name, kind)) in table.columns.iter().enumerate() {
        let kind = kind.xml();
        let _ = writeln!(out, "      <attribute id=\"{i}\" title=\"{}\" type=\"{kind}\"/>", escape(name));
    }
    out.push_str("    </attributes>\n");
}

fn values(out: &mut String, cells: &[Option<String>]) {
    out.push_str("        <attvalues>\n");
    for (i, cell) in cells.iter().enumerate() {
        if let Some(cell) = cell {
            let _ = writeln!(out, "          <attvalue for=\"{i}\" value=\"{}\"/>", escape(cell));
        }
    }
    out.push_str("        </attvalues>\n");
}
