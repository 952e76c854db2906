//! The models, with their judgements corrected by the calibration that is in force.

use super::LazyInference;
use async_trait::async_trait;
use lyra_domain::{AppliedCalibration, NliJudgement};
use lyra_research::Result;
use lyra_research::ports::{Inference, Models};
use lyra_store::Store;
use std::sync::Arc;

/// Asks the store before every batch which calibration is in force, because another process may have changed it.
pub(crate) struct CalibratedInference {
    pub(crate) models: Arc<LazyInference>,
    pub(crate) store: Arc<Store>,
}

#[async_trait]
impl Inference for CalibratedInference {
    async fn models(&self) -> Result<Models> {
        self.models.models().await
    }

    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>> {
        self.models.embed(texts).await
    }

    async fn judge(&self, pairs: &[(String, String)]) -> Result<Vec<Option<NliJudgement>>> {
        let mut judgements = self.models.judge(pairs).await?;
        let source = self.models.models().await?.classifier;
        if let Some(active) = self.store.active_calibration(&source).await? {
            for judgement in judgements.iter_mut().flatten() {
                let raw = judgement.scores;
                *judgement = active.calibration.apply(raw).judgement();
                judgement.calibration = Some(AppliedCalibration { version: active.version, raw });
            }
        }
        Ok(judgements)
    }
}
