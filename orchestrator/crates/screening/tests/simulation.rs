//! Screens labeled collections as a person would, and compares with the truth. It prints what docs/screening.md reports:
//! `cargo test -p lyra-screening --release --test simulation -- --nocapture`.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a measurement")]

mod collections;

use collections::{Collection, Topic};
use lyra_screening::{Features, Order, estimate, stopping};
use std::time::Instant;

/// Shares of the documents after which figures are taken.
const POINTS: [f64; 5] = [0.05, 0.10, 0.25, 0.50, 0.75];

/// What one topic came to, by the order in which it was screened.
struct Run {
    labels: Vec<bool>,
    relevant: usize,
    /// Estimate and lower bound at [`POINTS`].
    recalls: Vec<(Option<f64>, f64)>,
    /// Documents screened and found when the test would have refused a recall below 95 %.
    stopped: Option<(usize, usize)>,
}

impl Run {
    fn new(labels: Vec<bool>) -> Self {
        let relevant = labels.iter().filter(|is| **is).count();
        let at = |share: f64| (share * labels.len() as f64).round() as usize;
        let recalls = POINTS
            .iter()
            .map(|share| {
                let recall = estimate(&labels[..at(*share)], labels.len());
                recall.map_or((None, 0.0), |recall| (recall.estimate, recall.at_least))
            })
            .collect();
        let stops = |n: &usize| {
            let so_far = &labels[..*n];
            so_far.contains(&true) && stopping(so_far, labels.len()).p_value < 0.05
        };
        let stopped = (10..=labels.len()).step_by(10).find(stops);
        let stopped = stopped.map(|n| (n, labels[..n].iter().filter(|is| **is).count()));
        Self { labels, relevant, recalls, stopped }
    }

    fn recall(&self, share: f64) -> f64 {
        let n = (share * self.labels.len() as f64).round() as usize;
        self.labels[..n].iter().filter(|is| **is).count() as f64 / self.relevant as f64
    }

    /// Work saved over sampling at 95 % recall.
    fn saved(&self) -> f64 {
        let mut found = 0;
        let needed = self.labels.iter().position(|is| {
            found += usize::from(*is);
            found as f64 >= 0.95 * self.relevant as f64
        });
        1.0 - (needed.unwrap() + 1) as f64 / self.labels.len() as f64 - 0.05
    }
}

/// The labels of a topic's documents in the order in which feedback shows them.
fn screened(features: &Features, topic: &Topic, batch: usize) -> Vec<bool> {
    let mut decided: Vec<(usize, bool)> = Vec::new();
    let mut open: Vec<usize> = (0..topic.relevant.len()).collect();
    while !open.is_empty() {
        let order = Order::new(features, &decided, &open).0;
        // A person's decision is learned at once; late in long runs, five at a time, to save time.
        let take = if decided.len() < 60 { 1 } else { batch };
        let next: Vec<usize> = order.iter().take(take).map(|next| next.document).collect();
        decided.extend(next.iter().map(|document| (*document, topic.relevant[*document])));
        open.retain(|document| !next.contains(document));
    }
    decided.into_iter().map(|(_, is)| is).collect()
}

/// A fixed shuffle.
fn shuffled(labels: &[bool], seed: u64) -> Vec<bool> {
    let mut labels = labels.to_vec();
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    for at in (1..labels.len()).rev() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        labels.swap(at, (state % (at as u64 + 1)) as usize);
    }
    labels
}

fn mean(numbers: impl Iterator<Item = f64>) -> f64 {
    let all: Vec<f64> = numbers.collect();
    all.iter().sum::<f64>() / all.len().max(1) as f64
}

/// Prints the figures; answers with the recall after 25 %.
fn report(name: &str, runs: &[Run]) -> f64 {
    let saved = mean(runs.iter().map(Run::saved));
    let at = |share: f64| mean(runs.iter().map(|run| run.recall(share)));
    println!(
        "{name:24} WSS@95 {saved:.3}, recall after 10/25/50 %: {:.3} {:.3} {:.3}",
        at(0.10),
        at(0.25),
        at(0.50)
    );
    at(0.25)
}

/// How often the bound holds, and how far the estimate is off.
fn report_recall(runs: &[Run]) -> f64 {
    let (mut held, mut all) = (0, 0);
    for (at, share) in POINTS.iter().enumerate() {
        let holds = runs.iter().filter(|run| run.recalls[at].1 <= run.recall(*share) + 1e-9).count();
        let off = runs.iter().filter_map(|run| Some((run.recalls[at].0? - run.recall(*share)).abs()));
        (held, all) = (held + holds, all + runs.len());
        println!(
            "  at {:2.0} %: true {:.3}, bound {:.3} (holds in {holds} of {}), estimate off by {:.3} (n {})",
            share * 100.0,
            mean(runs.iter().map(|run| run.recall(*share))),
            mean(runs.iter().map(|run| run.recalls[at].1)),
            runs.len(),
            mean(off.clone()),
            off.count()
        );
    }
    let stopped: Vec<&Run> = runs.iter().filter(|run| run.stopped.is_some()).collect();
    let found = |run: &Run| run.stopped.map_or(0.0, |(_, found)| found as f64 / run.relevant as f64);
    println!(
        "  p < 0.05 after {:.2} of the documents on average, in {} of {}, with a recall of 95 % or more in {}",
        mean(stopped.iter().map(|run| run.stopped.map_or(1.0, |(n, _)| n as f64 / run.labels.len() as f64))),
        stopped.len(),
        runs.len(),
        stopped.iter().filter(|run| found(run) >= 0.95).count()
    );
    held as f64 / all as f64
}

#[test]
fn feedback_saves_work_and_the_bound_on_the_recall_holds() {
    let Some(collections) = collections::all() else {
        println!("skipped: ../shared/data is absent");
        return;
    };
    // In debug builds, a part of it: the figures are those of release builds.
    let topics = if cfg!(debug_assertions) { 3 } else { 60 };
    let batch = if cfg!(debug_assertions) { 25 } else { 5 };
    let pools: &[usize] = if cfg!(debug_assertions) { &[500] } else { &[500, usize::MAX] };
    for Collection { name, texts, topics: all } in collections {
        for most in pools {
            let (mut learned, mut searched, mut random) = (Vec::new(), Vec::new(), Vec::new());
            for (seed, topic) in
                all.iter().map(|topic| topic.pool(*most)).filter(Topic::is_enough).take(topics).enumerate()
            {
                let documents: Vec<&Vec<String>> = topic.documents.iter().map(|at| &texts[*at]).collect();
                let features = Features::new(&documents.into_iter().cloned().collect::<Vec<_>>());
                learned.push(Run::new(screened(&features, &topic, batch)));
                searched.push(Run::new(topic.relevant.clone()));
                random.push(Run::new(shuffled(&topic.relevant, seed as u64 + 1)));
            }
            println!("{name}, {} documents, {} topics", learned[0].labels.len(), learned.len());
            let found = report("  feedback", &learned);
            report("  order of the search", &searched);
            let control = report("  random order", &random);
            let holds = report_recall(&learned);
            assert!(found > control + 0.2, "{name}: feedback finds {found}, a random order {control}");
            assert!(holds >= 0.95, "{name}: the bound holds in {holds}");
        }
    }
}

#[test]
fn an_order_of_many_documents() {
    let words: Vec<String> = (0..40_000).map(|n| format!("w{n}")).collect();
    let mut state = 7_u64;
    let mut draw = |most: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // Few words are frequent, most are rare.
        let share = (state >> 33) as f64 / (1_u64 << 31) as f64;
        ((share.powi(3)) * most as f64) as usize
    };
    let count = if cfg!(debug_assertions) { 500 } else { 5_000 };
    let texts: Vec<Vec<String>> =
        (0..count).map(|_| (0..150).map(|_| words[draw(words.len() - 1)].clone()).collect()).collect();
    let features = Features::new(&texts);
    for share in [10, 2] {
        let decided: Vec<(usize, bool)> = (0..count / share).map(|at| (at, at % 9 == 0)).collect();
        let open: Vec<usize> = (count / share..count).collect();
        let begun = Instant::now();
        let order = Order::new(&features, &decided, &open).0;
        println!(
            "{count} documents, {} decided: {:.1} ms",
            decided.len(),
            begun.elapsed().as_secs_f64() * 1_000.0
        );
        assert_eq!(order.len(), open.len());
    }
}
