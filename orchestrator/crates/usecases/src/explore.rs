//! Looking into the graph: SQL and meaning.

use super::embeddings::outdated_note;
use super::{App, AppError};
use jiff::Timestamp;
use lyra_domain::TaskId;
use lyra_research::ports::{Inference, TextRole};
use lyra_store::{SchemaTable, VectorMatches, VectorQuery, VectorTarget, ViewInfo, ViewRows};

/// A search by meaning.
#[derive(Debug, Clone, PartialEq)]
pub struct VectorSearch {
    /// What to search for, in words.
    pub query: String,
    /// Claims or fragments.
    pub target: VectorTarget,
    /// Within this task only.
    pub task: Option<TaskId>,
    /// Most results, 1–50.
    pub top_k: usize,
    /// Least cosine, in [−1, 1].
    pub min_similarity: f32,
}

/// Ids that start with the typed text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Completed {
    /// Newest first.
    pub values: Vec<String>,
    /// How many there are, those that are not among the values included.
    pub total: u64,
}

/// The result of a semantic search.
#[derive(Debug, Clone, PartialEq)]
pub struct VectorHits {
    /// The closest texts, and how many were compared.
    pub found: VectorMatches,
    /// What to do when some could not be compared.
    pub note: Option<String>,
}

impl App {
    /// Readable tables and views, with descriptions.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn schema(&self) -> Result<Vec<SchemaTable>, AppError> {
        Ok(self.store().schema().await?)
    }

    /// The predefined views, with descriptions.
    pub fn views(&self) -> &'static [ViewInfo] {
        self.store().views()
    }

    /// A view's SQL, for one task or for all, with the current or a given time.
    ///
    /// # Errors
    /// No such view.
    pub fn render_view(
        &self,
        name: &str,
        task: Option<&TaskId>,
        now: Option<Timestamp>,
    ) -> Result<String, AppError> {
        Ok(self.store().render_view(name, task, now)?)
    }

    /// A view's rows, at most `limit`.
    ///
    /// # Errors
    /// No such view.
    pub async fn query_view(
        &self,
        name: &str,
        task: Option<&TaskId>,
        now: Option<Timestamp>,
        limit: u32,
    ) -> Result<ViewRows, AppError> {
        Ok(self.store().query_view(name, task, now, limit).await?)
    }

    /// Ids of tasks that begin with `prefix`, at most `limit`.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn complete_tasks(&self, prefix: &str, limit: usize) -> Result<Completed, AppError> {
        let (values, total) = self.store().task_ids(prefix, limit).await?;
        Ok(Completed { values, total })
    }

    /// Ids of runs of lanes and of fusions that begin with `prefix`, at most `limit`.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn complete_runs(&self, prefix: &str, limit: usize) -> Result<Completed, AppError> {
        let (values, total) = self.store().run_ids(prefix, limit).await?;
        Ok(Completed { values, total })
    }

    /// Names of corpora that lanes may search and that begin with `prefix`, at most `limit`.
    ///
    /// # Errors
    /// The backend does not answer.
    pub async fn complete_corpora(&self, prefix: &str, limit: usize) -> Result<Completed, AppError> {
        let mut values = self.fusion().corpora().await?;
        values.retain(|name| name.starts_with(prefix));
        let total = values.len() as u64;
        values.truncate(limit);
        Ok(Completed { values, total })
    }

    /// Ids of a task's adopted claims that begin with `prefix`, at most `limit`.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn complete_claims(
        &self,
        task: &TaskId,
        prefix: &str,
        limit: usize,
    ) -> Result<Completed, AppError> {
        let (values, total) = self.store().claim_ids(task, prefix, limit).await?;
        Ok(Completed { values, total })
    }

    /// Claims or fragments closest in meaning to a query.
    ///
    /// # Errors
    /// An empty query, arguments out of range, or nothing embedded yet.
    pub async fn vector_search(&self, search: VectorSearch) -> Result<VectorHits, AppError> {
        if search.query.trim().is_empty() {
            return Err(AppError::invalid("`query` is empty", "say what to search for, in words"));
        }
        if !(1..=50).contains(&search.top_k) {
            return Err(AppError::invalid(format!("`top_k` is {}", search.top_k), "it must be 1 to 50"));
        }
        let models = self.inner.inference.models().await?;
        let vector = self.inner.inference.embed(TextRole::Query, std::slice::from_ref(&search.query)).await?;
        let found = self
            .store()
            .search_vectors(VectorQuery {
                target: search.target,
                task: search.task.as_ref(),
                model: &models.embedder,
                vector: vector.first().map(Vec::as_slice).unwrap_or_default(),
                top_k: search.top_k,
                min_similarity: search.min_similarity,
            })
            .await?;
        let note = (found.outdated > 0).then(|| outdated_note(found.outdated, &models.embedder));
        Ok(VectorHits { found, note })
    }
}
