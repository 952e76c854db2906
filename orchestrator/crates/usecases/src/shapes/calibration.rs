//! Calibrations and their measurements.

use crate::CalibrationStats;
use lyra_store::{CalibrationVersion, StoredEvaluation};
use lyra_wire::json::{fields_of, millionths};
use lyra_wire::{CalibrationBin, CalibrationEvaluation};

/// A measurement that was stored.
pub fn calibration_evaluation(stored: &StoredEvaluation) -> CalibrationEvaluation {
    CalibrationEvaluation {
        evaluation_id: stored.id.clone(),
        source: stored.source.clone(),
        version: stored.version,
        brier: millionths(stored.brier),
        ece: millionths(stored.ece),
        bins: stored.bins.iter().map(CalibrationBin::from).collect(),
        samples: stored.samples,
        evaluated_at: stored.evaluated_at.clone(),
    }
}

fn version(version: &CalibrationVersion) -> lyra_wire::CalibrationVersion {
    lyra_wire::CalibrationVersion {
        version: version.version,
        parameters: fields_of(&version.calibration),
        is_active: version.is_active,
        samples: version.samples,
        reason: version.reason.clone(),
        created_at: version.created_at.clone(),
    }
}

impl From<&CalibrationStats> for lyra_wire::CalibrationStats {
    fn from(stats: &CalibrationStats) -> Self {
        Self {
            source: stats.source.clone(),
            samples: stats.samples,
            corrected: stats.corrected,
            active_version: stats.active_version,
            versions: stats.versions.iter().map(version).collect(),
            latest_evaluation: stats.latest.as_ref().map(calibration_evaluation),
        }
    }
}
