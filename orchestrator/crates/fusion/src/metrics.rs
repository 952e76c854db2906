//! The shape of a fused ranking: do the lanes agree, is the field one, do a few documents outweigh the rest.

use crate::{Pool, Ranking, frontier::f_beta};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashSet};

/// Documents at the top that are looked at.
pub(crate) const TOP: usize = 50;
/// Documents whose share in the score of the top is measured.
const PEAK: usize = 3;
/// How much a peaked ranking lowers `Fproxy`.
const LAMBDA: f64 = 0.5;
/// Classification systems in the order in which they are a corpus' own.
const SYSTEMS: [&str; 3] = ["fi:", "cpc:", "ipc:"];

/// Measures of a fused ranking, each in [0, 1].
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct StructureMetrics {
    /// Lane agreement: mean pairwise Jaccard index of the lanes' first 50. `None` with one lane.
    pub las: Option<f64>,
    /// Class consistency: 1 − entropy of the primary codes of the first 50 over its largest value. `None` without codes.
    pub ccw: Option<f64>,
    /// Share of the first 3 scores in the first 50.
    pub s_shape: f64,
    /// F1 of `las` and `ccw`; the one there is when the other is not.
    pub f_struct: Option<f64>,
    /// `f_struct · (1 − 0.5 · s_shape)`.
    pub f_proxy: Option<f64>,
}

impl StructureMetrics {
    /// Measures a ranking of a pool.
    pub fn new(pool: &Pool<'_>, ranking: &Ranking) -> Self {
        let las = lane_agreement(pool);
        let ccw = class_consistency(pool, &ranking.order);
        let scores: Vec<f64> = ranking.sorted_scores().take(TOP).collect();
        let s_shape = score_shape(&scores);
        let f_struct = match (las, ccw) {
            (Some(las), Some(ccw)) => Some(f_beta(las, ccw, 1.0)),
            (one, other) => one.or(other),
        };
        let f_proxy = f_struct.map(|f| f * (1.0 - LAMBDA * s_shape));
        Self { las, ccw, s_shape, f_struct, f_proxy }
    }
}

/// LAS.
fn lane_agreement(pool: &Pool<'_>) -> Option<f64> {
    let lanes = pool.names().len();
    let mut tops: Vec<HashSet<usize>> = vec![HashSet::new(); lanes];
    for doc in 0..pool.len() {
        for (top, &rank) in tops.iter_mut().zip(pool.ranks(doc)) {
            if rank > 0 && rank as usize <= TOP {
                top.insert(doc);
            }
        }
    }
    let mut agreements = Vec::new();
    for (i, a) in tops.iter().enumerate() {
        for b in &tops[i + 1..] {
            let shared = a.intersection(b).count();
            let all = a.len() + b.len() - shared;
            agreements.push(if all > 0 { shared as f64 / all as f64 } else { 0.0 });
        }
    }
    agreements.sort_unstable_by(f64::total_cmp);
    (!agreements.is_empty()).then(|| agreements.iter().sum::<f64>() / agreements.len() as f64)
}

/// CCW over the first code of each document in the first system that any of them has. The entropy is largest, ln(n), when n
/// documents have n codes.
fn class_consistency(pool: &Pool<'_>, order: &[usize]) -> Option<f64> {
    let top = &order[..order.len().min(TOP)];
    let primary = |system: &str| {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for &doc in top {
            if let Some(code) = pool.code_names(doc).find(|code| code.starts_with(system)) {
                *counts.entry(code).or_default() += 1;
            }
        }
        counts
    };
    let counts = SYSTEMS.iter().map(|system| primary(system)).find(|counts| !counts.is_empty())?;
    let total = counts.values().sum::<usize>() as f64;
    if total <= 1.0 {
        return Some(1.0);
    }
    let entropy: f64 = counts.values().map(|&count| count as f64 / total).map(|p| -p * p.ln()).sum();
    Some((1.0 - entropy / total.ln()).clamp(0.0, 1.0))
}

/// `S_shape` of the first scores.
fn score_shape(scores: &[f64]) -> f64 {
    let total: f64 = scores.iter().sum();
    if total > 0.0 { scores.iter().take(PEAK).sum::<f64>() / total } else { 0.0 }
}
