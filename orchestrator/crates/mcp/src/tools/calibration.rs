//! How reliable the NLI model's probabilities are: `calibration_metrics`, `calibration_rollback`.

use super::{Call, Effect, Failure, Tool};
use crate::reply::{MAX_BYTES, fit, known};
use crate::schema::one_of;
use lyra_usecases::shapes;
use lyra_wire::json::millionths;
use lyra_wire::{CalibrationEvaluation, CalibrationStats};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

/// Bytes of one result reserved for everything but lists.
const FRAME_BYTES: usize = 8_000;

/// Reports how well calibrated the NLI model is, and measures it.
pub(super) struct CalibrationMetrics;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct CalibrationMetricsInput {
    /// What to do. `get_stats`: samples, parameter versions and the active version. `evaluate`: measures the active
    /// version on all corrected and reviewed judgments and keeps the result. `get_evaluations`: earlier measurements.
    action: Action,
    /// The NLI model, as in `edges.nli_model`. Default: all, and for `evaluate` the only one there is.
    #[schemars(length(min = 1, max = 300))]
    source: Option<String>,
    /// Most measurements for `get_evaluations`, 1 to 50, default 10.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 50))]
    limit: u32,
}

fn default_limit() -> u32 {
    10
}

#[derive(Debug, Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    GetStats,
    Evaluate,
    GetEvaluations,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct CalibrationMetricsOutput {
    /// What was done.
    #[schemars(schema_with = "actions")]
    action: Action,
    /// One entry per NLI model with corrected or reviewed judgments. Only for `get_stats`.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "known")]
    sources: Option<Vec<CalibrationStats>>,
    /// The measurement. Only for `evaluate`.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "known")]
    evaluation: Option<CalibrationEvaluation>,
    /// Brier score of the model's own probabilities on the same samples. Only for `evaluate`.
    #[serde(skip_serializing_if = "Option::is_none")]
    brier_uncalibrated: Option<f64>,
    /// Measurements, the newest first. Only for `get_evaluations`.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "known")]
    evaluations: Option<Vec<CalibrationEvaluation>>,
    /// Whether older versions or measurements were omitted because of the size of the result.
    truncated: bool,
    /// What got worse by more than 5 %.
    warnings: Vec<String>,
}

fn actions(_: &mut SchemaGenerator) -> Schema {
    one_of(["get_stats", "evaluate", "get_evaluations"].into_iter())
}

impl Tool for CalibrationMetrics {
    const NAME: &'static str = "calibration_metrics";
    const TITLE: &'static str = "Measure calibration";
    const DESCRIPTION: &'static str = "Reports how reliable the NLI model's probabilities are, measured on the \
        judgments that people corrected or confirmed: Brier score, expected calibration error, reliability bins, \
        versions of fitted parameters. `evaluate` adds a measurement to the history. No judgment is changed.";
    const EFFECT: Effect = Effect::Records;
    type Input = CalibrationMetricsInput;
    type Output = CalibrationMetricsOutput;

    async fn call(call: &Call, input: CalibrationMetricsInput) -> Result<CalibrationMetricsOutput, Failure> {
        let source = input.source.as_deref();
        let mut output = CalibrationMetricsOutput {
            action: input.action,
            sources: None,
            evaluation: None,
            brier_uncalibrated: None,
            evaluations: None,
            truncated: false,
            warnings: Vec::new(),
        };
        match input.action {
            Action::GetStats => {
                let stats = call.app.calibration_stats(source).await?;
                let budget = (MAX_BYTES - FRAME_BYTES) / stats.len().max(1);
                let mut dropped = 0;
                let views = stats.iter().map(|stats| {
                    let mut stats = CalibrationStats::from(stats);
                    dropped += fit(&mut stats.versions, budget.saturating_sub(4_000));
                    stats
                });
                let mut views: Vec<CalibrationStats> = views.collect();
                dropped += fit(&mut views, MAX_BYTES - FRAME_BYTES);
                output.truncated = dropped > 0;
                output.sources = Some(views);
            }
            Action::Evaluate => {
                let found = call.app.evaluate_calibration(source).await?;
                output.evaluation = Some(shapes::calibration_evaluation(&found.stored));
                output.brier_uncalibrated = Some(millionths(found.brier_uncalibrated));
                output.warnings = found.warnings;
            }
            Action::GetEvaluations => {
                let found = call.app.calibration_evaluations(source, input.limit).await?;
                let mut views: Vec<_> = found.iter().map(shapes::calibration_evaluation).collect();
                output.truncated = fit(&mut views, MAX_BYTES - FRAME_BYTES) > 0;
                output.evaluations = Some(views);
            }
        }
        Ok(output)
    }
}

/// Returns to earlier parameters.
pub(super) struct CalibrationRollback;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct CalibrationRollbackInput {
    /// The NLI model, as `calibration_metrics` names it. Default: the only one there is.
    #[schemars(length(min = 1, max = 300))]
    source: Option<String>,
    /// Version to return to, earlier than the active one; 0 is the model's own probabilities. Default: the previously
    /// active one.
    #[schemars(range(min = 0, max = 1_000_000))]
    version: Option<u32>,
    /// Why, 1 to 1000 characters; kept in the history.
    #[schemars(length(min = 1, max = 1000))]
    reason: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct CalibrationRollbackOutput {
    /// The NLI model.
    source: String,
    /// Version active now; 0 is the model's own probabilities.
    rolled_back_to: u32,
    /// Version active before.
    previous_version: u32,
    /// Brier score of the version active now, over today's samples. Only when there are samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    brier_after: Option<f64>,
    /// Brier score of the version before, over the same samples. Only when there are samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    brier_before: Option<f64>,
    /// What got worse by more than 5 %.
    warnings: Vec<String>,
}

impl Tool for CalibrationRollback {
    const NAME: &'static str = "calibration_rollback";
    const TITLE: &'static str = "Roll calibration back";
    const DESCRIPTION: &'static str = "Returns to an earlier version of the fitted calibration, or to the model's \
        own probabilities. It corrects new judgments; stored ones do not change.";
    const EFFECT: Effect = Effect::Corrects;
    type Input = CalibrationRollbackInput;
    type Output = CalibrationRollbackOutput;

    async fn call(
        call: &Call,
        input: CalibrationRollbackInput,
    ) -> Result<CalibrationRollbackOutput, Failure> {
        let lyra_usecases::CalibrationChange {
            source,
            version,
            previous_version,
            brier,
            brier_previous,
            warnings,
        } = call.app.rollback_calibration(input.source.as_deref(), input.version, &input.reason).await?;
        Ok(CalibrationRollbackOutput {
            source,
            rolled_back_to: version,
            previous_version,
            brier_after: brier.map(millionths),
            brier_before: brier_previous.map(millionths),
            warnings,
        })
    }
}
