//! Interrupted imports: repeating them gives what an undisturbed import gives.

use crate::support::{Bench, DIMENSION, Hashing, documents};
use lyra_corpus::{CorpusError, Method};
use proptest::prelude::*;
use std::fs::OpenOptions;
use std::io::{Seek, SeekFrom, Write};
use std::path::PathBuf;
use tokio_util::sync::CancellationToken;

const COUNT: usize = 60;

async fn undisturbed() -> Vec<(String, f64)> {
    let bench = Bench::new();
    bench.import(&bench.file("a.jsonl", &documents(COUNT)), &Hashing::default()).await.unwrap();
    bench.results().await
}

fn embeddings(bench: &Bench) -> PathBuf {
    bench.folder.path().join("corpora/c/embeddings.f32")
}

async fn mends(bench: &Bench, expected: &[(String, f64)]) {
    let file = bench.file("a.jsonl", &documents(COUNT));
    let report = bench.import(&file, &Hashing::default()).await.unwrap();
    assert_eq!(report.documents, COUNT as u64);
    assert_eq!(bench.results().await, expected);
    let again = bench.import(&file, &Hashing::default()).await.unwrap();
    assert_eq!((again.added, again.updated, again.unchanged), (0, 0, COUNT as u64));
}

#[tokio::test]
async fn cancelled_between_batches() {
    let expected = undisturbed().await;
    let bench = Bench::new();
    let file = bench.file("a.jsonl", &documents(COUNT));
    let cancel = CancellationToken::new();
    let stop = |progress: &lyra_corpus::Progress| {
        if progress.indexed >= 20 {
            cancel.cancel();
        }
    };
    let report = bench.corpora.import("c", &[file], &Hashing::default(), &stop, &cancel).await.unwrap();
    assert!(report.cancelled && report.documents >= 20 && report.documents < COUNT as u64, "{report:?}");
    let note = async || bench.corpora.search("c", "naps", Method::Bm25, 5, None).await.unwrap().note;
    let unfinished = bench.corpora.show("c").await.unwrap().unfinished;
    assert!(unfinished.len() == 1 && unfinished[0].ends_with("a.jsonl"), "{unfinished:?}");
    assert!(note().await.unwrap().contains("documents may be missing"));
    // Another import does not end this one.
    bench.import(&bench.file("b.jsonl", &documents(3)), &Hashing::default()).await.unwrap();
    assert!(note().await.is_some());
    mends(&bench, &expected).await;
    assert!(note().await.is_none() && bench.corpora.show("c").await.unwrap().unfinished.is_empty());
}

#[tokio::test]
async fn the_embedder_failed() {
    let expected = undisturbed().await;
    let bench = Bench::new();
    let file = bench.file("a.jsonl", &documents(COUNT));
    let failing = Hashing { limit: 30, ..Hashing::default() };
    assert!(matches!(bench.import(&file, &failing).await, Err(CorpusError::Inference(_))));
    let kept = bench.corpora.show("c").await.unwrap().documents;
    assert!((1..COUNT as u64).contains(&kept), "what was embedded is kept: {kept}");
    mends(&bench, &expected).await;
}

#[tokio::test]
async fn rows_behind_the_last_commit_do_not_count() {
    let expected = undisturbed().await;
    let bench = Bench::new();
    bench.import(&bench.file("part.jsonl", &documents(25)), &Hashing::default()).await.unwrap();
    let before = bench.results().await;
    // A process died after it wrote rows and before it committed them: whole rows, a torn one, garbage.
    let mut file = OpenOptions::new().append(true).open(embeddings(&bench)).unwrap();
    file.write_all(&vec![0xA5; DIMENSION * 4 * 3 + 17]).unwrap();
    assert_eq!(bench.results().await, before);
    mends(&bench, &expected).await;
}

#[tokio::test]
async fn committed_rows_that_were_lost_are_noticed_and_made_again() {
    let expected = undisturbed().await;
    for garble in [false, true] {
        let bench = Bench::new();
        bench.import(&bench.file("a.jsonl", &documents(COUNT)), &Hashing::default()).await.unwrap();
        let mut file = OpenOptions::new().write(true).open(embeddings(&bench)).unwrap();
        if garble {
            file.seek(SeekFrom::Start((DIMENSION * 4 * 40 + 8) as u64)).unwrap();
            file.write_all(&[0xFF; 64]).unwrap();
        } else {
            file.set_len((DIMENSION * 4 * 40 + 8) as u64).unwrap();
        }
        let reopened = lyra_corpus::Corpora::open(bench.folder.path());
        let query = crate::support::vector("nap");
        let dense = reopened.search("c", "nap", Method::Dense, 5, Some(&query)).await;
        assert!(matches!(dense, Err(CorpusError::Damaged { .. })), "{dense:?}");
        assert!(!reopened.search("c", "nap", Method::Bm25, 5, None).await.unwrap().hits.is_empty());
        mends(&bench, &expected).await;
    }
}

#[tokio::test]
async fn the_caller_went_away() {
    let expected = undisturbed().await;
    let bench = Bench::new();
    let file = bench.file("a.jsonl", &documents(COUNT));
    let embedder = Hashing::default();
    let cancel = CancellationToken::new();
    let files = [file.clone()];
    let import = bench.corpora.import("c", &files, &embedder, &|_| {}, &cancel);
    let _ = tokio::time::timeout(std::time::Duration::from_millis(3), import).await;
    // The writer may still hold the lock for its last commit.
    for _ in 0..200 {
        match bench.import(&file, &embedder).await {
            Err(CorpusError::Busy { .. }) => tokio::time::sleep(std::time::Duration::from_millis(10)).await,
            other => {
                other.unwrap();
                break;
            }
        }
    }
    mends(&bench, &expected).await;
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, ..ProptestConfig::default() })]

    #[test]
    fn interrupted_anywhere(limits in prop::collection::vec(0_usize..COUNT, 1..4), tail in 0_usize..600) {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let expected = undisturbed().await;
            let bench = Bench::new();
            let file = bench.file("a.jsonl", &documents(COUNT));
            for limit in limits {
                let _ = bench.import(&file, &Hashing { limit, ..Hashing::default() }).await;
                if let Ok(mut rows) = OpenOptions::new().append(true).open(embeddings(&bench)) {
                    rows.write_all(&vec![1; tail]).unwrap();
                }
            }
            mends(&bench, &expected).await;
        });
    }
}
