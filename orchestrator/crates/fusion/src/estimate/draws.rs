//! Draws of what is relevant, from which intervals are read.

use super::{Interval, Posterior};

/// Draws of a curve and of the relevance of every document that was not judged.
const DRAWS: usize = 400;
/// The generator starts here each time: the same posterior has the same intervals.
const SEED: u64 = 0x5eed_1e55;

/// One row per draw, and in it one value per depth.
pub(super) struct Draws {
    pub(super) precision: Vec<Vec<f64>>,
    pub(super) recall: Vec<Vec<f64>>,
    pub(super) f_beta: Vec<Vec<f64>>,
    /// Relevant documents of each draw.
    pub(super) relevant: Vec<f64>,
    /// The depth with the highest Fβ in each draw.
    pub(super) best: Vec<usize>,
}

pub(super) fn draw(of: &Posterior, beta: f64, depths: &[usize]) -> Draws {
    let square = beta * beta;
    let mut draws = Draws {
        precision: Vec::new(),
        recall: Vec::new(),
        f_beta: Vec::new(),
        relevant: Vec::new(),
        best: Vec::new(),
    };
    for relevance in relevances(of) {
        let mut sum = 0.0;
        let found: Vec<f64> = relevance
            .into_iter()
            .map(|relevance| {
                sum += relevance;
                sum
            })
            .collect();
        let f = |k: usize| (1.0 + square) * found[k - 1] / (square * sum + k as f64);
        let best = (1..=found.len()).reduce(|best, k| if f(k) > f(best) { k } else { best });
        draws.best.extend(best);
        draws.relevant.push(sum);
        draws.precision.push(depths.iter().map(|&k| found[k - 1] / k as f64).collect());
        // Where nothing is relevant, nothing is missed.
        let recall = |k: usize| if sum > 0.0 { found[k - 1] / sum } else { 1.0 };
        draws.recall.push(depths.iter().map(|&k| recall(k)).collect());
        draws.f_beta.push(depths.iter().map(|&k| f(k)).collect());
    }
    draws
}

/// The relevance of every document, drawn again and again; judged documents are what they were judged to be.
pub(super) fn relevances(of: &Posterior) -> impl Iterator<Item = Vec<f64>> + '_ {
    let mut random = fastrand::Rng::with_seed(SEED);
    chosen(of).into_iter().map(move |curve| {
        let drawn = |(label, p): (&Option<f64>, f64)| {
            label.unwrap_or_else(|| if random.f64() < p { 1.0 } else { 0.0 })
        };
        of.labels.iter().zip(of.curves.probabilities(curve)).map(drawn).collect()
    })
}

/// The curve of each draw: as often as its weight says (systematic resampling).
fn chosen(of: &Posterior) -> Vec<usize> {
    let mut chosen = Vec::with_capacity(DRAWS);
    let mut passed = 0.0;
    let mut last = 0;
    for (weight, curve) in of.curves.weighted() {
        passed += weight;
        last = curve;
        while chosen.len() < DRAWS && (chosen.len() as f64 + 0.5) / (DRAWS as f64) < passed {
            chosen.push(curve);
        }
    }
    chosen.resize(DRAWS, last);
    chosen
}

/// Mean with the values that 5 % are below and above, stretched to include the mean.
pub(super) fn interval(values: impl Iterator<Item = f64>) -> Interval {
    let mut values: Vec<f64> = values.collect();
    if values.is_empty() {
        return Interval::default();
    }
    values.sort_unstable_by(f64::total_cmp);
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let at = |share: f64| values[((values.len() - 1) as f64 * share).round() as usize];
    Interval { mean, low: at(0.05).min(mean), high: at(0.95).max(mean) }
}
