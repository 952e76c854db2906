//! Judgments that a person corrects or confirms.

use crate::rows::RowExt;
use crate::verification::{self, Of};
use crate::{Result, Store, StoreError, tasks, timeline};
use lyra_domain::{ClaimId, CorrectionId, EdgeId, Relation, TaskId};
use uuid::Uuid;

/// What correcting an edge did, or undoing its correction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EdgeCorrection {
    /// The calibration sample that was stored; after an undo the last one that was deleted.
    pub sample: CorrectionId,
    /// The claim at the edge's end.
    pub claim: ClaimId,
    /// Its task.
    pub task: TaskId,
    /// The previous relation.
    pub previous: Relation,
    /// The current relation.
    pub relation: Relation,
}

impl EdgeCorrection {
    /// Whether the person saw it differently; otherwise the edge is marked as reviewed.
    pub fn changed(&self) -> bool {
        self.previous != self.relation
    }
}

impl Store {
    /// Sets the relation between a judged passage and a claim. A sample with premise, hypothesis and the model's own
    /// answer is always stored. A different relation replaces the judgment, with confidence 1; the same one keeps the
    /// judgment and marks it as reviewed (`edge_corrected_at`).
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when there is no such edge, [`StoreError::NotJudged`] when the edge is not a judgment,
    /// or `relation` is not one of `supports`, `refutes`, `neutral`.
    pub async fn correct_edge(
        &self,
        edge: &EdgeId,
        relation: Relation,
        reason: Option<&str>,
    ) -> Result<EdgeCorrection> {
        let now = self.stamp();
        let mut tx = self.write().await?;
        let row = sqlx::query(
            "SELECT edges.relation, edges.target_id, nli_label, nli_confidence, claim_text, claims.task_id,
                    coalesce(premise, text_content) AS premise
             FROM edges
             LEFT JOIN claims ON claims.id = edges.target_id
             LEFT JOIN fragments ON fragments.id = edges.source_id
             WHERE edges.id = ?",
        )
        .bind(edge.as_str())
        .fetch_optional(&mut *tx)
        .await?
        .ok_or_else(|| StoreError::not_found("edge", edge))?;
        let previous: Relation = row.parsed("relation")?;
        for judged in [previous, relation] {
            if !matches!(judged, Relation::Supports | Relation::Refutes | Relation::Neutral) {
                return Err(StoreError::NotJudged { edge: edge.to_string(), relation: judged });
            }
        }
        let claim: ClaimId = row.parsed("target_id")?;
        let task: TaskId = row.parsed("task_id")?;
        let sample = CorrectionId::new(Uuid::now_v7());
        // A second correction is still compared with the model's answer, not with the first correction.
        sqlx::query(
            "INSERT INTO nli_corrections (id, edge_id, task_id, premise, hypothesis, predicted_label,
                 predicted_confidence, correct_label, reason, corrected_at)
             SELECT ?1, ?2, ?3, ?4, ?5, coalesce(first.predicted_label, ?6), coalesce(first.predicted_confidence, ?7),
                    ?8, ?9, ?10
             FROM (SELECT 1) LEFT JOIN (
                 SELECT predicted_label, predicted_confidence FROM nli_corrections WHERE edge_id = ?2
                 ORDER BY rowid LIMIT 1) AS first",
        )
        .bind(sample.as_str())
        .bind(edge.as_str())
        .bind(task.as_str())
        .bind(row.value::<&str>("premise")?)
        .bind(row.value::<&str>("claim_text")?)
        .bind(row.value::<Option<&str>>("nli_label")?.unwrap_or(previous.as_str()))
        .bind(row.value::<Option<f64>>("nli_confidence")?.unwrap_or(0.0))
        .bind(relation.as_str())
        .bind(reason)
        .bind(&now)
        .execute(&mut *tx)
        .await?;
        let changed = previous != relation;
        sqlx::query(
            "UPDATE edges SET edge_correction_reason = ?2, edge_corrected_at = ?3,
                 relation = ?4, nli_label = ?4,
                 nli_confidence = iif(?5, 1.0, nli_confidence),
                 edge_human_corrected = iif(?5, 1, edge_human_corrected)
             WHERE id = ?1",
        )
        .bind(edge.as_str())
        .bind(reason)
        .bind(&now)
        .bind(relation.as_str())
        .bind(changed)
        .execute(&mut *tx)
        .await?;
        let event = if changed { "edge_corrected" } else { "edge_reviewed" };
        let detail = serde_json::json!({
            "edge_id": edge, "previous_relation": previous, "relation": relation, "reason": reason, "sample_id": sample,
        });
        timeline::note(&mut tx, &claim, event, &detail, None, &now).await?;
        verification::settle(&mut tx, Of::Claim(&claim), None, &now).await?;
        tasks::touch(&mut tx, &task, &now).await?;
        tx.commit().await?;
        Ok(EdgeCorrection { sample, claim, task, previous, relation })
    }

    /// Takes a person's corrections and reviews of an edge back: its relation and confidence are the model's own again, and
    /// its calibration samples are deleted. The claim's timeline keeps what was corrected, and that it was undone.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when there is no such edge, [`StoreError::NotCorrected`] when no person corrected or
    /// reviewed it.
    pub async fn undo_correction(&self, edge: &EdgeId, reason: Option<&str>) -> Result<EdgeCorrection> {
        let now = self.stamp();
        let mut tx = self.write().await?;
        let row = sqlx::query(
            "SELECT edges.relation, edges.target_id, claims.task_id
             FROM edges LEFT JOIN claims ON claims.id = edges.target_id
             WHERE edges.id = ?",
        )
        .bind(edge.as_str())
        .fetch_optional(&mut *tx)
        .await?
        .ok_or_else(|| StoreError::not_found("edge", edge))?;
        // The first sample has the model's own answer.
        let samples = sqlx::query(
            "SELECT id, predicted_label, predicted_confidence FROM nli_corrections WHERE edge_id = ? ORDER BY rowid",
        )
        .bind(edge.as_str())
        .fetch_all(&mut *tx)
        .await?;
        let (Some(first), Some(last)) = (samples.first(), samples.last()) else {
            return Err(StoreError::NotCorrected { edge: edge.to_string() });
        };
        let previous: Relation = row.parsed("relation")?;
        let relation: Relation = first.parsed("predicted_label")?;
        let sample: CorrectionId = last.parsed("id")?;
        let claim: ClaimId = row.parsed("target_id")?;
        let task: TaskId = row.parsed("task_id")?;
        sqlx::query(
            "UPDATE edges SET relation = ?2, nli_label = ?2, nli_confidence = ?3, edge_human_corrected = 0,
                 edge_correction_reason = NULL, edge_corrected_at = NULL
             WHERE id = ?1",
        )
        .bind(edge.as_str())
        .bind(relation.as_str())
        .bind(first.value::<f64>("predicted_confidence")?)
        .execute(&mut *tx)
        .await?;
        sqlx::query("DELETE FROM nli_corrections WHERE edge_id = ?")
            .bind(edge.as_str())
            .execute(&mut *tx)
            .await?;
        let ids: Vec<&str> = samples.iter().map(|row| row.value("id")).collect::<Result<_>>()?;
        let detail = serde_json::json!({
            "edge_id": edge, "previous_relation": previous, "relation": relation, "reason": reason,
            "deleted_sample_ids": ids,
        });
        timeline::note(&mut tx, &claim, "edge_restored", &detail, None, &now).await?;
        verification::settle(&mut tx, Of::Claim(&claim), None, &now).await?;
        tasks::touch(&mut tx, &task, &now).await?;
        tx.commit().await?;
        Ok(EdgeCorrection { sample, claim, task, previous, relation })
    }
}
