//! The same generated documents with a vector each in a corpus on this machine, and in one on a cluster of `OpenSearch`.
//!
//! `OPENSEARCH_URL=http://127.0.0.1:9200 cargo bench -p lyra-corpus --bench scaling -- 1000000 [FOLDER]` (20,000 documents without
//! a number; without an address only this machine). Prints documents per second, size, and times of queries.

#[path = "measure/documents.rs"]
mod documents;
mod measure;
#[path = "measure/model.rs"]
mod model;

use documents::{QUERIES, generate, queries};
use lyra_corpus::backend::{BackendKind, FeatureScope, FieldBoosts, LaneKind, LaneQuery, SearchBackend};
use lyra_corpus::{Cluster, Corpora, EmbeddedBackend, ImportOptions, OpenSearchConfig};
use measure::{arguments, memory, percentile};
use model::Generated;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

const DEFAULT_SIZE: usize = 20_000;
const HITS: usize = 100;
const KINDS: [&str; 6] = ["word", "wide (12 words, OR)", "AND of 3", "phrase", "proximity", "filtered"];

#[expect(clippy::print_stdout, reason = "the figures are what this is for")]
#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (size, folder) = arguments(DEFAULT_SIZE)?;
    let temporary = tempfile::tempdir_in(folder.path())?;
    let file = temporary.path().join("generated.jsonl");
    let bytes = generate(&file, size)?;
    println!("{size} documents, {:.0} MB", bytes as f64 / 1e6);
    let mut corpora = Corpora::open(temporary.path()).with_batches(1_000, 50_000);
    let mut backends = vec![(BackendKind::Embedded, "here")];
    if let Ok(url) = std::env::var("OPENSEARCH_URL") {
        let config = OpenSearchConfig {
            prefix: "bench-".to_owned(),
            timeout: Duration::from_mins(2),
            ..OpenSearchConfig::at(vec![url])
        };
        corpora = corpora.with_cluster(Cluster::new(config)?);
        backends.push((BackendKind::OpenSearch, "cluster"));
    }
    let stop = CancellationToken::new();
    for (backend, corpus) in backends {
        let options = ImportOptions {
            scopes: Some(vec![FeatureScope::Wide]),
            backend: Some(backend),
            ..ImportOptions::default()
        };
        let start = Instant::now();
        let files = std::slice::from_ref(&file);
        let report = corpora.import_with(corpus, files, &options, &Generated, &|_| {}, &stop).await?;
        let seconds = start.elapsed().as_secs_f64();
        println!(
            "{corpus}: {} documents in {seconds:.0} s, {:.0} a second; {:.0} MB; this process has {:.0} MB",
            report.added,
            report.added as f64 / seconds,
            corpora.show(corpus).await?.bytes as f64 / 1e6,
            memory("RssAnon"),
        );
        let searching = EmbeddedBackend::new(corpora.clone(), Arc::new(Generated));
        let run = async |kind: LaneKind, filters| -> Result<(f64, usize), lyra_corpus::CorpusError> {
            let lane = LaneQuery { corpus: corpus.to_owned(), kind, filters, top_k: HITS };
            let start = Instant::now();
            let hits = searching.search(&lane, &stop).await?.hits.len();
            Ok((start.elapsed().as_secs_f64() * 1e3, hits))
        };
        for kind in KINDS {
            let mut runs = Vec::new();
            for (query, filters) in queries(kind) {
                runs.push(run(LaneKind::FullText { query, boosts: FieldBoosts::default() }, filters).await?);
            }
            println!("{}", line(kind, runs));
        }
        let mut runs = Vec::new();
        for nth in 0..=QUERIES {
            let kind = LaneKind::Semantic { text: format!("query {nth}"), scope: FeatureScope::Wide };
            runs.push(run(kind, Vec::new()).await?);
        }
        // The first search reads the vectors.
        println!("  first search by meaning {:.0} ms", runs.remove(0).0);
        println!("{}", line("meaning", runs));
        corpora.remove(corpus).await?;
    }
    Ok(())
}

fn line(kind: &str, runs: Vec<(f64, usize)>) -> String {
    let found: usize = runs.iter().map(|run| run.1).sum();
    let mut times: Vec<f64> = runs.into_iter().map(|run| run.0).collect();
    times.sort_by(f64::total_cmp);
    let (p50, p95) = (percentile(&times, 0.5), percentile(&times, 0.95));
    format!(
        "  {kind:20} p50 {p50:6.1} ms  p95 {p95:6.1} ms  {:4.0} hits each",
        found as f64 / times.len() as f64
    )
}
