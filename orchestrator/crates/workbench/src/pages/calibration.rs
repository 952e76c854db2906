//! Calibration: how far the probabilities of the NLI model can be trusted, and which correction is in effect.

mod curves;
mod versions;

use crate::failure::{Failed, Failure};
use crate::shell::Page;
use crate::visit::Visit;
use crate::words::Words;
use axum::extract::State;
use axum::response::Response;
use lyra_store::StoredEvaluation;
use lyra_usecases::{App, CalibrationMeasure, CalibrationStats};
use maud::{Markup, html};
use serde_json::json;

/// Measurements that are listed.
const MEASUREMENTS: u32 = 50;

pub(super) async fn show(State(app): State<App>, visit: Visit) -> Result<Response, Failure> {
    let words = visit.words;
    let mut models = Vec::new();
    for stats in app.calibration_stats(None).await.shown_to(&visit)? {
        let measures = app.measure_calibration(&stats.source).await.shown_to(&visit)?;
        models.push((stats, measures));
    }
    let evaluations = app.calibration_evaluations(None, MEASUREMENTS).await.shown_to(&visit)?;
    let content = html! {
        div.stack.wide {
            header.stack.tight {
                h1 { (words.t("calibration.title")) }
                p.measure { (words.t("calibration.meaning")) }
            }
            div.stack.wide #calibration data-live {
                @if models.is_empty() { (nothing(words)) }
                @for (at, (stats, measures)) in models.iter().enumerate() { (model(&visit, at, stats, measures)) }
                @if !evaluations.is_empty() { (history(words, &evaluations)) }
            }
        }
    };
    Ok(Page { title: words.t("calibration.title"), here: "/calibration", content }.answer(&visit))
}

/// How samples arise, and what to do with them.
fn nothing(words: Words) -> Markup {
    html! {
        div.empty {
            h2 { (words.t("calibration.no_samples")) }
            p { (words.t("calibration.how_samples")) }
            p { (words.t("calibration.how_fit")) }
            p { code { "lyra calibration fit" } }
        }
    }
}

/// One NLI model: its numbers, its curves, and its versions.
fn model(visit: &Visit, at: usize, stats: &CalibrationStats, measures: &[CalibrationMeasure]) -> Markup {
    let words = visit.words;
    let id = format!("model-{at}");
    let of = |version: u32| measures.iter().find(|measure| measure.version == version);
    html! {
        section.stack aria-labelledby=(id) {
            div.between {
                h2 id=(id) { (stats.source) }
                @if visit.may_write && stats.active_version > 0 { (rollback(words, &id, stats)) }
            }
            p.facts {
                span { (words.t("calibration.in_effect")) " " b { (versions::name(words, stats.active_version)) } }
                span { (words.t("calibration.samples")) " " b { (words.number(stats.samples as u64)) } }
                span { (words.t("calibration.corrected")) " " b { (words.number(stats.corrected as u64)) } }
            }
            @if stats.versions.is_empty() {
                p.quiet { (words.t("calibration.no_versions")) " " code { "lyra calibration fit" } }
            }
            (versions::table(words, stats, measures))
            @if let Some(own) = of(0).filter(|own| own.metrics.samples > 0) {
                @let active = of(stats.active_version).filter(|active| active.version > 0);
                div.columns.half {
                    (curves::reliability(words, &format!("{id}-own"), own))
                    @if let Some(active) = active { (curves::reliability(words, &format!("{id}-active"), active)) }
                    (curves::risk(words, &format!("{id}-risk"), active.unwrap_or(own)))
                }
            }
        }
    }
}

/// Back to the version before, with a reason for the record.
fn rollback(words: Words, id: &str, stats: &CalibrationStats) -> Markup {
    html! {
        button.button type="button" id=(format!("{id}-rollback")) data-api="POST /api/v1/calibration/rollback"
            data-body=(json!({ "source": stats.source })) data-ask=(words.t("calibration.why_rollback"))
            data-reason="reason" data-said=(words.t("calibration.rolled_back")) { (words.t("calibration.rollback")) }
    }
}

/// Measurements that were stored.
fn history(words: Words, evaluations: &[StoredEvaluation]) -> Markup {
    html! {
        section.stack.tight aria-labelledby="measurements" {
            h2 #measurements { (words.t("calibration.measurements")) }
            div.table tabindex="0" role="group" aria-labelledby="measurements" {
                table {
                    caption { (words.t("calibration.measurements_note")) " " code { "lyra calibration evaluate" } }
                    thead {
                        tr {
                            th scope="col" { (words.t("calibration.when")) }
                            th scope="col" { (words.t("calibration.model")) }
                            th scope="col" { (words.t("calibration.version")) }
                            th.number scope="col" { (words.t("calibration.brier")) }
                            th.number scope="col" { (words.t("calibration.ece")) }
                            th.number scope="col" { (words.t("calibration.samples")) }
                        }
                    }
                    tbody {
                        @for measured in evaluations {
                            tr {
                                td { (crate::parts::moment::time(&measured.evaluated_at)) }
                                td { (measured.source) }
                                td { (versions::name(words, measured.version)) }
                                td.number { (format!("{:.4}", measured.brier)) }
                                td.number { (format!("{:.4}", measured.ece)) }
                                td.number { (words.number(measured.samples as u64)) }
                            }
                        }
                    }
                }
            }
        }
    }
}
