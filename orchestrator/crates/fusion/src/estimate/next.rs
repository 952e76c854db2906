//! Which documents to judge: first a sample with known probabilities, then the most informative ones.

use super::Posterior;

/// Ends of the strata behind the first documents, as places.
const STRATA: [usize; 3] = [40, 100, 250];
/// Documents from the top that may be proposed after the sample.
const AMONG: usize = 250;

/// A document to judge.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Proposal {
    /// Its place in the ranking, from 0.
    pub place: usize,
    /// The probability with which the sample has it: its documents stand for `1 / probability` documents each.
    pub probability: f64,
}

/// A sample of a ranking of `total` documents: half of `count` from the top, and the rest drawn in equal numbers from the
/// documents behind them to place 40, 100, and 250. In ranked order; the same `seed` draws the same documents.
pub fn stratified(total: usize, count: usize, seed: u64) -> Vec<Proposal> {
    let first = count.div_ceil(2).min(total);
    let mut sample: Vec<Proposal> = (0..first).map(|place| Proposal { place, probability: 1.0 }).collect();
    let mut random = fastrand::Rng::with_seed(seed);
    let mut start = first;
    for (at, end) in STRATA.into_iter().enumerate() {
        let end = end.min(total).max(start);
        // What a short stratum cannot give, the next ones do.
        let wanted = count.saturating_sub(sample.len()).div_ceil(STRATA.len() - at);
        let size = end - start;
        let mut places: Vec<usize> = (start..end).collect();
        random.shuffle(&mut places);
        places.truncate(wanted);
        places.sort_unstable();
        let probability = places.len() as f64 / size.max(1) as f64;
        sample.extend(places.into_iter().map(|place| Proposal { place, probability }));
        start = end;
    }
    sample
}

/// The places of at most `count` documents that were not judged, of the first 250, whose judgment should narrow the recall and
/// the depth most: by the expected decrease of their variances over the curves, each as a share of what it is.
pub fn proposed(posterior: &Posterior, beta: f64, count: usize) -> Vec<usize> {
    let curves: Vec<(f64, Vec<f64>)> = posterior
        .curves
        .weighted()
        .map(|(weight, curve)| (weight, posterior.relevance(curve).collect()))
        .collect();
    let Some(middle) = posterior.best_depth(beta) else { return Vec::new() };
    let square = beta * beta;
    let recall = |relevance: &[f64]| {
        let all: f64 = relevance.iter().sum();
        if all > 0.0 { relevance[..middle].iter().sum::<f64>() / all } else { 1.0 }
    };
    let depth = |relevance: &[f64]| {
        let all: f64 = relevance.iter().sum();
        let (mut found, mut best) = (0.0, (1, 0.0));
        for (k, relevance) in (1..).zip(relevance) {
            found += relevance;
            let f = (1.0 + square) * found / (square * all + f64::from(k));
            best = if f > best.1 { (k, f) } else { best };
        }
        f64::from(best.0).ln()
    };
    let measures: [Vec<f64>; 2] = [
        curves.iter().map(|(_, relevance)| recall(relevance)).collect(),
        curves.iter().map(|(_, relevance)| depth(relevance)).collect(),
    ];
    let weights: Vec<f64> = curves.iter().map(|(weight, _)| *weight).collect();
    let before: Vec<f64> = measures.iter().map(|values| variance(values, &weights)).collect();
    let gain = |place: usize| {
        let relevant: Vec<f64> = curves.iter().map(|(weight, relevance)| weight * relevance[place]).collect();
        let other: Vec<f64> =
            curves.iter().map(|(weight, relevance)| weight * (1.0 - relevance[place])).collect();
        let after = |values: &[f64]| {
            [&relevant, &other]
                .map(|weights| weights.iter().sum::<f64>() * variance(values, weights))
                .iter()
                .sum::<f64>()
        };
        let shares = measures.iter().zip(&before).filter(|(_, before)| **before > 1e-12);
        shares.map(|(values, before)| (before - after(values)) / before).sum::<f64>()
    };
    let mut gains: Vec<(f64, usize)> = (0..posterior.labels.len().min(AMONG))
        .filter(|&place| posterior.labels[place].is_none())
        .map(|place| (gain(place), place))
        .collect();
    gains.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    gains.into_iter().take(count).map(|(_, place)| place).collect()
}

/// Variance of values with weights that need not sum to 1; 0 without any weight.
fn variance(values: &[f64], weights: &[f64]) -> f64 {
    let all: f64 = weights.iter().sum();
    if all <= 0.0 {
        return 0.0;
    }
    let mean = values.iter().zip(weights).map(|(value, weight)| value * weight).sum::<f64>() / all;
    values.iter().zip(weights).map(|(value, weight)| weight * (value - mean).powi(2)).sum::<f64>() / all
}
