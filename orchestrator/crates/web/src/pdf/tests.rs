mod columns;

use super::*;
use crate::extract::{BlockKind, Mark};
use proptest::prelude::*;

/// A PDF with one content stream per page, in Helvetica.
fn pdf(pages: &[String], info: &str) -> Vec<u8> {
    pdf_with(pages, info, "")
}

/// The same, with more entries in the dictionary of each page.
fn pdf_with(pages: &[String], info: &str, entries: &str) -> Vec<u8> {
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        format!(
            "<< /Type /Pages /Count {} /Kids [{}] >>",
            pages.len(),
            (0..pages.len()).map(|i| format!("{} 0 R ", 5 + i * 2)).collect::<Vec<_>>().concat()
        ),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_owned(),
        format!("<< {info} >>"),
    ];
    for (i, content) in pages.iter().enumerate() {
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents {} 0 R /Resources << /Font << /F 3 0 R >> >> {entries} >>",
            6 + i * 2
        ));
        objects.push(format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len()));
    }
    let mut file = b"%PDF-1.4\n".to_vec();
    let mut offsets = Vec::new();
    for (i, object) in objects.iter().enumerate() {
        offsets.push(file.len());
        file.extend(format!("{} 0 obj\n{object}\nendobj\n", i + 1).bytes());
    }
    let start = file.len();
    file.extend(format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1).bytes());
    for offset in offsets {
        file.extend(format!("{offset:010} 00000 n \n").bytes());
    }
    file.extend(
        format!(
            "trailer << /Size {} /Root 1 0 R /Info 4 0 R >>\nstartxref\n{start}\n%%EOF\n",
            objects.len() + 1
        )
        .bytes(),
    );
    file
}

/// Lines of text: size, x, y, words.
fn content(lines: &[(u32, u32, u32, &str)]) -> String {
    lines
        .iter()
        .map(|(size, x, y, words)| format!("BT /F {size} Tf {x} {y} Td ({words}) Tj ET\n"))
        .collect::<Vec<_>>()
        .concat()
}

fn text(file: &[u8]) -> Extracted {
    read(file, &Limits::default(), &|| false).unwrap()
}

#[test]
fn what_readers_marked() {
    let page = content(&[
        (10, 50, 700, "Sleep is thought to help. Adults who napped for twenty"),
        (10, 50, 688, "minutes remembered more words than those who read. Others did not."),
    ]);
    // Rectangles over the end of the first line and the beginning of the second.
    let annotations = "/Annots [\
        << /Type /Annot /Subtype /Highlight /C [1 0.83 0] /Contents (Really?\\rAsk Bo.) \
           /QuadPoints [159 710 500 710 159 698 500 698 50 698 148 698 50 686 148 686] >> \
        << /Type /Annot /Subtype /Link /Contents (no mark) >> \
        << /Type /Annot /Subtype /Text /Contents <FEFF006E00F6> >> \
        << /Type /Annot /Subtype /Highlight /QuadPoints [1 2 3] >> \
        << /Type /Annot /Subtype /Underline /Contents (Sleep) /QuadPoints [50 710 76 710 50 698 76 698] >> 7 ]";
    let read = text(&pdf_with(&[page], "", annotations));
    let mark = |text: &str, comment: &str, color: Option<&str>| Mark {
        page: 1,
        text: text.to_owned(),
        comment: comment.to_owned(),
        color: color.map(str::to_owned),
    };
    let expect = [
        mark("Adults who napped for twenty minutes remembered", "Really?\nAsk Bo.", Some("#ffd400")),
        mark("", "n\u{f6}", None),
        mark("Sleep", "", None),
    ];
    assert_eq!(read.marks, expect);
    assert!(read.text.contains("Others did not"));
}

fn article() -> Vec<u8> {
    let page = |number: u32, lines: &[(u32, u32, u32, &str)]| {
        content(lines) + &content(&[(8, 50, 780, "Journal of Naps"), (8, 300, 20, &number.to_string())])
    };
    pdf(
        &[
            page(
                1,
                &[
                    (20, 50, 740, "Naps and memory"),
                    (14, 50, 700, "Methods"),
                    (
                        10,
                        50,
                        680,
                        "Forty adults learned pairs of words in a quiet room, and then half of them had a re-",
                    ),
                    (10, 50, 668, "freshing sleep of an hour."),
                    (
                        10,
                        60,
                        656,
                        "The others read a book. They were tested in the same room, at the same hour, and the",
                    ),
                ],
            ),
            page(2, &[(10, 50, 740, "test was the same for both. It took ten minutes.")]),
            page(3, &[(14, 50, 740, "Results"), (10, 50, 720, "Sleep helped.")]),
        ],
        "/Title (Naps and memory in adults) /Author (Ann Lee, Bo Ek)",
    )
}

#[test]
fn an_article_with_headings_divided_words_and_running_lines() {
    let found = text(&article());
    assert_eq!(found.title, "Naps and memory in adults");
    assert_eq!(found.authors, ["Ann Lee", "Bo Ek"]);
    let blocks: Vec<(BlockKind, String)> = found.blocks.iter().map(|b| (b.kind, found.text_of(b))).collect();
    let expect = [
        (BlockKind::Heading { level: 1 }, "Naps and memory"),
        (BlockKind::Heading { level: 2 }, "Methods"),
        (
            BlockKind::Paragraph,
            "Forty adults learned pairs of words in a quiet room, and then half of them had a refreshing sleep of an hour.",
        ),
        (
            BlockKind::Paragraph,
            "The others read a book. They were tested in the same room, at the same hour, and the test was the same for \
             both. It took ten minutes.",
        ),
        (BlockKind::Heading { level: 2 }, "Results"),
        (BlockKind::Paragraph, "Sleep helped."),
    ];
    assert_eq!(blocks, expect.map(|(kind, text)| (kind, text.to_owned())));
}

#[test]
fn gaps_are_spaces_and_superscripts_stay_in_their_line() {
    let drawn = "BT /F 10 Tf 50 700 Td [(Sl) 20 (eep) -300 (helps) -250] TJ ET BT /F 6 Tf 102 703 Td (2) Tj ET \
                 BT /F 10 Tf 108 700 Td (people.) Tj ET";
    assert_eq!(text(&pdf(&[drawn.to_owned()], "")).text, "Sleep helps2 people.");
}

#[test]
fn limits_and_stops() {
    let limits = Limits { max_pages: 1, ..Limits::default() };
    let first = read(&article(), &limits, &|| false).unwrap();
    assert!(first.text.contains("Methods") && !first.text.contains("Results"));
    let short = read(&article(), &Limits { max_chars: 1, ..Limits::default() }, &|| false).unwrap();
    assert!(!short.text.contains("Results"));
    assert_eq!(first.left_out.as_deref(), Some("read up to page 1 of 3: the limit is 1 pages"));
    assert_eq!(short.left_out.as_deref(), Some("read up to page 1 of 3: the limit is 1 characters"));
    assert_eq!(text(&article()).left_out, None);
    // Half of what could be read would depend on the machine.
    assert_eq!(read(&article(), &Limits::default(), &|| true), Err(PdfError::Stopped));
}

#[test]
fn a_page_that_draws_without_end_is_cut_at_the_same_place_every_time() {
    let endless = "BT /F 10 Tf 1 0 0 1 50 700 Tm (Sleep) Tj ET\n".repeat(40_000);
    let file = pdf(&vec![endless; 3], "");
    let limits = Limits { max_drawn: 50_000, max_chars: usize::MAX, ..Limits::default() };
    let found = read(&file, &limits, &|| false).unwrap();
    assert_eq!(found.left_out.as_deref(), Some("read up to page 1 of 3: the limit is 50000 drawn elements"));
    assert_eq!(read(&file, &limits, &|| false).unwrap().text, found.text);
    let looks = std::cell::Cell::new(0);
    let stop = || {
        looks.set(looks.get() + 1);
        looks.get() > 3
    };
    assert_eq!(read(&file, &limits, &stop), Err(PdfError::Stopped));
}

#[test]
fn a_file_that_unpacks_to_more_than_the_limit_is_refused() {
    let blanks = " ".repeat(10_000);
    let limits = Limits { max_unpacked: 5_000, ..Limits::default() };
    let refused = read(&pdf(&[blanks], ""), &limits, &|| false);
    assert_eq!(refused, Err(PdfError::TooLarge { limit: 5_000 }));
}

#[test]
fn files_without_text_say_why() {
    let read = |file: &[u8]| read(file, &Limits::default(), &|| false);
    assert_eq!(read(&pdf(&["0 0 100 100 re f".to_owned()], "")), Err(PdfError::Scanned { pages: 1 }));
    assert_eq!(read(b"%PDF-1.4 nothing more"), Err(PdfError::Damaged));
    assert_eq!(read(b""), Err(PdfError::Damaged));
    let half = article();
    // The end of a file is where its index stands; without it the objects are looked for.
    let found = read(&half[..half.len() * 3 / 4]);
    assert!(found.is_ok() || found == Err(PdfError::Damaged), "{found:?}");
}

#[test]
fn titles_that_are_names_of_files_are_not_taken() {
    let file = pdf(
        &[content(&[
            (20, 50, 740, "Naps and memory"),
            (10, 50, 700, "We slept for an hour in the afternoon."),
        ])],
        "/Title (nap_final2.docx)",
    );
    assert_eq!(text(&file).title, "Naps and memory");
}

#[test]
fn a_title_stays_where_it_is_larger_than_as_running_header() {
    let page = |size: u32, said: &str| content(&[(size, 50, 780, "Naps and memory"), (10, 50, 700, said)]);
    let file = pdf(&[page(20, "We slept."), page(8, "We woke."), page(8, "We slept again.")], "");
    let found = text(&file);
    assert_eq!(found.title, "Naps and memory");
    assert_eq!(found.text.matches("Naps and memory").count(), 1, "{}", found.text);
}

#[test]
fn raised_letters_of_affiliations_are_no_part_of_names() {
    let byline = "BT /F 11 Tf 50 700 Td (Yuki Nakamura) Tj /F 7 Tf 4 Ts (a) Tj 0 Ts /F 11 Tf (, Ann M) Tj \
                  /F 7 Tf 4 Ts (c) Tj 0 Ts /F 11 Tf (Lee) Tj /F 7 Tf 4 Ts (a,b) Tj ET\n";
    let title = content(&[(20, 50, 740, "Naps and memory of adults")]);
    let said = "We slept for an hour in the afternoon, and knew more words than those who had read.";
    let found = text(&pdf(&[title + byline + &content(&[(10, 50, 640, said)])], ""));
    assert_eq!(found.authors, ["Yuki Nakamura", "Ann McLee"]);
    assert!(found.text.contains("Yuki Nakamuraa, Ann McLeea,b"), "{}", found.text);
}

#[test]
fn appendices_have_headings_that_are_a_little_larger_than_the_text() {
    let found = text(&pdf(
        &[content(&[
            (10, 50, 740, "References"),
            (10, 50, 700, "Ann Lee. 2019. Naps and the memory of adults. Journal of Naps, 12."),
            (11, 50, 660, "A Details of the Quiet Room"),
            (11, 50, 640, "All of the adults slept in it."),
            (10, 50, 600, "B Smith, who read a book there, knew fewer words than the others did."),
        ])],
        "",
    ));
    let headings = found.blocks.iter().filter(|block| matches!(block.kind, BlockKind::Heading { .. }));
    let headings: Vec<String> = headings.map(|block| found.text_of(block)).collect();
    assert_eq!(headings, ["References", "A Details of the Quiet Room"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn damaged_files_end_in_a_text_or_a_reason(at in 0_usize..2_500, bytes in prop::collection::vec(any::<u8>(), 1..40)) {
        let mut file = article();
        let at = at.min(file.len() - 1);
        for (i, byte) in bytes.into_iter().enumerate() {
            if let Some(place) = file.get_mut(at + i) {
                *place = byte;
            }
        }
        let _ = read(&file, &Limits::default(), &|| false);
    }
}
