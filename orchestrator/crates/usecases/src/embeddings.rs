//! Vectors of a model other than the current one: detecting and re-embedding them.

use super::{App, AppError};
use lyra_domain::TaskId;
use lyra_research::ports::{EmbeddingTarget, Inference, TextRole, VectorStore};
use lyra_store::{EmbeddingModel, OutdatedText};
use serde::Serialize;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Texts embedded per batch: the most that a killed process has to repeat.
const BATCH: u32 = 64;
/// How long a status waits for the models' names. They keep loading after that.
const PATIENCE: Duration = Duration::from_secs(1);

/// Which models the stored vectors are of.
#[derive(Debug, Clone, PartialEq)]
pub struct EmbeddingsStatus {
    /// The model that embeds now.
    pub present_model: String,
    /// Stored vectors by kind and model.
    pub stored: Vec<EmbeddingModel>,
    /// Claims and fragments that have vectors of other models only.
    pub outdated: u64,
}

/// What was re-embedded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Rebuilt {
    /// Claims and fragments embedded.
    pub embedded: u64,
    /// Vectors of other models removed, as there are new ones.
    pub removed: u64,
    /// Claims and fragments that still have vectors of other models only.
    pub outdated: u64,
}

impl App {
    /// Which models the stored vectors are of.
    ///
    /// # Errors
    /// The models or the store are unavailable.
    pub async fn embeddings_status(&self) -> Result<EmbeddingsStatus, AppError> {
        let present_model = self.inner.inference.models().await?.embedder;
        let stored = self.store().embedding_models().await?;
        let outdated = self.store().outdated_count(&present_model, None, None).await?;
        Ok(EmbeddingsStatus { present_model, stored, outdated })
    }

    /// Re-embeds texts that only have vectors of other models, in one task or everywhere, then removes the replaced
    /// vectors. Every batch is stored: after an interruption the next call does the rest. `progress` gets the finished
    /// and total counts.
    ///
    /// # Errors
    /// No such task; the models or the store are unavailable.
    pub async fn rebuild_embeddings(
        &self,
        task: Option<&TaskId>,
        cancel: &CancellationToken,
        mut progress: impl FnMut(u64, u64),
    ) -> Result<Rebuilt, AppError> {
        if let Some(task) = task {
            self.task(task).await?;
        }
        let model = self.inner.inference.models().await?.embedder;
        let total = self.store().outdated_count(&model, task, None).await?;
        let (mut embedded, mut after) = (0, 0);
        while !cancel.is_cancelled() {
            let batch = self.store().outdated_texts(&model, task, after, BATCH).await?;
            let Some(last) = batch.last() else { break };
            after = last.cursor;
            let texts: Vec<String> = batch.iter().map(passage).collect();
            let (claims, passages): (Vec<_>, Vec<_>) = batch
                .into_iter()
                .map(|text| text.target)
                .zip(texts)
                .partition(|(target, _)| matches!(target, EmbeddingTarget::Claim(_)));
            for (role, texts) in [(TextRole::Query, claims), (TextRole::Passage, passages)] {
                if texts.is_empty() {
                    continue;
                }
                let (targets, texts): (Vec<_>, Vec<String>) = texts.into_iter().unzip();
                let vectors = self.inner.inference.embed(role, &texts).await?;
                let rows: Vec<_> = targets.into_iter().zip(vectors).collect();
                self.store().put_embeddings(&model, &rows).await?;
                embedded += rows.len() as u64;
            }
            progress(embedded, total.max(embedded));
        }
        let removed = self.store().remove_outdated(&model).await?;
        let outdated = self.store().outdated_count(&model, None, None).await?;
        Ok(Rebuilt { embedded, removed, outdated })
    }

    /// A warning for a task with vectors of another model, once the models are loaded.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn outdated_vectors_note(&self, task: &TaskId) -> Result<Option<String>, AppError> {
        if self.store().embedding_models().await?.is_empty() {
            return Ok(None);
        }
        let Some(models) = self.inner.inference.models_within(PATIENCE).await else { return Ok(None) };
        let outdated = self.store().outdated_count(&models.embedder, Some(task), None).await?;
        Ok((outdated > 0).then(|| outdated_note(outdated, &models.embedder)))
    }
}

/// A warning that this number of texts cannot be searched by meaning, and what to do.
pub(super) fn outdated_note(outdated: u64, model: &str) -> String {
    format!(
        "{outdated} texts have vectors of another model than `{model}` and are not found by meaning until they are \
         re-embedded"
    )
}

/// The text as the pipeline embeds it.
fn passage(text: &OutdatedText) -> String {
    match &text.title {
        Some(title) => lyra_text::passage(title, &text.text),
        None => text.text.clone(),
    }
}
