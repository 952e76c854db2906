//! Files made to harm their readers: each ends as an error or a paper, within its limits.

use crate::books::epub;
use crate::office::{docx, odt};
use crate::{paper, try_paper, zipped};
use lyra_documents::{Format, Limits, ReadError};

#[test]
fn bombs_are_too_large() {
    let zeros = vec![b' '; 64 << 20];
    let bomb = zipped(&[("[Content_Types].xml", b""), ("word/document.xml", &zeros)]);
    assert!(bomb.len() < 200_000);
    let error = |limits: &Limits| try_paper(&bomb, Format::Docx, limits).unwrap_err();
    assert!(matches!(error(&Limits::default()), ReadError::TooLarge(why) if why.contains("times its size")));
    let unpacked = Limits { ratio: usize::MAX, unpacked_bytes: 1 << 20, ..Limits::default() };
    assert!(matches!(error(&unpacked), ReadError::TooLarge(why) if why.contains("1048576 bytes")));
    let input = Limits { input_bytes: 10, ..Limits::default() };
    assert!(matches!(error(&input), ReadError::TooLarge(why) if why.contains("the limit is 10")));
}

#[test]
fn members_count_together_and_are_counted() {
    let chapter = format!("<p>{}</p>", "words and more words ".repeat(20_000));
    let book = epub(&[chapter.as_str(); 4], &[]);
    let limits = Limits { unpacked_bytes: 1 << 20, ..Limits::default() };
    assert!(matches!(try_paper(&book, Format::Epub, &limits), Err(ReadError::TooLarge(_))));
    let limits = Limits { members: 3, ..Limits::default() };
    assert!(
        matches!(try_paper(&book, Format::Epub, &limits), Err(ReadError::TooLarge(why)) if why.contains("members"))
    );
}

#[test]
fn archives_in_archives_are_not_opened() {
    let inner = docx("<w:p><w:r><w:t>inside</w:t></w:r></w:p>");
    let outer = zipped(&[("[Content_Types].xml", b""), ("word/document.xml", &inner)]);
    assert!(try_paper(&outer, Format::Docx, &Limits::default()).is_err());
}

#[test]
fn entities_do_not_expand() {
    let mut declared = "<!ENTITY a0 \"laughing out loud\">".to_owned();
    for n in 1..30 {
        let again = format!("&a{};", n - 1).repeat(10);
        declared.extend(["<!ENTITY a", &n.to_string(), " \"", &again, "\">"]);
    }
    let outside = "<!ENTITY out SYSTEM \"file:///etc/passwd\">";
    let text = format!(
        "<!DOCTYPE TEI [{declared}{outside}]><TEI><text><body><p>x &a29; &out; y</p></body></text></TEI>"
    );
    assert_eq!(Format::detect("a.xml", text.as_bytes()), Some(Format::Tei));
    let paper = paper(text.as_bytes(), Format::Tei);
    assert_eq!(paper.sections[0].paragraphs[0].text, "x &a29; &out; y");
}

#[test]
fn deep_nesting_is_flattened() {
    let deep = |open: &str, close: &str| format!("{}text{}", open.repeat(100_000), close.repeat(100_000));
    let tei = format!("<TEI><text><body>{}</body></text></TEI>", deep("<div>", "</div>"));
    let jats = format!("<article><body>{}</body></article>", deep("<sec><p>", "</p></sec>"));
    let table = "<w:tbl><w:tr><w:tc>";
    let files = [
        (tei.into_bytes(), Format::Tei),
        (jats.into_bytes(), Format::Jats),
        (docx(&deep(table, "</w:tc></w:tr></w:tbl>")), Format::Docx),
        (
            docx(&deep("<w:p><w:r><w:drawing><w:txbxContent>", "</w:txbxContent></w:drawing></w:r></w:p>")),
            Format::Docx,
        ),
        (odt(&deep("<text:section>", "</text:section>")), Format::Odt),
        (
            odt(&deep("<text:p><text:note><text:note-body>", "</text:note-body></text:note></text:p>")),
            Format::Odt,
        ),
        (epub(&[&deep("<div>", "</div>")], &[]), Format::Epub),
        (epub(&[&deep("<math><mfrac>", "</mfrac></math>")], &[]), Format::Epub),
        (deep("> ", "").into_bytes(), Format::Markdown),
        (deep("[", "]").into_bytes(), Format::Markdown),
        (deep("*a ", "").into_bytes(), Format::Markdown),
        (deep("{", "}").into_bytes(), Format::Latex),
        (deep("\\footnote{", "}").into_bytes(), Format::Latex),
        (deep("\\begin{tabular}{l}", "\\end{tabular}").into_bytes(), Format::Latex),
        (deep("\\begin{verbatim}", "").into_bytes(), Format::Latex),
        (deep("$\\frac{", "}").into_bytes(), Format::Latex),
        (deep("\\section{[", "").into_bytes(), Format::Latex),
    ];
    let limits = Limits { ratio: usize::MAX, ..Limits::default() };
    // The stack of a worker's thread.
    let worker = std::thread::Builder::new().stack_size(2 << 20).spawn(move || {
        for (bytes, format) in files {
            let read = try_paper(&bytes, format, &limits);
            assert!(read.is_ok() || read == Err(ReadError::NoText), "{}: {read:?}", format.name());
        }
    });
    worker.unwrap().join().unwrap();
}

#[test]
fn a_million_empty_paragraphs_are_nothing() {
    let file = docx(&"<w:p/>".repeat(1_000_000));
    // How far they are packed depends on the library that packs.
    let strict = Limits { ratio: 50, ..Limits::default() };
    assert!(matches!(try_paper(&file, Format::Docx, &strict), Err(ReadError::TooLarge(_))));
    let limits = Limits { ratio: usize::MAX, ..Limits::default() };
    assert_eq!(try_paper(&file, Format::Docx, &limits), Err(ReadError::NoText));
    let limits = Limits { elements: 1_000, ..limits };
    let file = docx(&"<w:p><w:r><w:t>a</w:t></w:r></w:p>".repeat(10_000));
    let paper = try_paper(&file, Format::Docx, &limits).unwrap();
    assert!(paper.sections[0].paragraphs.len() < 1_000);
    assert_eq!(paper.left_out, ["what follows the first 1000 elements"]);
}

#[test]
fn text_is_cut_at_its_limit() {
    let limits = Limits { text_bytes: 1_000, ..Limits::default() };
    let text = "これは文です。".repeat(1_000);
    let paper = try_paper(text.as_bytes(), Format::Markdown, &limits).unwrap();
    let total: usize =
        paper.sections.iter().flat_map(|section| &section.paragraphs).map(|p| p.text.len()).sum();
    assert!(total <= 1_000, "{total}");
    assert_eq!(paper.left_out, ["text after the first 1000 bytes"]);
}

#[test]
fn yaml_that_repeats_itself_does_not_grow() {
    let mut yaml = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for n in 1..20 {
        let again = format!("*a{}, ", n - 1).repeat(9);
        yaml.extend([format!("a{n}: &a{n} ["), again, "]\n".to_owned()]);
    }
    let text = format!("---\n{yaml}author: *a19\n---\n\nText.");
    let paper = paper(text.as_bytes(), Format::Markdown);
    assert!(paper.authors.len() < 10_000);
}

#[test]
fn long_runs_take_linear_time() {
    // Each would take minutes if a reader went back over what it has read.
    let many = |part: &str| part.repeat(30_000).into_bytes();
    for (bytes, format) in [
        (many("\\begin{equation} "), Format::Latex),
        (many("\\begin{lstlisting} "), Format::Latex),
        (many("$x\n\n"), Format::Latex),
        (many("\\item["), Format::Latex),
        (many("\\bibitem{"), Format::Latex),
        (many("\\verb|"), Format::Latex),
        (many("\\url{"), Format::Latex),
        (many("\u{C}"), Format::Text),
        (many("a\u{C}"), Format::Text),
        (many("<!--"), Format::Markdown),
        (many("[^1]: a\n"), Format::Markdown),
        (many("1. a\n"), Format::Text),
        (many("10.1000/"), Format::Text),
        (many("Content-Type: a\n"), Format::Mhtml),
        (
            format!(
                "MIME-Version: 1.0\nSubject: {}\nContent-Type: text/html\n\na",
                "=?utf-8?Q?a?= ".repeat(200_000)
            )
            .into_bytes(),
            Format::Mhtml,
        ),
    ] {
        let _ = lyra_documents::read(&bytes, format, &Limits::default());
    }
    let contributor = "<contrib><name><surname>A</surname></name></contrib>".repeat(100_000);
    let notes = "<fn id='a'><p>n</p></fn>".repeat(100_000);
    let jats = format!(
        "<article><front><article-meta><contrib-group>{contributor}</contrib-group><abstract>{}</abstract>\
         </article-meta></front><body><p>x</p>{notes}</body></article>",
        "<sec><title>t</title><p>p</p></sec>".repeat(100_000)
    );
    paper(jats.as_bytes(), Format::Jats);
}
