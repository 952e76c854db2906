//! The shape of a fused ranking: do the lanes agree, is the field one, do a few documents outweigh the rest.

use crate::profile::{own_system, read_code};
use crate::{Pool, Ranking, frontier::f_beta};
use lyra_domain::classification::{Level, System};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashSet};

/// Documents at the top that are examined.
pub(crate) const TOP: usize = 50;
/// Documents whose share in the score of the top is measured.
const PEAK: usize = 3;
/// Lanes that share more than this of all their documents (Jaccard index) are near copies and count as one.
const COPIES: f64 = 0.9;

/// Measures of a fused ranking, each in [0, 1].
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct StructureMetrics {
    /// Lane agreement: mean pairwise Jaccard index of the lanes' first 50, near copies counting as one lane. `None` with one.
    pub las: Option<f64>,
    /// Class consistency: 1 − entropy of the subclasses of the primary codes of the first 50 over its largest value. `None`
    /// without codes.
    pub ccw: Option<f64>,
    /// Share of the first 3 scores in the first 50.
    pub s_shape: f64,
    /// F1 of `las` and `ccw`; the one there is when the other is not.
    pub f_struct: Option<f64>,
}

impl StructureMetrics {
    /// Measures a ranking of a pool.
    pub fn new(pool: &Pool<'_>, ranking: &Ranking) -> Self {
        let las = lane_agreement(pool);
        let ccw = Classes::of(pool, &ranking.order).map(|classes| classes.consistency());
        let scores: Vec<f64> = ranking.sorted_scores().take(TOP).collect();
        let s_shape = score_shape(&scores);
        let f_struct = match (las, ccw) {
            (Some(las), Some(ccw)) => Some(f_beta(las, ccw, 1.0)),
            (one, other) => one.or(other),
        };
        Self { las, ccw, s_shape, f_struct }
    }
}

/// LAS.
fn lane_agreement(pool: &Pool<'_>) -> Option<f64> {
    let lanes = distinct(pool);
    let of_distinct = |(a, b, agreement): (usize, usize, f64)| {
        (lanes.contains(&a) && lanes.contains(&b)).then_some(agreement)
    };
    let mut agreements: Vec<f64> = agreements(pool).into_iter().filter_map(of_distinct).collect();
    agreements.sort_unstable_by(f64::total_cmp);
    (!agreements.is_empty()).then(|| agreements.iter().sum::<f64>() / agreements.len() as f64)
}

/// The lanes that are no near copy of one before them.
fn distinct(pool: &Pool<'_>) -> Vec<usize> {
    let all = heads(pool, usize::MAX);
    // By name, so that the order of lanes changes nothing.
    let mut by_name: Vec<usize> = (0..all.len()).collect();
    by_name.sort_by_key(|&lane| pool.names()[lane]);
    let mut lanes: Vec<usize> = Vec::new();
    for lane in by_name {
        if lanes.iter().all(|&known| jaccard(&all[lane], &all[known]) <= COPIES) {
            lanes.push(lane);
        }
    }
    lanes
}

/// Pairs of lanes with the Jaccard index of their first 50.
pub(crate) fn agreements(pool: &Pool<'_>) -> Vec<(usize, usize, f64)> {
    let tops = heads(pool, TOP);
    let pairs = (0..tops.len()).flat_map(|a| (a + 1..tops.len()).map(move |b| (a, b)));
    pairs.map(|(a, b)| (a, b, jaccard(&tops[a], &tops[b]))).collect()
}

/// The first `most` documents of each lane.
fn heads(pool: &Pool<'_>, most: usize) -> Vec<HashSet<usize>> {
    let mut heads: Vec<HashSet<usize>> = vec![HashSet::new(); pool.names().len()];
    for doc in 0..pool.len() {
        for (head, &rank) in heads.iter_mut().zip(pool.ranks(doc)) {
            if rank > 0 && rank as usize <= most {
                head.insert(doc);
            }
        }
    }
    heads
}

/// Shared documents as a share of all documents of either; 0 if there are none.
fn jaccard(a: &HashSet<usize>, b: &HashSet<usize>) -> f64 {
    let shared = a.intersection(b).count();
    let all = a.len() + b.len() - shared;
    if all > 0 { shared as f64 / all as f64 } else { 0.0 }
}

/// The subclasses (`H01L`; of F-terms the themes, `5F044`) of the primary codes of the first 50 documents.
///
/// A primary code is almost unique: of 50 patents on one subject, some 45 have different ones, so that their entropy
/// carries no information. The subclass is the level that all systems share and that names a field.
pub(crate) struct Classes {
    /// The documents' own system.
    pub(crate) system: System,
    /// Documents of each.
    pub(crate) counts: BTreeMap<String, usize>,
}

impl Classes {
    /// `None` when no document has a code.
    pub(crate) fn of(pool: &Pool<'_>, order: &[usize]) -> Option<Self> {
        let top = &order[..order.len().min(TOP)];
        let primary = |doc: usize, system: System| {
            let of_system = |code: &&str| code.split_once(':').is_some_and(|(name, _)| name == system.name());
            pool.code_names(doc).find(of_system)
        };
        let having = |system| top.iter().filter(|&&doc| primary(doc, system).is_some()).count();
        let system = own_system(top.len(), having)?;
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for code in top.iter().filter_map(|&doc| primary(doc, system)) {
            let subclass = read_code(code).ok().and_then(|code| code.at(Level::Subclass));
            *counts
                .entry(subclass.map_or_else(|| code.to_owned(), |class| class.to_string()))
                .or_default() += 1;
        }
        Some(Self { system, counts })
    }

    /// CCW: `1 − H / ln(n)` of `n` documents. The entropy is largest, ln(n), when all subclasses differ.
    fn consistency(&self) -> f64 {
        let total = self.counts.values().sum::<usize>() as f64;
        if total <= 1.0 {
            return 1.0;
        }
        let entropy: f64 = self.counts.values().map(|&count| count as f64 / total).map(|p| -p * p.ln()).sum();
        (1.0 - entropy / total.ln()).clamp(0.0, 1.0)
    }
}

/// `S_shape` of the first scores.
fn score_shape(scores: &[f64]) -> f64 {
    let total: f64 = scores.iter().sum();
    if total > 0.0 { scores.iter().take(PEAK).sum::<f64>() / total } else { 0.0 }
}
