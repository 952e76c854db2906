//! Node-link JSON, readable by `NetworkX` and D3.

use super::edge_fields;
use crate::EvidenceGraph;
use serde_json::{Map, Value, json};

impl EvidenceGraph {
    /// The graph as `{directed, multigraph, graph, nodes [{id, node_type, obj_id, …}], edges [{source, target, key,
    /// relation, nli_confidence, source_domain_category, target_domain_category, citation_source, …}], stats
    /// {supports, …, evidence_source, node_counts, edge_counts}}`: `stats` counts edges by relation.
    pub fn node_link(&self) -> Value {
        let nodes = self.nodes().map(|node| {
            let mut fields = node.fields();
            fields.insert("id".to_owned(), json!(node.name()));
            Value::Object(fields)
        });
        let edges = self.edges().map(|(from, to, link, facts)| {
            let mut fields = edge_fields(link, facts);
            fields.insert("source".to_owned(), json!(from.name()));
            fields.insert("target".to_owned(), json!(to.name()));
            // Distinguishes parallel edges: a pair has each relation once.
            fields.insert("key".to_owned(), json!(link.word()));
            Value::Object(fields)
        });
        let mut stats: Map<String, Value> = self
            .edge_counts()
            .into_iter()
            .map(|(relation, count)| (relation.to_owned(), json!(count)))
            .collect();
        stats.insert("node_counts".to_owned(), json!(self.node_counts()));
        stats.insert("edge_counts".to_owned(), json!(self.edge_counts()));
        json!({
            "directed": true,
            "multigraph": true,
            "graph": {},
            "nodes": nodes.collect::<Vec<_>>(),
            "edges": edges.collect::<Vec<_>>(),
            "stats": stats,
        })
    }
}
