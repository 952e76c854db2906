//! Lanes over the corpora of the data directory, whose documents are here or on a cluster.

use crate::backend::{
    BackendKind, FeatureScope, IdType, LaneHits, LaneKind, LaneQuery, Publication, SearchBackend, other_forms,
};
use crate::corpora::{Opened, blocking};
use crate::remote::{Lanes, Shelf};
use crate::{Corpora, CorpusError, Result, search};
use async_trait::async_trait;
use lyra_research::ports::{Inference, TextRole};
use lyra_text::query::Query;
use std::future::Future;
use std::sync::Arc;
use std::time::Instant;
use tokio_util::sync::CancellationToken;

/// Searches corpora of the data directory; semantic lanes embed their text with the models behind `inference`.
#[derive(Clone)]
pub struct EmbeddedBackend {
    corpora: Corpora,
    inference: Arc<dyn Inference>,
}

impl EmbeddedBackend {
    /// A backend over these corpora.
    pub fn new(corpora: Corpora, inference: Arc<dyn Inference>) -> Self {
        Self { corpora, inference }
    }

    /// Runs blocking work on a corpus.
    async fn with<T: Send + 'static>(
        &self,
        name: &str,
        work: impl FnOnce(&Opened) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (corpora, name) = (self.corpora.clone(), name.to_owned());
        blocking(move || work(&*corpora.get(&name)?)).await
    }

    /// The corpus, after another index took the place of the one that was searched.
    async fn replaced(&self, corpus: &str) -> Result<Shelf> {
        let shelf = self.corpora.shelf(corpus).await?;
        shelf.ok_or_else(|| CorpusError::NotFound { name: corpus.to_owned() })
    }

    /// The query vector of a semantic lane.
    async fn vector(&self, corpus: &str, text: &str, scope: FeatureScope) -> Result<Vec<f32>> {
        let info = self.corpora.show(corpus).await?;
        if info.scopes.is_empty() {
            return Err(search::without_embeddings(info.documents, !info.pending.is_empty()));
        }
        if !info.scopes.contains(&scope) {
            let has: Vec<&str> = info.scopes.iter().map(|scope| scope.name()).collect();
            return Err(CorpusError::Search {
                why: format!("corpus `{corpus}` has no embeddings of scope `{scope}`"),
                expected: format!(
                    "use {}, or import the files again with the scope `{scope}`",
                    has.join(" or ")
                ),
            });
        }
        let models = self.inference.models().await?;
        if models.embedder != info.embedder {
            return Err(CorpusError::ModelChanged {
                name: corpus.to_owned(),
                stored: info.embedder,
                now: models.embedder,
            });
        }
        let language = lyra_text::language(text);
        if !models.read(language) {
            let why = format!("`{}` does not read `{}`", models.embedder, language.unwrap_or_default());
            return Err(CorpusError::NoQueryVector { why });
        }
        let text = lyra_text::normalise(text);
        let mut vectors = self.inference.embed(TextRole::Query, std::slice::from_ref(&text)).await?;
        vectors
            .pop()
            .ok_or_else(|| CorpusError::NoQueryVector { why: "the embedder returned none".to_owned() })
    }

    /// Names the state of a corpus' documents.
    async fn version(&self, corpus: &str) -> Result<String> {
        if let Some(shelf) = self.corpora.shelf(corpus).await? {
            let stop = CancellationToken::new();
            let version = self.corpora.following(corpus, &shelf, shelf.version(&stop)).await;
            return match version {
                Some(version) => version,
                None => self.replaced(corpus).await?.version(&stop).await,
            };
        }
        self.with(corpus, |corpus| Ok(corpus.identity())).await
    }
}

#[async_trait]
impl SearchBackend for EmbeddedBackend {
    fn kind(&self, corpus: &str) -> BackendKind {
        self.corpora.backend(corpus).unwrap_or_default()
    }

    fn claims(&self, corpus: &str) -> bool {
        self.corpora.backend(corpus).is_some()
    }

    async fn corpora(&self) -> Result<Vec<String>> {
        let names = self.corpora.names().await?;
        Ok(names.into_iter().filter(|name| self.corpora.backend(name).is_some()).collect())
    }

    async fn snapshot(&self, corpus: &str) -> Result<String> {
        let documents = self.version(corpus).await?;
        // The end of an import is a change, even if its last documents were there before.
        let is_unfinished = self.corpora.is_unfinished(corpus)?;
        Ok(if is_unfinished { format!("{documents} unfinished") } else { documents })
    }

    async fn search(&self, query: &LaneQuery, stop: &CancellationToken) -> Result<LaneHits> {
        let start = Instant::now();
        query.check()?;
        let unfinished = self.corpora.is_unfinished(&query.corpus)?;
        if let Some(shelf) = self.corpora.shelf(&query.corpus).await? {
            let lanes = Lanes::of(&shelf);
            let found = lanes.search(query, &*self.inference, stop);
            let found = if let Some(found) = self.corpora.following(&query.corpus, &shelf, found).await {
                found?
            } else {
                let shelf = self.replaced(&query.corpus).await?;
                Lanes::of(&shelf).search(query, &*self.inference, stop).await?
            };
            return Ok(LaneHits { unfinished, ..found });
        }
        let (filters, k) = (query.filters.clone(), query.top_k);
        let run = async {
            match &query.kind {
                LaneKind::FullText { query: text, boosts } => {
                    let (tree, boosts) = (Query::parse(text)?, *boosts);
                    self.with(&query.corpus, move |corpus| {
                        search::full_text(corpus, &tree, &boosts, &filters, k)
                    })
                    .await
                }
                LaneKind::Semantic { text, scope } => {
                    let (vector, scope) = (self.vector(&query.corpus, text, *scope).await?, *scope);
                    self.with(&query.corpus, move |corpus| {
                        let hits = search::semantic(corpus, &vector, scope, &filters, k)?;
                        Ok(LaneHits { unembedded: corpus.unembedded(scope)?, ..hits })
                    })
                    .await
                }
            }
        };
        let hits = stoppable(stop, run).await?;
        Ok(LaneHits { took_ms: start.elapsed().as_millis() as u64, unfinished, ..hits })
    }

    async fn fetch(
        &self,
        corpus: &str,
        ids: &[String],
        id_type: IdType,
        stop: &CancellationToken,
    ) -> Result<Vec<Option<Publication>>> {
        if let Some(shelf) = self.corpora.shelf(corpus).await? {
            let lanes = Lanes::of(&shelf);
            let found = self.corpora.following(corpus, &shelf, lanes.fetch(ids, id_type, stop)).await;
            return match found {
                Some(found) => found,
                None => Lanes::of(&self.replaced(corpus).await?).fetch(ids, id_type, stop).await,
            };
        }
        let ids = ids.to_vec();
        let found = self.with(corpus, move |corpus| {
            let one = |id: &String| {
                let mut at = corpus.snapshot.find(id_type, id)?.first().copied();
                for form in other_forms(id) {
                    if at.is_some() {
                        break;
                    }
                    at = corpus.snapshot.find(id_type, &form)?.first().copied();
                }
                at.map(|at| Ok(corpus.snapshot.document(at)?.publication())).transpose()
            };
            ids.iter().map(one).collect()
        });
        stoppable(stop, found).await
    }

    async fn family_keys(&self, corpus: &str, ids: &[String]) -> Result<Vec<Vec<String>>> {
        if self.corpora.shelf(corpus).await?.is_some() {
            return Err(CorpusError::Search {
                why: "corpora on OpenSearch have no families".to_owned(),
                expected: "blend without `one_per_family`, or search a local corpus".to_owned(),
            });
        }
        let ids = ids.to_vec();
        self.with(corpus, move |corpus| {
            let one = |id: &String| match corpus.snapshot.find(IdType::DocId, id)?.first() {
                Some(at) => corpus.snapshot.family_keys(*at),
                None => Ok(Vec::new()),
            };
            ids.iter().map(one).collect()
        })
        .await
    }

    async fn embeddings(&self, corpus: &str, ids: &[String]) -> Result<Vec<Option<Vec<f32>>>> {
        if let Some(shelf) = self.corpora.shelf(corpus).await? {
            let stop = CancellationToken::new();
            return Lanes::of(&shelf).embeddings(ids, FeatureScope::Wide, &stop).await;
        }
        let ids = ids.to_vec();
        self.with(corpus, move |corpus| {
            if corpus.manifest.scopes.is_empty() {
                return Ok(vec![None; ids.len()]);
            }
            let one = |id: &String| {
                let Some(at) = corpus.snapshot.find(IdType::DocId, id)?.first().copied() else {
                    return Ok(None);
                };
                Ok(corpus.embedding(FeatureScope::Wide, at)?.map(<[f32]>::to_vec))
            };
            ids.iter().map(one).collect()
        })
        .await
    }
}

/// What comes first: the work's end or the stop.
pub(crate) async fn stoppable<T, E: From<CorpusError>>(
    stop: &CancellationToken,
    work: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    tokio::select! {
        biased;
        () = stop.cancelled() => Err(CorpusError::Stopped.into()),
        done = work => done,
    }
}
