//! Looking into the graph: SQL and meaning.

use super::{App, AppError};
use lyra_domain::{TaskId, vector};
use lyra_research::ports::Inference;
use lyra_store::{GuardOptions, GuardedRows, SchemaTable, VectorTarget, ViewInfo, ViewRows};

/// A search by meaning.
#[derive(Debug, Clone, PartialEq)]
pub struct VectorSearch {
    /// What to look for, in words.
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

/// What a search by meaning found.
#[derive(Debug, Clone, PartialEq)]
pub struct VectorHits {
    /// Closest first.
    pub results: Vec<VectorHit>,
    /// Vectors compared.
    pub total_searched: usize,
}

/// One claim or fragment.
#[derive(Debug, Clone, PartialEq)]
pub struct VectorHit {
    /// Its id.
    pub id: String,
    /// The beginning of its text, at most 200 characters.
    pub text_preview: String,
    /// Cosine with the query.
    pub similarity: f32,
}

impl App {
    /// Runs one guarded, read-only statement over the evidence store.
    ///
    /// # Errors
    /// A statement that is not one `SELECT` over the listed tables and views, or that uses up its time or steps.
    pub async fn query_graph(&self, sql: &str, options: GuardOptions) -> Result<GuardedRows, AppError> {
        Ok(self.store().query_graph(sql, options).await?)
    }

    /// Tables and views that may be read, with what each is for.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn schema(&self) -> Result<Vec<SchemaTable>, AppError> {
        Ok(self.store().schema().await?)
    }

    /// The prepared views, with what each is for.
    pub fn views(&self) -> &'static [ViewInfo] {
        self.store().views()
    }

    /// A view's SQL, for one task or for all.
    ///
    /// # Errors
    /// No such view.
    pub fn render_view(&self, name: &str, task: Option<&TaskId>) -> Result<String, AppError> {
        Ok(self.store().render_view(name, task)?)
    }

    /// A view's rows, at most `limit`.
    ///
    /// # Errors
    /// No such view.
    pub async fn query_view(
        &self,
        name: &str,
        task: Option<&TaskId>,
        limit: u32,
    ) -> Result<ViewRows, AppError> {
        Ok(self.store().query_view(name, task, limit).await?)
    }

    /// Claims or fragments closest in meaning to a query.
    ///
    /// # Errors
    /// An empty query, arguments out of range, or nothing embedded yet.
    pub async fn vector_search(&self, search: VectorSearch) -> Result<VectorHits, AppError> {
        if search.query.trim().is_empty() {
            return Err(AppError::invalid("`query` is empty", "say in words what to look for"));
        }
        if !(1..=50).contains(&search.top_k) {
            return Err(AppError::invalid(format!("`top_k` is {}", search.top_k), "take 1 to 50"));
        }
        let models = self.inner.inference.models().await?;
        let vectors = self.store().vectors(search.target, search.task.as_ref(), &models.embedder).await?;
        let query = self.inner.inference.embed(std::slice::from_ref(&search.query)).await?;
        let query = query.first().map(Vec::as_slice).unwrap_or_default();
        let mut close: Vec<(f32, usize)> = vectors
            .iter()
            .enumerate()
            .map(|(i, stored)| (vector::dot(query, &stored.vector), i))
            .filter(|(similarity, _)| *similarity >= search.min_similarity)
            .collect();
        close.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| vectors[a.1].id.cmp(&vectors[b.1].id)));
        close.truncate(search.top_k);
        let results = close
            .into_iter()
            .map(|(similarity, i)| VectorHit {
                id: vectors[i].id.clone(),
                text_preview: vectors[i].preview.clone(),
                similarity,
            })
            .collect();
        Ok(VectorHits { results, total_searched: vectors.len() })
    }
}
