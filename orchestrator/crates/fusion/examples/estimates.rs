//! How well the estimates of fusion runs predict, on collections with complete judgments:
//!
//! ```sh
//! cargo run --release -p lyra-fusion --example estimates -- INTERCEPT SLOPE LANES.json
//! ```
//!
//! The file is a list of `{"query", "relevant": [ids], "lanes": [{"name", "ids", "scores"}]}`. Prints F at the named depth over the
//! best F, how often the range has the best depth, rank correlations, errors, and how often the 90 % intervals hold.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::allow_attributes,
    reason = "a measurement for developers"
)]

use lyra_fusion::estimate::{Normal, Posterior, Prior, proposed, stratified};
use lyra_fusion::{Lane, Method, Pool, RankedDocs, Ranking};
use serde::Deserialize;
use std::collections::HashSet;

const BETA: f64 = 1.5;

#[derive(Deserialize)]
struct Query {
    #[serde(rename = "query")]
    id: String,
    relevant: HashSet<String>,
    lanes: Vec<Listed>,
}

#[derive(Deserialize)]
struct Listed {
    name: String,
    ids: Vec<String>,
    scores: Vec<f64>,
}

/// Which documents are judged.
#[derive(Debug, Clone, Copy)]
enum Judged {
    None,
    First(usize),
    Sample(usize),
    /// A sample, and then the most informative one, until there are so many.
    Active(usize, usize),
}

#[derive(Default)]
struct Sums {
    ratio: Vec<f64>,
    constant: [Vec<f64>; 3],
    in_range: usize,
    width: Vec<f64>,
    precision: Vec<(f64, f64)>,
    recall_error: Vec<f64>,
    covered: [usize; 3],
    queries: usize,
}

fn main() {
    let mut args = std::env::args().skip(1);
    let (intercept, slope) = (args.next().unwrap().parse().unwrap(), args.next().unwrap().parse().unwrap());
    let queries: Vec<Query> = serde_json::from_slice(&std::fs::read(args.next().unwrap()).unwrap()).unwrap();
    let prior = Prior {
        intercept,
        slope,
        offset: 5.0,
        absent: 1000.0,
        center: -2.2,
        level: Normal { mean: -0.5, deviation: 3.2 },
        steepness: Normal { mean: 0.1, deviation: 0.9 },
    };
    println!(
        "judged         F/best  at 20   at 30   at 50   range   width   rho P20  MAE P20  MAE R20  P20 in  R20 in  N in"
    );
    for judged in [
        Judged::None,
        Judged::First(10),
        Judged::Sample(10),
        Judged::Sample(15),
        Judged::Sample(20),
        Judged::Active(10, 20),
        Judged::Active(20, 30),
        Judged::Sample(30),
    ] {
        let mut sums = Sums::default();
        for query in &queries {
            measure(query, &prior, judged, &mut sums);
        }
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
        let share = |count: usize| count as f64 / sums.queries as f64;
        let mut widths = sums.width.clone();
        widths.sort_unstable_by(f64::total_cmp);
        let errors: Vec<f64> = sums.precision.iter().map(|(a, b)| (a - b).abs()).collect();
        println!(
            "{:<15}{:.3}   {:.3}   {:.3}   {:.3}   {:.2}    {:<6.1}  {:.2}     {:.3}    {:.3}    {:.2}    {:.2}    {:.2}",
            format!("{judged:?}"),
            mean(&sums.ratio),
            mean(&sums.constant[0]),
            mean(&sums.constant[1]),
            mean(&sums.constant[2]),
            share(sums.in_range),
            widths.get(widths.len() / 2).copied().unwrap_or_default(),
            spearman(&sums.precision),
            mean(&errors),
            mean(&sums.recall_error),
            share(sums.covered[0]),
            share(sums.covered[1]),
            share(sums.covered[2]),
        );
    }
}

fn measure(query: &Query, prior: &Prior, judged: Judged, sums: &mut Sums) {
    let lists: Vec<RankedDocs> = query
        .lanes
        .iter()
        .map(|lane| {
            RankedDocs::new(
                lane.ids.iter().zip(&lane.scores).map(|(id, &score)| (id.clone(), score, Vec::new())),
            )
        })
        .collect();
    let lanes: Vec<Lane<'_>> = query
        .lanes
        .iter()
        .zip(&lists)
        .map(|(lane, docs)| Lane { name: &lane.name, docs, limit: usize::MAX })
        .collect();
    let pool = Pool::new(&lanes);
    let weights = vec![1.0; lanes.len()];
    let order = Ranking::new(&pool, &weights, (Method::MinMax, 10.0), None).order;
    let log_odds = prior.log_odds(&pool, &weights);
    let log_odds: Vec<f64> = order.iter().map(|&doc| log_odds[doc]).collect();
    let truth: Vec<f64> =
        order.iter().map(|&doc| f64::from(u8::from(query.relevant.contains(pool.id(doc))))).collect();
    let all: f64 = truth.iter().sum();
    if all == 0.0 {
        return;
    }
    sums.queries += 1;
    let seed = query.id.bytes().fold(7, |seed, byte| seed * 31 + u64::from(byte));
    let label = |place: usize| (place, truth[place]);
    let labels: Vec<(usize, f64)> = match judged {
        Judged::None => Vec::new(),
        Judged::First(count) => (0..count).map(label).collect(),
        Judged::Sample(count) => {
            stratified(truth.len(), count, seed).into_iter().map(|proposal| label(proposal.place)).collect()
        }
        Judged::Active(sampled, count) => {
            let sample = stratified(truth.len(), sampled, seed);
            let mut labels: Vec<_> = sample.into_iter().map(|proposal| label(proposal.place)).collect();
            while labels.len() < count {
                let posterior = Posterior::new(prior, &log_odds, &labels);
                labels.push(label(proposed(&posterior, BETA, 1)[0]));
            }
            labels
        }
    };
    let posterior = Posterior::new(prior, &log_odds, &labels);
    let estimate = posterior.estimate(BETA, &[20]);
    let mut found = 0.0;
    let f: Vec<f64> = (1..)
        .zip(&truth)
        .map(|(k, relevant)| {
            found += relevant;
            (1.0 + BETA * BETA) * found / (BETA * BETA * all + f64::from(k))
        })
        .collect();
    let best = f.iter().copied().fold(0.0, f64::max);
    for (sum, k) in sums.constant.iter_mut().zip([20, 30, 50]) {
        sum.push(f[k - 1] / best);
    }
    if let Some(depths) = estimate.depths {
        sums.ratio.push(f[depths.middle - 1] / best);
        let has_best = f[depths.from - 1..depths.to].iter().any(|&value| value >= best - 1e-12);
        sums.in_range += usize::from(has_best);
        sums.width.push(depths.to as f64 / depths.from as f64);
    }
    let at = estimate.points.iter().find(|point| point.k == 20).unwrap();
    let (precision, recall) = (truth[..20].iter().sum::<f64>() / 20.0, truth[..20].iter().sum::<f64>() / all);
    sums.precision.push((at.precision.mean, precision));
    sums.recall_error.push((at.recall.mean - recall).abs());
    let within = |interval: lyra_fusion::estimate::Interval, value: f64| {
        usize::from((interval.low - 1e-9..=interval.high + 1e-9).contains(&value))
    };
    sums.covered[0] += within(at.precision, precision);
    sums.covered[1] += within(at.recall, recall);
    sums.covered[2] += within(estimate.relevant, all);
}

/// Rank correlation, equal values sharing their mean rank.
fn spearman(pairs: &[(f64, f64)]) -> f64 {
    let ranks = |values: Vec<f64>| -> Vec<f64> {
        let below = |value: f64| values.iter().filter(|&&other| other < value).count() as f64;
        let equal = |value: f64| values.iter().filter(|&&other| other == value).count() as f64;
        values.iter().map(|&value| below(value) + f64::midpoint(equal(value), 1.0)).collect()
    };
    let (a, b) =
        (ranks(pairs.iter().map(|pair| pair.0).collect()), ranks(pairs.iter().map(|pair| pair.1).collect()));
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (ma, mb) = (mean(&a), mean(&b));
    let sum = |f: &dyn Fn(f64, f64) -> f64| a.iter().zip(&b).map(|(x, y)| f(x - ma, y - mb)).sum::<f64>();
    sum(&|x, y| x * y) / (sum(&|x, _| x * x) * sum(&|_, y| y * y)).sqrt()
}
