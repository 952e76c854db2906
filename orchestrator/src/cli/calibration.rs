//! `lyra calibration …`.

use super::report::counted;
use super::{print, print_json, tell};
use clap::{Subcommand, ValueEnum};
use lyra_domain::{CalibrationMethod, CalibrationMetrics};
use lyra_usecases::{App, CalibrationChange, CalibrationStats, shapes};
use serde_json::json;
use std::fmt::Write;
use std::process::ExitCode;

#[derive(Debug, Subcommand)]
pub(super) enum CalibrationCommand {
    /// Show samples, parameter versions, and the active version
    Stats {
        /// NLI model [default: all]
        #[arg(long, value_name = "MODEL")]
        source: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Measure the active version on all corrected and reviewed judgments, and keep the result
    Evaluate {
        /// NLI model [default: the only one]
        #[arg(long, value_name = "MODEL")]
        source: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List measurements, newest first
    Evaluations {
        /// NLI model [default: all]
        #[arg(long, value_name = "MODEL")]
        source: Option<String>,
        /// Maximum number of measurements
        #[arg(short, default_value_t = 20, value_name = "N")]
        n: u32,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Fit parameters to the corrected and reviewed judgments; they apply only once activated
    Fit {
        /// NLI model [default: the only one]
        #[arg(long, value_name = "MODEL")]
        source: Option<String>,
        /// What to fit
        #[arg(long, value_enum, default_value_t = Method::Temperature)]
        method: Method,
        /// Reason, for the record
        #[arg(long)]
        reason: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Use a version to correct new judgments; 0 uses the model's own probabilities
    Activate {
        /// Version
        version: u32,
        /// NLI model [default: the only one]
        #[arg(long, value_name = "MODEL")]
        source: Option<String>,
        /// Reason, for the record
        #[arg(long)]
        reason: Option<String>,
    },
    /// Return to an earlier version
    Rollback {
        /// Version [default: the previously active one]
        version: Option<u32>,
        /// NLI model [default: the only one]
        #[arg(long, value_name = "MODEL")]
        source: Option<String>,
        /// Reason, for the record
        #[arg(long)]
        reason: String,
    },
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum Method {
    /// One number for all probabilities
    Temperature,
    /// A logistic curve per relation
    Platt,
}

impl From<Method> for CalibrationMethod {
    fn from(method: Method) -> Self {
        match method {
            Method::Temperature => Self::Temperature,
            Method::Platt => Self::Platt,
        }
    }
}

pub(super) async fn run(app: &App, command: &CalibrationCommand) -> anyhow::Result<ExitCode> {
    match command {
        CalibrationCommand::Stats { source, json } => {
            let stats = app.calibration_stats(source.as_deref()).await?;
            if *json {
                print_json(&stats.iter().map(lyra_wire::CalibrationStats::from).collect::<Vec<_>>())?;
            } else if stats.is_empty() {
                print("no judgment has been corrected or reviewed yet\n")?;
            } else {
                for source in &stats {
                    print(&stats_text(source))?;
                }
            }
        }
        CalibrationCommand::Evaluate { source, json } => {
            let found = app.evaluate_calibration(source.as_deref()).await?;
            if *json {
                print_json(&json!({
                    "evaluation": shapes::calibration_evaluation(&found.stored),
                    "nll": found.metrics.nll,
                    "accuracy": found.metrics.accuracy,
                    "brier_uncalibrated": found.brier_uncalibrated,
                    "warnings": found.warnings,
                }))?;
            } else {
                print(&format!(
                    "{}, version {}\n{}   Brier of the model's own {:.4}\n",
                    found.stored.source,
                    found.stored.version,
                    measures(&found.metrics),
                    found.brier_uncalibrated
                ))?;
                print(&bins(&found.metrics))?;
                warn(&found.warnings);
            }
        }
        CalibrationCommand::Evaluations { source, n, json } => {
            let found = app.calibration_evaluations(source.as_deref(), *n).await?;
            if *json {
                print_json(&found.iter().map(shapes::calibration_evaluation).collect::<Vec<_>>())?;
            } else {
                for e in &found {
                    print(&format!(
                        "{}  {}, version {}: Brier {:.4}, ECE {:.4}, {}\n",
                        e.evaluated_at,
                        e.source,
                        e.version,
                        e.brier,
                        e.ece,
                        samples(e.samples)
                    ))?;
                }
            }
        }
        CalibrationCommand::Fit { source, method, reason, json } => {
            let fit = app.fit_calibration(source.as_deref(), (*method).into(), reason.as_deref()).await?;
            if *json {
                print_json(&json!({
                    "source": fit.version.source,
                    "version": fit.version.version,
                    "parameters": fit.version.calibration,
                    "samples": fit.version.samples,
                    "before": fit.before,
                    "after": fit.after,
                    "cross_validated_brier": fit.cross_validated_brier,
                    "warnings": fit.warnings,
                }))?;
            } else {
                let held_out = fit
                    .cross_validated_brier
                    .map_or_else(String::new, |b| format!("   held out: Brier {b:.4}"));
                print(&format!(
                    "{}, version {}: {}\n  before {}\n  after  {}{held_out}\nnot active yet; to \
                     activate it: lyra calibration activate {}\n",
                    fit.version.source,
                    fit.version.version,
                    serde_json::to_string(&fit.version.calibration)?,
                    measures(&fit.before),
                    measures(&fit.after),
                    fit.version.version,
                ))?;
                warn(&fit.warnings);
            }
        }
        CalibrationCommand::Activate { version, source, reason } => {
            changed(&app.activate_calibration(source.as_deref(), *version, reason.as_deref()).await?)?;
        }
        CalibrationCommand::Rollback { version, source, reason } => {
            changed(&app.rollback_calibration(source.as_deref(), *version, reason).await?)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn changed(change: &CalibrationChange) -> anyhow::Result<()> {
    let brier = |score: Option<f64>| score.map_or("unknown".to_owned(), |score| format!("{score:.4}"));
    print(&format!(
        "{}: version {} is active (Brier {}), previously {} (Brier {})\n",
        change.source,
        change.version,
        brier(change.brier),
        change.previous_version,
        brier(change.brier_previous),
    ))?;
    warn(&change.warnings);
    Ok(())
}

fn warn(warnings: &[String]) {
    for warning in warnings {
        tell(&format!("warning: {warning}"));
    }
}

fn measures(m: &CalibrationMetrics) -> String {
    format!(
        "Brier {:.4}   ECE {:.4}   NLL {:.4}   accuracy {:.3}   {}",
        m.brier,
        m.ece,
        m.nll,
        m.accuracy,
        samples(m.samples)
    )
}

fn samples(number: usize) -> String {
    counted(number as u64, "sample")
}

fn bins(metrics: &CalibrationMetrics) -> String {
    let mut out = String::from("  confidence      samples  mean confidence  share right\n");
    for bin in metrics.bins.iter().filter(|bin| bin.count > 0) {
        let _ = writeln!(
            out,
            "  {:.3} to {:.3}  {:>7}  {:>15.3}  {:>11.3}",
            bin.lower,
            bin.upper,
            bin.count,
            bin.confidence.unwrap_or_default(),
            bin.accuracy.unwrap_or_default()
        );
    }
    out
}

fn stats_text(stats: &CalibrationStats) -> String {
    let mut out = format!(
        "{}: {}, {} of them corrected; version {} is active{}\n",
        stats.source,
        samples(stats.samples),
        stats.corrected,
        stats.active_version,
        if stats.active_version == 0 { " (the model's own probabilities)" } else { "" }
    );
    for version in &stats.versions {
        let _ = writeln!(
            out,
            "  version {} of {}, from {}: {}{}",
            version.version,
            version.created_at,
            samples(version.samples),
            serde_json::to_string(&version.calibration).unwrap_or_default(),
            version.reason.as_deref().map_or_else(String::new, |reason| format!(" ({reason})"))
        );
    }
    if let Some(e) = &stats.latest {
        let _ = writeln!(
            out,
            "  measured {}: version {}, Brier {:.4}, ECE {:.4}, {}",
            e.evaluated_at,
            e.version,
            e.brier,
            e.ece,
            samples(e.samples)
        );
    }
    out
}
