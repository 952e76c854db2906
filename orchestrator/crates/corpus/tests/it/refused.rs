//! Files that cannot be imported, and files built to exhaust resources.

use crate::support::{Bench, Hashing};
use flate2::Compression;
use flate2::write::GzEncoder;
use lyra_corpus::CorpusError;
use std::io::Write;
use std::path::{Path, PathBuf};

fn written(bench: &Bench, name: &str, content: &[u8]) -> PathBuf {
    let path = bench.folder.path().join(name);
    std::fs::write(&path, content).unwrap();
    path
}

async fn refusal(bench: &Bench, file: &Path) -> String {
    let error = bench.import(file, &Hashing::default()).await.unwrap_err();
    assert!(matches!(error, CorpusError::File { .. }), "{error:?}");
    assert!(!bench.folder.path().join("corpora/c").exists(), "nothing is left of it");
    error.to_string()
}

#[tokio::test]
async fn a_file_of_another_kind_is_named_and_leaves_no_corpus() {
    let bench = Bench::new();
    for (name, content, kind) in [
        ("library.db", &b"SQLite format 3\0"[..], "this is an SQLite database"),
        ("LICENSE", b"You may copy this.\n", "this is plain text"),
        ("noise", &[0, 1, 2, 200, 201, 255], "this is a binary file"),
        ("array.json", b"[{\"id\": 1, \"title\": \"a\"}]", "this is a JSON array"),
        ("pretty.json", b"{\n  \"id\": 1,\n  \"title\": \"a\"\n}\n", "this is JSON over several lines"),
        ("empty.jsonl", b"", "this is an empty file"),
    ] {
        let said = refusal(&bench, &written(&bench, name, content)).await;
        assert!(said.contains(kind) && said.contains("Lyra reads papers"), "{name}: {said}");
    }
}

#[tokio::test]
async fn an_import_that_takes_nothing_leaves_no_corpus() {
    let (bench, embedder) = (Bench::new(), Hashing::default());
    let file = written(&bench, "bad.jsonl", b"{\"title\": 7}\n{oops\n");
    let report = bench.import(&file, &embedder).await.unwrap();
    assert!(report.took_nothing() && report.rejected_count == 2, "{report:?}");
    assert!(bench.corpora.list().await.unwrap().is_empty());
    // One that had documents before keeps them.
    let good = written(&bench, "good.jsonl", b"{\"id\": \"1\", \"title\": \"Naps\"}\n");
    bench.import(&good, &embedder).await.unwrap();
    assert!(bench.import(&file, &embedder).await.unwrap().took_nothing());
    assert_eq!(bench.corpora.show("c").await.unwrap().documents, 1);
}

#[cfg(unix)]
#[tokio::test]
async fn pipes_and_devices_are_refused() {
    let bench = Bench::new();
    let pipe = bench.folder.path().join("pipe.jsonl");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for path in [pipe.as_path(), Path::new("/dev/zero")] {
        assert!(refusal(&bench, path).await.contains("a pipe or a device"), "{}", path.display());
    }
}

/// Gzip of a beginning, so many MiB of one byte, and an end.
fn packed(head: &[u8], byte: u8, mebibytes: usize) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(head).unwrap();
    let block = vec![byte; 1 << 20];
    for _ in 0..mebibytes {
        encoder.write_all(&block).unwrap();
    }
    encoder.finish().unwrap()
}

#[tokio::test]
async fn a_cell_that_nothing_closes_is_not_read_to_the_end_of_the_file() {
    let (bench, embedder) = (Bench::new(), Hashing::default());
    let head = b"id,title,abstract\n1,First,a\n2,Second,\"";
    let file = written(&bench, "open.csv.gz", &packed(head, b'a', 40));
    let report = bench.import(&file, &embedder).await.unwrap();
    assert_eq!((report.added, report.rejected_count), (1, 1), "{report:?}");
    let why = &report.rejected[0];
    assert!(why.reason.contains("longer than 16 MiB") && why.line == 3, "{why:?}");
    // A header that never ends is one too.
    let file = written(&bench, "header.csv.gz", &packed(b"id,title,", b'a', 40));
    let report = bench.import(&file, &embedder).await.unwrap();
    assert!(report.rejected[0].reason.contains("longer than 16 MiB"), "{report:?}");
}

/// Each line looks like the beginning of a document's type, and none is.
#[tokio::test]
async fn lines_that_look_like_types_are_not_compared_with_all_before_them() {
    let bench = Bench::new();
    let lines = format!("<us-patent-grant>\n{}", " <!DOCTYPE a>\n".repeat(200_000));
    let file = written(&bench, "types.xml", lines.as_bytes());
    let report = bench.import(&file, &Hashing::default()).await.unwrap();
    assert!(report.took_nothing() && report.rejected_count == 1, "{report:?}");
}
