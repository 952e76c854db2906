//! The curves of one version: how far its confidence can be trusted, and what is gained by keeping only the surest
//! judgments.

use super::versions;
use crate::parts::figures;
use crate::pictures::{reliability, risk_coverage};
use crate::words::Words;
use lyra_domain::calibration::ReliabilityBin;
use lyra_usecases::CalibrationMeasure;
use maud::{Markup, html};

/// Confidence against the share of right judgments.
pub(super) fn reliability(words: Words, id: &str, measure: &CalibrationMeasure) -> Markup {
    let title =
        words.with("calibration.reliability_of", &[("version", &versions::name(words, measure.version))]);
    let texts = reliability::Texts {
        title: &title,
        description: words.t("calibration.reliability_note"),
        confidence: words.t("calibration.mean_confidence"),
        accuracy: words.t("calibration.accuracy"),
        count: words.t("calibration.judgments"),
        ideal: words.t("calibration.ideal"),
        bin: words.t("calibration.bin"),
    };
    let bins: Vec<reliability::Bin> = measure.metrics.bins.iter().map(bin).collect();
    let filled: Vec<reliability::Bin> = bins.iter().copied().filter(|bin| bin.count > 0).collect();
    let table = reliability::table(&filled, &texts);
    shown(words, id, &title, texts.description, &reliability::picture(id, &bins, &texts), &table)
}

/// The share of wrong judgments among the surest ones.
pub(super) fn risk(words: Words, id: &str, measure: &CalibrationMeasure) -> Markup {
    let title = words.with("calibration.risk_of", &[("version", &versions::name(words, measure.version))]);
    let texts = risk_coverage::Texts {
        title: &title,
        description: words.t("calibration.risk_note"),
        threshold: words.t("calibration.threshold"),
        coverage: words.t("calibration.coverage"),
        risk: words.t("calibration.risk"),
    };
    let points = kept(&measure.metrics.bins);
    let table = risk_coverage::table(&points, &texts);
    shown(words, id, &title, texts.description, &risk_coverage::picture(id, &points, &texts), &table)
}

/// A picture under its heading, with its numbers to open.
fn shown(words: Words, id: &str, title: &str, note: &str, picture: &Markup, table: &Markup) -> Markup {
    html! {
        div.stack.tight {
            h3 { (title) }
            p.small.quiet { (note) }
            (figures::figure(words, id, picture, table))
        }
    }
}

fn bin(bin: &ReliabilityBin) -> reliability::Bin {
    let ReliabilityBin { lower, upper, count, accuracy, confidence } = *bin;
    reliability::Bin { lower, upper, count: count as u64, accuracy, confidence }
}

/// Risk and coverage when only judgments above the lower end of a bin are kept, for each bin that holds some; exact at
/// these thresholds. The surest come first.
fn kept(bins: &[ReliabilityBin]) -> Vec<risk_coverage::Point> {
    let all: usize = bins.iter().map(|bin| bin.count).sum();
    let (mut count, mut wrong) = (0, 0.0);
    let filled = bins.iter().rev().filter(|bin| bin.count > 0);
    filled
        .map(|bin| {
            count += bin.count;
            wrong += bin.count as f64 * (1.0 - bin.accuracy.unwrap_or_default());
            risk_coverage::Point {
                threshold: bin.lower,
                coverage: count as f64 / all as f64,
                risk: wrong / count as f64,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bin(lower: f64, count: usize, accuracy: f64) -> ReliabilityBin {
        let filled = (count > 0).then_some(accuracy);
        ReliabilityBin { lower, upper: lower + 0.2, count, accuracy: filled, confidence: filled }
    }

    #[test]
    fn risk_grows_as_less_sure_judgments_are_kept() {
        let points = kept(&[bin(0.4, 5, 0.2), bin(0.6, 0, 0.0), bin(0.8, 15, 1.0)]);
        let numbers: Vec<_> =
            points.iter().map(|point| (point.threshold, point.coverage, point.risk)).collect();
        assert_eq!(numbers, [(0.8, 0.75, 0.0), (0.4, 1.0, 0.2)]);
    }

    #[test]
    fn without_judgments_there_are_no_points() {
        assert_eq!(kept(&[bin(0.0, 0, 0.0)]), []);
        assert_eq!(kept(&[]), []);
    }
}
