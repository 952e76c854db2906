//! How reliable the NLI model's probabilities are: `calibration_metrics`, `calibration_rollback`.

use super::{Call, Effect, Failure, Tool};
use crate::reply::{MAX_BYTES, fit};
use crate::schema::{any_object, one_of};
use lyra_domain::calibration::ReliabilityBin;
use lyra_store::{CalibrationVersion, StoredEvaluation};
use lyra_wire::json::millionths;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::Value;

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
    #[serde(skip_serializing_if = "Option::is_none")]
    sources: Option<Vec<SourceView>>,
    /// The measurement. Only for `evaluate`.
    #[serde(skip_serializing_if = "Option::is_none")]
    evaluation: Option<EvaluationView>,
    /// Brier score of the model's own probabilities on the same samples. Only for `evaluate`.
    #[serde(skip_serializing_if = "Option::is_none")]
    brier_uncalibrated: Option<f64>,
    /// Measurements, the newest first. Only for `get_evaluations`.
    #[serde(skip_serializing_if = "Option::is_none")]
    evaluations: Option<Vec<EvaluationView>>,
    /// Whether older versions or measurements were omitted because of the size of the result.
    truncated: bool,
    /// What got worse by more than 5 %.
    warnings: Vec<String>,
}

fn actions(_: &mut SchemaGenerator) -> Schema {
    one_of(["get_stats", "evaluate", "get_evaluations"].into_iter())
}

#[derive(Debug, Serialize, JsonSchema)]
struct SourceView {
    /// The NLI model, as in `edges.nli_model`.
    source: String,
    /// Judgments that a person corrected or confirmed.
    sample_count: usize,
    /// How many of them got another relation.
    corrected_count: usize,
    /// Version of the active parameters; 0 is the model's own probabilities.
    active_version: u32,
    /// Every version, the newest first.
    parameters: Vec<VersionView>,
    /// The newest measurement, when there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    latest_evaluation: Option<EvaluationView>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct VersionView {
    /// Number of the version, from 1.
    version: u32,
    /// `method`, and either `temperature` or `slope` and `intercept` for each relation.
    #[schemars(schema_with = "any_object")]
    parameters: Value,
    /// Whether it corrects new judgments.
    is_active: bool,
    /// Samples it was fitted to.
    sample_count: usize,
    /// Why it was fitted, if given.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// When it was fitted.
    created_at: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct EvaluationView {
    /// `calibration_evaluations.id`.
    evaluation_id: String,
    /// The NLI model.
    source: String,
    /// Version measured; 0 is the model's own probabilities.
    version: u32,
    /// Brier score over the three relations, 0 to 2; smaller is better.
    brier: f64,
    /// Expected calibration error, 0 to 1; smaller is better.
    ece: f64,
    /// Judgments by confidence; empty bins are omitted.
    bins: Vec<BinView>,
    /// Samples measured.
    sample_count: usize,
    /// When it was measured.
    evaluated_at: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct BinView {
    /// Confidence above this,
    lower: f64,
    /// up to and with this.
    upper: f64,
    /// Judgments in the bin.
    count: usize,
    /// Share of them that are right.
    accuracy: f64,
    /// Their mean confidence.
    confidence: f64,
}

impl From<CalibrationVersion> for VersionView {
    fn from(version: CalibrationVersion) -> Self {
        Self {
            version: version.version,
            parameters: serde_json::json!(version.calibration),
            is_active: version.is_active,
            sample_count: version.samples,
            reason: version.reason,
            created_at: version.created_at,
        }
    }
}

impl From<StoredEvaluation> for EvaluationView {
    fn from(stored: StoredEvaluation) -> Self {
        let bin = |bin: ReliabilityBin| {
            Some(BinView {
                lower: millionths(bin.lower),
                upper: millionths(bin.upper),
                count: bin.count,
                accuracy: millionths(bin.accuracy?),
                confidence: millionths(bin.confidence?),
            })
        };
        Self {
            evaluation_id: stored.id,
            source: stored.source,
            version: stored.version,
            brier: millionths(stored.brier),
            ece: millionths(stored.ece),
            bins: stored.bins.into_iter().filter_map(bin).collect(),
            sample_count: stored.samples,
            evaluated_at: stored.evaluated_at,
        }
    }
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
                let views = stats.into_iter().map(|stats| {
                    let mut parameters: Vec<VersionView> =
                        stats.versions.into_iter().map(Into::into).collect();
                    dropped += fit(&mut parameters, budget.saturating_sub(4_000));
                    SourceView {
                        source: stats.source,
                        sample_count: stats.samples,
                        corrected_count: stats.corrected,
                        active_version: stats.active_version,
                        parameters,
                        latest_evaluation: stats.latest.map(Into::into),
                    }
                });
                let mut views: Vec<SourceView> = views.collect();
                dropped += fit(&mut views, MAX_BYTES - FRAME_BYTES);
                output.truncated = dropped > 0;
                output.sources = Some(views);
            }
            Action::Evaluate => {
                let found = call.app.evaluate_calibration(source).await?;
                output.evaluation = Some(found.stored.into());
                output.brier_uncalibrated = Some(millionths(found.brier_uncalibrated));
                output.warnings = found.warnings;
            }
            Action::GetEvaluations => {
                let found = call.app.calibration_evaluations(source, input.limit).await?;
                let mut views: Vec<EvaluationView> = found.into_iter().map(Into::into).collect();
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
