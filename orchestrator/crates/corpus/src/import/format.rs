//! The file formats of an import, and how a file's format is detected.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::Path;
use std::str::FromStr;

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
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 5] = [Self::Jsonl, Self::Csv, Self::Xml, Self::Greenbook, Self::Brs];

    /// The name in commands.
    pub fn name(self) -> &'static str {
        match self {
            Self::Jsonl => "jsonl",
            Self::Csv => "csv",
            Self::Xml => "xml",
            Self::Greenbook => "greenbook",
            Self::Brs => "brs",
        }
    }

    /// The format of a file by its beginning, and by its name where that does not tell.
    pub(super) fn detect(path: &Path, beginning: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(beginning);
        let text = text.trim_start_matches('\u{FEFF}').trim_start();
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

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// No format has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a format: use jsonl, csv, xml, greenbook or brs")]
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
        ] {
            assert_eq!(
                Format::detect(Path::new(name), beginning.as_bytes()),
                Some(expect),
                "{name} {beginning}"
            );
        }
        assert_eq!(Format::detect(Path::new("README.md"), b"# What this is"), None);
        assert_eq!("greenbook".parse(), Ok(Format::Greenbook));
        assert!("pdf".parse::<Format>().is_err());
    }
}
