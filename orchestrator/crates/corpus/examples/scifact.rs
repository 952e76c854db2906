//! Imports a BEIR-like folder and prints nDCG@10 and recall@10 of each method, with times.
//!
//! `cargo run --release -p lyra-corpus --example scifact -- DATA_DIR FOLDER ML_URL`: `FOLDER` holds `corpus.jsonl`,
//! `beir/queries.jsonl` and `beir/qrels/train.tsv`; `ML_URL` is a running ml-server's address.

#![expect(clippy::print_stdout, reason = "prints its figures")]

use anyhow::{Context, Result};
use lyra_corpus::{Corpora, Method, eval};
use lyra_ml_client::MlClient;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Instant;
use tokio_util::sync::CancellationToken;

#[tokio::main]
async fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let mut next = |what: &'static str| arguments.next().context(what);
    let (data_dir, folder, url) = (next("DATA_DIR")?, PathBuf::from(next("FOLDER")?), next("ML_URL")?);
    let inference = MlClient::new(url)?;
    let corpora = Corpora::open(Path::new(&data_dir));

    let start = Instant::now();
    let files = [folder.join("corpus.jsonl")];
    let report = corpora.import("eval", &files, &inference, &|_| {}, &CancellationToken::new()).await?;
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "import: {} added, {} unchanged, {} rejected of {} documents in {seconds:.1} s",
        report.added, report.unchanged, report.rejected_count, report.documents
    );

    let judged = judgements(&folder)?;
    let queries = queries(&folder, &judged)?;
    let texts: Vec<String> = queries.iter().map(|(_, text)| lyra_text::normalise(text)).collect();
    let vectors = inference.embed(&texts).await?;
    corpora.search("eval", "warm", Method::Bm25, 1, None).await?;
    for method in [Method::Bm25, Method::Dense, Method::Hybrid] {
        let start = Instant::now();
        let (mut ndcg, mut recall) = (0.0, 0.0);
        for ((id, text), vector) in queries.iter().zip(&vectors) {
            let found = corpora.search("eval", text, method, 10, Some(vector)).await?;
            let ids: Vec<String> = found.hits.into_iter().map(|hit| hit.document.doc_id).collect();
            ndcg += eval::ndcg_at(10, &ids, &judged[id]);
            recall += eval::recall_at(10, &ids, &judged[id]);
        }
        let count = queries.len() as f64;
        let each = start.elapsed().as_secs_f64() * 1e3 / count;
        println!(
            "{method}: nDCG@10 {:.4}, recall@10 {:.4}, {each:.2} ms a query",
            ndcg / count,
            recall / count
        );
    }
    Ok(())
}

type Judgements = HashMap<String, HashMap<String, u32>>;

fn judgements(folder: &Path) -> Result<Judgements> {
    let mut judged = Judgements::new();
    for line in std::fs::read_to_string(folder.join("beir/qrels/train.tsv"))?.lines().skip(1) {
        let columns: Vec<&str> = line.split('\t').collect();
        let [query, document, grade] = columns[..] else { continue };
        judged.entry(query.to_owned()).or_default().insert(document.to_owned(), grade.trim().parse()?);
    }
    Ok(judged)
}

fn queries(folder: &Path, judged: &Judgements) -> Result<Vec<(String, String)>> {
    let mut queries = Vec::new();
    for line in std::fs::read_to_string(folder.join("beir/queries.jsonl"))?.lines() {
        let value: serde_json::Value = serde_json::from_str(line)?;
        let (id, text) = (value["_id"].as_str().context("_id")?, value["text"].as_str().context("text")?);
        if judged.contains_key(id) {
            queries.push((id.to_owned(), text.to_owned()));
        }
    }
    Ok(queries)
}
