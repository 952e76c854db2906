//! Lanes, their runs, and what fusing them measured.

mod check;
mod compare;
mod documents;
mod given;
mod list;
mod provenance;

pub use check::{QueryCheck, QueryFault};
pub use compare::{Comparison, MovedDocument, OwnDocument, Side};
pub use documents::{CutField, DocumentView, Documents, Found, FoundDocument, Passage, PeekView, Snippet};
pub use given::{
    BoostsInput, CodeInput, FacetInput, FacetWeightsInput, FilterInput, PiWeightsInput, RangeInput,
    RecipeInput, WeightInput,
};
pub use list::{Piece, RunDocument, RunDocuments, RunHit, RunInfo};
pub use provenance::{
    DocumentShare, ParentView, ProposedView, ProvenanceView, RepresentativeView, SampleView,
};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// A lane in a list.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct LaneInfo {
    /// Name of the lane.
    pub lane: String,
    /// `fulltext`, `semantic` or `original_dense`.
    pub kind: String,
    /// Weights of title, abst, claim and desc in a full-text lane, in this order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub boosts: Option<[f32; 4]>,
    /// Part of the documents that a semantic lane compares.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feature_scope: Option<&'static str>,
    /// The lane's description.
    pub about: String,
}

/// A stored run.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RunHandle {
    /// Id of the run, for blending, peeking and provenance.
    pub run_id: String,
    /// `fulltext`, `semantic`, `original_dense` or `fusion`.
    pub kind: String,
    /// Name of the lane; its weight in a blend refers to this name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lane: Option<String>,
    /// The corpus searched.
    pub corpus: String,
    /// Counts and time of the run.
    pub meta: MetaView,
    /// Whether the run was there already for the same search.
    pub cached: bool,
    /// Frequencies of codes by system, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code_freqs: Option<Vec<SystemCodes>>,
    /// The first documents, if codes or scores were requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub items: Option<Vec<ItemView>>,
    /// What about this lane deserves a second look.
    pub alarms: Vec<AlarmView>,
    /// Whether fewer codes or documents are listed than requested, to keep the answer small.
    pub shortened: bool,
}

/// Counts and time of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MetaView {
    /// Requested number of documents.
    pub top_k: usize,
    /// Documents in the run.
    pub count_returned: usize,
    /// Whether more documents matched than requested.
    pub truncated: bool,
    /// Documents that matched, where the backend counts them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// Milliseconds that the run took.
    pub took_ms: u64,
}

/// Codes of one classification system.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SystemCodes {
    /// `fi`, `ft`, `cpc`, `ipc`, `uspc` or `locarno`.
    pub system: String,
    /// Distinct codes of this system in the run.
    pub distinct: usize,
    /// The most frequent codes.
    pub codes: Vec<CodeCount>,
}

/// How often a code occurs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CodeCount {
    /// The code in its normal form.
    pub code: String,
    /// Documents of the run that have it.
    pub count: usize,
    /// Their share of the run.
    pub share: f64,
}

/// A document of a run.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ItemView {
    /// Place in the run, from 1.
    pub rank: usize,
    /// Document id.
    pub doc_id: String,
    /// Score, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// Codes as `system:code`, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub codes: Option<Vec<String>>,
}

/// Something that deserves a second look.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct AlarmView {
    /// Which alarm, in `snake_case`.
    pub alarm: String,
    /// The measurement as a sentence.
    pub message: String,
    /// The numbers and names behind it.
    pub evidence: Map<String, Value>,
}

/// One depth of reading.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct FrontierView {
    /// Documents read.
    pub k: usize,
    /// P*, a proxy of precision.
    pub p_star: f64,
    /// R*, a proxy of recall.
    pub r_star: f64,
    /// Fβ* of the two.
    pub f_beta_star: f64,
}

/// The shape of a fused ranking.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct MetricsView {
    /// Lane agreement: mean pairwise Jaccard index of the lanes' first 50. Absent with one lane.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub las: Option<f64>,
    /// Class consistency of the first 50: 1 when the primary codes of all are of one subclass, 0 when each is of
    /// another. Absent without codes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ccw: Option<f64>,
    /// Share of the first 3 scores in the first 50.
    pub s_shape: f64,
    /// F1 of `las` and `ccw`, or the one there is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub f_struct: Option<f64>,
    /// `f_struct` lowered by `s_shape`: `f_struct · (1 − 0.5 · s_shape)`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub f_proxy: Option<f64>,
}

/// A fusion run and its measurements.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FusionView {
    /// Id of the fusion run, for peeking, mutating and provenance.
    pub run_id: String,
    /// The corpus that its lanes searched.
    pub corpus: String,
    /// Counts and time of the run.
    pub meta: MetaView,
    /// Whether the run was there already for the same lanes and parameters.
    pub cached: bool,
    /// P*, R* and Fβ* over depths of reading: proxies, because there are no relevance labels.
    pub frontier: Vec<FrontierView>,
    /// The depth with the highest Fβ*.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub best: Option<FrontierView>,
    /// The shape of the ranking.
    pub metrics: MetricsView,
    /// Shares of the lanes and of `code` in the scores of the first 50.
    pub contributions: BTreeMap<String, f64>,
    /// Documents that are not listed because another one of their family is, with `one_per_family`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folded: Option<usize>,
    /// Alarms; `get_provenance` returns them as well.
    pub alarms: Vec<AlarmView>,
    /// The fusion run that this one was changed from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed_from: Option<String>,
    /// The first documents, if `peek` requested them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peek: Option<PeekView>,
}
