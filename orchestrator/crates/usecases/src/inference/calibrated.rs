//! The models, with their judgments corrected by the active calibration.

use super::LazyInference;
use async_trait::async_trait;
use lyra_domain::{AppliedCalibration, NliJudgement};
use lyra_research::Result;
use lyra_research::ports::{Inference, Models, TextRole, Verified, Verify};
use lyra_store::{CalibrationVersion, Store};
use std::sync::Arc;

/// What is known about the calibration of a model's judgments.
#[async_trait]
pub(crate) trait Calibrations: Send + Sync {
    /// The active parameters of a source; `None` when the model's own probabilities are used.
    async fn active_calibration(&self, source: &str) -> Result<Option<CalibrationVersion>>;
}

#[async_trait]
impl Calibrations for Store {
    async fn active_calibration(&self, source: &str) -> Result<Option<CalibrationVersion>> {
        Ok(Self::active_calibration(self, source).await?)
    }
}

/// Asks before every batch for the active calibration, because another process may have changed it.
pub(crate) struct CalibratedInference {
    pub(crate) models: Arc<LazyInference>,
    pub(crate) calibrations: Arc<dyn Calibrations>,
}

impl CalibratedInference {
    async fn calibrate<'j>(
        &self,
        judgements: impl Iterator<Item = &'j mut NliJudgement> + Send,
    ) -> Result<()> {
        let source = self.models.models().await?.classifier;
        if let Some(active) = self.calibrations.active_calibration(&source).await? {
            for judgement in judgements {
                let raw = judgement.scores;
                *judgement = active.calibration.apply(raw).judgement();
                judgement.calibration = Some(AppliedCalibration { version: active.version, raw });
            }
        }
        Ok(())
    }
}

#[async_trait]
impl Inference for CalibratedInference {
    async fn models(&self) -> Result<Models> {
        self.models.models().await
    }

    async fn embed(&self, role: TextRole, texts: &[String]) -> Result<Vec<Vec<f32>>> {
        self.models.embed(role, texts).await
    }

    async fn judge(&self, pairs: &[(String, String)]) -> Result<Vec<Option<NliJudgement>>> {
        let mut judgements = self.models.judge(pairs).await?;
        self.calibrate(judgements.iter_mut().flatten()).await?;
        Ok(judgements)
    }

    async fn verify(&self, items: &[Verify]) -> Result<Vec<Verified>> {
        let mut verified = self.models.verify(items).await?;
        self.calibrate(verified.iter_mut().map(|verified| &mut verified.judgement)).await?;
        Ok(verified)
    }
}
