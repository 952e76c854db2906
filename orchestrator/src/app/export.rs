//! Everything of a task in one document, and its graph.

use super::{App, AppError};
use lyra_domain::TaskId;
use lyra_graph::{EdgeFacts, EvidenceGraph, Node, NodeType};
use lyra_store::TaskExport;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// The full export of a task.
#[derive(Debug, Serialize)]
pub struct Materials {
    task: Value,
    claims: Value,
    fragments: Vec<Value>,
    evidence_graph: Value,
}

impl App {
    /// The task, its claims with evidence, the fragments they rest on, and the graph.
    ///
    /// # Errors
    /// No such task.
    pub async fn materials(&self, task: &TaskId) -> Result<Materials, AppError> {
        let progress = self.store().task_status(task).await?;
        let reports = self.claim_reports(task).await?;
        let rows = self.store().export_rows(task).await?;
        let claims = reports.iter().map(|report| {
            json!({
                "claim": report.claim,
                "alpha": report.posterior.alpha,
                "beta": report.posterior.beta,
                "confidence": report.posterior.confidence(),
                "uncertainty": report.posterior.uncertainty(),
                "controversy": report.posterior.controversy(),
                "supporting_count": report.supporting_count,
                "refuting_count": report.refuting_count,
                "neutral_count": report.neutral_count,
                "evidence_count": report.evidence.len(),
                "independent_sources": report.independent_sources,
                "evidence_years": report.evidence_years,
                "evidence": report.evidence,
            })
        });
        Ok(Materials {
            task: json!({"task": progress.task, "queries": progress.queries, "warnings": progress.warnings}),
            claims: claims.collect(),
            fragments: rows.fragments.iter().map(|row| json!(row.fragment)).collect(),
            evidence_graph: graph_of(&rows).node_link(),
        })
    }

    /// The evidence graph of a task, derived edges included.
    ///
    /// # Errors
    /// No such task.
    pub async fn graph(&self, task: &TaskId) -> Result<EvidenceGraph, AppError> {
        Ok(graph_of(&self.store().export_rows(task).await?))
    }
}

fn graph_of(rows: &TaskExport) -> EvidenceGraph {
    let mut graph = EvidenceGraph::new();
    let node = |node_type, obj_id: &str, attributes: Value| Node {
        node_type,
        obj_id: obj_id.to_owned(),
        attributes: match attributes {
            Value::Object(fields) => fields,
            _ => Map::new(),
        },
    };
    for row in &rows.claims {
        let confidence = row.posterior.confidence();
        let attributes = json!({"text": row.claim.claim_text, "confidence": confidence});
        graph.add_node(node(NodeType::Claim, row.claim.id.as_str(), attributes));
    }
    for row in &rows.pages {
        let attributes = json!({"title": row.title, "url": row.url, "year": row.year, "domain_category": row.domain_category});
        graph.add_node(node(NodeType::Page, row.id.as_str(), attributes));
    }
    for row in &rows.fragments {
        let fragment = &row.fragment;
        let attributes = json!({"text": fragment.text_content, "fragment_type": fragment.fragment_type});
        graph.add_node(node(NodeType::Fragment, fragment.id.as_str(), attributes));
        graph.place(fragment.id.as_str(), fragment.page_id.as_str());
    }
    for edge in &rows.edges {
        let facts = EdgeFacts {
            nli_confidence: edge.nli_confidence.map(lyra_domain::Probability::get),
            nli_scores: edge.nli_scores,
            nli_model: edge.nli_model.clone(),
            premise: edge.premise.clone(),
            source_domain_category: edge.source_domain_category.clone(),
            target_domain_category: edge.target_domain_category.clone(),
            citation_source: edge.citation_source.clone(),
        };
        if !graph.add_edge(&edge.source_id, &edge.target_id, edge.relation, facts) {
            tracing::warn!(edge_id = %edge.id, "an edge names a node that the export lacks");
        }
    }
    graph.derive_evidence_sources();
    graph
}
