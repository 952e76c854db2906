//! What an import takes, skips, replaces and rejects.

use crate::support::{Bench, Hashing, documents};
use lyra_corpus::{CorpusError, Method};
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use tokio_util::sync::CancellationToken;
use zip::CompressionMethod;
use zip::write::SimpleFileOptions;

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
    assert!(
        message.contains("corpus `c`") && message.contains("remove the corpus and import it again"),
        "{message}"
    );

    let lock = std::fs::File::open(bench.folder.path().join("corpora/c/import.lock")).unwrap();
    lock.lock().unwrap();
    assert!(matches!(bench.import(&file, &embedder).await, Err(CorpusError::Busy { .. })));
    assert!(matches!(bench.corpora.remove("c").await, Err(CorpusError::Busy { .. })));
    drop(lock);

    let missing = bench.folder.path().join("missing.jsonl");
    assert!(matches!(bench.import(&missing, &embedder).await, Err(CorpusError::Io { .. })));
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

/// A ZIP archive of files, every second one stored as it is.
fn zipped(files: &[(&str, &str)]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (nth, (name, text)) in files.iter().enumerate() {
        let method = if nth % 2 == 0 { CompressionMethod::Deflated } else { CompressionMethod::Stored };
        archive.start_file(*name, SimpleFileOptions::default().compression_method(method)).unwrap();
        std::io::Write::write_all(&mut archive, text.as_bytes()).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

#[tokio::test]
async fn archives_and_folders_are_imported_file_by_file() {
    let (bench, embedder) = (Bench::new(), Hashing::default());
    let folder = bench.folder.path().join("week");
    std::fs::create_dir_all(folder.join("b")).unwrap();
    let write = |name: &str, content: &[u8]| std::fs::write(folder.join(name), content).unwrap();
    let line = |id: u32| format!("{{\"id\": \"{id}\", \"title\": \"Document {id}\"}}\n");
    write("b/deep.jsonl", line(1).as_bytes());
    write("LICENSE", b"You may copy this.");
    write(".hidden.jsonl", line(2).as_bytes());
    let packed = zipped(&[
        ("in/one.jsonl", &line(3)),
        ("in/two.csv", "id,title\n4,Four\n"),
        ("notes.dat", "Nothing to import."),
        ("../up.jsonl", &format!("{}oops\n", line(5))),
        ("empty.jsonl", ""),
    ]);
    write("a.zip", &packed);
    let report = bench.import(&folder, &embedder).await.unwrap();
    assert_eq!((report.added, report.rejected_count), (4, 2), "{report:?}");
    let odd: Vec<_> = report.rejected.iter().map(|odd| (odd.file.clone(), odd.line)).collect();
    assert_eq!(odd, [(folder.join("LICENSE"), 0), (folder.join("a.zip/up.jsonl"), 2)]);
    let again = bench.import(&folder, &embedder).await.unwrap();
    assert_eq!((again.added, again.unchanged), (0, 4));

    // Damage is detected by the checksum, encryption and emptiness before anything is read.
    let mut damaged = zipped(&[("x", "{}"), ("stored.jsonl", &line(6))]);
    let at = damaged.windows(8).position(|window| window == b"Document").unwrap();
    damaged[at] = b'X';
    write("damaged.zip", &damaged);
    let report = bench.import(&folder.join("damaged.zip"), &embedder).await.unwrap();
    assert!(report.took_nothing(), "{report:?}");
    let refused = report.rejected.iter().find(|odd| odd.file.ends_with("stored.jsonl")).unwrap();
    assert!(refused.reason.contains("damaged"), "{refused:?}");
    std::fs::create_dir(folder.join("c")).unwrap();
    let refused = bench.import(&folder.join("c"), &embedder).await.unwrap_err().to_string();
    assert!(refused.contains("no file to import in it: jsonl, csv"), "{refused}");
}
