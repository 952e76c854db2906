//! A preprint and what was published of it.

use crate::papers::pdf;
use crate::support::{Bench, Hashing};
use lyra_corpus::{Document, ImportReport, Stage};
use std::path::Path;

const TITLE: &str = "Short naps and the memory of adults";

/// A paper of one page and a half.
fn paper(said: &str, name: &str) -> Vec<u8> {
    pdf(&[&[
        (20, 50, 740, TITLE),
        (11, 50, 710, "Ann Lee and Bo Ek"),
        (8, 50, 695, name),
        (10, 50, 660, "Abstract"),
        (10, 50, 640, "We asked whether a short nap in the afternoon improves the memory of adults."),
        (10, 50, 600, "1. Introduction"),
        (10, 50, 580, "Sleep is thought to help memory, and little is known about naps at work."),
        (10, 50, 540, "2. Results"),
        (10, 50, 520, said),
    ]])
}

const EARLY: &str = "The early version found that adults remembered nine more words after a nap.";
const FINAL: &str = "The final version found that adults remembered seven more words after a nap.";

fn counts(report: &ImportReport) -> (u64, u64, u64, u64) {
    (report.added, report.updated, report.unchanged, report.rejected_count)
}

async fn all(bench: &Bench) -> Vec<Document> {
    let found =
        bench.corpora.search("c", "naps memory adults", lyra_corpus::Method::Bm25, 10, None).await.unwrap();
    found.hits.into_iter().map(|hit| hit.document).collect()
}

fn stages(document: &Document) -> Vec<(Stage, Option<String>, bool)> {
    let version = |version: &lyra_corpus::Version| {
        let name = version.doi.as_ref().map(ToString::to_string);
        (version.stage, name.or(version.identifiers.first().map(ToString::to_string)), version.is_shown)
    };
    document.versions.iter().map(version).collect()
}

const BOTH: [(Stage, &str, bool); 2] =
    [(Stage::Published, "10.1000/naps.7", true), (Stage::Preprint, "arxiv:2001.01234", false)];

fn both() -> Vec<(Stage, Option<String>, bool)> {
    BOTH.map(|(stage, name, shown)| (stage, Some(name.to_owned()), shown)).to_vec()
}

#[tokio::test]
async fn two_files_are_one_document_in_any_order() {
    for (early, last) in [("a.pdf", "b.pdf"), ("b.pdf", "a.pdf")] {
        let (bench, embedder) = (Bench::new(), Hashing::default());
        let folder = bench.folder.path().join("papers");
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join(early), paper(EARLY, "arXiv:2001.01234v2 [q-bio] 4 Jan 2020")).unwrap();
        std::fs::write(folder.join(last), paper(FINAL, "Sleep 2021, doi:10.1000/naps.7")).unwrap();
        let report = bench.import(&folder, &embedder).await.unwrap();
        assert_eq!((counts(&report), report.documents), ((1, 1, 0, 0), 1), "{report:?}");
        let found = all(&bench).await.remove(0);
        assert_eq!(stages(&found), both(), "{found:?}");
        assert!(found.desc.contains("seven more words") && !found.desc.contains("nine"), "{}", found.desc);
        assert_eq!(found.doi.as_ref().map(ToString::to_string).as_deref(), Some("10.1000/naps.7"));
        assert_eq!(found.files.len(), 2);
        let again = bench.import(&folder, &embedder).await.unwrap();
        assert_eq!((counts(&again), again.documents), ((0, 0, 1, 0), 1), "{again:?}");
        assert_eq!(all(&bench).await, [found]);
    }
}

#[tokio::test]
async fn a_version_that_comes_later_joins_the_one_that_is_there() {
    for early_first in [true, false] {
        let (bench, embedder) = (Bench::new(), Hashing::default());
        let folder = bench.folder.path().join("papers");
        std::fs::create_dir(&folder).unwrap();
        let early = ("early.pdf", paper(EARLY, "arXiv:2001.01234v2 [q-bio] 4 Jan 2020"));
        let last = ("final.pdf", paper(FINAL, "Sleep 2021, doi:10.1000/naps.7"));
        let (first, second) = if early_first { (early, last) } else { (last, early) };
        std::fs::write(folder.join(first.0), first.1).unwrap();
        bench.import(&folder, &embedder).await.unwrap();
        std::fs::write(folder.join(second.0), second.1).unwrap();
        let report = bench.import(&folder, &embedder).await.unwrap();
        assert_eq!((counts(&report), report.documents), ((0, 1, 0, 0), 1), "{report:?}");
        let files = &report.files;
        assert_eq!((files.new, files.unchanged, files.orphaned), (1, 1, 0), "{report:?}");
        let found = all(&bench).await.remove(0);
        assert_eq!(stages(&found), both(), "{found:?}");
        assert!(found.desc.contains("seven more words") && !found.desc.contains("nine"), "{}", found.desc);
        assert_eq!(found.files.len(), 2);
        let again = bench.import(&folder, &embedder).await.unwrap();
        assert_eq!((counts(&again), again.documents), ((0, 0, 1, 0), 1), "{again:?}");
    }
}

#[tokio::test]
async fn versions_join_that_separate_imports_bring() {
    let early = paper(EARLY, "arXiv:2001.01234v2 [q-bio] 4 Jan 2020");
    let last = paper(FINAL, "Sleep 2021, doi:10.1000/naps.7");
    for files in
        [[("early.pdf", &early), ("final.pdf", &last)], [("final.pdf", &last), ("early.pdf", &early)]]
    {
        let (bench, embedder) = (Bench::new(), Hashing::default());
        for (nth, (name, content)) in files.into_iter().enumerate() {
            let folder = bench.folder.path().join(format!("upload-{nth}"));
            std::fs::create_dir(&folder).unwrap();
            std::fs::write(folder.join(name), content).unwrap();
            let report = bench.import(&folder.join(name), &embedder).await.unwrap();
            let expect = if nth == 0 { (1, 0, 0, 0) } else { (0, 1, 0, 0) };
            assert_eq!((counts(&report), report.documents), (expect, 1), "{report:?}");
        }
        let found = all(&bench).await.remove(0);
        assert_eq!(stages(&found), both(), "{found:?}");
        assert!(found.desc.contains("seven more words") && !found.desc.contains("nine"), "{}", found.desc);
        assert_eq!(
            (found.files.len(), found.doi.map(|doi| doi.to_string())),
            (2, Some("10.1000/naps.7".to_owned()))
        );
        for (nth, (name, _)) in files.into_iter().enumerate() {
            let file = bench.folder.path().join(format!("upload-{nth}")).join(name);
            // Copied to another place, it is read again.
            let copy = bench.folder.path().join(format!("again-{nth}-{name}"));
            std::fs::copy(file, &copy).unwrap();
            let report = bench.import(&copy, &embedder).await.unwrap();
            assert_eq!((report.added, report.documents), (0, 1), "{name}: {report:?}");
        }
        let again = all(&bench).await.remove(0);
        assert_eq!((stages(&again), again.desc), (both(), found.desc));
    }
}

#[tokio::test]
async fn another_author_is_another_work_also_in_a_later_import() {
    let (bench, embedder) = (Bench::new(), Hashing::default());
    let entries = |authors: [&str; 2]| {
        let [early, last] = authors;
        [
            format!(
                "@misc{{early, title = {{{TITLE}}}, author = {{{early}}}, year = 2020, eprint = {{2001.01234}}, \
                 archiveprefix = {{arXiv}}}}\n"
            ),
            format!(
                "@article{{final, title = {{{TITLE}}}, author = {{{last}}}, year = 2021, journal = {{Sleep}}, \
                 doi = {{10.1000/naps.7}}}}\n"
            ),
        ]
    };
    for (authors, documents) in [(["Poe, Cy", "Lee, Ann"], 2), (["Ek, Bo", "Ek, Bo"], 1)] {
        let corpus = documents.to_string();
        let mut count = 0;
        for (nth, entry) in entries(authors).into_iter().enumerate() {
            let file = bench.folder.path().join(format!("{documents}-{nth}.bib"));
            std::fs::write(&file, entry).unwrap();
            let stop = tokio_util::sync::CancellationToken::new();
            count =
                bench.corpora.import(&corpus, &[file], &embedder, &|_| {}, &stop).await.unwrap().documents;
        }
        assert_eq!(count, documents, "{authors:?}");
    }
}

#[tokio::test]
async fn references_name_both_versions() {
    let (bench, embedder) = (Bench::new(), Hashing::default());
    let folder = bench.folder.path().join("library");
    std::fs::create_dir(&folder).unwrap();
    let write = |name: &str, content: &[u8]| std::fs::write(folder.join(name), content).unwrap();
    let entries = |year: u32, author: &str| {
        format!(
            "@article{{final, title = {{{TITLE}}}, author = {{Lee, Ann}}, year = 2022, journal = {{Sleep}}, \
             doi = {{10.1000/naps.7}}}}\n\
             @misc{{early, title = {{{TITLE}}}, author = {{{author}}}, year = {year}, eprint = {{2001.01234}}, \
             archiveprefix = {{arXiv}}}}\n"
        )
    };
    write("refs.bib", entries(2020, "Lee, Ann and Ek, Bo").as_bytes());
    write("early.pdf", &paper(EARLY, "arXiv:2001.01234v2 [q-bio] 4 Jan 2020"));
    let report = bench.import(&folder, &embedder).await.unwrap();
    assert_eq!(report.documents, 1, "{report:?}");
    let found = all(&bench).await.remove(0);
    let shown: Vec<bool> = found.versions.iter().map(|version| version.is_shown).collect();
    assert_eq!(
        (shown, found.venue.as_deref()),
        (vec![false, true], Some("Sleep")),
        "the preprint's text is said to be"
    );
    assert!(found.desc.contains("nine more words"));
    // With the published file, its text is shown.
    write("final.pdf", &paper(FINAL, "Sleep 2022, doi:10.1000/naps.7"));
    let report = bench.import(&folder, &embedder).await.unwrap();
    assert_eq!((counts(&report), report.documents), ((0, 1, 0, 0), 1), "{report:?}");
    let found = all(&bench).await.remove(0);
    assert_eq!(stages(&found), both());
    assert!(found.desc.contains("seven more words"));
    let again = bench.import(&folder, &embedder).await.unwrap();
    assert_eq!(counts(&again), (0, 0, 1, 0), "{again:?}");

    // Another author, or many years, make another work.
    for (nth, (year, author)) in [(2018, "Lee, Ann"), (2020, "Poe, Cy")].into_iter().enumerate() {
        let bench = Bench::new();
        let file = bench.folder.path().join(format!("{nth}.bib"));
        std::fs::write(&file, entries(year, author)).unwrap();
        let report = bench.import(Path::new(&file), &embedder).await.unwrap();
        assert_eq!(report.documents, 2, "{year} {author}: {report:?}");
    }
}
