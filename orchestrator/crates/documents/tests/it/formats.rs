//! Detection.

use crate::books::epub;
use crate::office::{docx, odt};
use crate::xml::{JATS, TEI};
use lyra_documents::Format;

#[test]
fn content_decides_before_the_name() {
    let docx = docx("<w:p/>");
    let epub = epub(&["<p>a</p>"], &[]);
    for (bytes, format) in [
        (docx.as_slice(), Format::Docx),
        (&odt(""), Format::Odt),
        (&epub, Format::Epub),
        (JATS.as_bytes(), Format::Jats),
        (TEI.as_bytes(), Format::Tei),
        (b"<?xml version='1.0'?><office:document xmlns:office='urn:oasis:names:tc:opendocument:xmlns:office:1.0'/>", Format::Odt),
        (b"% c\n\\documentclass{article}", Format::Latex),
        (b"From: <Saved by Blink>\nMIME-Version: 1.0\nContent-Type: multipart/related; boundary=x\n\n", Format::Mhtml),
    ] {
        for name in ["noname", "wrong.dat"] {
            assert_eq!(Format::detect(name, bytes), Some(format), "{name}");
        }
    }
}

#[test]
fn names_decide_what_text_is() {
    for (name, bytes, format) in [
        ("a.md", &b"# x \\documentclass"[..], Some(Format::Markdown)),
        ("a.tex", b"text", Some(Format::Latex)),
        ("a.txt", b"\\documentclass{a}", Some(Format::Text)),
        ("README", b"text", Some(Format::Text)),
        ("folder.d/README", b"---\ntitle: x\n---\ntext", Some(Format::Markdown)),
        ("a.py", b"import x", None),
        ("a.bib", b"@article{}", None),
        ("a.html", b"<!DOCTYPE html><p>", None),
        ("a", b"<!DOCTYPE html><p>", None),
        ("a.xml", b"<records/>", None),
        ("a.xml", b"<article xmlns='http://docbook.org/ns/docbook' article-type='x'/>", None),
        ("a.pdf", b"%PDF-1.7", None),
        ("a.txt", b"%PDF-1.7", None),
        ("a.doc", b"\xD0\xCF\x11\xE0", None),
        ("a.docx", b"\xD0\xCF\x11\xE0", Some(Format::Docx)),
        ("a.xlsx", b"PK\x03\x04", None),
        ("a.txt", b"\x00\x01\x02\xFF\x00", None),
        ("a.txt", b"", None),
    ] {
        assert_eq!(Format::detect(name, bytes), format, "{name}");
    }
}

#[test]
fn archives_are_told_by_their_members() {
    let told = |names: &[&str], kind: Option<&[u8]>| Format::detect_zip(names.iter().copied(), kind);
    assert_eq!(told(&["[Content_Types].xml", "word/document.xml"], None), Some(Format::Docx));
    assert_eq!(told(&["[Content_Types].xml", "xl/workbook.xml"], None), None);
    assert_eq!(told(&["content.xml"], Some(b"application/vnd.oasis.opendocument.text")), Some(Format::Odt));
    assert_eq!(told(&["content.xml"], Some(b"application/vnd.oasis.opendocument.spreadsheet")), None);
    assert_eq!(told(&["META-INF/container.xml"], None), Some(Format::Epub));
    assert_eq!(told(&["paper.pdf", "notes.docx"], None), None);
    assert_eq!(Format::ALL.map(Format::name).len(), 9);
}
