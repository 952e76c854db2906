//! Imports of files that were imported before: what is new, changed and gone.

use crate::support::{Bench, Hashing, documents};
use lyra_corpus::{Document, Embed, FileKind, ImportOptions, ImportReport, Method, SearchResult};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use tokio_util::sync::CancellationToken;

fn folder(bench: &Bench) -> PathBuf {
    let folder = bench.folder.path().join("papers");
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn page(title: &str, text: &str) -> String {
    format!(
        "<!DOCTYPE html><html><head><title>{title}</title><meta name='citation_title' content='{title}'>\
         <meta name='citation_author' content='Lee, Ann'><meta name='citation_date' content='2019/02/01'></head>\
         <body><article><h1>{title}</h1><h2>Results</h2><p>{text} Researchers do not know yet whether that is due to \
         the heat or to the length of their nights, which are shorter in summer than in winter.</p></article></body></html>"
    )
}

async fn import(bench: &Bench, path: &Path, options: &ImportOptions) -> ImportReport {
    try_import(bench, path, options, &Hashing::default()).await.unwrap()
}

async fn try_import(
    bench: &Bench,
    path: &Path,
    options: &ImportOptions,
    embedder: &Hashing,
) -> lyra_corpus::Result<ImportReport> {
    let stop = CancellationToken::new();
    bench.corpora.import_with("c", &[path.to_owned()], options, embedder, &|_| {}, &stop).await
}

/// New, changed, unchanged, and gone files.
fn files(report: &ImportReport) -> (u64, u64, u64, u64) {
    let files = &report.files;
    (files.new, files.changed, files.unchanged, files.gone)
}

fn prune() -> ImportOptions {
    ImportOptions { prune: true, ..ImportOptions::default() }
}

#[tokio::test]
async fn new_changed_unchanged_and_gone_files() {
    let bench = Bench::new();
    let folder = folder(&bench);
    let write = |name: &str, content: &str| std::fs::write(folder.join(name), content).unwrap();
    write("noon.html", &page("Why we sleep at noon", "People sleep."));
    write("tea.html", &page("Why we drink tea in the morning", "People drink."));
    write("a.jsonl", &documents(3).join("\n"));
    write("cover.png", "\u{89}PNG");
    let plain = ImportOptions::default();
    let first = import(&bench, &folder, &plain).await;
    assert_eq!((first.added, files(&first)), (5, (4, 0, 0, 0)), "{first:?}");
    assert_eq!(first.rejected_count, 1);

    // Nothing is read and nothing is embedded again, and the same is reported.
    let embedder = Hashing { limit: 0, ..Hashing::default() };
    let again = try_import(&bench, &folder, &plain, &embedder).await.unwrap();
    assert_eq!((again.unchanged, files(&again)), (5, (0, 0, 4, 0)), "{again:?}");
    assert_eq!((again.rejected_count, again.documents), (1, 5));
    assert_eq!(again.rejected[0].reason, first.rejected[0].reason);

    write("noon.html", &page("Why we sleep at noon", "People sleep longer."));
    write("sea.html", &page("Why we swim in the sea at night", "People swim."));
    write("a.jsonl", &documents(2).join("\n"));
    std::fs::remove_file(folder.join("tea.html")).unwrap();
    let third = import(&bench, &folder, &plain).await;
    assert_eq!((third.added, third.updated, files(&third)), (1, 1, (1, 2, 1, 1)), "{third:?}");
    let tea = "lee-2019-why-we-drink-tea-in-the-morning";
    assert_eq!(third.files.orphans, ["doc-0002", tea]);
    assert_eq!((third.files.orphaned, third.files.pruned, third.documents), (2, 0, 6));
    let gone = third.files.changes.iter().find(|change| change.kind == FileKind::Gone).unwrap();
    assert!(gone.file.ends_with("tea.html") && gone.documents == [tea], "{gone:?}");

    // It stays reported until it is removed, or the file comes back.
    let fourth = import(&bench, &folder, &plain).await;
    assert_eq!((fourth.files.gone, fourth.files.orphaned), (1, 2));
    let pruned = import(&bench, &folder, &prune()).await;
    assert_eq!((pruned.files.pruned, pruned.documents), (2, 4), "{pruned:?}");
    let found = bench.corpora.search("c", "drink tea in the morning", Method::Bm25, 9, None).await.unwrap();
    assert!(found.hits.iter().all(|hit| hit.document.doc_id != tea));
    let after = import(&bench, &folder, &plain).await;
    assert_eq!((files(&after), after.files.orphaned), ((0, 0, 4, 0), 0));
    write("tea.html", &page("Why we drink tea in the morning", "People drink."));
    assert_eq!(import(&bench, &folder, &plain).await.added, 1);
}

#[tokio::test]
async fn a_file_that_moved_keeps_its_document() {
    let bench = Bench::new();
    let folder = folder(&bench);
    std::fs::write(folder.join("a.html"), page("Why we sleep at noon", "People sleep.")).unwrap();
    std::fs::write(folder.join("b.html"), page("Why we drink tea in the morning", "People drink.")).unwrap();
    import(&bench, &folder, &ImportOptions::default()).await;
    std::fs::create_dir(folder.join("read")).unwrap();
    std::fs::rename(folder.join("a.html"), folder.join("read/noon.html")).unwrap();
    let report = import(&bench, &folder, &prune()).await;
    assert_eq!((files(&report), report.files.orphaned), ((1, 0, 1, 1), 0), "{report:?}");
    assert_eq!((report.files.pruned, report.documents), (0, 2));
}

#[tokio::test]
async fn a_folder_that_is_away_removes_nothing() {
    let bench = Bench::new();
    let folder = folder(&bench);
    std::fs::create_dir(folder.join("disk")).unwrap();
    for (nth, name) in ["a.html", "disk/b.html"].into_iter().enumerate() {
        std::fs::write(folder.join(name), page(&format!("Why we sleep at noon, part {nth}"), "So.")).unwrap();
    }
    import(&bench, &folder, &ImportOptions::default()).await;
    // The mount point of a disk that is away is an empty folder.
    std::fs::remove_file(folder.join("disk/b.html")).unwrap();
    let report = import(&bench, &folder, &prune()).await;
    assert_eq!((report.files.orphaned, report.files.pruned, report.documents), (1, 0, 2), "{report:?}");
    let away = bench.folder.path().join("away");
    std::fs::rename(&folder, &away).unwrap();
    assert!(try_import(&bench, &folder, &prune(), &Hashing::default()).await.is_err());
    std::fs::create_dir(&folder).unwrap();
    let error = try_import(&bench, &folder, &prune(), &Hashing::default()).await.unwrap_err();
    assert!(error.to_string().contains("there is no file to import"), "{error}");
    assert_eq!(bench.corpora.show("c").await.unwrap().documents, 2);
    // Only when the folder itself is gone were its files deleted.
    std::fs::remove_dir(&folder).unwrap();
    std::fs::rename(&away, &folder).unwrap();
    std::fs::remove_dir(folder.join("disk")).unwrap();
    assert_eq!(import(&bench, &folder, &prune()).await.files.pruned, 1);
    // A file that can no longer be read may be half written: its document stays.
    std::fs::write(folder.join("a.html"), "<!DOCTYPE html><html><head></head>").unwrap();
    let report = import(&bench, &folder, &prune()).await;
    assert_eq!((report.rejected_count, report.files.orphaned, report.documents), (1, 0, 1), "{report:?}");
}

#[tokio::test]
async fn references_and_papers_find_each_other_over_several_imports() {
    let bench = Bench::new();
    let folder = folder(&bench);
    let write = |name: &str, content: &str| std::fs::write(folder.join(name), content).unwrap();
    let bib = |entries: &[(&str, &str, &str)]| -> String {
        let entry = |(key, title, doi): &(&str, &str, &str)| {
            format!(
                "@article{{{key}, title = {{{title}}}, author = {{Lee, Ann}}, year = 2019, journal = {{Sleep}}, doi = {{{doi}}}}}\n"
            )
        };
        entries.iter().map(entry).collect()
    };
    let noon = ("noon", "Why people in warm countries sleep at noon", "10.1000/noon");
    let tea = ("tea", "Why we drink tea in the morning", "10.1000/tea");
    write("noon.html", &page(noon.1, "People sleep."));
    let plain = ImportOptions::default();
    import(&bench, &folder, &plain).await;
    // A reference that comes after its paper describes the paper's document, which is not read again.
    write("refs.bib", &bib(&[noon]));
    let report = import(&bench, &folder, &plain).await;
    assert_eq!((report.updated, report.added, files(&report)), (1, 0, (1, 0, 1, 0)), "{report:?}");
    let found = bench.corpora.search("c", "warm countries", Method::Bm25, 1, None).await.unwrap();
    let document = &found.hits[0].document;
    assert_eq!(
        (document.venue.as_deref(), document.files.as_slice()),
        (Some("Sleep"), &["noon.html".to_owned()][..])
    );
    assert!(document.desc.contains("People sleep"));
    // A paper that comes after its reference is its text.
    write("refs.bib", &bib(&[noon, tea]));
    assert_eq!(import(&bench, &folder, &plain).await.added, 1);
    write("tea.html", &page(tea.1, "People drink."));
    let report = import(&bench, &folder, &plain).await;
    assert_eq!((report.updated, report.added, report.documents), (1, 0, 2), "{report:?}");
    let quiet = import(&bench, &folder, &plain).await;
    assert_eq!((quiet.unchanged, files(&quiet)), (2, (0, 0, 3, 0)), "{quiet:?}");
    // With the paper gone, the reference still gives the document.
    std::fs::remove_file(folder.join("tea.html")).unwrap();
    let report = import(&bench, &folder, &prune()).await;
    assert_eq!((report.files.gone, report.files.orphaned, report.documents), (1, 0, 2), "{report:?}");
}

async fn stored(bench: &Bench, id: &str) -> Document {
    bench.corpora.document("c", id).await.unwrap().unwrap()
}

#[tokio::test]
async fn works_that_begin_alike_stay_two_documents() {
    let bench = Bench::new();
    let folder = folder(&bench);
    let plain = "efsa-2015-scientific-opinion-on-the-safety-and-efficacy-of";
    let entry = |of: &str, venue: &str| {
        format!(
            "@article{{{}, title = {{Scientific opinion on the safety and efficacy of {of}}}, author = {{{{EFSA}}}}, \
             year = 2015, journal = {{{venue}}}}}\n",
            of.split(' ').next().unwrap()
        )
    };
    let [zinc, copper] = ["zinc chelate for chickens", "copper sulphate for pigs"];
    let import_of = async |name: &str, content: String| {
        std::fs::write(folder.join(name), content).unwrap();
        let report = import(&bench, &folder.join(name), &ImportOptions::default()).await;
        (report.added, report.updated, report.unchanged, report.rejected_count, report.documents)
    };
    assert_eq!(import_of("zinc.bib", entry(zinc, "EFSA Journal")).await, (1, 0, 0, 0, 1));
    assert_eq!(import_of("copper.bib", entry(copper, "EFSA Journal")).await, (1, 0, 0, 0, 2));
    assert!(stored(&bench, plain).await.title.ends_with("chickens"));
    // Each is found again, also the one that does not have the plain id.
    assert_eq!(import_of("copper.bib", entry(copper, "EFSA J")).await, (0, 1, 0, 0, 2));
    assert_eq!(import_of("zinc.bib", entry(zinc, "EFSA J")).await, (0, 1, 0, 0, 2));
    // In one file, and in another order, too.
    let both = entry(copper, "EFSA J") + &entry(zinc, "EFSA J");
    assert_eq!(import_of("both.bib", both).await, (0, 0, 2, 0, 2));
    let other = Bench::new();
    let file = other.folder.path().join("both.bib");
    std::fs::write(&file, entry(zinc, "EFSA J") + &entry(copper, "EFSA J")).unwrap();
    let report = import(&other, &file, &ImportOptions::default()).await;
    assert_eq!((report.added, report.rejected_count), (2, 0), "{report:?}");
}

#[tokio::test]
async fn papers_without_a_title_are_told_apart_by_their_files() {
    let bench = Bench::new();
    let folder = folder(&bench);
    let write = |name: &str, text: &str| {
        let latex = format!(
            "\\documentclass{{article}}\\begin{{document}}\n\\section{{Results}}\n{text}\n\\end{{document}}\n"
        );
        std::fs::create_dir_all(folder.join(name)).unwrap();
        std::fs::write(folder.join(name).join("main.tex"), latex).unwrap();
    };
    let import_of = async |name: &str| {
        let report = import(&bench, &folder.join(name), &ImportOptions::default()).await;
        (report.added, report.updated, report.unchanged, report.documents)
    };
    write("a", "People sleep at noon in warm countries.");
    write("b", "People drink tea in the morning at home.");
    assert_eq!(import_of("a").await, (1, 0, 0, 1));
    assert_eq!(import_of("b").await, (1, 0, 0, 2));
    assert!(stored(&bench, "main").await.desc.contains("sleep at noon"));
    // A file that changed keeps its document, and so does one that moved.
    write("b", "People drink coffee in the morning at home.");
    assert_eq!(import_of("b").await, (0, 1, 0, 2));
    write("a", "People sleep at noon in most countries.");
    assert_eq!(import_of("a").await, (0, 1, 0, 2));
    assert!(stored(&bench, "main").await.desc.contains("most countries"));
    std::fs::rename(folder.join("a"), folder.join("c")).unwrap();
    assert_eq!(import_of("c").await, (0, 0, 1, 2));
}

async fn hybrid(bench: &Bench, embedder: &Hashing) -> SearchResult {
    bench.corpora.search_with("c", "naps", None, Method::Hybrid, 5, embedder).await.unwrap()
}

#[tokio::test]
async fn embeddings_come_later() {
    let bench = Bench::new();
    let file = bench.file("a.jsonl", &documents(60));
    let none = Hashing { limit: 0, ..Hashing::default() };
    let later = ImportOptions { embed: Embed::Later, ..ImportOptions::default() };
    let report = try_import(&bench, &file, &later, &none).await.unwrap();
    assert_eq!((report.added, report.to_embed), (60, 60));
    let found = bench.corpora.search("c", "naps", Method::Bm25, 5, None).await.unwrap();
    assert_eq!((found.hits.len(), found.note), (5, None));
    let found = hybrid(&bench, &none).await;
    assert_eq!(found.note.as_deref(), Some("searched with bm25: none of its 60 documents is embedded yet"));

    // An interruption loses a round at most, which has eight documents here.
    let stop = CancellationToken::new();
    let failing = Hashing { limit: 30, ..Hashing::default() };
    assert!(bench.corpora.embed_pending("c", &failing, &|_, _| {}, &stop).await.is_err());
    let info = bench.corpora.show("c").await.unwrap();
    assert!(info.embedded >= 16 && info.embedded < 60, "{info:?}");
    let embedder = Hashing::default();
    let note = hybrid(&bench, &embedder).await.note.unwrap();
    assert_eq!(
        note,
        format!("{} of 60 documents are embedded so far; the others are found by words only", info.embedded)
    );
    let before = embedder.embedded.load(Ordering::SeqCst);
    let done = bench.corpora.embed_pending("c", &embedder, &|_, _| {}, &stop).await.unwrap();
    assert_eq!((done.embedded, done.left), (60 - info.embedded, 0));
    assert_eq!(embedder.embedded.load(Ordering::SeqCst) - before, done.embedded as usize, "nothing twice");
    let info = bench.corpora.show("c").await.unwrap();
    assert_eq!((info.embedded, info.pending.len()), (60, 0));
    assert_eq!(hybrid(&bench, &embedder).await.note, None);

    // As if they had been made at once.
    let other = Bench::new();
    other.import(&other.file("a.jsonl", &documents(60)), &Hashing::default()).await.unwrap();
    assert_eq!(bench.results().await, other.results().await);
    // Later ones wait again, and an import that embeds takes them along.
    let more = bench.file("b.jsonl", &documents(70)[60..]);
    assert_eq!(try_import(&bench, &more, &later, &none).await.unwrap().to_embed, 10);
    let report = import(&bench, &file, &ImportOptions::default()).await;
    assert_eq!((report.to_embed, bench.corpora.show("c").await.unwrap().embedded), (0, 70));
}
