//! Where a run comes from and what is in it.

use super::{AlarmView, DesignPointView, EstimateView, FrontierView, MetaView, MetricsView, SystemCodes};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Where a run comes from and what is in it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ProvenanceView {
    /// Id of the run.
    pub run_id: String,
    /// `fulltext`, `semantic`, `original_dense` or `fusion`.
    pub kind: String,
    /// Name of the lane; absent in fusion runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lane: Option<String>,
    /// The corpus searched.
    pub corpus: String,
    /// The backend that has it.
    pub backend: String,
    /// When it was created.
    pub created_at: String,
    /// When it expires.
    pub expires_at: String,
    /// Counts and time of the run.
    pub meta: MetaView,
    /// Everything that shapes the run: query, filters and boosts of a lane, weights and parameters of a fusion.
    pub recipe: Map<String, Value>,
    /// The lanes that it fuses; empty for lanes.
    pub parents: Vec<ParentView>,
    /// The fusion runs that it was changed from, the nearest first.
    pub changed_from: Vec<String>,
    /// Shares of the lanes and of `code` in the scores of the first 50, summing to 1; of fusion runs.
    pub contributions: BTreeMap<String, f64>,
    /// The first documents, with each lane's contribution.
    pub documents: Vec<DocumentShare>,
    /// Codes of the run by system, the most frequent first.
    pub code_distributions: Vec<SystemCodes>,
    /// A target profile from frequency times specificity, as `system:code` with weights.
    pub proposed_profile: Vec<ProposedView>,
    /// The shape of the ranking; of fusion runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metrics: Option<MetricsView>,
    /// What was added up: `minmax` (scores) or `rrf` (ranks); of fusion runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<&'static str>,
    /// Expected precision, recall and Fβ over depths of reading, each with a 90 % interval; of fusion runs.
    pub frontier: Vec<FrontierView>,
    /// What the ranks and the judgments say together; of fusion runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimate: Option<EstimateView>,
    /// P*, R* and Fβ* of the design, with `pi_mode` `design`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub design_frontier: Vec<DesignPointView>,
    /// How the design's π′ was computed: `standardised` or `platt` (fitted to representatives), with its parameters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proxy: Option<Map<String, Value>>,
    /// Documents whose texts were read for facets, a part of the design's π′.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub facets_read: Option<usize>,
    /// What deserves a second look.
    pub alarms: Vec<AlarmView>,
    /// Documents that a person judged, with their current ranks.
    pub representatives: Vec<RepresentativeView>,
    /// Documents to judge next, if requested: what is left of a sample of 20, then those whose judgment tells most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sample: Option<Vec<SampleView>>,
    /// Whether the interval of `recall_at_middle` is as narrow as `recall_width`, if that was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_enough: Option<bool>,
    /// Whether fewer documents and codes are listed than requested, to keep the answer small.
    pub shortened: bool,
}

/// A lane in a fusion.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ParentView {
    /// Its name in this fusion.
    pub lane: String,
    /// The id of its run.
    pub run_id: String,
    /// Documents in it.
    pub count_returned: usize,
    /// Its weight in the fusion.
    pub weight: f64,
}

/// A document with each lane's contribution.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DocumentShare {
    /// Place in the run, from 1.
    pub rank: usize,
    /// Document id.
    pub doc_id: String,
    /// Score in the run.
    pub score: f64,
    /// Place in every lane that has it, by lane.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub ranks: BTreeMap<String, usize>,
    /// Share of every lane and of `code` in the score, summing to 1.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub shares: BTreeMap<String, f64>,
}

/// A code that the run speaks for.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ProposedView {
    /// As `system:code`, ready for `target_profile`.
    pub code: String,
    /// Frequency times specificity, the largest being 1.
    pub weight: f64,
    /// Documents of the run that have it or a code below it.
    pub count: usize,
}

/// A judged document.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RepresentativeView {
    /// Document id.
    pub doc_id: String,
    /// `A`, `B` or `C`: matches the core, on topic, off topic.
    pub label: String,
    /// Why it was judged so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Place in this run; absent when the run no longer has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<usize>,
    /// Score in this run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
}

/// A document to review.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SampleView {
    /// Place in the run, from 1.
    pub rank: usize,
    /// Document id.
    pub doc_id: String,
    /// The lanes that have it.
    pub lanes: Vec<String>,
    /// Documents of the sample's stratum that it stands for, itself included; absent for one that is proposed for what it tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stands_for: Option<f64>,
}
