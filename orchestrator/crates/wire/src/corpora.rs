//! Corpora and sources.

use crate::schema;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// A corpus.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Corpus {
    /// Its name.
    pub name: String,
    /// Documents.
    pub documents: u64,
    /// Documents with embeddings.
    pub embedded: u64,
    /// Scopes in which documents are still to be embedded.
    pub pending: Vec<String>,
    /// Model of the embeddings; empty without embeddings.
    pub embedder: String,
    /// Numbers per embedding; 0 without embeddings.
    pub dimension: usize,
    /// Which parts of the documents have embeddings.
    pub scopes: Vec<String>,
    /// When it was created, RFC 3339, UTC.
    pub created: String,
    /// Bytes on disk, here or on the cluster (without copies).
    pub bytes: u64,
    /// Where its documents are: `embedded` or `opensearch`.
    pub backend: String,
    /// Why its documents cannot be reached now; numbers of documents and bytes are then 0.
    pub problem: Option<String>,
    /// Whether documents may be missing, because an import has not finished.
    pub unfinished: bool,
}

/// What a search of a corpus found.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CorpusSearch {
    /// The method that was used: `bm25`, `dense`, or `hybrid`.
    pub method: String,
    /// Why it is another one than the one asked for, and why documents may be missing.
    pub note: Option<String>,
    /// The model of the corpus' embeddings.
    pub embedder: String,
    /// Documents, best first.
    pub hits: Vec<CorpusHit>,
}

/// A document that was found in a corpus.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CorpusHit {
    /// Place in the list, from 1.
    pub rank: usize,
    /// What the list is ordered by.
    pub score: f64,
    /// BM25, if the method used it.
    pub bm25: Option<f64>,
    /// Cosine with the query, if the method used it.
    pub cosine: Option<f64>,
    /// The document, as `GET /corpora/{name}/documents/{doc_id}` returns it.
    #[schemars(schema_with = "schema::any_object")]
    pub document: Value,
}

/// A document of a corpus: `doc_id`, `title`, `text`, and what else is known, by the names of `lyra corpus export`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct CorpusDocument(#[schemars(schema_with = "schema::any_object")] pub Value);

/// A file that was taken in; the import runs, and events tell its progress.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ImportAccepted {
    /// The corpus.
    pub corpus: String,
    /// The file.
    pub filename: String,
    /// Its bytes.
    pub bytes: u64,
}

/// Something that is gone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Removed {
    /// Its name.
    pub removed: String,
}

/// A source of documents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Source {
    /// Its name, as a task's `sources` takes it.
    pub name: String,
    /// `api`, `web`, `web_api`, or `corpus`.
    pub kind: String,
    /// Whether tasks that name no source search it.
    pub by_default: bool,
    /// Address of an API.
    pub base_url: Option<String>,
    /// Whether an API key is configured; `null` if none is needed.
    pub key: Option<bool>,
    /// The setting without which it cannot be queried, if it is missing.
    pub missing: Option<String>,
    /// Seconds left of its cool-down.
    pub cooldown_seconds: Option<u64>,
    /// The reason for its cool-down.
    pub cooldown_reason: Option<String>,
}

/// How a source answered a small question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SourceTest {
    /// The source.
    #[serde(flatten)]
    pub source: Source,
    /// Whether it answered.
    pub answers: bool,
    /// Milliseconds until the last byte of the answer.
    pub milliseconds: Option<u64>,
    /// Works that match the question.
    pub matches: Option<u64>,
    /// Why it did not answer.
    pub error: Option<String>,
}
