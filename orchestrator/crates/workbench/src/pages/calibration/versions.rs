//! The versions of a calibration, and what each makes of today's samples.

use crate::parts::moment;
use crate::words::Words;
use lyra_domain::CalibrationMethod;
use lyra_store::CalibrationVersion;
use lyra_usecases::{CalibrationMeasure, CalibrationStats};
use maud::{Markup, html};

/// A version's name; 0 is the model's own probabilities.
pub(super) fn name(words: Words, version: u32) -> String {
    if version == 0 {
        words.t("calibration.own").to_owned()
    } else {
        words.with("calibration.version_n", &[("n", &version.to_string())])
    }
}

/// The model's own probabilities, and every version, the newest first.
pub(super) fn table(words: Words, stats: &CalibrationStats, measures: &[CalibrationMeasure]) -> Markup {
    let versions = stats.versions.iter().map(Some).chain([None]);
    html! {
        div.table tabindex="0" role="group" aria-label=(words.with("calibration.versions_of", &[("model", &stats.source)])) {
            table {
                caption { (words.t("calibration.versions_note")) }
                thead {
                    tr {
                        th scope="col" { (words.t("calibration.version")) }
                        th.number scope="col" { (words.t("calibration.brier")) }
                        th.number scope="col" { (words.t("calibration.ece")) }
                        th scope="col" { (words.t("calibration.method")) }
                        th.number scope="col" { (words.t("calibration.fitted_to")) }
                        th scope="col" { (words.t("calibration.when")) }
                        th scope="col" { (words.t("calibration.reason")) }
                    }
                }
                tbody { @for version in versions { (row(words, stats, version, measures)) } }
            }
        }
    }
}

fn row(
    words: Words,
    stats: &CalibrationStats,
    version: Option<&CalibrationVersion>,
    measures: &[CalibrationMeasure],
) -> Markup {
    let number = version.map_or(0, |version| version.version);
    let measured = measures.iter().find(|measure| measure.version == number && measure.metrics.samples > 0);
    let score = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| format!("{value:.4}"));
    html! {
        tr {
            th scope="row" {
                (name(words, number))
                @if stats.active_version == number { " " span.pill.busy { (words.t("calibration.active")) } }
            }
            td.number { (score(measured.map(|measure| measure.metrics.brier))) }
            td.number { (score(measured.map(|measure| measure.metrics.ece))) }
            @if let Some(version) = version {
                td { (method(words, version.calibration.method())) }
                td.number { (words.number(version.samples as u64)) }
                td { (moment::time(&version.created_at)) }
                td { (version.reason.as_deref().unwrap_or_default()) }
            } @else { td {} td {} td {} td {} }
        }
    }
}

fn method(words: Words, method: CalibrationMethod) -> &'static str {
    match method {
        CalibrationMethod::Temperature => words.t("calibration.temperature"),
        CalibrationMethod::Platt => words.t("calibration.platt"),
    }
}
