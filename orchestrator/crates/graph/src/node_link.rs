//! Node-link JSON: `nodes`, `edges`, `stats`, readable by `NetworkX` and D3.

use crate::EvidenceGraph;
use petgraph::visit::EdgeRef;
use serde_json::{Value, json};

impl EvidenceGraph {
    /// The graph as `{directed, multigraph, nodes [{id, node_type, obj_id, …}], edges [{source, target, relation, …}], stats}`.
    pub fn node_link(&self) -> Value {
        let name = |node: &crate::Node| format!("{}:{}", node.node_type.word(), node.obj_id);
        let nodes: Vec<Value> = self
            .graph
            .node_weights()
            .map(|node| {
                let mut fields = node.attributes.clone();
                fields.insert("id".to_owned(), json!(name(node)));
                fields.insert("node_type".to_owned(), json!(node.node_type));
                fields.insert("obj_id".to_owned(), json!(node.obj_id));
                Value::Object(fields)
            })
            .collect();
        let edges: Vec<Value> = self
            .graph
            .edge_references()
            .map(|edge| {
                let (link, facts) = edge.weight();
                let mut fields = match json!(facts) {
                    Value::Object(fields) => fields,
                    _ => serde_json::Map::new(),
                };
                fields.insert("source".to_owned(), json!(name(&self.graph[edge.source()])));
                fields.insert("target".to_owned(), json!(name(&self.graph[edge.target()])));
                fields.insert("relation".to_owned(), json!(link.word()));
                Value::Object(fields)
            })
            .collect();
        json!({"directed": true, "multigraph": true, "nodes": nodes, "edges": edges, "stats": self.counts()})
    }
}
