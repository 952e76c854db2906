//! What an import did, and how far it is.

use serde::{Serialize, Serializer};
use std::path::{Path, PathBuf};

/// Rejected records that a report lists; more are only counted.
pub(crate) const LISTED: usize = 1_000;

/// A record that was not imported, or a code that was left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Rejected {
    /// The file as it was named.
    #[serde(serialize_with = "shown")]
    pub file: PathBuf,
    /// Line on which the record begins, from 1; 0 for a file as a whole.
    pub line: u64,
    /// What is wrong with it, in a few words.
    pub reason: String,
}

/// A path as it is shown: names of files need not be UTF-8.
fn shown<S: Serializer>(path: &Path, to: S) -> std::result::Result<S::Ok, S::Error> {
    to.collect_str(&path.display())
}

/// What an import did.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct ImportReport {
    /// Documents with an id that was not there.
    pub added: u64,
    /// Documents that replaced another version, or whose embedding was damaged.
    pub updated: u64,
    /// Documents that were there already.
    pub unchanged: u64,
    /// Records that repeat an earlier one of the same import.
    pub repeated: u64,
    /// Records that were not imported.
    pub rejected_count: u64,
    /// The first thousand of them.
    pub rejected: Vec<Rejected>,
    /// Invalid classification codes that were left out of imported documents.
    pub odd_codes_count: u64,
    /// The first thousand of them.
    pub odd_codes: Vec<Rejected>,
    /// Imported files of which not everything was read, such as PDFs with scanned pages.
    pub partial_count: u64,
    /// The first thousand of them, with what is missing.
    pub partial: Vec<Rejected>,
    /// Documents in the corpus afterwards.
    pub documents: u64,
    /// Documents of them that are still to be embedded.
    pub to_embed: u64,
    /// What was found of the files.
    pub files: FileReport,
    /// Stopped before the end of the files; what was done is kept, repeating the import does the rest.
    pub cancelled: bool,
}

/// What an import found of the files under the paths that it was given, compared with the import before.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct FileReport {
    /// Files that no import read before.
    pub new: u64,
    /// Files with another content than before.
    pub changed: u64,
    /// Files that are as before, and were not read again.
    pub unchanged: u64,
    /// Files that were read before and are no longer there.
    pub gone: u64,
    /// The first thousand that are new, changed, or gone.
    pub changes: Vec<FileChange>,
    /// Documents that no file gives any longer, including those that were removed.
    pub orphaned: u64,
    /// The first thousand of them that stay in the corpus.
    pub orphans: Vec<String>,
    /// Documents that were removed because no file gives them any longer.
    pub pruned: u64,
}

/// A file that is not as it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileChange {
    /// Absolute path.
    #[serde(serialize_with = "shown")]
    pub file: PathBuf,
    /// What became of it.
    pub kind: FileKind,
    /// Ids of documents that it gives; of a file that is gone, those that no other file gives.
    pub documents: Vec<String>,
}

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FileKind {
    /// It was not there before.
    New,
    /// Its content changed.
    Changed,
    /// It is no longer there.
    Gone,
}

impl ImportReport {
    /// The files had nothing for the corpus: no document was added, updated or there already.
    pub fn took_nothing(&self) -> bool {
        self.added + self.updated + self.unchanged + self.repeated == 0
    }
}

/// What a file should be that is something else.
pub const READS: &str = "Lyra reads papers (PDF, HTML, DOCX, ODT, EPUB, Markdown, LaTeX, text, JATS, TEI, MHTML), \
     references (BibTeX, RIS, CSL-JSON, EndNote, PubMed, MODS, Zotero), JSONL (one JSON object a line), CSV, and \
     patents as XML, JSON of patent services, greenbook or BRS, also in gzip, ZIP or tar, and Zotero's folder";

/// How far an import is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    /// Bytes of the files that were read.
    pub bytes_read: u64,
    /// Bytes of all files.
    pub bytes_total: u64,
    /// Documents embedded and indexed so far, added or updated.
    pub indexed: u64,
    /// Documents that were there already.
    pub unchanged: u64,
    /// Records that were not imported.
    pub rejected: u64,
}
