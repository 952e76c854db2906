//! What can go wrong with a corpus; the variant says who can do something about it.

use crate::backend::{BackendKind, FilterError};
use lyra_research::PortError;
use lyra_text::query::QueryError;
use std::path::{Path, PathBuf};

/// Result of this crate.
pub type Result<T, E = CorpusError> = std::result::Result<T, E>;

/// A failed operation on a corpus.
#[derive(Debug, thiserror::Error)]
pub enum CorpusError {
    /// The name is not valid as a folder name.
    #[error(
        "`{name}` is not a valid corpus name: use 1 to 64 letters, digits, `.`, `_` or `-`, not starting with \
         `.` or `-`"
    )]
    Name {
        /// The name given.
        name: String,
    },
    /// There is no corpus of this name.
    #[error("corpus `{name}` does not exist")]
    NotFound {
        /// The name given.
        name: String,
    },
    /// A newer Lyra wrote the corpus.
    #[error(
        "corpus `{name}` has format {found} and this version reads up to {known}: use a newer lyra, or remove the corpus and import it again"
    )]
    Newer {
        /// Which corpus.
        name: String,
        /// Format of the folder.
        found: u32,
        /// Newest format known here.
        known: u32,
    },
    /// Another import is running.
    #[error("corpus `{name}` is being imported by another process: wait for it to end")]
    Busy {
        /// Which corpus.
        name: String,
    },
    /// The vectors come from a model that does not answer now.
    #[error(
        "corpus `{name}` was embedded with `{stored}` and the ml-server answers with `{now}`: remove the corpus and import it again, or start the ml-server with the first model"
    )]
    ModelChanged {
        /// Which corpus.
        name: String,
        /// Embedder of the corpus.
        stored: String,
        /// Embedder that answers.
        now: String,
    },
    /// Rows of the embeddings file do not match the index.
    #[error(
        "{rows} embeddings of corpus `{name}` are damaged: import the same files again to repair them; \
         full-text search works meanwhile"
    )]
    Damaged {
        /// Which corpus.
        name: String,
        /// Rows that do not match their checksum.
        rows: usize,
    },
    /// Dense search without a vector for the query.
    #[error("dense search needs the query's embedding, which is missing: {why}")]
    NoQueryVector {
        /// Why.
        why: String,
    },
    /// The embedder returned something else than it announced.
    #[error("the embedder returned {got} and {expected} was expected")]
    BadEmbedding {
        /// What came.
        got: String,
        /// What should have come.
        expected: String,
    },
    /// A filter cannot be used.
    #[error(transparent)]
    Filter(#[from] FilterError),
    /// A query of the query language cannot be read.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// A search that cannot be run as it was asked for.
    #[error("{why}; {expected}")]
    Search {
        /// What is wrong with it.
        why: String,
        /// What would be right.
        expected: String,
    },
    /// The caller stopped the search.
    #[error("the search was stopped")]
    Stopped,
    /// A backend on another machine did not do what it was asked.
    #[error("{backend}: {why}")]
    Backend {
        /// Which backend.
        backend: BackendKind,
        /// What was seen, without secrets.
        why: String,
        /// Worth trying again later.
        passing: bool,
    },
    /// A file or folder that cannot be imported as it is.
    #[error("{path}: {why}")]
    File {
        /// Which file, or which member of an archive.
        path: PathBuf,
        /// What is wrong with it, and what would be right.
        why: String,
    },
    /// The embedder failed.
    #[error(transparent)]
    Inference(#[from] PortError),
    /// A file cannot be read or written.
    #[error("{path}: {source}")]
    Io {
        /// Which file or folder.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// The full-text index failed.
    #[error("the index of corpus `{name}` failed: {why}")]
    Index {
        /// Which corpus.
        name: String,
        /// What was seen.
        why: String,
    },
}

impl CorpusError {
    pub(crate) fn io(path: &Path) -> impl Fn(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path: path.clone(), source }
    }

    pub(crate) fn index(name: &str) -> impl Fn(tantivy::TantivyError) -> Self {
        let name = name.to_owned();
        move |error| Self::Index { name: name.clone(), why: error.to_string() }
    }
}

impl From<CorpusError> for PortError {
    fn from(error: CorpusError) -> Self {
        let what = "corpus".to_owned();
        match error {
            CorpusError::Inference(error) => error,
            CorpusError::NotFound { name } => Self::NotFound { what: format!("corpus `{name}`") },
            CorpusError::Busy { .. } | CorpusError::Stopped | CorpusError::Backend { passing: true, .. } => {
                Self::Unavailable { what, why: error.to_string() }
            }
            CorpusError::Name { .. }
            | CorpusError::Newer { .. }
            | CorpusError::ModelChanged { .. }
            | CorpusError::NoQueryVector { .. }
            | CorpusError::Filter(_)
            | CorpusError::Query(_)
            | CorpusError::File { .. }
            | CorpusError::Search { .. } => Self::Refused { what, why: error.to_string() },
            CorpusError::Damaged { .. }
            | CorpusError::Backend { .. }
            | CorpusError::BadEmbedding { .. }
            | CorpusError::Io { .. }
            | CorpusError::Index { .. } => Self::Failed { what, why: error.to_string() },
        }
    }
}
