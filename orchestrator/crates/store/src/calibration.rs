//! Calibration: samples from corrections, versions of parameters, evaluations.

use crate::rows::{RowExt, json};
use crate::{Result, Store, StoreError};
use lyra_domain::{Calibration, CalibrationMetrics, CalibrationSample, NliScores, Relation, named_enum};
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;
use std::collections::BTreeMap;
use uuid::Uuid;

/// Samples of one source: the NLI model that judged.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CalibrationSamples {
    /// One per corrected or reviewed edge, in the order of the first correction.
    pub samples: Vec<CalibrationSample>,
    /// How many of them a person changed.
    pub corrected: usize,
}

/// One version of a source's parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct CalibrationVersion {
    /// NLI model.
    pub source: String,
    /// From 1.
    pub version: u32,
    /// Parameters.
    pub calibration: Calibration,
    /// Whether new judgments are corrected with it.
    pub is_active: bool,
    /// Samples it was fitted from.
    pub samples: usize,
    /// Why it was fitted.
    pub reason: Option<String>,
    /// When, RFC 3339.
    pub created_at: String,
}

/// A measurement that was stored.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredEvaluation {
    /// Identifier.
    pub id: String,
    /// NLI model.
    pub source: String,
    /// Version measured; 0 stands for the model's own probabilities.
    pub version: u32,
    /// Brier score.
    pub brier: f64,
    /// Expected calibration error.
    pub ece: f64,
    /// Reliability bins.
    pub bins: Vec<lyra_domain::calibration::ReliabilityBin>,
    /// Samples.
    pub samples: usize,
    /// When, RFC 3339.
    pub evaluated_at: String,
}

named_enum! {
    /// Why another version came into effect.
    pub enum CalibrationAction {
        /// It was chosen.
        Activate = "activate",
        /// A later one was rolled back.
        Rollback = "rollback",
    }
}

impl Store {
    /// Samples by source, or of one source. An edge counts once, with its latest correction and the uncalibrated model
    /// output.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn calibration_samples(
        &self,
        source: Option<&str>,
    ) -> Result<BTreeMap<String, CalibrationSamples>> {
        let found = sqlx::query(
            "WITH ranked AS (
                 SELECT c.*, c.rowid AS n,
                     row_number() OVER (PARTITION BY edge_id ORDER BY corrected_at, c.rowid) AS nth,
                     row_number() OVER (PARTITION BY edge_id ORDER BY corrected_at DESC, c.rowid DESC) AS nth_last
                 FROM nli_corrections AS c
             )
             SELECT coalesce(edges.nli_model, 'unknown') AS source,
                    coalesce(edges.nli_raw_scores, edges.nli_scores) AS scores,
                    first.predicted_label, first.predicted_confidence, latest.correct_label
             FROM ranked AS first
             JOIN ranked AS latest ON latest.edge_id = first.edge_id AND latest.nth_last = 1
             JOIN edges ON edges.id = first.edge_id
             WHERE first.nth = 1 AND (?1 IS NULL OR coalesce(edges.nli_model, 'unknown') = ?1)
             ORDER BY first.corrected_at, first.n",
        )
        .bind(source)
        .fetch_all(self.reader())
        .await?;
        let mut by_source: BTreeMap<String, CalibrationSamples> = BTreeMap::new();
        for row in &found {
            let predicted: Relation = row.parsed("predicted_label")?;
            let correct: Relation = row.parsed("correct_label")?;
            let scores: Option<NliScores> = row.json_or_default("scores")?;
            let scores = scores.unwrap_or(spread(predicted, row.value("predicted_confidence")?));
            let Some(sample) = CalibrationSample::new(scores, correct) else { continue };
            let entry = by_source.entry(row.value("source")?).or_default();
            entry.samples.push(sample);
            entry.corrected += usize::from(predicted != correct);
        }
        Ok(by_source)
    }

    /// Versions of the parameters, of one source when one is given; by source, the newest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn calibrations(&self, source: Option<&str>) -> Result<Vec<CalibrationVersion>> {
        let found = sqlx::query(
            "SELECT * FROM calibration_parameters WHERE ?1 IS NULL OR source = ?1 ORDER BY source, version DESC",
        )
        .bind(source)
        .fetch_all(self.reader())
        .await?;
        found.iter().map(version).collect()
    }

    /// The active parameters of a source; `None` when the model's own probabilities are used.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn active_calibration(&self, source: &str) -> Result<Option<CalibrationVersion>> {
        let found = sqlx::query("SELECT * FROM calibration_parameters WHERE source = ? AND is_active = 1")
            .bind(source)
            .fetch_optional(self.reader())
            .await?;
        found.as_ref().map(version).transpose()
    }

    /// Stores fitted parameters as the next version of a source, without activating it.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub async fn add_calibration(
        &self,
        source: &str,
        calibration: &Calibration,
        samples: usize,
        reason: Option<&str>,
    ) -> Result<CalibrationVersion> {
        let now = self.stamp();
        let mut tx = self.write().await?;
        let version: u32 = sqlx::query_scalar(
            "INSERT INTO calibration_parameters (source, version, method, parameters, samples, reason, created_at)
             SELECT ?1, coalesce(max(version), 0) + 1, ?2, ?3, ?4, ?5, ?6
             FROM calibration_parameters WHERE source = ?1
             RETURNING version",
        )
        .bind(source)
        .bind(calibration.method().as_str())
        .bind(json(calibration)?)
        .bind(samples as u32)
        .bind(reason)
        .bind(&now)
        .fetch_one(&mut *tx)
        .await?;
        tx.commit().await?;
        Ok(CalibrationVersion {
            source: source.to_owned(),
            version,
            calibration: *calibration,
            is_active: false,
            samples,
            reason: reason.map(str::to_owned),
            created_at: now,
        })
    }

    /// Activates a version of a source, or with version 0 none, and logs it. Returns the previously active version.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when there is no such version.
    pub async fn activate_calibration(
        &self,
        source: &str,
        version: u32,
        action: CalibrationAction,
        reason: Option<&str>,
    ) -> Result<u32> {
        let now = self.stamp();
        let mut tx = self.write().await?;
        let previous = active_version(&mut tx, source).await?;
        sqlx::query("UPDATE calibration_parameters SET is_active = 0 WHERE source = ? AND is_active = 1")
            .bind(source)
            .execute(&mut *tx)
            .await?;
        if version > 0 {
            let changed = sqlx::query(
                "UPDATE calibration_parameters SET is_active = 1 WHERE source = ? AND version = ?",
            )
            .bind(source)
            .bind(version)
            .execute(&mut *tx)
            .await?
            .rows_affected();
            if changed == 0 {
                return Err(StoreError::not_found("calibration", format!("{version} of {source}")));
            }
        }
        sqlx::query(
            "INSERT INTO calibration_activations (source, action, version, previous_version, reason, at)
             VALUES (?, ?, ?, ?, ?, ?)",
        )
        .bind(source)
        .bind(action.as_str())
        .bind(version)
        .bind(previous)
        .bind(reason)
        .bind(now)
        .execute(&mut *tx)
        .await?;
        tx.commit().await?;
        Ok(previous)
    }

    /// The version that was active before the present one, ignoring rolled-back versions; 0 for the first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn calibration_before(&self, source: &str, version: u32) -> Result<u32> {
        let before: Option<u32> = sqlx::query_scalar(
            "SELECT previous_version FROM calibration_activations
             WHERE source = ?1 AND version = ?2 AND action = 'activate' AND previous_version <> ?2
             ORDER BY seq DESC LIMIT 1",
        )
        .bind(source)
        .bind(version)
        .fetch_optional(self.reader())
        .await?;
        Ok(before.unwrap_or(0))
    }

    /// Stores a measurement of a version; 0 stands for the model's own probabilities.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub async fn add_evaluation(
        &self,
        source: &str,
        version: u32,
        metrics: &CalibrationMetrics,
    ) -> Result<StoredEvaluation> {
        let evaluation = StoredEvaluation {
            id: format!("ceval_{}", Uuid::now_v7().simple()),
            source: source.to_owned(),
            version,
            brier: metrics.brier,
            ece: metrics.ece,
            bins: metrics.bins.clone(),
            samples: metrics.samples,
            evaluated_at: self.stamp(),
        };
        let mut tx = self.write().await?;
        sqlx::query(
            "INSERT INTO calibration_evaluations (id, source, version, brier, ece, bins, samples, evaluated_at)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        )
        .bind(&evaluation.id)
        .bind(source)
        .bind(version)
        .bind(evaluation.brier)
        .bind(evaluation.ece)
        .bind(json(&evaluation.bins)?)
        .bind(evaluation.samples as u32)
        .bind(&evaluation.evaluated_at)
        .execute(&mut *tx)
        .await?;
        tx.commit().await?;
        Ok(evaluation)
    }

    /// Measurements, of one source when one is given, the newest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn evaluations(&self, source: Option<&str>, limit: u32) -> Result<Vec<StoredEvaluation>> {
        let found = sqlx::query(
            "SELECT * FROM calibration_evaluations WHERE ?1 IS NULL OR source = ?1
             ORDER BY evaluated_at DESC, id DESC LIMIT ?2",
        )
        .bind(source)
        .bind(limit)
        .fetch_all(self.reader())
        .await?;
        found
            .iter()
            .map(|row| {
                Ok(StoredEvaluation {
                    id: row.value("id")?,
                    source: row.value("source")?,
                    version: row.value::<Option<u32>>("version")?.unwrap_or(0),
                    brier: row.value("brier")?,
                    ece: row.value("ece")?,
                    bins: row.json_or_default("bins")?,
                    samples: row.value::<u32>("samples")? as usize,
                    evaluated_at: row.value("evaluated_at")?,
                })
            })
            .collect()
    }
}

async fn active_version(connection: &mut SqliteConnection, source: &str) -> Result<u32> {
    let active: Option<u32> =
        sqlx::query_scalar("SELECT version FROM calibration_parameters WHERE source = ? AND is_active = 1")
            .bind(source)
            .fetch_optional(connection)
            .await?;
    Ok(active.unwrap_or(0))
}

fn version(row: &SqliteRow) -> Result<CalibrationVersion> {
    let text: String = row.value("parameters")?;
    let calibration: Calibration = serde_json::from_str(&text)
        .map_err(|error| StoreError::corrupt("column parameters of calibration_parameters", error))?;
    if !calibration.is_sound() {
        return Err(StoreError::corrupt(
            "column parameters of calibration_parameters",
            "a number is out of range",
        ));
    }
    Ok(CalibrationVersion {
        source: row.value("source")?,
        version: row.value("version")?,
        calibration,
        is_active: row.value("is_active")?,
        samples: row.value::<u32>("samples")? as usize,
        reason: row.value("reason")?,
        created_at: row.value("created_at")?,
    })
}

/// Scores of a judgment when only the likeliest relation is known: the others share the rest.
fn spread(predicted: Relation, confidence: f64) -> NliScores {
    let of = |relation| if predicted == relation { confidence } else { (1.0 - confidence) / 2.0 };
    NliScores {
        supports: of(Relation::Supports),
        refutes: of(Relation::Refutes),
        neutral: of(Relation::Neutral),
    }
}

#[cfg(test)]
mod tests;
