//! Everything of a task in one document.

use crate::{Claim, ClaimEvent, Fragment, ScreeningDecision, Search, Task};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// The full export of a task.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Materials {
    /// The task with its searches.
    pub task: ExportedTask,
    /// Its claims with their evidence.
    pub claims: Vec<Claim>,
    /// The passages that the claims rest on.
    pub fragments: Vec<Fragment>,
    /// The evidence graph as node-link JSON, whose names are those of `NetworkX` and D3.
    pub evidence_graph: Value,
    /// The citations among its pages.
    pub citation_network: CitationNetwork,
    /// What people decided about its documents, in order, with what was taken back.
    pub screening: Vec<ScreeningDecision>,
}

/// A task in its export.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ExportedTask {
    /// The task.
    pub task: Task,
    /// Its searches, in the order they were queued.
    pub searches: Vec<Search>,
    /// Notes for readers of the results, such as a source that failed.
    pub warnings: Vec<String>,
}

/// A claim by itself.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ClaimMaterial {
    /// The claim.
    #[serde(flatten)]
    pub claim: Claim,
    /// Its history, the oldest event first.
    pub timeline: Vec<ClaimEvent>,
}

/// The source pages of a task, the citations that leave them, and the pages cited most.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CitationNetwork {
    /// Pages that a claim has evidence in or comes from.
    pub source_pages: Vec<SourcePage>,
    /// Citations between pages.
    pub citations: Vec<PageCitation>,
    /// The pages cited most, at most 10.
    pub hub_pages: Vec<HubPage>,
    /// Sources that betweenness was estimated from; unknown when it is exact.
    pub betweenness_sampled_sources: Option<usize>,
    /// Pairs of pages that cite each other.
    pub mutual_citations: Vec<[String; 2]>,
    /// Circles of three pages or more.
    pub citation_loops: Vec<Vec<String>>,
    /// Whether there are more loops than are listed.
    pub citation_loops_truncated: bool,
    /// Clusters of two pages or more, the largest first.
    pub clusters: Vec<PageCluster>,
}

/// A page that a claim has evidence in or comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SourcePage {
    /// Id of the page.
    pub page_id: String,
    /// Its title.
    pub title: String,
    /// Its address, or `corpus:NAME/DOCUMENT`.
    pub url: String,
    /// Its host, or `corpus:NAME`.
    pub domain: String,
    /// Citations of the work, as reported by its source.
    pub citation_count: Option<u32>,
    /// Year of publication.
    pub year: Option<i32>,
    /// DOI, normalized.
    pub doi: Option<String>,
    /// Whether the work was retracted.
    pub is_retracted: Option<bool>,
}

/// A citation between pages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PageCitation {
    /// Id of the citation.
    pub edge_id: String,
    /// The page that cites.
    pub citing_page_id: String,
    /// The page that is cited.
    pub cited_page_id: String,
    /// Title of the cited page.
    pub cited_title: Option<String>,
    /// Where the citation is from: the name of a source, or `extraction`.
    pub citation_source: Option<String>,
}

/// A page that is cited much.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct HubPage {
    /// Id of the page.
    pub page_id: String,
    /// Its title.
    pub title: Option<String>,
    /// Year of publication.
    pub year: Option<i32>,
    /// Pages of the task that cite it.
    pub cited_by_count: usize,
    /// `PageRank`, 0 to 1.
    pub pagerank: f64,
    /// Betweenness, 0 to 1.
    pub betweenness: f64,
}

/// Pages connected among themselves more than with others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PageCluster {
    /// Ids of the pages, sorted.
    pub ids: Vec<String>,
    /// Citations among them.
    pub internal_citations: usize,
}
