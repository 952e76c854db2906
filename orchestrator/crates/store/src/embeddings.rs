//! Stored vectors: little-endian f32 blobs, by the model that produced them.

use crate::rows::{RowExt, json};
use crate::vectors::VectorTarget;
use crate::{Result, Store, StoreError};
use lyra_domain::{EmbeddingId, TaskId};
use lyra_research::ports::EmbeddingTarget;
use sqlx::AssertSqlSafe;
use std::collections::HashMap;

/// The vectors of one model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbeddingModel {
    /// Of claims or of fragments.
    pub target: VectorTarget,
    /// The model's id.
    pub model: String,
    /// Numbers per vector.
    pub dimension: usize,
    /// How many there are.
    pub vectors: u64,
}

/// A text without a vector of the current model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutdatedText {
    /// Its position in the list, as the cursor for the next page.
    pub cursor: i64,
    /// The claim or fragment.
    pub target: EmbeddingTarget,
    /// Title of a fragment's page.
    pub title: Option<String>,
    /// Its text.
    pub text: String,
}

/// Texts that have a vector of another model than `?1` but none of `?1`, in task `?2` and of kind `?3` unless null;
/// each once, by its oldest vector.
const OUTDATED: &str = "FROM embeddings AS old
    LEFT JOIN claims ON old.target_type = 'claim' AND claims.id = old.target_id
    LEFT JOIN fragments ON old.target_type = 'fragment' AND fragments.id = old.target_id
    LEFT JOIN pages ON pages.id = fragments.page_id
    WHERE old.model_id <> ?1
      AND NOT EXISTS (SELECT 1 FROM embeddings AS new WHERE new.target_type = old.target_type
          AND new.target_id = old.target_id AND (new.model_id = ?1 OR new.seq < old.seq))
      AND coalesce(claims.claim_text, fragments.text_content, '') <> ''
      AND (?2 IS NULL OR claims.task_id = ?2
          OR fragments.page_id IN (SELECT page_id FROM task_pages WHERE task_id = ?2))
      AND (?3 IS NULL OR old.target_type = ?3)";

/// Vectors removed in one transaction.
const REMOVED_AT_ONCE: i64 = 5_000;

impl Store {
    /// The models that produced the stored vectors.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn embedding_models(&self) -> Result<Vec<EmbeddingModel>> {
        let found = sqlx::query(
            "SELECT target_type, model_id, dimension, vectors FROM embedding_models WHERE vectors > 0
             ORDER BY target_type, model_id",
        )
        .fetch_all(self.reader())
        .await?;
        found
            .iter()
            .map(|row| {
                Ok(EmbeddingModel {
                    target: VectorTarget::of_kind(row.value("target_type")?),
                    model: row.value("model_id")?,
                    dimension: row.count("dimension")? as usize,
                    vectors: row.count("vectors")?,
                })
            })
            .collect()
    }

    /// How many claims and fragments, of one task and one kind when these are given, have vectors of other models than
    /// `model` only.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn outdated_count(
        &self,
        model: &str,
        task: Option<&TaskId>,
        target: Option<VectorTarget>,
    ) -> Result<u64> {
        // Normally there is one model, and nothing to count.
        if self.embedding_models().await?.iter().all(|made| made.model == model) {
            return Ok(0);
        }
        let count: i64 = sqlx::query_scalar(AssertSqlSafe(format!("SELECT count(*) {OUTDATED}")))
            .bind(model)
            .bind(task.map(TaskId::as_str))
            .bind(target.map(VectorTarget::kind))
            .fetch_one(self.reader())
            .await?;
        Ok(count.unsigned_abs())
    }

    /// At most `limit` of them after a cursor (0 for the beginning), with their texts.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn outdated_texts(
        &self,
        model: &str,
        task: Option<&TaskId>,
        after: i64,
        limit: u32,
    ) -> Result<Vec<OutdatedText>> {
        let found = sqlx::query(AssertSqlSafe(format!(
            "SELECT old.seq, old.target_type, old.target_id, pages.title,
                    coalesce(claims.claim_text, fragments.text_content) AS text
             {OUTDATED} AND old.seq > ?4 ORDER BY old.seq LIMIT ?5"
        )))
        .bind(model)
        .bind(task.map(TaskId::as_str))
        .bind(None::<&str>)
        .bind(after)
        .bind(limit)
        .fetch_all(self.reader())
        .await?;
        found
            .iter()
            .map(|row| {
                Ok(OutdatedText {
                    cursor: row.value("seq")?,
                    target: match VectorTarget::of_kind(row.value("target_type")?) {
                        VectorTarget::Claims => EmbeddingTarget::Claim(row.parsed("target_id")?),
                        VectorTarget::Fragments => EmbeddingTarget::Fragment(row.parsed("target_id")?),
                    },
                    title: row.value("title")?,
                    text: row.value("text")?,
                })
            })
            .collect()
    }

    /// Removes vectors of other models for texts that have one of `model`; returns how many.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub async fn remove_outdated(&self, model: &str) -> Result<u64> {
        let mut removed = 0;
        loop {
            let mut tx = self.write().await?;
            let batch = sqlx::query(
                "DELETE FROM embeddings WHERE seq IN (
                     SELECT old.seq FROM embeddings AS old
                     JOIN embeddings AS new ON new.target_type = old.target_type AND new.target_id = old.target_id
                          AND new.model_id = ?1
                     WHERE old.model_id <> ?1 LIMIT ?2)",
            )
            .bind(model)
            .bind(REMOVED_AT_ONCE)
            .execute(&mut *tx)
            .await?
            .rows_affected();
            tx.commit().await?;
            removed += batch;
            if batch < REMOVED_AT_ONCE.unsigned_abs() {
                return Ok(removed);
            }
        }
    }

    pub(crate) async fn read_embeddings(
        &self,
        model: &str,
        targets: &[EmbeddingTarget],
    ) -> Result<HashMap<EmbeddingTarget, Vec<f32>>> {
        let mut by_name: HashMap<(&str, &str), &EmbeddingTarget> = HashMap::new();
        by_name.extend(targets.iter().map(|target| (name(target), target)));
        let mut vectors = HashMap::new();
        for kind in [VectorTarget::Fragments, VectorTarget::Claims].map(VectorTarget::kind) {
            let ids: Vec<&str> = by_name.keys().filter(|(of, _)| *of == kind).map(|(_, id)| *id).collect();
            if ids.is_empty() {
                continue;
            }
            // The ids go in as one JSON parameter, however many there are.
            let found = sqlx::query(
                "SELECT target_id, embedding_blob FROM embeddings
                 WHERE target_type = ? AND model_id = ? AND target_id IN (SELECT value FROM json_each(?))",
            )
            .bind(kind)
            .bind(model)
            .bind(json(&ids)?)
            .fetch_all(self.reader())
            .await?;
            for row in &found {
                let id: &str = row.value("target_id")?;
                if let Some(target) = by_name.get(&(kind, id)) {
                    vectors.insert((*target).clone(), decode(row.value("embedding_blob")?)?);
                }
            }
        }
        Ok(vectors)
    }

    pub(crate) async fn write_embeddings(
        &self,
        model: &str,
        vectors: &[(EmbeddingTarget, Vec<f32>)],
    ) -> Result<()> {
        if vectors.is_empty() {
            return Ok(());
        }
        let mut tx = self.write().await?;
        for (target, vector) in vectors {
            let (kind, id) = name(target);
            sqlx::query(
                "INSERT INTO embeddings (id, target_type, target_id, model_id, dimension, embedding_blob)
                 VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            )
            .bind(EmbeddingId::derive(&[kind, id, model]).as_str())
            .bind(kind)
            .bind(id)
            .bind(model)
            .bind(vector.len().cast_signed() as i64)
            .bind(encode(vector))
            .execute(&mut *tx)
            .await?;
        }
        tx.commit().await?;
        Ok(())
    }
}

fn name(target: &EmbeddingTarget) -> (&'static str, &str) {
    match target {
        EmbeddingTarget::Fragment(id) => (VectorTarget::Fragments.kind(), id.as_str()),
        EmbeddingTarget::Claim(id) => (VectorTarget::Claims.kind(), id.as_str()),
    }
}

fn encode(vector: &[f32]) -> Vec<u8> {
    vector.iter().flat_map(|number| number.to_le_bytes()).collect()
}

pub(crate) fn decode(blob: &[u8]) -> Result<Vec<f32>> {
    let (numbers, rest) = blob.as_chunks::<4>();
    if !rest.is_empty() {
        return Err(StoreError::corrupt(
            "an embedding",
            format!("{} bytes are not a list of f32 numbers", blob.len()),
        ));
    }
    Ok(numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
}
