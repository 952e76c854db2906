//! Whatever the bytes: no panic, and nothing beyond the limits.

use crate::books::epub;
use crate::office::{docx, odt};
use crate::xml::{JATS, TEI};
use crate::zipped;
use lyra_documents::{Content, Format, Limits, read};
use proptest::prelude::*;

const LIMITS: Limits = Limits {
    input_bytes: 1 << 20,
    unpacked_bytes: 1 << 20,
    members: 100,
    ratio: 400,
    elements: 20_000,
    depth: 40,
    text_bytes: 50_000,
};

fn format() -> impl Strategy<Value = Format> {
    prop::sample::select(Format::ALL.to_vec())
}

/// What holds of everything that is read.
fn check(bytes: &[u8], format: Format) -> Result<(), TestCaseError> {
    let first = read(bytes, format, &LIMITS);
    prop_assert_eq!(&first, &read(bytes, format, &LIMITS));
    if let Ok(Content::Paper(paper)) = first {
        let paragraphs = paper.sections.iter().flat_map(|section| &section.paragraphs);
        let total: usize = paragraphs.clone().map(|p| p.text.len() + 64).sum();
        prop_assert!(total <= LIMITS.text_bytes);
        prop_assert!(paragraphs.clone().all(|p| !p.text.trim().is_empty()));
        prop_assert!(paper.sections.iter().all(|s| s.heading.is_none() == (s.depth == 0)));
        prop_assert!(paper.references.iter().all(|cited| !cited.text.is_empty()));
        prop_assert!(paper.authors.iter().all(|name| !name.trim().is_empty()));
    }
    Ok(())
}

/// Valid files of every format.
fn valid() -> Vec<(Vec<u8>, Format)> {
    let markdown = "---\ntitle: a\nauthor: [x]\n---\n# H\n\ntext[^1] $x$\n\n[^1]: n\n\n|a|b|\n|-|-|\n|1|2|\n\n\
     - i\n\n```\nc\n```\n";
    let latex = "\\newcommand{\\a}[1]{#1}\\begin{document}\\section{H}\\a{x} $y$ \\footnote{n}\\begin{tabular}{l}a&b\\\\\\end{tabular}\\begin{verbatim}v\\end{verbatim}\\end{document}";
    let mhtml = "MIME-Version: 1.0\nSubject: =?utf-8?Q?a?=\nContent-Type: multipart/related; boundary=\"b\"\n\n\
     --b\nContent-Type: text/html\nContent-Transfer-Encoding: base64\n\nPHA+YTwvcD4=\n--b--\n";
    vec![
        (
            docx(
                "<w:p><w:pPr><w:pStyle w:val=\"Kop1\"/></w:pPr><w:r><w:t>H</w:t></w:r></w:p><w:p><w:r><w:t>x</w:t><w:footnoteReference w:id=\"1\"/></w:r></w:p>",
            ),
            Format::Docx,
        ),
        (
            odt(
                "<text:h>H</text:h><text:p>x<text:note><text:note-body><text:p>n</text:p></text:note-body></text:note></text:p>",
            ),
            Format::Odt,
        ),
        (epub(&["<h1>H</h1><p>x</p><table><tr><td>a</td></tr></table>"], &[]), Format::Epub),
        (JATS.as_bytes().to_vec(), Format::Jats),
        (TEI.as_bytes().to_vec(), Format::Tei),
        (markdown.as_bytes().to_vec(), Format::Markdown),
        (latex.as_bytes().to_vec(), Format::Latex),
        (b"Title\n\n1. Intro\n\ntext\n\nReferences\n\n[1] a\n".to_vec(), Format::Text),
        (mhtml.as_bytes().to_vec(), Format::Mhtml),
    ]
}

/// Pieces of which markup consists.
const PIECES: &[&str] = &[
    "\\",
    "{",
    "}",
    "[",
    "]",
    "$",
    "%",
    "&",
    "#1",
    "\\begin{",
    "\\end{",
    "tabular}",
    "equation}",
    "\\def\\a{",
    "\\a",
    "\\item",
    "\\cite{",
    "\\section{",
    "\\verb|",
    "\\[",
    "\\\"",
    "\n\n",
    " ",
    "a",
    "é",
    "文",
    "---\n",
    "# ",
    "| ",
    "```",
    "[^1]",
    ": ",
    "<",
    ">",
    "</",
    "<p>",
    "</p>",
    "<sec>",
    "<div>",
    "<!--",
    "-->",
    "&amp;",
    "&#x0;",
    "<![CDATA[",
    "]]>",
    "1. ",
    "References\n\n",
    "=?utf-8?Q?",
    "\u{C}",
    "\0",
    "=",
];

proptest! {
    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..600), format in format(), name in ".{0,12}") {
        check(&bytes, format)?;
        let _ = Format::detect(&name, &bytes);
    }

    #[test]
    fn any_markup(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..120), format in format()) {
        let text = pieces.concat();
        check(text.as_bytes(), format)?;
        let _ = Format::detect("a", text.as_bytes());
        let inside = [
            docx(&text),
            odt(&text),
            epub(&[&text], &[]),
            zipped(&[("word/document.xml", text.as_bytes()), ("content.xml", text.as_bytes())]),
            format!("<TEI><text><body>{text}</body></text></TEI>").into_bytes(),
            format!("<article><body>{text}</body></article>").into_bytes(),
        ];
        let formats = [Format::Docx, Format::Odt, Format::Epub, Format::Odt, Format::Tei, Format::Jats];
        for (bytes, format) in inside.iter().zip(formats) {
            check(bytes, format)?;
        }
    }

    #[test]
    fn changed_files(
        nth in 0..9_usize,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        cut in any::<Option<prop::sample::Index>>(),
    ) {
        let (mut bytes, format) = valid().swap_remove(nth);
        check(&bytes, format)?;
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        check(&bytes, format)?;
        let _ = Format::detect("a", &bytes);
    }
}
