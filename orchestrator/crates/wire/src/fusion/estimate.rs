//! What is relevant in a ranking, with intervals.

use schemars::JsonSchema;
use serde::Serialize;

/// A number with its 90 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct IntervalView {
    /// Expected value.
    pub mean: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// What to expect after reading to a depth.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct FrontierView {
    /// Documents read.
    pub k: usize,
    /// Share of them that is relevant.
    pub precision: IntervalView,
    /// Their share of the relevant documents of the run.
    pub recall: IntervalView,
    /// Fβ of the two.
    pub f_beta: IntervalView,
}

/// Where Fβ is highest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DepthsView {
    /// It is less deep with a probability of 5 %.
    pub from: usize,
    /// It is deeper with a probability of 5 %.
    pub to: usize,
    /// The depth with the highest expected Fβ.
    pub middle: usize,
}

/// What the ranks and the judgments of a run say together.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct EstimateView {
    /// Judged documents of the run.
    pub judged: usize,
    /// Relevant documents of the run.
    pub relevant: IntervalView,
    /// Where to stop reading; absent with fewer than 10 judged documents, which cannot tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depths: Option<DepthsView>,
    /// Share of the relevant documents found at `depths.middle`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recall_at_middle: Option<IntervalView>,
    /// The same as a sentence.
    pub says: String,
}

/// The proxies of the design at a depth.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct DesignPointView {
    /// Documents read.
    pub k: usize,
    /// P*, a proxy of precision.
    pub p_star: f64,
    /// R*, a proxy of recall.
    pub r_star: f64,
    /// Fβ* of the two.
    pub f_beta_star: f64,
}
