//! Comma-separated values as in RFC 4180, for spreadsheets and data frames.

use super::edge_fields;
use super::table::Table;
use crate::{EvidenceGraph, Node};
use lyra_domain::csv::{cell, line};

impl EvidenceGraph {
    /// One line per edge: `source`, `target`, then every other field by name.
    pub fn edges_csv(&self) -> String {
        let table = Table::new(self.edges().map(|(.., link, facts)| edge_fields(link, facts)));
        let ends = self.edges().map(|(from, to, ..)| vec![from.name(), to.name()]);
        write_csv(&["source", "target"], ends, &table)
    }

    /// One line per node: `id`, then every other field by name.
    pub fn nodes_csv(&self) -> String {
        let table = Table::new(self.nodes().map(Node::fields));
        write_csv(&["id"], self.nodes().map(|node| vec![node.name()]), &table)
    }
}

fn write_csv(first: &[&str], keys: impl Iterator<Item = Vec<String>>, table: &Table) -> String {
    let names = first.iter().copied().chain(table.columns.iter().map(|(name, _)| name.as_str()));
    let mut out = line(names.map(cell));
    for (keys, cells) in keys.zip(table.rows()) {
        let cells = cells.into_iter().zip(&table.columns).map(|(text, (_, kind))| {
            let text = text.unwrap_or_default();
            if *kind == super::table::Kind::Text { cell(&text) } else { text }
        });
        out.push_str(&line(keys.iter().map(|key| cell(key)).chain(cells)));
    }
    out
}
