//! Corpora of older formats.

use crate::support::{Bench, Hashing, vector};
use lyra_corpus::backend::{FeatureScope, FieldBoosts, LaneKind, LaneQuery, SearchBackend};
use lyra_corpus::{EmbeddedBackend, Label, Method, Narrow, Within};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tokio_util::sync::CancellationToken;

/// A corpus that a version with an older format wrote, and what it found then.
fn stored(format: u32) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/format{format}"))
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn old_corpus(format: u32) -> Bench {
    let bench = Bench::new();
    copy(&stored(format).join("c"), &bench.folder.path().join("corpora/c"));
    bench
}

async fn finds_what_it_found(bench: &Bench, format: u32) {
    let expected = std::fs::read_to_string(stored(format).join("expected.tsv")).unwrap();
    let mut found = String::new();
    let last = if format == 1 { "都立大" } else { "枕" };
    for query in ["nap improves recall in adults", "昼寝の記憶への効果", last] {
        for method in [Method::Bm25, Method::Dense, Method::Hybrid] {
            let hits = bench.corpora.search("c", query, method, 10, Some(&vector(query))).await.unwrap().hits;
            for hit in hits {
                writeln!(found, "{query}\t{method}\t{}\t{}", hit.document.doc_id, hit.score).unwrap();
            }
        }
    }
    assert_eq!(found, expected);
}

#[tokio::test]
async fn format_1_is_brought_to_the_newest() {
    let bench = old_corpus(1);
    let info = bench.corpora.show("c").await.unwrap();
    assert_eq!((info.documents, info.scopes.as_slice()), (5, &[FeatureScope::Wide][..]));
    finds_what_it_found(&bench, 1).await;
    let folder = bench.folder.path().join("corpora/c");
    assert!(!folder.join("index").exists() && folder.join("fulltext-4").is_dir());
    let manifest = std::fs::read_to_string(folder.join("corpus.json")).unwrap();
    assert!(manifest.contains("\"format\": 4"), "{manifest}");

    // Lanes search it, and importing the file again changes and embeds nothing.
    let embedder = Arc::new(Hashing::default());
    let backend = EmbeddedBackend::new(bench.corpora.clone(), embedder.clone());
    let kind = LaneKind::FullText { query: "昼寝 記憶".to_owned(), boosts: FieldBoosts::default() };
    let lane = LaneQuery { corpus: "c".to_owned(), kind, filters: Vec::new(), top_k: 5 };
    let found = backend.search(&lane, &CancellationToken::new()).await.unwrap();
    assert_eq!(found.hits[0].doc_id, "ja-1");
    let line = r#"{"id": "en-2", "title": "Coffee", "abstract": "Coffee kept adults awake.", "url": "https://example.com/coffee"}"#;
    let report = bench.import(&bench.file("a.jsonl", &[line.to_owned()]), &embedder).await.unwrap();
    assert_eq!((report.unchanged, embedder.embedded.load(Ordering::SeqCst)), (1, 0));
}

#[tokio::test]
async fn format_2_is_brought_to_the_newest() {
    let bench = old_corpus(2);
    // Tags, collections, and notes were stored, but not indexed.
    let labels = bench.corpora.labels("c").await.unwrap();
    let shown = |labels: &[Label]| -> Vec<String> {
        labels.iter().map(|label| format!("{} {}", label.name, label.documents)).collect()
    };
    assert_eq!(shown(&labels.tags), ["naps 2", "To Read 1"]);
    assert_eq!(shown(&labels.collections), ["Reading 1", "Sleep 2", "Sleep/Naps 1"]);
    finds_what_it_found(&bench, 2).await;
    let notes = Narrow { within: Within::Notes, ..Narrow::default() };
    let found =
        bench.corpora.search_narrowed("c", "coffee", Method::Bm25, 5, None, &notes).await.unwrap().hits;
    assert_eq!(
        found.iter().map(|hit| hit.document.doc_id.as_str()).collect::<Vec<_>>(),
        ["doi:10.1000/nap.1"]
    );
    let folder = bench.folder.path().join("corpora/c");
    assert!(!folder.join("fulltext").exists() && folder.join("fulltext-4").is_dir());
    let scopes = bench.corpora.show("c").await.unwrap().scopes;
    assert_eq!(scopes, FeatureScope::ALL);

    // Every scope keeps its embeddings, and importing the files again embeds nothing.
    let embedder = Arc::new(Hashing::default());
    let lines = [
        r#"{"id": "en-2", "title": "Coffee", "abstract": "Coffee kept adults awake.", "url": "https://example.com/coffee"}"#,
        r#"{"id": "JP-1-A", "title": "枕", "abstract": "枕。", "claims": ["枕を備える装置。"], "description": "【背景技術】\n従来の枕は硬い。", "ipc": ["A47G9/10"], "app_date": "2004-04-23"}"#,
    ];
    let report = bench.import(&bench.file("a.jsonl", &lines.map(str::to_owned)), &embedder).await.unwrap();
    assert_eq!((report.unchanged, embedder.embedded.load(Ordering::SeqCst)), (2, 0));
    let backend = EmbeddedBackend::new(bench.corpora.clone(), embedder);
    let kind =
        LaneKind::Semantic { text: "枕を備える装置。".to_owned(), scope: FeatureScope::TopClaim };
    let lane = LaneQuery { corpus: "c".to_owned(), kind, filters: Vec::new(), top_k: 5 };
    let found = backend.search(&lane, &CancellationToken::new()).await.unwrap();
    assert_eq!(found.hits[0].doc_id, "JP-1-A");
}

#[tokio::test]
async fn an_interrupted_upgrade_is_done_again() {
    for format in [1, 2] {
        let bench = old_corpus(format);
        let folder = bench.folder.path().join("corpora/c");
        for leftover in ["fulltext.new", "fulltext-4"] {
            std::fs::create_dir_all(folder.join(leftover)).unwrap();
            std::fs::write(folder.join(leftover).join("meta.json"), "half").unwrap();
        }
        finds_what_it_found(&bench, format).await;
    }
}
