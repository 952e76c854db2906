//! Vectors: little-endian f32 blobs, and what a vector search reads.

use crate::rows::{RowExt, json};
use crate::{Result, Store, StoreError};
use lyra_domain::{EmbeddingId, TaskId};
use lyra_research::ports::EmbeddingTarget;
use std::collections::HashMap;

/// What a vector search looks through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VectorTarget {
    /// Adopted claims.
    Claims,
    /// Fragments.
    Fragments,
}

impl VectorTarget {
    /// `claims` or `fragments`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Claims => "claims",
            Self::Fragments => "fragments",
        }
    }
}

/// A vector with what it stands for.
#[derive(Debug, Clone, PartialEq)]
pub struct VectorRow {
    /// Id of the claim or fragment.
    pub id: String,
    /// The first 200 characters of its text.
    pub preview: String,
    /// The vector, L2-normalised.
    pub vector: Vec<f32>,
}

impl Store {
    /// Vectors of a model, of one task when one is given, in the order their texts were stored.
    ///
    /// # Errors
    /// [`StoreError::NoVectors`] when there is none.
    pub async fn vectors(
        &self,
        target: VectorTarget,
        task: Option<&TaskId>,
        model: &str,
    ) -> Result<Vec<VectorRow>> {
        let sql = match target {
            VectorTarget::Claims => {
                "SELECT claims.id, substr(claim_text, 1, 200) AS preview, embedding_blob
                 FROM claims JOIN embeddings ON target_type = 'claim' AND target_id = claims.id AND model_id = ?1
                 WHERE claim_adoption_status = 'adopted' AND (?2 IS NULL OR task_id = ?2) ORDER BY seq"
            }
            VectorTarget::Fragments => {
                "SELECT fragments.id, substr(text_content, 1, 200) AS preview, embedding_blob
                 FROM fragments JOIN embeddings ON target_type = 'fragment' AND target_id = fragments.id AND model_id = ?1
                 WHERE ?2 IS NULL OR page_id IN (SELECT page_id FROM task_pages WHERE task_id = ?2) ORDER BY seq"
            }
        };
        let found =
            sqlx::query(sql).bind(model).bind(task.map(TaskId::as_str)).fetch_all(self.reader()).await?;
        if found.is_empty() {
            return Err(StoreError::NoVectors { target: target.as_str(), model: model.to_owned() });
        }
        found
            .iter()
            .map(|row| {
                Ok(VectorRow {
                    id: row.value("id")?,
                    preview: row.value("preview")?,
                    vector: decode(row.value("embedding_blob")?)?,
                })
            })
            .collect()
    }

    /// How many vectors there are, of every model.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn vector_count(&self) -> Result<u64> {
        let count: i64 =
            sqlx::query_scalar("SELECT count(*) FROM embeddings").fetch_one(self.reader()).await?;
        Ok(count.unsigned_abs())
    }

    pub(crate) async fn read_embeddings(
        &self,
        model: &str,
        targets: &[EmbeddingTarget],
    ) -> Result<HashMap<EmbeddingTarget, Vec<f32>>> {
        let mut by_name: HashMap<(&str, &str), &EmbeddingTarget> = HashMap::new();
        by_name.extend(targets.iter().map(|target| (name(target), target)));
        let mut vectors = HashMap::new();
        for kind in ["fragment", "claim"] {
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
        EmbeddingTarget::Fragment(id) => ("fragment", id.as_str()),
        EmbeddingTarget::Claim(id) => ("claim", id.as_str()),
    }
}

fn encode(vector: &[f32]) -> Vec<u8> {
    vector.iter().flat_map(|number| number.to_le_bytes()).collect()
}

fn decode(blob: &[u8]) -> Result<Vec<f32>> {
    let (numbers, rest) = blob.as_chunks::<4>();
    if !rest.is_empty() {
        return Err(StoreError::corrupt("an embedding", format!("{} bytes are no f32 numbers", blob.len())));
    }
    Ok(numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
}
