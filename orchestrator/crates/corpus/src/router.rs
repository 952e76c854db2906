//! Several backends at once: each corpus is searched where it is.

use crate::backend::{BackendKind, IdType, LaneHits, LaneQuery, Publication, SearchBackend};
use crate::{CorpusError, Result};
use async_trait::async_trait;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Backends in the order in which they are asked for a corpus. The first that claims a name has it.
pub struct Backends {
    backends: Vec<Arc<dyn SearchBackend>>,
    /// The one that must answer when corpora are listed.
    needed: BackendKind,
}

impl Backends {
    /// Over these backends. A list of corpora is an error if it lacks those of `needed`, and lacks those of another backend
    /// that does not answer, with a warning in the log.
    pub fn new(backends: Vec<Arc<dyn SearchBackend>>, needed: BackendKind) -> Self {
        Self { backends, needed }
    }

    fn of(&self, corpus: &str) -> Result<&dyn SearchBackend> {
        let found = self.backends.iter().find(|backend| backend.claims(corpus));
        let missing = || CorpusError::NotFound { name: corpus.to_owned() };
        found.map(|backend| &**backend).ok_or_else(missing)
    }
}

#[async_trait]
impl SearchBackend for Backends {
    fn kind(&self, corpus: &str) -> BackendKind {
        self.of(corpus).map(|backend| backend.kind(corpus)).unwrap_or_default()
    }

    fn claims(&self, corpus: &str) -> bool {
        self.of(corpus).is_ok()
    }

    async fn corpora(&self) -> Result<Vec<String>> {
        let mut names = Vec::new();
        for backend in &self.backends {
            match backend.corpora().await {
                Ok(found) => names.extend(found),
                Err(error @ CorpusError::Backend { backend, .. }) if backend != self.needed => {
                    tracing::warn!(%error, "corpora are missing in the list");
                }
                Err(error) => return Err(error),
            }
        }
        names.sort();
        names.dedup();
        Ok(names)
    }

    async fn snapshot(&self, corpus: &str) -> Result<String> {
        self.of(corpus)?.snapshot(corpus).await
    }

    async fn search(&self, query: &LaneQuery, stop: &CancellationToken) -> Result<LaneHits> {
        self.of(&query.corpus)?.search(query, stop).await
    }

    async fn fetch(
        &self,
        corpus: &str,
        ids: &[String],
        id_type: IdType,
        stop: &CancellationToken,
    ) -> Result<Vec<Option<Publication>>> {
        self.of(corpus)?.fetch(corpus, ids, id_type, stop).await
    }

    async fn family_keys(&self, corpus: &str, ids: &[String]) -> Result<Vec<Vec<String>>> {
        self.of(corpus)?.family_keys(corpus, ids).await
    }

    async fn embeddings(&self, corpus: &str, ids: &[String]) -> Result<Vec<Option<Vec<f32>>>> {
        self.of(corpus)?.embeddings(corpus, ids).await
    }
}
