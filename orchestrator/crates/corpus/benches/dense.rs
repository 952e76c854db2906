//! Search by meaning over generated vectors of 384 numbers, exact and by bytes.
//!
//! `cargo bench -p lyra-corpus --bench dense -- 1000000 [FOLDER]` (100,000 documents without a number). Prints what the first
//! search takes (it makes the bytes), times of queries, memory, and how much of the exact answer the bytes find. The vectors
//! lie around 200 topics, as those of texts do.

mod measure;

use async_trait::async_trait;
use lyra_corpus::backend::{FeatureScope, LaneKind, LaneQuery, SearchBackend};
use lyra_corpus::{Corpora, EmbeddedBackend, ImportOptions};
use lyra_domain::NliJudgement;
use lyra_research::ports::{Inference, JudgeKind, Models, TextRole};
use measure::{arguments, memory};
use std::io::{BufWriter, Write};
use std::sync::Arc;
use std::time::Instant;
use tokio_util::sync::CancellationToken;

const DEFAULT_SIZE: usize = 100_000;
const DIMENSION: usize = 384;
const TOPICS: u64 = 200;
const QUERIES: usize = 40;

/// The same numbers for the same seed (`SplitMix64`), each in [−1, 1).
struct Draw(u64);

impl Draw {
    fn number(&mut self) -> f32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 40) as f32 / (1_u64 << 23) as f32 - 1.0
    }
}

/// A text's vector: that of its topic and one of its own, of length 1.
fn vector(text: &str) -> Vec<f32> {
    let seed = text.bytes().fold(17_u64, |seed, byte| seed.wrapping_mul(1_099_511_628_211) ^ u64::from(byte));
    let (mut own, mut topic) = (Draw(seed), Draw(seed % TOPICS));
    let mut numbers: Vec<f32> = (0..DIMENSION).map(|_| own.number() + topic.number()).collect();
    let length = numbers.iter().map(|number| number * number).sum::<f32>().sqrt();
    for number in &mut numbers {
        *number /= length;
    }
    numbers
}

struct Generated;

#[async_trait]
impl Inference for Generated {
    async fn models(&self) -> lyra_research::Result<Models> {
        Ok(Models {
            embedder: "generated".to_owned(),
            dimension: DIMENSION,
            classifier: "none".to_owned(),
            languages: Vec::new(),
            judge: JudgeKind::Pairs,
            prompts_known: true,
            threshold: None,
        })
    }

    async fn embed(&self, _: TextRole, texts: &[String]) -> lyra_research::Result<Vec<Vec<f32>>> {
        Ok(texts.iter().map(|text| vector(text)).collect())
    }

    async fn judge(&self, _: &[(String, String)]) -> lyra_research::Result<Vec<Option<NliJudgement>>> {
        Ok(Vec::new())
    }
}

#[expect(clippy::print_stdout, reason = "the figures are what this is for")]
#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (size, temporary) = arguments(DEFAULT_SIZE)?;
    let file = temporary.path().join("generated.jsonl");
    let mut lines = BufWriter::new(std::fs::File::create(&file)?);
    for nth in 0..size {
        writeln!(lines, r#"{{"id": "D{nth:07}", "title": "document {nth}"}}"#)?;
    }
    lines.flush()?;
    let stop = CancellationToken::new();
    let options = ImportOptions { scopes: Some(vec![FeatureScope::Wide]), ..ImportOptions::default() };
    let start = Instant::now();
    let corpora = Corpora::open(temporary.path()).with_batches(1_000, 50_000);
    let files = std::slice::from_ref(&file);
    corpora.import_with("c", files, &options, &Generated, &|_| {}, &stop).await?;
    println!("{size} documents imported in {:.1} s", start.elapsed().as_secs_f64());

    let mut answers: Vec<Vec<Vec<String>>> = Vec::new();
    for (how, exact) in [("exact", usize::MAX), ("by bytes", 0)] {
        let corpora = Corpora::open(temporary.path()).with_exact_vectors(exact);
        let backend = EmbeddedBackend::new(corpora, Arc::new(Generated));
        for top_k in [10, 800] {
            let (mut times, mut found) = (Vec::new(), Vec::new());
            for nth in 0..=QUERIES {
                let text = format!("query {nth}");
                let kind = LaneKind::Semantic { text, scope: FeatureScope::Wide };
                let lane = LaneQuery { corpus: "c".to_owned(), kind, filters: Vec::new(), top_k };
                let start = Instant::now();
                let hits = backend.search(&lane, &stop).await?.hits;
                let took = start.elapsed().as_secs_f64() * 1e3;
                if nth > 0 {
                    times.push(took);
                    found.push(hits.into_iter().map(|hit| hit.doc_id).collect());
                } else if top_k == 10 {
                    println!("{how}: first search {took:.0} ms");
                }
            }
            times.sort_by(f64::total_cmp);
            println!(
                "{how}, best {top_k}: p50 {:.1} ms, p95 {:.1} ms; memory {:.0} MB, {:.0} MB without mapped files",
                times[QUERIES / 2],
                times[QUERIES * 95 / 100 - 1],
                memory("VmRSS"),
                memory("RssAnon"),
            );
            answers.push(found);
        }
    }
    for (nth, top_k) in [10, 800].into_iter().enumerate() {
        let pairs = answers[nth].iter().zip(&answers[nth + 2]);
        let same: usize =
            pairs.map(|(exact, bytes)| exact.iter().filter(|id| bytes.contains(id)).count()).sum();
        println!(
            "recall of the best {top_k} by bytes: {:.4}",
            same as f64 / (top_k.min(size) * QUERIES) as f64
        );
    }
    Ok(())
}
