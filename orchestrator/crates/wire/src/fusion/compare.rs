//! Two runs side by side.

use super::IntervalView;
use schemars::JsonSchema;
use serde::Serialize;

/// What differs between the first documents of two runs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Comparison {
    /// Documents of each run that are compared.
    pub depth: usize,
    /// The run that is looked at.
    pub this: Side,
    /// The run that it is compared with.
    pub other: Side,
    /// Documents that both have.
    pub shared: usize,
    /// Shared documents as a share of all documents of either, 0 to 1 (Jaccard index).
    pub overlap: f64,
    /// Which of the two is better, by the judged documents of both; absent with fewer than 10 of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paired: Option<PairedView>,
    /// Documents that both have, the largest change of rank first.
    pub moved: Vec<MovedDocument>,
    /// Documents that only `this` has, by rank.
    pub only_this: Vec<OwnDocument>,
    /// Documents that only `other` has, by rank.
    pub only_other: Vec<OwnDocument>,
}

/// What the first documents of two runs hold, estimated on the same judgments.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct PairedView {
    /// Judged documents of either run.
    pub judged: usize,
    /// Share of the first documents that is relevant.
    pub precision: PairView,
    /// Their share of the relevant documents of both runs together.
    pub recall: PairView,
}

/// One measure of two runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct PairView {
    /// Of `this`.
    pub this: IntervalView,
    /// Of `other`.
    pub other: IntervalView,
    /// `this` less `other`: where its interval holds 0, the judgments do not tell which is better.
    pub difference: IntervalView,
}

/// A run in a comparison.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Side {
    /// Id of the run.
    pub run_id: String,
    /// `fulltext`, `semantic`, `original_dense` or `fusion`.
    pub kind: String,
    /// Documents in the whole run.
    pub count_returned: usize,
}

/// A document that two runs share.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MovedDocument {
    /// Document id.
    pub doc_id: String,
    /// Its title; empty if it has none.
    pub title: String,
    /// Its place in `this`, from 1.
    pub rank: usize,
    /// Its place in `other`, from 1.
    pub other_rank: usize,
    /// Places that `this` has it higher than `other`; negative where it is lower.
    pub gained: i64,
}

/// A document that only one of two runs has within the depth.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OwnDocument {
    /// Document id.
    pub doc_id: String,
    /// Its title; empty if it has none.
    pub title: String,
    /// Its place in the run that has it, from 1.
    pub rank: usize,
    /// Its place in the other run, below the depth; absent if that run does not have it at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_rank: Option<usize>,
}
