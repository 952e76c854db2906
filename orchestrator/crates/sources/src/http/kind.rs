//! The type of a body by its bytes, because servers mislabel documents.

/// Where to find a document's signature: at its beginning, and for a ZIP archive at its end, with its directory.
const LOOKED_AT: usize = 64 << 10;

/// Formats in ZIP archives, by uncompressed parts of the archive: names of members, or the first member.
const IN_ZIP: [(&[u8], &str); 5] = [
    (b"word/document.xml", "a Word document (DOCX)"),
    (b"xl/workbook.xml", "a spreadsheet (XLSX)"),
    (b"ppt/presentation.xml", "a presentation (PPTX)"),
    (b"mimetypeapplication/epub+zip", "an electronic book (EPUB)"),
    (b"mimetypeapplication/vnd.oasis.opendocument", "an OpenDocument file"),
];

/// Whether the first bytes are those of a PDF. Its signature may follow a few other bytes.
pub(super) fn is_pdf(body: &[u8]) -> bool {
    holds(&body[..body.len().min(1024)], b"%PDF-")
}

/// The name of a kind of document that is not read, with its article; `None` for any other.
pub(super) fn unread(body: &[u8]) -> Option<&'static str> {
    let head = &body[..body.len().min(LOOKED_AT)];
    let tail = &body[body.len().saturating_sub(LOOKED_AT)..];
    if head.starts_with(b"PK\x03\x04") {
        let inside = |mark: &[u8]| holds(head, mark) || holds(tail, mark);
        return Some(IN_ZIP.iter().find(|(mark, _)| inside(mark)).map_or("a ZIP archive", |(_, name)| name));
    }
    for (mark, name) in [
        (b"\xD0\xCF\x11\xE0".as_slice(), "an Office document of the old kind (DOC, XLS, PPT)"),
        (b"{\\rtf", "an RTF document"),
        (b"%!PS", "a PostScript file"),
        (b"\x1F\x8B", "a gzip archive"),
    ] {
        if head.starts_with(mark) {
            return Some(name);
        }
    }
    let text = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head).trim_ascii_start();
    match text {
        [b'{' | b'[', ..] => Some("JSON"),
        [b'<', ..] => xml(text),
        _ => None,
    }
}

/// The kind of an XML document; `None` for HTML and for anything else.
fn xml(text: &[u8]) -> Option<&'static str> {
    let head = String::from_utf8_lossy(&text[..text.len().min(2_048)]).to_ascii_lowercase();
    if head.contains("<!doctype html") || head.contains("<html") {
        return None;
    }
    if head.contains("//nlm//dtd") || head.contains("jats") || head.contains("article-type=") {
        return Some("an article in JATS XML");
    }
    if head.contains("<rss") || head.contains("<feed") || head.contains("<rdf:rdf") {
        return Some("a news feed");
    }
    head.starts_with("<?xml").then_some("XML")
}

fn holds(bytes: &[u8], mark: &[u8]) -> bool {
    bytes.windows(mark.len()).any(|window| window == mark)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_named_by_their_bytes() {
        let member =
            |name: &str| [b"PK\x03\x04\x14\0\0\0\x08\0".as_slice(), name.as_bytes(), &[0; 40]].concat();
        let far = |name: &str| [member("[Content_Types].xml"), vec![7; 200_000], member(name)].concat();
        let jats = "<?xml version=\"1.0\"?>\n<!DOCTYPE article PUBLIC \"-//NLM//DTD JATS (Z39.96) Journal Publishing DTD v1.3\"";
        for (body, name) in [
            (far("word/document.xml"), Some("a Word document (DOCX)")),
            (far("xl/workbook.xml"), Some("a spreadsheet (XLSX)")),
            (member("mimetypeapplication/epub+zip"), Some("an electronic book (EPUB)")),
            (member("data.csv"), Some("a ZIP archive")),
            (
                b"\xD0\xCF\x11\xE0\xA1\xB1".to_vec(),
                Some("an Office document of the old kind (DOC, XLS, PPT)"),
            ),
            (b"{\\rtf1\\ansi".to_vec(), Some("an RTF document")),
            (jats.into(), Some("an article in JATS XML")),
            ("<article article-type=\"research-article\">".into(), Some("an article in JATS XML")),
            ("<?xml version='1.0'?><rss version='2.0'>".into(), Some("a news feed")),
            ("\u{FEFF}<?xml version='1.0'?><patents>".into(), Some("XML")),
            (" \n{\"title\": \"x\"}".into(), Some("JSON")),
            ("<?xml version='1.0'?><!DOCTYPE html PUBLIC '-//W3C//DTD XHTML 1.0'>".into(), None),
            ("<article><p>An HTML fragment.</p></article>".into(), None),
            ("Plain text.".into(), None),
            (Vec::new(), None),
        ] {
            assert_eq!(unread(&body), name, "{:?}", String::from_utf8_lossy(&body[..body.len().min(60)]));
        }
        assert!(is_pdf(b"\r\n%PDF-1.7") && !is_pdf(b"PDF"));
    }
}
