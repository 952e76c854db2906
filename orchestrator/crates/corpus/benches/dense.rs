//! Search by meaning over generated vectors of 384 numbers, exact and by bytes.
//!
//! `cargo bench -p lyra-corpus --bench dense -- 1000000 [FOLDER]` (100,000 documents without a number). Prints what the first
//! search takes (it makes the bytes), times of queries, memory, and how much of the exact answer the bytes find. The vectors
//! lie around 200 topics, as those of texts do.

mod measure;
#[path = "measure/model.rs"]
mod model;

use lyra_corpus::backend::{FeatureScope, LaneKind, LaneQuery, SearchBackend};
use lyra_corpus::{Corpora, EmbeddedBackend, ImportOptions};
use measure::{arguments, memory, percentile};
use model::Generated;
use std::io::{BufWriter, Write};
use std::sync::Arc;
use std::time::Instant;
use tokio_util::sync::CancellationToken;

const DEFAULT_SIZE: usize = 100_000;
const QUERIES: usize = 40;

#[expect(clippy::print_stdout, reason = "the figures are what this is for")]
#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (size, folder) = arguments(DEFAULT_SIZE)?;
    let temporary = tempfile::tempdir_in(folder.path())?;
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
                percentile(&times, 0.5),
                percentile(&times, 0.95),
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
