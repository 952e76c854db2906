//! Papers as people have them: PDFs and saved pages, each one document with sections and pages.

use crate::support::{Bench, Hashing};
use lyra_corpus::{Document, Method};
use std::fmt::Write;

/// A PDF in Helvetica with a content stream per page; lines have a size, x and y.
pub(crate) fn pdf(pages: &[&[(u32, u32, u32, &str)]]) -> Vec<u8> {
    let content = |lines: &&[(u32, u32, u32, &str)]| {
        lines.iter().fold(String::new(), |mut content, (size, x, y, words)| {
            writeln!(content, "BT /F {size} Tf {x} {y} Td ({words}) Tj ET").unwrap();
            content
        })
    };
    crate::pdf::of(&pages.iter().map(content).collect::<Vec<_>>())
}

pub(crate) fn article() -> Vec<u8> {
    pdf(&[
        &[
            (20, 50, 740, "Short naps and the memory of adults"),
            (11, 50, 710, "Ann Lee1 and Bo Ek2"),
            (8, 50, 695, "1 University of Sleep, doi:10.1000/naps.7"),
            (10, 50, 660, "Abstract"),
            (10, 50, 640, "We asked whether a short nap in the afternoon improves the memory of adults who"),
            (10, 50, 628, "had learned pairs of words. It does."),
            (10, 50, 600, "1. Introduction"),
            (10, 50, 580, "Sleep is thought to help memory, and little is known about naps."),
        ],
        &[
            (10, 50, 740, "2. Results"),
            (10, 50, 720, "Adults who napped for twenty minutes remembered more words than those who read."),
        ],
        &[(10, 50, 740, "References"), (10, 50, 720, "[1] Poe, Sleep and words, 2011, doi:10.1000/words.1.")],
    ])
}

pub(crate) const PAGE: &str = "<!DOCTYPE html><html><head><title>Why we sleep at noon</title>\
    <meta name='citation_title' content='Why we sleep at noon'><meta name='citation_author' content='Lee, Ann'>\
    <meta name='citation_date' content='2019/02/01'></head><body><article><h1>Why we sleep at noon</h1><h2>Results</h2>\
    <p>People in warm countries sleep at noon more often than people in cold ones, and they remember more of what they \
    learned in the morning, as three studies of four hundred adults have found over ten years.</p>\
    <p>Researchers do not know yet whether that is due to the heat or to the length of their nights, which are shorter in summer, \
    or to habits that they learned as children.</p></article></body></html>";

async fn only(bench: &Bench, query: &str) -> Document {
    bench.corpora.search("c", query, Method::Bm25, 1, None).await.unwrap().hits.remove(0).document
}

#[tokio::test]
async fn a_folder_of_papers() {
    let (bench, embedder) = (Bench::new(), Hashing::default());
    let folder = bench.folder.path().join("papers");
    std::fs::create_dir_all(folder.join("more")).unwrap();
    let write = |name: &str, content: &[u8]| std::fs::write(folder.join(name), content).unwrap();
    write("lee.pdf", &article());
    write("more/copy of lee.pdf", &article());
    write("page.html", PAGE.as_bytes());
    write("damaged.pdf", b"%PDF-1.7\n\xE2\xE3 and nothing more");
    write("blank.pdf", &pdf(&[&[]]));
    write("cover.png", b"\x89PNG\r\n\x1A\n");
    let report = bench.import(&folder, &embedder).await.unwrap();
    assert_eq!((report.added, report.rejected_count), (2, 4), "{report:?}");
    let why = |name: &str| {
        let found = report.rejected.iter().find(|rejected| rejected.file.ends_with(name)).unwrap();
        (found.line, found.reason.as_str())
    };
    assert_eq!(why("damaged.pdf"), (0, "the PDF is damaged"));
    assert!(why("blank.pdf").1.contains("has no text; its pages"), "{report:?}");
    assert!(why("cover.png").1.starts_with("this is an image, which"), "{report:?}");
    let second = "another file of the same work as lee.pdf, which was imported as `doi:10.1000/naps.7`";
    assert_eq!(why("more/copy of lee.pdf").1, second);

    let lee = only(&bench, "napped twenty minutes").await;
    assert_eq!(
        (lee.doc_id.as_str(), lee.title.as_str()),
        ("doi:10.1000/naps.7", "Short naps and the memory of adults")
    );
    assert_eq!(
        (&lee.authors[..], &lee.files[..]),
        (&["Ann Lee".to_owned(), "Bo Ek".to_owned()][..], &["lee.pdf".to_owned()][..])
    );
    assert!(lee.text.starts_with("We asked whether") && lee.text.ends_with("It does."), "{}", lee.text);
    assert_eq!(lee.references, ["10.1000/words.1"]);
    let passages = lee.passages();
    let places: Vec<_> =
        passages.iter().map(|passage| (passage.heading.unwrap_or_default(), passage.page)).collect();
    assert_eq!(places, [("1. Introduction", Some(1)), ("2. Results", Some(2))]);
    assert!(passages[1].text.starts_with("Adults who napped"));

    let page = only(&bench, "warm countries noon").await;
    assert_eq!((page.doc_id.as_str(), page.year), ("lee-2019-why-we-sleep-at-noon", Some(2019)));
    assert_eq!(page.passages()[0].heading, Some("Results"));

    let again = bench.import(&folder, &embedder).await.unwrap();
    assert_eq!((again.added, again.updated, again.unchanged, again.documents), (0, 0, 2, 2), "{again:?}");
}

#[tokio::test]
async fn captions_are_sections_and_pages_without_text_are_said() {
    let (bench, embedder) = (Bench::new(), Hashing::default());
    let file = bench.folder.path().join("lee.pdf");
    let text = [
        (20, 50, 740, "Short naps and the memory of adults"),
        (10, 50, 660, "1. Results"),
        (10, 50, 640, "Adults who napped for twenty minutes remembered more words than those who read a"),
        (10, 50, 500, "Figure 2: Words that adults remembered after naps."),
        (10, 50, 460, "book in the same room, and less than those who had slept for an hour."),
    ];
    std::fs::write(&file, pdf(&[&text, &[(10, 50, 700, " ")]])).unwrap();
    let report = bench.import(&file, &embedder).await.unwrap();
    assert_eq!((report.added, report.rejected_count, report.partial_count), (1, 0, 1), "{report:?}");
    let partial = "1 of 2 pages has no text; it is most likely scanned or a figure";
    assert_eq!((&report.partial[0].file, report.partial[0].reason.as_str()), (&file, partial));
    let lee = only(&bench, "napped twenty minutes").await;
    let passages: Vec<_> = lee.passages().iter().map(|p| (p.heading, p.page, p.text)).collect();
    let running = "Adults who napped for twenty minutes remembered more words than those who read a book in the same room, \
                   and less than those who had slept for an hour.";
    let expect = [
        (Some("1. Results"), Some(1), running),
        (Some("Figure 2"), Some(1), "Figure 2: Words that adults remembered after naps."),
    ];
    assert_eq!(passages, expect);
}

#[tokio::test]
async fn a_paper_without_sections_keeps_its_text_and_one_without_text_says_so() {
    let (bench, embedder) = (Bench::new(), Hashing::default());
    let folder = bench.folder.path().join("papers");
    std::fs::create_dir_all(&folder).unwrap();
    let references = [(10, 50, 500, "References"), (10, 50, 480, "[1] Poe, Sleep and words, 2011.")];
    let title = |title| (20, 50, 740, title);
    let text = [
        title("Short naps and the memory of adults"),
        (11, 50, 710, "Ann Lee1 and Bo Ek2"),
        (10, 50, 640, "Adults who napped for twenty minutes remembered more words than those who read."),
    ];
    std::fs::write(folder.join("lee.pdf"), pdf(&[&[&text[..], &references].concat()])).unwrap();
    let empty = [&[title("Long nights and the memory of adults")][..], &references].concat();
    std::fs::write(folder.join("poe.pdf"), pdf(&[&empty])).unwrap();
    let report = bench.import(&folder, &embedder).await.unwrap();
    assert_eq!((report.added, report.rejected_count, report.partial_count), (2, 0, 1), "{report:?}");
    assert!(report.partial[0].file.ends_with("poe.pdf"), "{report:?}");
    assert_eq!(report.partial[0].reason, "neither an abstract nor running text was found in it");
    let lee = only(&bench, "napped twenty minutes").await;
    assert!(lee.desc.contains(text[2].3) && !lee.desc.contains("Poe"), "{}", lee.desc);
}

#[tokio::test]
async fn references_find_their_papers_and_take_no_notes() {
    let (bench, embedder) = (Bench::new(), Hashing::default());
    let folder = bench.folder.path();
    std::fs::create_dir(folder.join("files")).unwrap();
    std::fs::write(folder.join("files/7.pdf"), article()).unwrap();
    std::fs::write(folder.join("files/diary.txt"), "Nothing that anyone else should read.").unwrap();
    let references = "@article{lee, title = {Another title}, author = {Lee, Ann and Ek, Bo}, year = 2019, journal = {Sleep},\n\
        keywords = {naps}, file = {:files/7.pdf:PDF}}\n\
        @article{ek, title = {A work without a file at hand}, author = {Ek, Bo}, year = 2020, file = {:files/diary.txt:TXT}}\n";
    let file = folder.join("refs.bib");
    std::fs::write(&file, references).unwrap();
    let report = bench.import(&file, &embedder).await.unwrap();
    assert_eq!((report.added, report.rejected_count), (2, 0), "{report:?}");
    let lee = only(&bench, "napped twenty minutes").await;
    // The reference says what it is, the paper gives its text and its DOI.
    assert_eq!(
        (lee.title.as_str(), lee.venue.as_deref(), lee.year),
        ("Another title", Some("Sleep"), Some(2019))
    );
    assert_eq!((lee.doc_id.as_str(), &lee.files[..]), ("doi:10.1000/naps.7", &["7.pdf".to_owned()][..]));
    let found = bench.corpora.search("c", "anyone should read", Method::Bm25, 5, None).await.unwrap();
    assert!(found.hits.iter().all(|hit| !hit.document.desc.contains("Nothing that")));

    // A part imported again takes nothing away.
    let again = bench.import(&folder.join("files/7.pdf"), &embedder).await.unwrap();
    assert_eq!((again.added, again.updated, again.unchanged), (0, 0, 1), "{again:?}");
    assert_eq!(bench.import(&file, &embedder).await.unwrap().unchanged, 2);
}
