//! The file formats of an import, and how a file's format is detected.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::Path;
use std::str::FromStr;

/// Bytes within which a PDF's mark stands (ISO 32000-1, implementation note 13).
const PDF_WITHIN: usize = 1_024;

/// How a file holds its documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// One JSON object a line.
    Jsonl,
    /// A table with a header; fields that hold several values are separated by `;` or `|`.
    Csv,
    /// Patent documents in XML, one or many in a file: USPTO grants and applications of every version, EPO, JPO.
    Xml,
    /// USPTO grants of 1976 to 2001, as lines with a tag.
    Greenbook,
    /// USPTO's search system's text, as lines with a tag.
    Brs,
    /// A PDF: one paper.
    Pdf,
    /// A saved web page: one paper or article.
    Html,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 7] =
        [Self::Jsonl, Self::Csv, Self::Xml, Self::Greenbook, Self::Brs, Self::Pdf, Self::Html];

    /// The name in commands.
    pub fn name(self) -> &'static str {
        match self {
            Self::Jsonl => "jsonl",
            Self::Csv => "csv",
            Self::Xml => "xml",
            Self::Greenbook => "greenbook",
            Self::Brs => "brs",
            Self::Pdf => "pdf",
            Self::Html => "html",
        }
    }

    /// Whether a file is one paper, which is read as a whole: what is wrong with it costs the file, not the import.
    pub(super) fn is_paper(self) -> bool {
        matches!(self, Self::Pdf | Self::Html)
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
        None
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
#[error("`{0}` is not a format: use jsonl, csv, xml, greenbook, brs, pdf or html")]
pub struct UnknownFormat(String);

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(text: &str) -> Result<Self, UnknownFormat> {
        Self::ALL
            .into_iter()
            .find(|format| format.name() == text)
            .ok_or_else(|| UnknownFormat(text.to_owned()))
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
        assert_eq!(Format::detect(Path::new("README.md"), b"# What this is"), None);
        assert_eq!("greenbook".parse(), Ok(Format::Greenbook));
        assert!("docs".parse::<Format>().is_err());
    }
}
