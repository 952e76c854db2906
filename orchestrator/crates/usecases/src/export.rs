//! Everything of a task in one document.

use super::graph::{graph_of, off_thread};
use super::{App, AppError, unfinished};
use crate::shapes::screening_decision;
use lyra_domain::{Relation, TaskId};
use lyra_graph::{EvidenceGraph, Scope};
use lyra_store::{ExportedEdge, ExportedPage, TaskExport};
use lyra_wire::{
    CitationNetwork, ClaimEvent, ClaimMaterial, ExportedTask, Fragment, HubPage, Materials, PageCitation,
    PageCluster, Search, SourcePage,
};
use std::collections::HashMap;

/// Most pages that are named as hubs.
const HUB_PAGES: usize = 10;

impl App {
    /// The task, its claims with evidence, the fragments they rest on, the graph, and the citations among its pages.
    ///
    /// # Errors
    /// No such task.
    pub async fn materials(&self, task: &TaskId) -> Result<Materials, AppError> {
        let progress = self.store().task_status(task).await?;
        let reports = self.claim_reports(task).await?;
        let rows = self.store().export_rows(task).await?;
        let decisions = self.store().screening_history(task).await?;
        off_thread(move || {
            let graph = graph_of(&rows);
            let left = unfinished(&progress).map(|left| left.to_string());
            Materials {
                screening: decisions.iter().map(screening_decision).collect(),
                task: ExportedTask {
                    task: (&progress.task).into(),
                    searches: progress.queries.iter().map(Search::from).collect(),
                    warnings: left.into_iter().chain(progress.warnings).collect(),
                },
                claims: reports.iter().map(lyra_wire::Claim::from).collect(),
                fragments: rows.fragments.iter().map(|row| Fragment::from(&row.fragment)).collect(),
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
    pub async fn claim_material(
        &self,
        task: &TaskId,
        id: &lyra_domain::ClaimId,
    ) -> Result<ClaimMaterial, AppError> {
        let report = self.store().claim_report(id).await?;
        if report.claim.task_id != *task {
            return Err(AppError::new(
                super::ErrorCode::NotFound,
                format!("claim {id} belongs to {}, not to {task}", report.claim.task_id),
            ));
        }
        Ok(ClaimMaterial { claim: (&report).into(), timeline: self.claim_timeline(id).await? })
    }

    /// A claim's history, in order: its creation, changes by people and verification, retractions of its works. An
    /// audit log; no number is derived from it.
    ///
    /// # Errors
    /// No such claim.
    pub async fn claim_timeline(&self, id: &lyra_domain::ClaimId) -> Result<Vec<ClaimEvent>, AppError> {
        let events = self.store().claim_timeline(id).await?;
        let event = |lyra_store::ClaimEvent { event, detail, cause_id, at }| ClaimEvent {
            at,
            event,
            detail,
            cause_id,
        };
        Ok(events.into_iter().map(event).collect())
    }
}

/// The task's source pages, the citations that leave them, and the pages cited most.
fn citation_network(rows: &TaskExport, graph: &EvidenceGraph) -> CitationNetwork {
    let pages: HashMap<&str, &ExportedPage> =
        rows.pages.iter().map(|page| (page.id.as_str(), page)).collect();
    let title = |id: &str| pages.get(id).map(|page| page.title.clone());
    let citation = |edge: &ExportedEdge| PageCitation {
        edge_id: edge.id.to_string(),
        citing_page_id: edge.source_id.clone(),
        cited_page_id: edge.target_id.clone(),
        cited_title: title(&edge.target_id),
        citation_source: edge.citation_source.clone(),
    };
    let analysis = graph.network(Scope::Citations).analyse();
    let hubs =
        analysis.nodes.iter().filter(|node| node.cited_by_count > 0).take(HUB_PAGES).map(|node| HubPage {
            title: title(&node.id),
            year: pages.get(node.id.as_str()).and_then(|page| page.year),
            page_id: node.id.clone(),
            cited_by_count: node.cited_by_count,
            pagerank: node.pagerank,
            betweenness: node.betweenness,
        });
    let cluster = |cluster: lyra_graph::Cluster| PageCluster {
        ids: cluster.ids,
        internal_citations: cluster.internal_citations,
    };
    CitationNetwork {
        source_pages: rows.pages.iter().filter(|page| page.is_source).map(source_page).collect(),
        citations: rows.edges.iter().filter(|e| e.relation == Relation::Cites).map(citation).collect(),
        hub_pages: hubs.collect(),
        betweenness_sampled_sources: analysis.betweenness_sampled_sources,
        mutual_citations: analysis.mutual_citations,
        citation_loops: analysis.citation_loops,
        citation_loops_truncated: analysis.citation_loops_truncated,
        clusters: analysis.clusters.into_iter().map(cluster).collect(),
    }
}

fn source_page(page: &ExportedPage) -> SourcePage {
    SourcePage {
        page_id: page.id.to_string(),
        title: page.title.clone(),
        url: page.url.clone(),
        domain: page.domain.clone(),
        citation_count: page.citation_count,
        year: page.year,
        doi: page.doi.clone(),
        is_retracted: page.is_retracted,
    }
}
