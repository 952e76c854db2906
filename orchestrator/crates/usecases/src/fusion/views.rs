//! The results of the fusion use cases in their output form. Numbers are rounded only here.

use super::fuse::Measured;
use super::review::MAX_BUDGET;
use super::search::LaneRecipe;
use super::{Fusion, PeekView};
use crate::json::millionths;
use crate::json::size;
use crate::{AppError, ErrorCode};
use lyra_fusion::alarm::{partly_embedded, wide_lane, wide_query};
use lyra_fusion::{Alarm, FrontierPoint, RankedDocs, StructureMetrics};
use lyra_store::{RunMeta, StoredRun};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

/// Most documents listed in a handle.
const MAX_ITEMS: usize = 100;
/// Systems in the order in which their codes are shown.
const SYSTEMS: [&str; 4] = ["fi", "ft", "cpc", "ipc"];

/// Optional parts of a handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Show {
    /// Codes of the first documents.
    pub codes: bool,
    /// Frequencies of codes.
    pub code_freqs: bool,
    /// Scores of the first documents.
    pub scores: bool,
    /// Codes per system.
    pub code_freq_top_k: usize,
}

impl Default for Show {
    fn default() -> Self {
        Self { codes: false, code_freqs: false, scores: false, code_freq_top_k: 30 }
    }
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
    /// `fi`, `ft`, `cpc` or `ipc`.
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
    /// Class consistency of the first 50: 1 when the primary codes of all are of one subclass, 0 when each is of another.
    /// Absent without codes.
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
    pub contributions: Map<String, Value>,
    /// Alarms; `get_provenance` returns them as well.
    pub alarms: Vec<AlarmView>,
    /// The fusion run that this one was changed from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed_from: Option<String>,
    /// The first documents, if `peek` requested them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peek: Option<PeekView>,
}

impl From<RunMeta> for MetaView {
    fn from(meta: RunMeta) -> Self {
        let RunMeta { top_k, count_returned, truncated, total, took_ms, .. } = meta;
        Self { top_k, count_returned, truncated, total, took_ms }
    }
}

impl From<FrontierPoint> for FrontierView {
    fn from(point: FrontierPoint) -> Self {
        Self {
            k: point.k,
            p_star: millionths(point.p_star),
            r_star: millionths(point.r_star),
            f_beta_star: millionths(point.f_beta_star),
        }
    }
}

impl From<StructureMetrics> for MetricsView {
    fn from(metrics: StructureMetrics) -> Self {
        Self {
            las: metrics.las.map(millionths),
            ccw: metrics.ccw.map(millionths),
            s_shape: millionths(metrics.s_shape),
            f_struct: metrics.f_struct.map(millionths),
            f_proxy: metrics.f_proxy.map(millionths),
        }
    }
}

impl From<Alarm> for AlarmView {
    fn from(alarm: Alarm) -> Self {
        let name = serde_json::to_value(alarm.alarm).ok();
        Self {
            alarm: name.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned(),
            message: alarm.message,
            evidence: alarm.evidence,
        }
    }
}

/// A lane's run as its search answers.
pub(super) fn handle(
    fusion: &Fusion,
    run: &StoredRun,
    cached: bool,
    show: Show,
) -> Result<RunHandle, AppError> {
    let recipe = lane_recipe(run)?;
    let items = (show.codes || show.scores).then(|| {
        (0..run.docs.ids.len().min(MAX_ITEMS))
            .map(|place| ItemView {
                rank: place + 1,
                doc_id: run.docs.ids[place].clone(),
                score: show.scores.then(|| run.docs.scores.get(place).copied().map(millionths)).flatten(),
                codes: show.codes.then(|| run.docs.codes_of(place).take(20).map(str::to_owned).collect()),
            })
            .collect()
    });
    let mut handle = RunHandle {
        run_id: run.id.clone(),
        kind: run.kind.to_string(),
        lane: run.lane.clone(),
        corpus: run.corpus.clone(),
        meta: run.meta.into(),
        cached,
        code_freqs: show.code_freqs.then(|| code_counts(&run.docs, show.code_freq_top_k)),
        items,
        alarms: lane_alarms(fusion, run, &recipe).into_iter().map(AlarmView::from).collect(),
        shortened: false,
    };
    while size(&handle) > MAX_BUDGET && handle.halve() {}
    Ok(handle)
}

impl RunHandle {
    /// Lists half as many codes, and half as many documents; `false` when nothing is left to drop.
    fn halve(&mut self) -> bool {
        let systems = self.code_freqs.iter_mut().flatten();
        let lists = systems.map(|system| &mut system.codes);
        let mut left = false;
        for codes in lists {
            left |= !codes.is_empty();
            codes.truncate(codes.len() / 2);
        }
        if let Some(items) = &mut self.items {
            left |= !items.is_empty();
            items.truncate(items.len() / 2);
        }
        self.shortened |= left;
        left
    }
}

/// The recipe of a lane's run.
pub(super) fn lane_recipe(run: &StoredRun) -> Result<LaneRecipe, AppError> {
    serde_json::from_value(run.recipe.clone()).map_err(|error| {
        AppError::new(ErrorCode::Internal, format!("the recipe of {} cannot be read: {error}", run.id))
    })
}

/// What about a lane deserves a second look.
pub(super) fn lane_alarms(fusion: &Fusion, run: &StoredRun, recipe: &LaneRecipe) -> Vec<Alarm> {
    let narrow = recipe
        .wide
        .then(|| wide_lane(&recipe.lane, run.meta.count_returned, run.meta.top_k, run.meta.total))
        .flatten();
    let demanding = fusion.demands(recipe).and_then(|demands| {
        wide_query(&recipe.lane, &demands.general, &demands.use_case, demands.relaxed.as_deref())
    });
    let partly = partly_embedded(&recipe.lane, run.meta.unembedded);
    narrow.into_iter().chain(demanding).chain(partly).collect()
}

/// The most frequent codes of each system.
pub(super) fn code_counts(docs: &RankedDocs, most: usize) -> Vec<SystemCodes> {
    let counted = docs.code_counts(usize::MAX);
    let total = docs.ids.len().max(1) as f64;
    SYSTEMS
        .iter()
        .filter_map(|system| {
            let of_system: Vec<(&str, usize)> = counted
                .iter()
                .filter_map(|(key, count)| Some((key.strip_prefix(system)?.strip_prefix(':')?, *count)))
                .collect();
            let codes = of_system
                .iter()
                .take(most)
                .map(|&(code, count)| CodeCount {
                    code: code.to_owned(),
                    count,
                    share: millionths(count as f64 / total),
                })
                .collect();
            let distinct = of_system.len();
            (distinct > 0).then(|| SystemCodes { system: (*system).to_owned(), distinct, codes })
        })
        .collect()
}

/// A fusion run as blending and mutating answer.
pub(super) fn fusion_view(run: &StoredRun, cached: bool) -> Result<FusionView, AppError> {
    let measured = Measured::of(run)?;
    Ok(FusionView {
        run_id: run.id.clone(),
        corpus: run.corpus.clone(),
        meta: run.meta.into(),
        cached,
        best: lyra_fusion::frontier::best(&measured.frontier).map(FrontierView::from),
        frontier: measured.frontier.into_iter().map(FrontierView::from).collect(),
        metrics: measured.metrics.into(),
        contributions: measured
            .contributions
            .into_iter()
            .map(|(name, share)| (name, Value::from(millionths(share))))
            .collect(),
        alarms: measured.alarms.into_iter().map(AlarmView::from).collect(),
        changed_from: run.changed_from.clone(),
        peek: None,
    })
}
