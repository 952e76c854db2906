//! A corpus as a source of evidence.

use crate::{Corpora, Method};
use async_trait::async_trait;
use lyra_research::ports::{Answer, CorpusDocument, EvidenceSource, Hit, Inference, SourceKind};
use std::sync::Arc;

/// Answers queries by hybrid search in one corpus.
pub struct CorpusSource {
    name: String,
    corpus: String,
    corpora: Corpora,
    inference: Arc<dyn Inference>,
}

impl CorpusSource {
    /// The source `corpus:NAME`; that the corpus exists is found out by searching.
    pub fn new(corpora: Corpora, corpus: &str, inference: Arc<dyn Inference>) -> Self {
        Self { name: format!("corpus:{corpus}"), corpus: corpus.to_owned(), corpora, inference }
    }
}

#[async_trait]
impl EvidenceSource for CorpusSource {
    fn name(&self) -> &str {
        &self.name
    }

    fn kind(&self) -> SourceKind {
        SourceKind::Corpus
    }

    async fn search(
        &self,
        query: &str,
        language: Option<&str>,
        limit: usize,
    ) -> lyra_research::Result<Answer> {
        let found = self
            .corpora
            .search_with(&self.corpus, query, language, Method::Hybrid, limit, &*self.inference)
            .await?;
        if let Some(note) = &found.note {
            tracing::warn!(source = self.name, note, "hybrid search degraded");
        }
        let embedder = found.embedder;
        let hits = found.hits.into_iter().map(|hit| Hit {
            rank: hit.rank,
            score: hit.score,
            work: hit.document.work(&self.corpus),
            url: hit.document.address(&self.corpus),
            document: Some(CorpusDocument { corpus: self.corpus.clone(), doc_id: hit.document.doc_id }),
            language: hit.document.language,
            text: (!hit.document.text.is_empty()).then_some(hit.document.text),
            embedding: hit.embedding.map(|vector| (embedder.clone(), vector)),
        });
        Ok(hits.collect::<Vec<_>>().into())
    }
}
