//! Searches for evidence in one corpus, wherever it is.

use super::{Corpora, CorpusInfo, blocking};
use crate::backend::FeatureScope;
use crate::remote::{self, Shelf};
use crate::search::{Method, Narrow, SearchResult};
use crate::{CorpusError, Result, search, unfinished};
use lyra_research::ports::{Inference, TextRole};
use tokio_util::sync::CancellationToken;

impl Corpora {
    /// Searches with a query vector made elsewhere (`None` for BM25).
    ///
    /// The query is analyzed, never parsed, so any text is valid. Returns the best `k` first, ties by document id.
    ///
    /// # Errors
    /// [`CorpusError::NotFound`]; [`CorpusError::NoQueryVector`] for dense and hybrid without a vector;
    /// [`CorpusError::Damaged`] when embeddings do not match their checksums.
    pub async fn search(
        &self,
        name: &str,
        query: &str,
        method: Method,
        k: usize,
        query_vector: Option<&[f32]>,
    ) -> Result<SearchResult> {
        self.search_narrowed(name, query, method, k, query_vector, &Narrow::default()).await
    }

    /// [`Corpora::search`] in what `narrow` leaves.
    ///
    /// # Errors
    /// As [`Corpora::search`]; [`CorpusError::Filter`] for a tag or collection that no document has;
    /// [`CorpusError::Search`] for notes by another method than BM25.
    pub async fn search_narrowed(
        &self,
        name: &str,
        query: &str,
        method: Method,
        k: usize,
        query_vector: Option<&[f32]>,
        narrow: &Narrow,
    ) -> Result<SearchResult> {
        let unfinished = unfinished::note(&self.folder(name)?);
        if let Some(shelf) = self.shelf(name).await? {
            let stop = CancellationToken::new();
            let found = remote::search_evidence(&shelf, query, method, k, query_vector, narrow, &stop);
            let found = self.following(name, &shelf, found).await;
            let hits = if let Some(found) = found {
                found?
            } else {
                // Another index has taken the place of the one that was searched.
                let shelf = self.shelf(name).await?.ok_or(CorpusError::NotFound { name: name.to_owned() })?;
                remote::search_evidence(&shelf, query, method, k, query_vector, narrow, &stop).await?
            };
            let note = if method == Method::Bm25 { None } else { note(&shelf, &stop).await? };
            let note = joined(unfinished, note);
            return Ok(SearchResult { method, note, embedder: shelf.manifest.embedder, hits });
        }
        let narrow = narrow.clone();
        let (corpora, name, query) = (self.clone(), name.to_owned(), query.to_owned());
        let vector = query_vector.map(<[f32]>::to_vec);
        blocking(move || {
            let corpus = corpora.get(&name)?;
            let hits = search::search(&corpus, &query, method, k, vector.as_deref(), &narrow)?;
            let note = if method == Method::Bm25 { None } else { corpus.note()? };
            let note = joined(unfinished, note);
            Ok(SearchResult { method, note, embedder: corpus.manifest.embedder.clone(), hits })
        })
        .await
    }

    /// Searches, and embeds the query for it when the method needs that.
    ///
    /// `language` is the query's ISO 639-1 code, detected when `None`. When the models do not read it, hybrid becomes
    /// BM25 and the result's `note` says so; dense is an error.
    ///
    /// # Errors
    /// As [`Corpora::search`]; [`CorpusError::ModelChanged`] when the corpus has vectors of another model.
    pub async fn search_with(
        &self,
        name: &str,
        query: &str,
        language: Option<&str>,
        method: Method,
        k: usize,
        inference: &dyn Inference,
    ) -> Result<SearchResult> {
        self.search_narrowed_with(name, query, language, method, k, &Narrow::default(), inference).await
    }

    /// [`Corpora::search_with`] in what `narrow` leaves.
    ///
    /// # Errors
    /// As [`Corpora::search_with`] and [`Corpora::search_narrowed`].
    #[expect(clippy::too_many_arguments, reason = "a search, what narrows it, and what it is done with")]
    pub async fn search_narrowed_with(
        &self,
        name: &str,
        query: &str,
        language: Option<&str>,
        method: Method,
        k: usize,
        narrow: &Narrow,
        inference: &dyn Inference,
    ) -> Result<SearchResult> {
        if method == Method::Bm25 {
            return self.search_narrowed(name, query, method, k, None, narrow).await;
        }
        let manifest = self.manifest(name).await?;
        // What is embedded is all that matters where there is something.
        let info = match manifest.scopes.as_slice() {
            [] => self.show(name).await?,
            _ => CorpusInfo { documents: 0, ..self.described(&manifest)? },
        };
        if info.scopes.is_empty() {
            let error = search::without_embeddings(info.documents, !info.pending.is_empty());
            if method == Method::Dense {
                return Err(error);
            }
            let why = if info.pending.is_empty() {
                "the corpus was imported without embeddings".to_owned()
            } else {
                format!("none of its {} documents is embedded yet", info.documents)
            };
            return self.by_words(name, query, k, narrow, &why).await;
        }
        let models = inference.models().await?;
        if models.embedder != info.embedder {
            return Err(CorpusError::ModelChanged {
                name: name.to_owned(),
                stored: info.embedder,
                now: models.embedder,
            });
        }
        let language = language.or_else(|| lyra_text::language(query));
        if !models.read(language) {
            let why = format!("`{}` does not read `{}`", models.embedder, language.unwrap_or_default());
            if method == Method::Dense {
                return Err(CorpusError::NoQueryVector { why });
            }
            return self.by_words(name, query, k, narrow, &why).await;
        }
        let text = lyra_text::normalise(query);
        let vectors = inference.embed(TextRole::Query, std::slice::from_ref(&text)).await?;
        self.search_narrowed(name, query, method, k, vectors.first().map(Vec::as_slice), narrow).await
    }

    /// A hybrid search that has no vector to compare with, and why.
    async fn by_words(
        &self,
        name: &str,
        query: &str,
        k: usize,
        narrow: &Narrow,
        why: &str,
    ) -> Result<SearchResult> {
        let found = self.search_narrowed(name, query, Method::Bm25, k, None, narrow).await?;
        let why = format!("searched with bm25: {why}");
        Ok(SearchResult { note: joined(Some(why), found.note), ..found })
    }
}

/// Both notes, where there are two.
fn joined(one: Option<String>, other: Option<String>) -> Option<String> {
    let notes: Vec<String> = one.into_iter().chain(other).collect();
    (!notes.is_empty()).then(|| notes.join("; "))
}

/// What search by meaning does not find because its vectors are still to be made.
async fn note(shelf: &Shelf, stop: &CancellationToken) -> Result<Option<String>> {
    if shelf.manifest.pending.is_empty() {
        return Ok(None);
    }
    let all = shelf.count(&serde_json::json!({"match_all": {}}), stop).await?;
    let embedded = shelf.embedded(FeatureScope::Wide, stop).await?;
    Ok(Some(search::partly_embedded(&shelf.manifest.pending, embedded, all)))
}
