//! Corpora: import, full text, dense and hybrid search of local ones, and one port to those of other machines.
//!
//! A corpus is a folder: a manifest, a full-text index and a file of embeddings. The only crate that knows the
//! index's library. Blocking work runs off the async threads.

mod analyzer;
pub mod backend;
mod corpora;
mod document;
mod embedded;
mod error;
pub mod eval;
mod hash;
mod import;
mod index;
mod manifest;
mod remote;
mod search;
mod source;
mod upgrade;
mod vectors;

pub use corpora::{Corpora, CorpusInfo, HeldCorpus};
pub use document::{Document, Passage, Section, Stage, Version};
pub use embedded::EmbeddedBackend;
pub use error::{CorpusError, Result};
pub use import::{Format, ImportOptions, ImportReport, Progress, READS, Rejected, UnknownFormat, read_files};
pub use lyra_bibliography::Annotation;
pub use manifest::check_manifest;
pub use remote::{OpenSearchBackend, OpenSearchConfig, PatentfieldBackend, PatentfieldConfig};
pub use search::{CorpusHit, Method, SearchResult, UnknownMethod};
pub use source::CorpusSource;
