//! Corpora: import, full text, dense and hybrid search of local ones, and one port to those of other machines.
//!
//! A corpus is a folder: a manifest, a full-text index and a file of embeddings. The only crate that knows the
//! index's library. Blocking work runs off the async threads.

mod analyzer;
pub mod backend;
mod corpora;
mod document;
mod duplicates;
mod embedded;
mod error;
pub mod eval;
mod export;
mod hash;
mod import;
mod index;
mod labels;
mod ledger;
mod manifest;
mod remote;
mod router;
mod search;
mod source;
mod unfinished;
mod upgrade;
mod vectors;

pub use corpora::{Corpora, CorpusInfo, Embedded, HeldCorpus};
pub use document::{
    Completed, Completion, Document, LegalEvent, Passage, Place, Priority, Section, Stage, Version,
};
pub use duplicates::{Alike, Duplicates};
pub use embedded::EmbeddedBackend;
pub use error::{CorpusError, Result};
pub use export::{ExportFormat, Exported, UnknownExportFormat};
pub use import::{
    Embed, FileChange, FileKind, FileReport, Format, ImportOptions, ImportReport, Progress, READS, Rejected,
    Stamp, Survey, UnknownFormat, read_files,
};
pub use labels::{Label, Labels};
pub use lyra_bibliography::Annotation;
pub use manifest::check_manifest;
pub use remote::{
    Analyzer, Cluster, OpenSearchBackend, OpenSearchConfig, PatentfieldBackend, PatentfieldConfig,
};
pub use router::Backends;
pub use search::{CorpusHit, Method, Narrow, SearchResult, Texts, UnknownMethod, Within};
pub use source::CorpusSource;
