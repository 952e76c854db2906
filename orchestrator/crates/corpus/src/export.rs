//! Documents of a corpus as a file for reference managers, or for another corpus.

use crate::document::exported;
use crate::{CorpusError, Document, Result};
use lyra_bibliography::{Attachment, Output, Record, Writer};
use lyra_domain::{Identifier, WorkKind};
use serde::Serialize;
use std::fmt;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// What a file of an export holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportFormat {
    /// One document a line with all that the corpus has of it; an import takes it back unchanged.
    Jsonl,
    /// Records of a reference manager.
    Records(Output),
}

impl ExportFormat {
    /// All formats.
    pub fn all() -> impl Iterator<Item = Self> {
        Output::ALL.iter().copied().map(Self::Records).chain([Self::Jsonl])
    }

    /// The name in commands.
    pub fn name(self) -> &'static str {
        match self {
            Self::Jsonl => "jsonl",
            Self::Records(output) => output.as_str(),
        }
    }

    /// The format that the ending of a file's name stands for: `.bib`, `.ris`, `.json`, `.jsonl`, `.ndjson`.
    pub fn of_path(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_str()?.to_ascii_lowercase();
        Some(match ending.as_str() {
            "bib" | "bibtex" => Self::Records(Output::BibTex),
            "ris" => Self::Records(Output::Ris),
            "json" | "csl" => Self::Records(Output::CslJson),
            "jsonl" | "ndjson" => Self::Jsonl,
            _ => return None,
        })
    }
}

impl fmt::Display for ExportFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// No export format has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a format of exports: use bibtex, ris, csl or jsonl")]
pub struct UnknownExportFormat(String);

impl FromStr for ExportFormat {
    type Err = UnknownExportFormat;

    fn from_str(text: &str) -> Result<Self, UnknownExportFormat> {
        Self::all().find(|format| format.name() == text).ok_or_else(|| UnknownExportFormat(text.to_owned()))
    }
}

/// What an export wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Exported {
    /// Documents.
    pub documents: u64,
    /// Stopped before the end; what was written is not whole.
    pub cancelled: bool,
}

/// A file that is being written.
pub(crate) struct Lines<W: Write> {
    out: BufWriter<W>,
    /// `None` for lines of JSON.
    records: Option<Writer>,
    shown: PathBuf,
    count: u64,
}

impl<W: Write> Lines<W> {
    /// A file that errors call `shown`.
    pub(crate) fn new(format: ExportFormat, out: W, shown: &Path) -> Self {
        let records = match format {
            ExportFormat::Jsonl => None,
            ExportFormat::Records(output) => Some(Writer::new(output)),
        };
        Self { out: BufWriter::new(out), records, shown: shown.to_owned(), count: 0 }
    }

    pub(crate) fn write(&mut self, document: &Document) -> Result<()> {
        let text = match &mut self.records {
            Some(records) => records.record(&record(document)),
            None => exported::write(document) + "\n",
        };
        self.out.write_all(text.as_bytes()).map_err(CorpusError::io(&self.shown))?;
        self.count += 1;
        Ok(())
    }

    /// Documents so far.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Writes what ends the file, unless it is not whole.
    pub(crate) fn end(mut self, cancelled: bool) -> Result<(W, Exported)> {
        let failed = CorpusError::io(&self.shown);
        if let Some(records) = self.records.filter(|_| !cancelled) {
            self.out.write_all(records.end().as_bytes()).map_err(&failed)?;
        }
        self.out.flush().map_err(&failed)?;
        let out = self.out.into_inner().map_err(|error| failed(error.into_error()))?;
        Ok((out, Exported { documents: self.count, cancelled }))
    }
}

/// What reference managers know of a document.
fn record(document: &Document) -> Record {
    // The formats of reference managers have no place for marks.
    let marked = document.annotations.iter().map(ToString::to_string);
    let mut record = Record {
        title: document.title.clone(),
        authors: document.authors.iter().map(|name| lyra_bibliography::given_family(name)).collect(),
        year: document.year,
        date: document
            .pub_date
            .filter(|date| document.year == Some(i32::from(date.year())))
            .map(|date| date.to_string()),
        venue: document.venue.clone(),
        volume: document.volume.clone(),
        issue: document.issue.clone(),
        pages: document.pages.clone(),
        doi: document.doi.clone(),
        url: document.url.clone(),
        abstract_text: Some(document.text.clone()).filter(|text| !text.is_empty()),
        language: document.language.clone(),
        tags: document.tags.clone(),
        collections: document.collections.clone(),
        notes: document.notes.iter().cloned().chain(marked).collect(),
        is_retracted: document.is_retracted,
        files: document.files.iter().map(|name| attachment(name)).collect(),
        ..Record::default()
    };
    for identifier in &document.identifiers {
        match identifier {
            Identifier::Doi(doi) => drop(record.doi.get_or_insert_with(|| doi.clone())),
            Identifier::Arxiv(id) => drop(record.arxiv.get_or_insert_with(|| id.clone())),
            Identifier::Pmid(id) => drop(record.pmid.get_or_insert_with(|| id.clone())),
            Identifier::Pmcid(id) => drop(record.pmcid.get_or_insert_with(|| id.clone())),
            Identifier::OpenAlex(_)
            | Identifier::SemanticScholar(_)
            | Identifier::CorpusId(_)
            | Identifier::Nct(_) => {}
        }
    }
    with_likely_kind(record.with_imprint(&document.imprint), document.is_patent())
}

/// A record that is a patent, or has the kind that other fields make likely if it does not say one.
pub(crate) fn with_likely_kind(record: Record, is_patent: bool) -> Record {
    if is_patent { Record { kind: WorkKind::Patent, ..record } } else { record.with_likely_kind() }
}

/// A file by its name, with the type that its ending stands for.
fn attachment(name: &str) -> Attachment {
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase()).unwrap_or_default();
    let media_type = match ending.as_str() {
        "pdf" => Some("application/pdf"),
        "html" | "htm" => Some("text/html"),
        "epub" => Some("application/epub+zip"),
        _ => None,
    };
    Attachment { path: name.to_owned(), title: None, media_type: media_type.map(str::to_owned) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lyra_domain::Doi;

    #[test]
    fn endings_and_names() {
        for (path, expect) in
            [("a.bib", "bibtex"), ("x/a.RIS", "ris"), ("a.json", "csl"), ("a.jsonl", "jsonl")]
        {
            let format = ExportFormat::of_path(Path::new(path)).unwrap();
            assert_eq!((format.name(), expect.parse()), (expect, Ok(format)));
        }
        assert_eq!(ExportFormat::of_path(Path::new("a.txt")), None);
        assert_eq!(
            "bib".parse::<ExportFormat>().unwrap_err().to_string(),
            "`bib` is not a format of exports: use bibtex, ris, csl or jsonl"
        );
    }

    #[test]
    fn a_disk_that_is_full_is_named() {
        #[derive(Debug)]
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
                Err(std::io::ErrorKind::StorageFull.into())
            }
            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
        let mut lines = Lines::new(ExportFormat::Jsonl, Full, Path::new("a.jsonl"));
        lines.write(&Document { doc_id: "a".to_owned(), ..Document::default() }).unwrap();
        let error = lines.end(false).unwrap_err().to_string();
        assert!(error.starts_with("a.jsonl: "), "{error}");
    }

    #[test]
    fn what_a_document_is() {
        let document = Document {
            title: "Naps".to_owned(),
            authors: vec!["Lee, Ann".to_owned(), "Bo Ek".to_owned()],
            doi: Doi::parse("10.1000/x"),
            identifiers: Identifier::in_text("PMID: 7 PMCID: PMC8 arXiv:2101.00001"),
            files: vec!["Lee.pdf".to_owned()],
            ..Document::default()
        };
        let found = record(&document);
        assert_eq!(found.authors, ["Ann Lee", "Bo Ek"]);
        assert_eq!(
            (found.pmid.as_deref(), found.pmcid.as_deref(), found.kind),
            (Some("7"), Some("PMC8"), WorkKind::Preprint)
        );
        assert_eq!(found.files[0].media_type.as_deref(), Some("application/pdf"));
        let patent = Document { app_id: Some("1".to_owned()), ..document.clone() };
        assert_eq!(record(&patent).kind, WorkKind::Patent);
        assert_eq!(record(&Document { venue: Some("Sleep".to_owned()), ..document }).kind, WorkKind::Article);
    }
}
