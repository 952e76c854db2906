//! The file formats of an import, and how a file's format is detected.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::Path;
use std::str::FromStr;

/// Bytes within which a PDF's mark stands (ISO 32000-1, implementation note 13).
const PDF_WITHIN: usize = 1_024;

/// How a file holds its documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "&'static str", try_from = "String")]
pub enum Format {
    /// One JSON object a line.
    Jsonl,
    /// A table with a header; fields that hold several values are separated by `;` or `|`.
    Csv,
    /// Patent documents in XML, one or many in a file: USPTO grants and applications of every version, EPO, JPO.
    Xml,
    /// The EPO's exchange format: answers of Open Patent Services in XML, and DOCDB.
    Exchange,
    /// An answer in JSON of EPO Open Patent Services, USPTO Public Search, or the USPTO Open Data Portal.
    Answer,
    /// USPTO grants of 1976 to 2001, as lines with a tag.
    Greenbook,
    /// USPTO's search system's text, as lines with a tag.
    Brs,
    /// A PDF: one paper.
    Pdf,
    /// A saved web page: one paper or article.
    Html,
    /// A text with its structure: DOCX, ODT, EPUB, Markdown, LaTeX, plain text, JATS, TEI, MHTML.
    Text(lyra_documents::Format),
    /// Records of a reference manager, whose papers may be beside them.
    References(lyra_bibliography::Format),
    /// Zotero's database, whose files stand in the folder `storage` beside it.
    Zotero,
}

impl Format {
    /// All formats.
    pub fn all() -> impl Iterator<Item = Self> {
        let patents = [Self::Xml, Self::Exchange, Self::Answer, Self::Greenbook, Self::Brs];
        let own = [Self::Jsonl, Self::Csv].into_iter().chain(patents).chain([Self::Pdf, Self::Html]);
        let texts = lyra_documents::Format::ALL.into_iter().map(Self::Text);
        let references = lyra_bibliography::Format::ALL.iter().copied().map(Self::References);
        own.chain(texts).chain(references).chain([Self::Zotero])
    }

    /// The name in commands.
    pub fn name(self) -> &'static str {
        match self {
            Self::Jsonl => "jsonl",
            Self::Csv => "csv",
            Self::Xml => "xml",
            Self::Exchange => "docdb",
            Self::Answer => "patent_json",
            Self::Greenbook => "greenbook",
            Self::Brs => "brs",
            Self::Pdf => "pdf",
            Self::Html => "html",
            Self::Text(format) => format.name(),
            Self::References(format) => format.as_str(),
            Self::Zotero => "zotero",
        }
    }

    /// Whether a file is one paper, which is read as a whole: what is wrong with it costs the file, not the import.
    pub(super) fn is_paper(self) -> bool {
        matches!(self, Self::Pdf | Self::Html | Self::Text(_))
    }

    /// Whether a file that a reference names is taken: plain texts are not, because references come from elsewhere, and
    /// may name a person's notes.
    pub(super) fn is_attached(self) -> bool {
        use lyra_documents::Format::{Latex, Markdown, Text};
        self.is_paper() && !matches!(self, Self::Text(Text | Markdown | Latex))
    }

    /// Whether a file describes works that it does not hold.
    pub(super) fn is_references(self) -> bool {
        matches!(self, Self::References(_) | Self::Zotero)
    }

    /// The format of a file by its beginning, and by its name where that does not tell.
    pub(super) fn detect(path: &Path, beginning: &[u8]) -> Option<Self> {
        if beginning[..beginning.len().min(PDF_WITHIN)].windows(5).any(|bytes| bytes == b"%PDF-") {
            return Some(Self::Pdf);
        }
        let text = String::from_utf8_lossy(beginning);
        let text = text.trim_start_matches('\u{FEFF}').trim_start();
        if is_html(text) {
            return Some(Self::Html);
        }
        // Before what takes other XML and JSON for references.
        if super::patent::api::is_answer(text) {
            return Some(Self::Answer);
        }
        if super::exchange::is_exchange(text) {
            return Some(Self::Exchange);
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if let Some(format) = lyra_bibliography::Format::detect(&name, beginning) {
            return Some(Self::References(format));
        }
        // What is read as plain text may be anything else.
        let text_file = lyra_documents::Format::detect(&name, beginning);
        let plain = |format: &lyra_documents::Format| {
            matches!(format, lyra_documents::Format::Text | lyra_documents::Format::Markdown)
        };
        if let Some(format) = text_file.filter(|format| !plain(format)) {
            return Some(Self::Text(format));
        }
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        let first = text.lines().next().unwrap_or_default();
        if text.starts_with('<') {
            return Some(Self::Xml);
        }
        if text.starts_with('{') || matches!(extension, "jsonl" | "ndjson") {
            return Some(Self::Jsonl);
        }
        if text.contains(super::tagged::BRS_BOUNDARY) {
            return Some(Self::Brs);
        }
        if text.lines().any(|line| line.trim_end() == "PATN") {
            return Some(Self::Greenbook);
        }
        let known = first.split([',', ';', '\t']).any(|name| {
            matches!(name.trim().trim_matches('"'), "id" | "doc_id" | "app_doc_id" | "_id" | "title")
        });
        if known || matches!(extension, "csv" | "tsv") {
            return Some(Self::Csv);
        }
        // Without an extension, it may be a license as well as a text: `--format text` says which.
        text_file.filter(|_| !extension.is_empty()).map(Self::Text)
    }
}

impl From<Format> for &'static str {
    fn from(format: Format) -> Self {
        format.name()
    }
}

impl TryFrom<String> for Format {
    type Error = UnknownFormat;

    fn try_from(name: String) -> Result<Self, UnknownFormat> {
        name.parse()
    }
}

/// Whether a text is a web page: what comes first, but for comments and the XML declaration, is its type or its root.
fn is_html(text: &str) -> bool {
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        let end = if rest.starts_with("<?") {
            "?>"
        } else if rest.starts_with("<!--") {
            "-->"
        } else {
            break;
        };
        let Some(at) = rest.find(end) else { return false };
        rest = &rest[at + end.len()..];
    }
    let head: String = rest.chars().take(14).collect::<String>().to_ascii_lowercase();
    head.starts_with("<!doctype html") || ["<html>", "<html "].iter().any(|root| head.starts_with(root))
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// No format has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a format: use one of {names}", names = names())]
pub struct UnknownFormat(String);

fn names() -> String {
    Format::all().map(Format::name).collect::<Vec<_>>().join(", ")
}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(text: &str) -> Result<Self, UnknownFormat> {
        Self::all().find(|format| format.name() == text).ok_or_else(|| UnknownFormat(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_tell_their_format() {
        for (name, beginning, expect) in [
            ("a.jsonl", "{\"id\": 1}", Format::Jsonl),
            ("a.txt", "\u{FEFF} {\"id\": 1}", Format::Jsonl),
            ("a", "<?xml version=\"1.0\"?>", Format::Xml),
            ("a.txt", "\n<!DOCTYPE PATDOC", Format::Xml),
            ("ipg.txt", "HHHHHT  20000104\nPATN\nWKU  0", Format::Greenbook),
            ("a.txt", "1\tB2\nTitle\n*** BRS DOCUMENT BOUNDARY ***\n", Format::Brs),
            ("a.csv", "x,y", Format::Csv),
            ("a.xml", "<?xml version=\"1.0\"?><ops:world-patent-data xmlns=\"x\">", Format::Exchange),
            ("docdb.xml", "<exch:exchange-documents date-of-exchange=\"20200101\">", Format::Exchange),
            ("a.json", "{\n  \"numFound\": 500,\n  \"patents\": [", Format::Answer),
            ("a.xml", "{\"ops:world-patent-data\": {", Format::Answer),
            ("table", "id;title;year\n", Format::Csv),
            ("a.jsonl", "oops", Format::Jsonl),
            ("a", "%PDF-1.7", Format::Pdf),
            ("a.xml", "<?xml version=\"1.0\"?>\n<!-- saved -->\n<!DOCTYPE html PUBLIC", Format::Html),
            ("a", "<HTML lang=en>", Format::Html),
        ] {
            assert_eq!(
                Format::detect(Path::new(name), beginning.as_bytes()),
                Some(expect),
                "{name} {beginning}"
            );
        }
        let text =
            |name: &str, text: &str| Format::detect(Path::new(name), text.as_bytes()).map(Format::name);
        for (name, beginning, expect) in [
            ("README.md", "# What this is", Some("markdown")),
            ("notes.txt", "Naps help.", Some("text")),
            ("LICENSE", "You may.", None),
            ("a.bib", "@article{lee, title = {Naps}}", Some("bibtex")),
            ("a.ris", "TY  - JOUR\nTI  - Naps\nER  - \n", Some("ris")),
            (
                "a.json",
                "[{\"id\": \"lee\", \"type\": \"article-journal\", \"title\": \"Naps\"}]",
                Some("csl_json"),
            ),
            ("a.xml", "<article article-type=\"research\"><front><article-meta>", Some("jats")),
        ] {
            assert_eq!(text(name, beginning), expect, "{name}");
        }
        for format in Format::all() {
            assert_eq!(format.name().parse(), Ok(format));
        }
        assert_eq!("greenbook".parse(), Ok(Format::Greenbook));
        assert!("docs".parse::<Format>().is_err());
    }
}
