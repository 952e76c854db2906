//! Everything of a task in one document.

use super::graph::{graph_of, off_thread};
use super::{App, AppError};
use crate::json::{fields, thousandths};
use lyra_domain::{ClaimReport, Relation, TaskId};
use lyra_graph::{EvidenceGraph, Scope};
use lyra_store::{ClaimEvent, ExportedEdge, TaskExport};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::HashMap;

/// Most pages that are named as hubs.
const HUB_PAGES: usize = 10;

/// The full export of a task, as its readers get it: numbers of claims have three decimals.
#[derive(Debug, Serialize)]
pub struct Materials {
    task: Value,
    claims: Vec<Value>,
    fragments: Vec<Value>,
    evidence_graph: Value,
    citation_network: Value,
}

impl App {
    /// The task, its claims with evidence, the fragments they rest on, the graph, and the citations among its pages.
    ///
    /// # Errors
    /// No such task.
    pub async fn materials(&self, task: &TaskId) -> Result<Materials, AppError> {
        let progress = self.store().task_status(task).await?;
        let reports = self.claim_reports(task).await?;
        let rows = self.store().export_rows(task).await?;
        off_thread(move || {
            let graph = graph_of(&rows);
            Materials {
                task: json!({"task": progress.task, "queries": progress.queries, "warnings": progress.warnings}),
                claims: reports.iter().map(claim).collect(),
                fragments: rows.fragments.iter().map(|row| json!(row.fragment)).collect(),
                evidence_graph: graph.node_link(),
                citation_network: citation_network(&rows, &graph),
            }
        })
        .await
    }

    /// One claim with its numbers and its evidence, adopted or not, as in [`Materials`], and with its timeline.
    ///
    /// # Errors
    /// No such claim, or not in this task.
    pub async fn claim_material(&self, task: &TaskId, id: &lyra_domain::ClaimId) -> Result<Value, AppError> {
        let report = self.store().claim_report(id).await?;
        if report.claim.task_id != *task {
            return Err(AppError::new(
                super::ErrorCode::NotFound,
                format!("claim {id} belongs to {}, not to {task}", report.claim.task_id),
            ));
        }
        let mut fields = fields(claim(&report));
        fields.insert("timeline".to_owned(), timeline(&self.store().claim_timeline(id).await?));
        Ok(Value::Object(fields))
    }

    /// A claim's history, in order: its creation, changes by people and verification, retractions of its works. An
    /// audit log; no number is derived from it.
    ///
    /// # Errors
    /// No such claim.
    pub async fn claim_timeline(&self, id: &lyra_domain::ClaimId) -> Result<Vec<ClaimEvent>, AppError> {
        Ok(self.store().claim_timeline(id).await?)
    }
}

/// The claim's own fields, its posterior, its counts and its evidence, side by side.
fn claim(report: &ClaimReport) -> Value {
    let posterior = &report.posterior;
    let evidence: Vec<Value> = report
        .evidence
        .iter()
        .map(|evidence| {
            let mut fields = fields(json!(evidence));
            fields.insert("nli_confidence".to_owned(), json!(thousandths(evidence.nli_confidence.get())));
            Value::Object(fields)
        })
        .collect();
    let claim = &report.claim;
    json!({
        "id": claim.id,
        "task_id": claim.task_id,
        "claim_text": claim.claim_text,
        "claim_type": claim.claim_type,
        "language": claim.language,
        "source_fragment_id": claim.source_fragment_id,
        "extracted_by": claim.extraction.map(|extraction| extraction.extracted_by),
        "extraction_score": claim.extraction.map(|extraction| extraction.score),
        "claim_adoption_status": claim.adoption_status,
        "source_verification_status": claim.verification_status,
        "alpha": thousandths(posterior.alpha),
        "beta": thousandths(posterior.beta),
        "confidence": thousandths(posterior.confidence()),
        "uncertainty": thousandths(posterior.uncertainty()),
        "controversy": thousandths(posterior.controversy()),
        "evidence_count": report.evidence.len(),
        "supporting_count": report.supporting_count,
        "refuting_count": report.refuting_count,
        "neutral_count": report.neutral_count,
        "not_judged_count": report.not_judged_count,
        "independent_sources": report.independent_sources,
        "evidence_years": report.evidence_years,
        "evidence": evidence,
    })
}

/// The task's source pages, the citations that leave them, and the pages cited most.
fn citation_network(rows: &TaskExport, graph: &EvidenceGraph) -> Value {
    let pages: HashMap<&str, _> = rows.pages.iter().map(|page| (page.id.as_str(), page)).collect();
    let title = |id: &str| pages.get(id).map(|page| page.title.as_str());
    let source_pages = rows.pages.iter().filter(|page| page.is_source).map(|page| {
        json!({
            "id": page.id,
            "title": page.title,
            "url": page.url,
            "domain": page.domain,
            "citation_count": page.citation_count,
            "year": page.year,
            "doi": page.doi,
            "is_retracted": page.is_retracted,
        })
    });
    let citation = |edge: &ExportedEdge| {
        json!({
            "edge_id": edge.id,
            "citing_page_id": edge.source_id,
            "cited_page_id": edge.target_id,
            "cited_title": title(&edge.target_id),
            "citation_source": edge.citation_source,
        })
    };
    let analysis = graph.network(Scope::Citations).analyse();
    let hubs = analysis.nodes.iter().filter(|node| node.cited_by_count > 0).take(HUB_PAGES).map(|node| {
        json!({
            "page_id": node.id,
            "title": title(&node.id),
            "year": pages.get(node.id.as_str()).and_then(|page| page.year),
            "cited_by_count": node.cited_by_count,
            "pagerank": node.pagerank,
            "betweenness": node.betweenness,
        })
    });
    json!({
        "source_pages": source_pages.collect::<Vec<_>>(),
        "citations": rows.edges.iter().filter(|e| e.relation == Relation::Cites).map(citation).collect::<Vec<_>>(),
        "hub_pages": hubs.collect::<Vec<_>>(),
        "betweenness_sampled_sources": analysis.betweenness_sampled_sources,
        "mutual_citations": analysis.mutual_citations,
        "citation_loops": analysis.citation_loops,
        "citation_loops_truncated": analysis.citation_loops_truncated,
        "clusters": analysis.clusters,
    })
}

fn timeline(events: &[ClaimEvent]) -> Value {
    let event = |event: &ClaimEvent| json!({"at": event.at, "event": event.event, "detail": event.detail, "cause_id": event.cause_id});
    events.iter().map(event).collect()
}
