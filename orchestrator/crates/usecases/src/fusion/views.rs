//! The results of the fusion use cases in their output form. Numbers are rounded only here.

use super::Fusion;
use super::fuse::Measured;
use super::review::MAX_BUDGET;
use super::search::LaneRecipe;
use crate::{AppError, ErrorCode};
use lyra_fusion::alarm::{ambiguous_query, partly_embedded, partly_imported, wide_lane, wide_query};
use lyra_fusion::estimate::{Depths, Estimate, Expected, Interval, LABELS_FOR_DEPTH};
use lyra_fusion::{Alarm, FrontierPoint, RankedDocs, StructureMetrics};
use lyra_store::{RunMeta, StoredRun};
use lyra_wire::fusion::{
    AlarmView, CodeCount, DepthsView, DesignPointView, EstimateView, FrontierView, FusionView, IntervalView,
    ItemView, MetaView, MetricsView, RunHandle, SystemCodes,
};
use lyra_wire::json::{millionths, size, thousandths, word};
use std::collections::BTreeMap;

/// Most documents listed in a handle.
const MAX_ITEMS: usize = 100;
/// Systems in the order in which their codes are shown.
const SYSTEMS: [&str; 6] = ["fi", "ft", "cpc", "ipc", "uspc", "locarno"];

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

/// Counts and time of a run.
pub(super) fn meta(meta: RunMeta) -> MetaView {
    MetaView {
        top_k: meta.top_k,
        count_returned: meta.count_returned,
        truncated: meta.truncated,
        total: meta.total,
        took_ms: meta.took_ms,
    }
}

/// A depth of reading in the design's proxies.
pub(super) fn design_point(point: FrontierPoint) -> DesignPointView {
    DesignPointView {
        k: point.k,
        p_star: millionths(point.p_star),
        r_star: millionths(point.r_star),
        f_beta_star: millionths(point.f_beta_star),
    }
}

/// A depth of reading.
pub(super) fn depth(point: Expected) -> FrontierView {
    FrontierView {
        k: point.k,
        precision: interval(point.precision),
        recall: interval(point.recall),
        f_beta: interval(point.f_beta),
    }
}

pub(super) fn interval(of: Interval) -> IntervalView {
    IntervalView { mean: thousandths(of.mean), low: thousandths(of.low), high: thousandths(of.high) }
}

/// What ranks and judgments say together.
pub(super) fn estimate(estimate: &Estimate) -> EstimateView {
    let says = match (estimate.labels, estimate.depths) {
        (_, Some(Depths { from, to, middle })) => format!(
            "Fβ should be highest after {middle} documents; with a probability of 90 %, it is between {from} and {to}"
        ),
        (0, None) => format!(
            "no document was judged, so no depth can be named; judge at least {LABELS_FOR_DEPTH}, better 20"
        ),
        (judged, None) => {
            format!("{judged} judged documents are too few to name a depth; it takes {LABELS_FOR_DEPTH}")
        }
    };
    EstimateView {
        judged: estimate.labels,
        relevant: interval(estimate.relevant),
        depths: estimate.depths.map(|Depths { from, to, middle }| DepthsView { from, to, middle }),
        recall_at_middle: estimate.at_middle.map(|point| interval(point.recall)),
        says,
    }
}

/// The shape of a ranking.
pub(super) fn shape(metrics: StructureMetrics) -> MetricsView {
    MetricsView {
        las: metrics.las.map(millionths),
        ccw: metrics.ccw.map(millionths),
        s_shape: millionths(metrics.s_shape),
        f_struct: metrics.f_struct.map(millionths),
    }
}

/// Alarms as they are shown.
pub(super) fn alarms(alarms: impl IntoIterator<Item = Alarm>) -> Vec<AlarmView> {
    let view = |Alarm { alarm, message, evidence }| AlarmView { alarm: word(&alarm), message, evidence };
    alarms.into_iter().map(view).collect()
}

/// Shares by name.
pub(super) fn shares<N: Into<String>>(shares: impl IntoIterator<Item = (N, f64)>) -> BTreeMap<String, f64> {
    shares.into_iter().map(|(name, share)| (name.into(), millionths(share))).collect()
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
        meta: meta(run.meta),
        cached,
        code_freqs: show.code_freqs.then(|| code_counts(&run.docs, show.code_freq_top_k)),
        items,
        alarms: alarms(lane_alarms(fusion, run, &recipe)),
        shortened: false,
    };
    while size(&handle) > MAX_BUDGET && halve(&mut handle) {}
    Ok(handle)
}

/// Lists half as many codes, and half as many documents; `false` when nothing is left to drop.
fn halve(handle: &mut RunHandle) -> bool {
    let systems = handle.code_freqs.iter_mut().flatten();
    let lists = systems.map(|system| &mut system.codes);
    let mut left = false;
    for codes in lists {
        left |= !codes.is_empty();
        codes.truncate(codes.len() / 2);
    }
    if let Some(items) = &mut handle.items {
        left |= !items.is_empty();
        items.truncate(items.len() / 2);
    }
    handle.shortened |= left;
    left
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
    let partly = [
        partly_imported(&recipe.lane, run.meta.unfinished),
        partly_embedded(&recipe.lane, run.meta.unembedded),
    ];
    let ambiguous = ambiguous_query(&recipe.lane, &Fusion::notes(recipe));
    narrow.into_iter().chain(demanding).chain(partly.into_iter().flatten()).chain(ambiguous).collect()
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
    let folds = super::blend::recipe(run)?.one_per_family;
    Ok(FusionView {
        folded: folds.then_some(measured.folded.len()),
        run_id: run.id.clone(),
        corpus: run.corpus.clone(),
        meta: meta(run.meta),
        cached,
        method: measured.method.as_str(),
        estimate: measured.estimate.as_ref().map(estimate),
        frontier: measured.estimate.into_iter().flat_map(|estimate| estimate.points).map(depth).collect(),
        design_frontier: measured.design.into_iter().map(design_point).collect(),
        metrics: shape(measured.metrics),
        contributions: shares(measured.contributions),
        alarms: alarms(measured.alarms),
        changed_from: run.changed_from.clone(),
        peek: None,
    })
}
