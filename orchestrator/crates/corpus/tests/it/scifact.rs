//! nDCG@10 of BM25 on SciFact's training queries. Skipped without the shared data (`LYRA_SHARED`). Dense and hybrid
//! need a model: the `eval` program of the `tests` folder measures them.

use crate::support::Hashing;
use lyra_corpus::{Corpora, Method, eval};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Instant;
use tokio_util::sync::CancellationToken;

#[tokio::test(flavor = "multi_thread")]
async fn bm25_on_scifact() {
    let shared = std::env::var_os("LYRA_SHARED").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../../shared")),
        PathBuf::from,
    );
    let data = shared.join("data/scifact");
    if !data.is_dir() {
        println!("skipped: {} is absent", data.display());
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let corpora = Corpora::open(folder.path());
    let files = [data.join("corpus.jsonl")];
    let start = Instant::now();
    let report = corpora
        .import("scifact", &files, &Hashing::default(), &|_| {}, &CancellationToken::new())
        .await
        .unwrap();
    println!("imported {} documents without a model in {:.1} s", report.added, start.elapsed().as_secs_f64());
    assert_eq!((report.added, report.rejected_count), (5_183, 0));

    let judged = judgements(&data);
    let start = Instant::now();
    let mut sum = 0.0;
    for (query, text) in queries(&data, &judged) {
        let found = corpora.search("scifact", &text, Method::Bm25, 10, None).await.unwrap();
        let ids: Vec<String> = found.hits.into_iter().map(|hit| hit.document.doc_id).collect();
        sum += eval::ndcg_at(10, &ids, &judged[&query]);
    }
    let ndcg = sum / judged.len() as f64;
    let each = start.elapsed().as_secs_f64() * 1e3 / judged.len() as f64;
    println!("bm25 nDCG@10 {ndcg:.4} over {} queries, {each:.2} ms each", judged.len());
    assert!(ndcg > 0.6, "{ndcg}");
}

fn judgements(data: &Path) -> HashMap<String, HashMap<String, u32>> {
    let mut judged: HashMap<String, HashMap<String, u32>> = HashMap::new();
    for line in std::fs::read_to_string(data.join("beir/qrels/train.tsv")).unwrap().lines().skip(1) {
        let mut columns = line.split('\t');
        let (Some(query), Some(document), Some(grade)) = (columns.next(), columns.next(), columns.next())
        else {
            continue;
        };
        judged
            .entry(query.to_owned())
            .or_default()
            .insert(document.to_owned(), grade.trim().parse().unwrap());
    }
    judged
}

fn queries(data: &Path, judged: &HashMap<String, HashMap<String, u32>>) -> Vec<(String, String)> {
    std::fs::read_to_string(data.join("beir/queries.jsonl"))
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .map(|value| (value["_id"].as_str().unwrap().to_owned(), value["text"].as_str().unwrap().to_owned()))
        .filter(|(id, _)| judged.contains_key(id))
        .collect()
}
