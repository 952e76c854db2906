//! What fusion keeps between calls, as it asks for it. The store implements it.

use async_trait::async_trait;
use lyra_store::{NewJudgments, NewRun, NewSavedSearch, Result, RunSummary, SavedSearch, Store, StoredRun};
use std::collections::HashMap;
use std::time::Duration;

/// Runs of lanes and of their fusion.
#[async_trait]
pub(crate) trait RunStore: Send + Sync {
    /// Stores a run for `ttl`; a fresh one with the same identity is kept and returned instead.
    async fn put_run(&self, run: NewRun, ttl: Duration) -> Result<StoredRun>;
    /// The newest run of this identity that has not expired.
    async fn fresh_run(&self, shaped_by: &str) -> Result<Option<StoredRun>>;
    /// A run by its id, expired or not.
    async fn run(&self, id: &str) -> Result<StoredRun>;
    /// At most `limit` runs, newest first.
    async fn runs(&self, limit: u32) -> Result<Vec<RunSummary>>;
    /// Stores a person's judgments of a run's documents. `false` when those that it had have changed meanwhile.
    async fn set_representatives(&self, id: &str, judgments: NewJudgments<'_>) -> Result<bool>;
}

/// Searches that are run again.
#[async_trait]
pub(crate) trait SavedSearchStore: Send + Sync {
    /// Saves a search; `false` if the name is taken.
    async fn save_search(&self, search: NewSavedSearch<'_>) -> Result<bool>;
    /// All of them, by name.
    async fn saved_searches(&self) -> Result<Vec<SavedSearch>>;
    /// One by its name.
    async fn saved_search(&self, name: &str) -> Result<SavedSearch>;
    /// Adds the documents of a new run to those that it has returned, and returns the new ones; `None` without the search.
    async fn ran_again(&self, name: &str, run_id: &str, ids: &[String]) -> Result<Option<Vec<String>>>;
    /// Deletes it; `false` if it does not exist.
    async fn forget_search(&self, name: &str) -> Result<bool>;
}

/// Publications that a backend outside returned, as JSON by id.
#[async_trait]
pub(crate) trait PublicationCache: Send + Sync {
    /// Those of these ids that are not older than `max_age`.
    async fn cached_texts(
        &self,
        backend: &str,
        corpus: &str,
        id_type: &str,
        ids: &[String],
        max_age: Duration,
    ) -> Result<HashMap<String, String>>;
    /// Keeps these, and drops all that are older than `max_age`.
    async fn cache_texts(
        &self,
        backend: &str,
        corpus: &str,
        id_type: &str,
        texts: &[(String, String)],
        max_age: Duration,
    ) -> Result<()>;
}

/// Everything that fusion keeps.
pub(crate) trait FusionStore: RunStore + SavedSearchStore + PublicationCache {}

impl<T: RunStore + SavedSearchStore + PublicationCache> FusionStore for T {}

#[async_trait]
impl RunStore for Store {
    async fn put_run(&self, run: NewRun, ttl: Duration) -> Result<StoredRun> {
        Self::put_run(self, run, ttl).await
    }

    async fn fresh_run(&self, shaped_by: &str) -> Result<Option<StoredRun>> {
        Self::fresh_run(self, shaped_by).await
    }

    async fn run(&self, id: &str) -> Result<StoredRun> {
        Self::run(self, id).await
    }

    async fn runs(&self, limit: u32) -> Result<Vec<RunSummary>> {
        Self::runs(self, limit).await
    }

    async fn set_representatives(&self, id: &str, judgments: NewJudgments<'_>) -> Result<bool> {
        Self::set_representatives(self, id, judgments).await
    }
}

#[async_trait]
impl SavedSearchStore for Store {
    async fn save_search(&self, search: NewSavedSearch<'_>) -> Result<bool> {
        Self::save_search(self, search).await
    }

    async fn saved_searches(&self) -> Result<Vec<SavedSearch>> {
        Self::saved_searches(self).await
    }

    async fn saved_search(&self, name: &str) -> Result<SavedSearch> {
        Self::saved_search(self, name).await
    }

    async fn ran_again(&self, name: &str, run_id: &str, ids: &[String]) -> Result<Option<Vec<String>>> {
        Self::ran_again(self, name, run_id, ids).await
    }

    async fn forget_search(&self, name: &str) -> Result<bool> {
        Self::forget_search(self, name).await
    }
}

#[async_trait]
impl PublicationCache for Store {
    async fn cached_texts(
        &self,
        backend: &str,
        corpus: &str,
        id_type: &str,
        ids: &[String],
        max_age: Duration,
    ) -> Result<HashMap<String, String>> {
        Self::cached_texts(self, backend, corpus, id_type, ids, max_age).await
    }

    async fn cache_texts(
        &self,
        backend: &str,
        corpus: &str,
        id_type: &str,
        texts: &[(String, String)],
        max_age: Duration,
    ) -> Result<()> {
        Self::cache_texts(self, backend, corpus, id_type, texts, max_age).await
    }
}
