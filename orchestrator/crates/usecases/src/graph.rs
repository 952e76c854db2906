//! A task's evidence graph: its exports, and the analysis of its citations.

use super::{App, AppError, ErrorCode, references};
use lyra_bibliography::{Output, Record};
use lyra_domain::{Doi, FetchMethod, TaskId, named_enum};
use lyra_graph::{Analysis, EdgeFacts, EvidenceGraph, Node, NodeType, Scope};
use lyra_store::{ExportedPage, TaskExport};
use lyra_wire::json::fields_of;
use serde::Serialize;
use std::collections::BTreeMap;

named_enum! {
    /// How a graph is written.
    pub enum GraphFormat {
        /// Node-link JSON, for `NetworkX` and D3.
        NodeLink = "node-link",
        /// `GraphML`, for Gephi, yEd, Cytoscape, igraph.
        GraphMl = "graphml",
        /// GEXF 1.3, Gephi's own.
        Gexf = "gexf",
        /// DOT, for Graphviz.
        Dot = "dot",
        /// One line per edge.
        Csv = "csv",
        /// One line per node.
        CsvNodes = "csv-nodes",
        /// The works behind the evidence and those that they cite, for LaTeX.
        Bibtex = "bibtex",
        /// The same, for Zotero, Mendeley, EndNote.
        Ris = "ris",
        /// The same as CSL-JSON, for Zotero and pandoc.
        CslJson = "csl",
    }
}

/// The network of a task, with the titles of its pages.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GraphAnalysis {
    /// The task.
    pub task_id: TaskId,
    /// Edges of the evidence graph by relation.
    pub edge_counts: BTreeMap<&'static str, usize>,
    /// Nodes of the evidence graph by kind.
    pub node_counts: BTreeMap<&'static str, usize>,
    /// Title, or beginning of the text, of every node that is analyzed.
    pub titles: BTreeMap<String, String>,
    /// The analysis of the network.
    #[serde(flatten)]
    pub analysis: Analysis,
}

impl App {
    /// The evidence graph of a task, derived edges included.
    ///
    /// # Errors
    /// No such task.
    pub async fn graph(&self, task: &TaskId) -> Result<EvidenceGraph, AppError> {
        let rows = self.store().export_rows(task).await?;
        off_thread(move || graph_of(&rows)).await
    }

    /// A task's graph, or the works in it, as the text of a file.
    ///
    /// # Errors
    /// No such task.
    pub async fn export_graph(&self, task: &TaskId, format: GraphFormat) -> Result<String, AppError> {
        let rows = self.store().export_rows(task).await?;
        off_thread(move || {
            let graph = graph_of(&rows);
            match format {
                GraphFormat::NodeLink => format!("{:#}\n", graph.node_link()),
                GraphFormat::GraphMl => graph.graphml(),
                GraphFormat::Gexf => graph.gexf(),
                GraphFormat::Dot => graph.dot(),
                GraphFormat::Csv => graph.edges_csv(),
                GraphFormat::CsvNodes => graph.nodes_csv(),
                GraphFormat::Bibtex => bibliography(&rows, Output::BibTex),
                GraphFormat::Ris => bibliography(&rows, Output::Ris),
                GraphFormat::CslJson => bibliography(&rows, Output::CslJson),
            }
        })
        .await
    }

    /// `PageRank`, betweenness, loops and clusters of a task's citations, or of its whole graph.
    ///
    /// # Errors
    /// No such task.
    pub async fn analyse_graph(&self, task: &TaskId, scope: Scope) -> Result<GraphAnalysis, AppError> {
        let rows = self.store().export_rows(task).await?;
        let task_id = task.clone();
        off_thread(move || {
            let graph = graph_of(&rows);
            let analysis = graph.network(scope).analyse();
            let title = |id: &str| {
                let attributes = &graph.node(id)?.attributes;
                let text = attributes.get("title").or_else(|| attributes.get("text"))?.as_str()?;
                Some((id.to_owned(), text.to_owned()))
            };
            GraphAnalysis {
                task_id,
                edge_counts: graph.edge_counts(),
                node_counts: graph.node_counts(),
                titles: analysis.nodes.iter().filter_map(|node| title(&node.id)).collect(),
                analysis,
            }
        })
        .await
    }
}

/// Runs work that takes long on a large graph off the async threads.
pub(super) async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, AppError> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|error| AppError::new(ErrorCode::Internal, format!("work on a graph failed: {error}")))
}

/// What a claim's node says.
#[derive(Serialize)]
struct ClaimNode<'a> {
    text: &'a str,
    confidence: f64,
    uncertainty: f64,
    controversy: f64,
}

/// What a page's node says.
#[derive(Serialize)]
struct PageNode<'a> {
    title: &'a str,
    url: &'a str,
    year: Option<i32>,
    venue: Option<&'a str>,
    doi: Option<&'a str>,
    citation_count: Option<u32>,
    is_retracted: Option<bool>,
    domain: &'a str,
    domain_category: &'a str,
    is_source: bool,
}

/// What a fragment's node says.
#[derive(Serialize)]
struct FragmentNode<'a> {
    text: &'a str,
    fragment_type: &'a str,
    page_id: &'a str,
}

fn node(node_type: NodeType, obj_id: &str, attributes: &impl Serialize) -> Node {
    Node { node_type, obj_id: obj_id.to_owned(), attributes: fields_of(attributes) }
}

/// The graph of a task's rows.
pub(super) fn graph_of(rows: &TaskExport) -> EvidenceGraph {
    let mut graph = EvidenceGraph::new();
    for row in &rows.claims {
        let attributes = ClaimNode {
            text: &row.claim.claim_text,
            confidence: row.posterior.confidence(),
            uncertainty: row.posterior.uncertainty(),
            controversy: row.posterior.controversy(),
        };
        graph.add_node(node(NodeType::Claim, row.claim.id.as_str(), &attributes));
    }
    for row in &rows.pages {
        let attributes = PageNode {
            title: &row.title,
            url: &row.url,
            year: row.year,
            venue: row.venue.as_deref(),
            doi: row.doi.as_deref(),
            citation_count: row.citation_count,
            is_retracted: row.is_retracted,
            domain: &row.domain,
            domain_category: &row.domain_category,
            is_source: row.is_source,
        };
        graph.add_node(node(NodeType::Page, row.id.as_str(), &attributes));
    }
    for row in &rows.fragments {
        let fragment = &row.fragment;
        let attributes = FragmentNode {
            text: &fragment.text_content,
            fragment_type: fragment.fragment_type.as_str(),
            page_id: fragment.page_id.as_str(),
        };
        graph.add_node(node(NodeType::Fragment, fragment.id.as_str(), &attributes));
        graph.place(fragment.id.as_str(), fragment.page_id.as_str());
    }
    for edge in &rows.edges {
        let facts = EdgeFacts {
            edge_id: Some(edge.id.to_string()),
            nli_confidence: edge.nli_confidence.map(lyra_domain::Probability::get),
            nli_scores: edge.nli_scores,
            nli_model: edge.nli_model.clone(),
            premise: edge.premise.clone(),
            missing: listed(&edge.discrepancies.missing),
            differs: listed(&edge.discrepancies.differs),
            source_domain_category: edge.source_domain_category.clone(),
            target_domain_category: edge.target_domain_category.clone(),
            citation_source: edge.citation_source.clone(),
            citation_context: edge.citation_context.clone(),
            edge_human_corrected: edge.human_corrected,
        };
        if !graph.add_edge(&edge.source_id, &edge.target_id, edge.relation, facts) {
            tracing::warn!(edge_id = %edge.id, "an edge names a node that the export lacks");
        }
    }
    graph.derive_evidence_sources();
    graph
}

/// What rules found, as one text.
fn listed(found: &[String]) -> Option<String> {
    (!found.is_empty()).then(|| found.join("; "))
}

/// The pages of a graph as a bibliography: those of the evidence first. A tag tells them from those that they cite.
fn bibliography(rows: &TaskExport, format: Output) -> String {
    let tagged = |is_source: bool, tag: &str| {
        let pages = rows.pages.iter().filter(|page| page.is_source == is_source);
        let mut records: Vec<Record> = pages.map(|page| record(page, tag)).collect();
        references::sort(&mut records);
        records
    };
    let records = [tagged(true, "evidence"), tagged(false, "cited")].concat();
    references::written(&records, format)
}

fn record(page: &ExportedPage, tag: &str) -> Record {
    let is_work = page.work_id.is_some() || page.fetch_method == FetchMethod::AcademicApi;
    let has_address = !page.url.starts_with("corpus:");
    let day = page.fetched_at.get(..10).filter(|_| has_address && !is_work);
    let record = Record {
        title: page.title.clone(),
        authors: references::authors(&page.authors),
        year: page.year,
        venue: page.venue.clone(),
        doi: page.doi.as_deref().and_then(Doi::parse),
        pmid: page.pmid.clone(),
        url: has_address.then(|| page.url.clone()),
        accessed: day.map(str::to_owned),
        tags: vec![tag.to_owned()],
        is_retracted: page.is_retracted == Some(true),
        ..Record::default()
    };
    references::completed(record, &page.imprint, is_work)
}
