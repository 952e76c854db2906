//! Corpora of older formats.

use crate::support::{Bench, Hashing, vector};
use lyra_corpus::backend::{FeatureScope, FieldBoosts, LaneKind, LaneQuery, SearchBackend};
use lyra_corpus::{EmbeddedBackend, Method};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tokio_util::sync::CancellationToken;

/// A corpus that a version with format 1 wrote, and what it found then.
fn stored() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/format1")
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

fn old_corpus() -> Bench {
    let bench = Bench::new();
    copy(&stored().join("c"), &bench.folder.path().join("corpora/c"));
    bench
}

async fn finds_what_it_found(bench: &Bench) {
    let expected = std::fs::read_to_string(stored().join("expected.tsv")).unwrap();
    let mut found = String::new();
    for query in ["nap improves recall in adults", "昼寝の記憶への効果", "都立大"] {
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
    let bench = old_corpus();
    let info = bench.corpora.show("c").await.unwrap();
    assert_eq!((info.documents, info.scopes.as_slice()), (5, &[FeatureScope::Wide][..]));
    finds_what_it_found(&bench).await;
    let folder = bench.folder.path().join("corpora/c");
    assert!(!folder.join("index").exists() && folder.join("fulltext").is_dir());
    let manifest = std::fs::read_to_string(folder.join("corpus.json")).unwrap();
    assert!(manifest.contains("\"format\": 2"), "{manifest}");

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
async fn an_interrupted_upgrade_is_done_again() {
    let bench = old_corpus();
    let folder = bench.folder.path().join("corpora/c");
    for leftover in ["fulltext.new", "fulltext"] {
        std::fs::create_dir_all(folder.join(leftover)).unwrap();
        std::fs::write(folder.join(leftover).join("meta.json"), "half").unwrap();
    }
    finds_what_it_found(&bench).await;
}
