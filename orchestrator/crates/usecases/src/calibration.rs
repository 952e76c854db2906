//! Calibration of the NLI model: how reliable its probabilities are, and corrections that are fitted on request and
//! applied only after activation.

use super::{App, AppError, ErrorCode, Remedy};
use lyra_domain::calibration::{MIN_FIT_SAMPLES, cross_validated_brier, degradation};
use lyra_domain::{Calibration, CalibrationMethod, CalibrationMetrics, CalibrationSample};
use lyra_store::{CalibrationAction, CalibrationSamples, CalibrationVersion, StoredEvaluation};
use std::collections::{BTreeMap, BTreeSet};

/// The calibration state of one source, the NLI model whose judgments were corrected.
#[derive(Debug, Clone, PartialEq)]
pub struct CalibrationStats {
    /// NLI model.
    pub source: String,
    /// Corrected and reviewed edges: what parameters are fitted from.
    pub samples: usize,
    /// How many of them a person changed.
    pub corrected: usize,
    /// Active version; 0 is the model's own probabilities.
    pub active_version: u32,
    /// Every version, the newest first.
    pub versions: Vec<CalibrationVersion>,
    /// The newest measurement.
    pub latest: Option<StoredEvaluation>,
}

/// What a version makes of today's samples. Nothing of it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct CalibrationMeasure {
    /// The version; 0 is the model's own probabilities.
    pub version: u32,
    /// Its measures. A version that was fitted to some of these samples looks better here than on new ones.
    pub metrics: CalibrationMetrics,
}

/// A measurement of the active version.
#[derive(Debug, Clone, PartialEq)]
pub struct CalibrationEvaluation {
    /// As it was stored.
    pub stored: StoredEvaluation,
    /// All measures.
    pub metrics: CalibrationMetrics,
    /// Brier score of the model's own probabilities on the same samples.
    pub brier_uncalibrated: f64,
    /// What got worse by more than 5 %.
    pub warnings: Vec<String>,
}

/// Newly fitted parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct CalibrationFit {
    /// The new version, not yet active.
    pub version: CalibrationVersion,
    /// The samples as the model judged them.
    pub before: CalibrationMetrics,
    /// The same with the new parameters, which were fitted from them.
    pub after: CalibrationMetrics,
    /// Brier score on samples held out in turn: what to expect of new judgments.
    pub cross_validated_brier: Option<f64>,
    /// What got worse by more than 5 %.
    pub warnings: Vec<String>,
}

/// Another version came into effect.
#[derive(Debug, Clone, PartialEq)]
pub struct CalibrationChange {
    /// NLI model.
    pub source: String,
    /// Version active now; 0 is the model's own probabilities.
    pub version: u32,
    /// Version active before.
    pub previous_version: u32,
    /// Brier score of the version active now, over today's samples; `None` without samples.
    pub brier: Option<f64>,
    /// Brier score of the version before, over the same.
    pub brier_previous: Option<f64>,
    /// What got worse by more than 5 %.
    pub warnings: Vec<String>,
}

impl App {
    /// Samples, versions and the newest measurement, by source; of one source when one is given.
    ///
    /// # Errors
    /// An unknown source.
    pub async fn calibration_stats(&self, source: Option<&str>) -> Result<Vec<CalibrationStats>, AppError> {
        let mut samples = self.store().calibration_samples(source).await?;
        let mut versions: BTreeMap<String, Vec<CalibrationVersion>> = BTreeMap::new();
        for version in self.store().calibrations(source).await? {
            versions.entry(version.source.clone()).or_default().push(version);
        }
        let names: BTreeSet<String> = samples.keys().chain(versions.keys()).cloned().collect();
        if let (Some(source), true) = (source, names.is_empty()) {
            return Err(self.unknown_calibration(source).await?);
        }
        let mut stats = Vec::new();
        for source in names {
            let CalibrationSamples { samples, corrected } = samples.remove(&source).unwrap_or_default();
            let versions = versions.remove(&source).unwrap_or_default();
            stats.push(CalibrationStats {
                samples: samples.len(),
                corrected,
                active_version: versions.iter().find(|v| v.is_active).map_or(0, |v| v.version),
                versions,
                latest: self.store().evaluations(Some(&source), 1).await?.pop(),
                source,
            });
        }
        Ok(stats)
    }

    /// Measures every version of a source on today's samples, from 0, and stores nothing.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn measure_calibration(&self, source: &str) -> Result<Vec<CalibrationMeasure>, AppError> {
        let samples =
            self.store().calibration_samples(Some(source)).await?.remove(source).unwrap_or_default();
        let mut versions = self.store().calibrations(Some(source)).await?;
        versions.sort_by_key(|version| version.version);
        let measure = |version, calibration| CalibrationMeasure {
            version,
            metrics: CalibrationMetrics::of(&samples.samples, calibration),
        };
        let fitted = versions.iter().map(|version| measure(version.version, Some(&version.calibration)));
        Ok(std::iter::once(measure(0, None)).chain(fitted).collect())
    }

    /// Measures the active version on today's samples and stores the result. Warns when it is worse by more than 5 %
    /// than the model's own probabilities on the same samples, or than its own measurement before.
    ///
    /// # Errors
    /// No samples, or several sources and none named.
    pub async fn evaluate_calibration(
        &self,
        source: Option<&str>,
    ) -> Result<CalibrationEvaluation, AppError> {
        let (source, samples) = self.samples_of(source).await?;
        let active = self.store().active_calibration(&source).await?;
        let version = active.as_ref().map_or(0, |active| active.version);
        let metrics = CalibrationMetrics::of(&samples, active.as_ref().map(|active| &active.calibration));
        let brier_uncalibrated = CalibrationMetrics::of(&samples, None).brier;
        let mut warnings = Vec::new();
        if let Some(share) = degradation(brier_uncalibrated, metrics.brier) {
            warnings.push(worse(version, "the model's own probabilities on the same samples", share));
        }
        let before = self.store().evaluations(Some(&source), 100).await?;
        if let Some(before) = before.iter().find(|before| before.version == version)
            && let Some(share) = degradation(before.brier, metrics.brier)
        {
            warnings.push(worse(version, &format!("its own measurement of {}", before.evaluated_at), share));
        }
        let stored = self.store().add_evaluation(&source, version, &metrics).await?;
        Ok(CalibrationEvaluation { stored, metrics, brier_uncalibrated, warnings })
    }

    /// Measurements, the newest first; of one source when one is given.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn calibration_evaluations(
        &self,
        source: Option<&str>,
        limit: u32,
    ) -> Result<Vec<StoredEvaluation>, AppError> {
        Ok(self.store().evaluations(source, limit).await?)
    }

    /// Fits parameters to the samples and stores them as a new version, without activating it.
    ///
    /// # Errors
    /// Fewer than 10 samples, or several sources and none named.
    pub async fn fit_calibration(
        &self,
        source: Option<&str>,
        method: CalibrationMethod,
        reason: Option<&str>,
    ) -> Result<CalibrationFit, AppError> {
        let (source, samples) = self.samples_of(source).await?;
        if samples.len() < MIN_FIT_SAMPLES {
            return Err(AppError::invalid(
                format!("{source} has {} corrected or reviewed judgments", samples.len()),
                format!("fitting needs at least {MIN_FIT_SAMPLES}; correct or confirm more edges"),
            ));
        }
        let calibration = Calibration::fit(method, &samples);
        let before = CalibrationMetrics::of(&samples, None);
        let after = CalibrationMetrics::of(&samples, Some(&calibration));
        let cross_validated_brier = cross_validated_brier(method, &samples);
        let version = self.store().add_calibration(&source, &calibration, samples.len(), reason).await?;
        let mut warnings = Vec::new();
        if let Some(share) = degradation(before.brier, after.brier) {
            warnings.push(worse(version.version, "the model's own probabilities on the same samples", share));
        }
        if let Some(share) = cross_validated_brier.and_then(|brier| degradation(before.brier, brier)) {
            let what = "the model's own probabilities on held-out samples";
            warnings.push(worse(version.version, what, share));
        }
        Ok(CalibrationFit { version, before, after, cross_validated_brier, warnings })
    }

    /// Brings a version into effect: new judgments are corrected with it, stored ones stay. Version 0 is the model's
    /// own probabilities.
    ///
    /// # Errors
    /// No such version, or several sources and none named.
    pub async fn activate_calibration(
        &self,
        source: Option<&str>,
        version: u32,
        reason: Option<&str>,
    ) -> Result<CalibrationChange, AppError> {
        let source = self.source_named(source).await?;
        self.change_calibration(source, version, CalibrationAction::Activate, reason).await
    }

    /// Returns to an earlier version: the given one, or the one active before the present one; 0 is the model's own
    /// probabilities.
    ///
    /// # Errors
    /// No version is active, the version is not an earlier one, or there are several sources and none is named.
    pub async fn rollback_calibration(
        &self,
        source: Option<&str>,
        version: Option<u32>,
        reason: &str,
    ) -> Result<CalibrationChange, AppError> {
        let source = self.source_named(source).await?;
        let Some(active) = self.store().active_calibration(&source).await? else {
            return Err(AppError::invalid(
                format!("no calibration of {source} is active"),
                "there is nothing to roll back: the model's own probabilities are used",
            ));
        };
        let to = match version {
            Some(version) if version >= active.version => {
                return Err(AppError::invalid(
                    format!("version {version} is not earlier than the active version {}", active.version),
                    Remedy::ActivateCalibration,
                ));
            }
            Some(version) => version,
            None => self.store().calibration_before(&source, active.version).await?.min(active.version - 1),
        };
        self.change_calibration(source, to, CalibrationAction::Rollback, Some(reason)).await
    }

    async fn change_calibration(
        &self,
        source: String,
        version: u32,
        action: CalibrationAction,
        reason: Option<&str>,
    ) -> Result<CalibrationChange, AppError> {
        let versions = self.store().calibrations(Some(&source)).await?;
        let samples =
            self.store().calibration_samples(Some(&source)).await?.remove(&source).unwrap_or_default();
        let previous_version = self.store().activate_calibration(&source, version, action, reason).await?;
        let brier = |version: u32| {
            let calibration = versions.iter().find(|v| v.version == version).map(|v| &v.calibration);
            let measured = !samples.samples.is_empty() && (version == 0 || calibration.is_some());
            measured.then(|| CalibrationMetrics::of(&samples.samples, calibration).brier)
        };
        let (now, before) = (brier(version), brier(previous_version));
        let mut warnings = Vec::new();
        if let (Some(now), Some(before)) = (now, before)
            && let Some(share) = degradation(before, now)
        {
            warnings.push(worse(version, &format!("{} on the same samples", named(previous_version)), share));
        }
        Ok(CalibrationChange {
            source,
            version,
            previous_version,
            brier: now,
            brier_previous: before,
            warnings,
        })
    }

    /// The samples of the source meant, which has some.
    async fn samples_of(&self, source: Option<&str>) -> Result<(String, Vec<CalibrationSample>), AppError> {
        let source = self.source_named(source).await?;
        let samples = self.store().calibration_samples(Some(&source)).await?.remove(&source);
        match samples {
            Some(samples) => Ok((source, samples.samples)),
            None => Err(AppError::new(
                ErrorCode::NotFound,
                format!("no judgment of {source} has been corrected or reviewed"),
            )),
        }
    }

    /// The given source, if it is known, or the only one there is.
    async fn source_named(&self, source: Option<&str>) -> Result<String, AppError> {
        let known = self.calibration_sources().await?;
        match (source, &known[..]) {
            (Some(source), _) if known.iter().any(|name| name == source) => Ok(source.to_owned()),
            (Some(source), _) => Err(self.unknown_calibration(source).await?),
            (None, [only]) => Ok(only.clone()),
            (None, []) => {
                Err(AppError::new(ErrorCode::NotFound, "no judgment has been corrected or reviewed yet")
                    .with("correct or confirm edges first; each becomes a sample"))
            }
            (None, many) => Err(AppError::invalid(
                format!("there are {} sources", many.len()),
                format!("name one of them: {}", many.join(", ")),
            )),
        }
    }

    async fn unknown_calibration(&self, source: &str) -> Result<AppError, AppError> {
        let known = self.calibration_sources().await?;
        let hint = if known.is_empty() {
            "no judgment has been corrected or reviewed yet".to_owned()
        } else {
            format!("the sources are: {}", known.join(", "))
        };
        let message = format!("unknown calibration source `{source}`");
        Ok(AppError::new(ErrorCode::NotFound, message).with(hint))
    }

    async fn calibration_sources(&self) -> Result<Vec<String>, AppError> {
        let samples = self.store().calibration_samples(None).await?;
        let versions = self.store().calibrations(None).await?;
        let names: BTreeSet<String> =
            samples.into_keys().chain(versions.into_iter().map(|version| version.source)).collect();
        Ok(names.into_iter().collect())
    }
}

fn named(version: u32) -> String {
    if version == 0 { "the model's own probabilities".to_owned() } else { format!("version {version}") }
}

fn worse(version: u32, than: &str, share: f64) -> String {
    format!("the Brier score of {} is {:.1} % worse than that of {than}", named(version), 100.0 * share)
}

#[cfg(test)]
mod tests;
