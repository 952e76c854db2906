//! What an import takes, skips, replaces and rejects.

use crate::support::{Bench, Hashing, documents};
use lyra_corpus::{CorpusError, Method};
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use tokio_util::sync::CancellationToken;

#[tokio::test]
async fn a_second_import_adds_nothing() {
    let (bench, embedder) = (Bench::new(), Hashing::default());
    let file = bench.file("a.jsonl", &documents(30));
    let first = bench.import(&file, &embedder).await.unwrap();
    assert_eq!((first.added, first.documents, first.rejected_count), (30, 30, 0));
    let before = bench.results().await;
    let second = bench.import(&file, &embedder).await.unwrap();
    assert_eq!((second.added, second.updated, second.unchanged, second.documents), (0, 0, 30, 30));
    assert_eq!(embedder.embedded.load(Ordering::SeqCst), 30, "nothing is embedded twice");
    assert_eq!(bench.results().await, before);
}

#[tokio::test]
async fn a_changed_document_replaces_the_old_one() {
    let (bench, embedder) = (Bench::new(), Hashing::default());
    let mut lines = documents(30);
    bench.import(&bench.file("a.jsonl", &lines), &embedder).await.unwrap();
    lines[7] = r#"{"id": "doc-0007", "title": "Walruses", "text": "Walruses sleep at sea."}"#.to_owned();
    let file = bench.file("b.jsonl", &lines);
    let report = bench.import(&file, &embedder).await.unwrap();
    assert_eq!((report.added, report.updated, report.unchanged, report.documents), (0, 1, 29, 30));
    let found = bench.corpora.search("c", "walrus", Method::Bm25, 5, None).await.unwrap();
    assert_eq!(found.hits.len(), 1);
    assert_eq!(found.hits[0].document.title, "Walruses");

    let fresh = Bench::new();
    fresh.import(&fresh.file("b.jsonl", &lines), &embedder).await.unwrap();
    assert_eq!(bench.results().await, fresh.results().await, "as if the old version had never been there");
}

#[tokio::test]
async fn rejected_lines_are_named() {
    let (bench, embedder) = (Bench::new(), Hashing::default());
    let lines = [
        r#"{"id": 1, "title": "Fine"}"#,
        "",
        "{oops",
        r#"{"title": "no id"}"#,
        r#"{"id": 1, "title": "Fine"}"#,
        r#"{"id": 1, "title": "Other"}"#,
        r#"{"id": 2}"#,
    ]
    .map(str::to_owned);
    let file = bench.file("a.jsonl", &lines);
    let report = bench.import(&file, &embedder).await.unwrap();
    assert_eq!((report.added, report.repeated, report.rejected_count), (1, 1, 4));
    let reasons: Vec<_> =
        report.rejected.iter().map(|r| (r.line, r.reason.split(':').next().unwrap())).collect();
    let same = format!("id `1` is on line 1 of {} with other content", file.display());
    assert_eq!(
        reasons,
        [(3, "invalid JSON"), (4, "missing id"), (6, same.as_str()), (7, "no title and no text")]
    );
}

#[tokio::test]
async fn progress_reaches_the_end() {
    let (bench, embedder) = (Bench::new(), Hashing::default());
    let file = bench.file("a.jsonl", &documents(30));
    let seen = Mutex::new(Vec::new());
    let report = |progress: &lyra_corpus::Progress| seen.lock().unwrap().push(*progress);
    bench.corpora.import("c", &[file], &embedder, &report, &CancellationToken::new()).await.unwrap();
    let seen = seen.into_inner().unwrap();
    let last = seen.last().unwrap();
    assert!(seen.len() > 5 && seen.is_sorted_by_key(|p| p.indexed));
    assert_eq!((last.bytes_read, last.indexed), (last.bytes_total, 30));
}

#[tokio::test]
async fn refusals() {
    let (bench, embedder) = (Bench::new(), Hashing::default());
    let file = bench.file("a.jsonl", &documents(3));
    bench.import(&file, &embedder).await.unwrap();

    let other = Hashing::named("other@2");
    assert!(matches!(bench.import(&file, &other).await, Err(CorpusError::ModelChanged { .. })));
    let found = bench.corpora.search_with("c", "nap", None, Method::Hybrid, 3, &other).await;
    let message = found.unwrap_err().to_string();
    assert!(message.contains("lyra corpus remove c"), "{message}");

    let lock = std::fs::File::open(bench.folder.path().join("corpora/c/import.lock")).unwrap();
    lock.lock().unwrap();
    assert!(matches!(bench.import(&file, &embedder).await, Err(CorpusError::Busy { .. })));
    assert!(matches!(bench.corpora.remove("c").await, Err(CorpusError::Busy { .. })));
    drop(lock);

    let missing = bench.folder.path().join("missing.jsonl");
    assert!(matches!(bench.import(&missing, &embedder).await, Err(CorpusError::Io { .. })));
    assert!(matches!(bench.import(bench.folder.path(), &embedder).await, Err(CorpusError::Io { .. })));
    assert!(matches!(bench.corpora.show("../c").await, Err(CorpusError::Name { .. })));
    assert!(matches!(bench.corpora.show("absent").await, Err(CorpusError::NotFound { .. })));
}

#[tokio::test]
async fn list_show_remove() {
    let (bench, embedder) = (Bench::new(), Hashing::default());
    assert!(bench.corpora.list().await.unwrap().is_empty());
    let file = bench.file("a.jsonl", &documents(3));
    bench.import(&file, &embedder).await.unwrap();
    let listed = bench.corpora.list().await.unwrap();
    assert_eq!(listed, [bench.corpora.show("c").await.unwrap()]);
    assert_eq!((listed[0].documents, listed[0].embedder.as_str()), (3, "hashing@1"));
    bench.corpora.remove("c").await.unwrap();
    assert!(bench.corpora.list().await.unwrap().is_empty());
    assert!(matches!(bench.corpora.remove("c").await, Err(CorpusError::NotFound { .. })));
}
