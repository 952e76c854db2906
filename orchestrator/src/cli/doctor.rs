//! `lyra doctor`.

use super::{print, print_json, remedy};
use clap::Args;
use lyra_usecases::config::Config;
use lyra_usecases::{Finding, Health};
use serde::Serialize;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub(super) struct DoctorArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The finding for one part, as JSON.
#[derive(Debug, Serialize)]
struct FindingJson<'a> {
    part: &'static str,
    health: Health,
    seen: &'a str,
    remedy: Option<String>,
}

impl<'a> FindingJson<'a> {
    fn of(finding: &'a Finding) -> Self {
        let remedy = finding.remedy.as_ref().map(remedy::words);
        Self { part: finding.part, health: finding.health, seen: &finding.seen, remedy }
    }
}

/// Exit code 1 when something does not work.
pub(super) async fn run(config: Config, args: &DoctorArgs) -> anyhow::Result<ExitCode> {
    report(&crate::compose::examine(config).await, args)
}

/// The report when the configuration is unusable.
pub(super) fn unreadable(error: &anyhow::Error, args: &DoctorArgs) -> anyhow::Result<ExitCode> {
    let cure = "fix that key in the file that --config names; config/lyra.toml shows every key";
    report(&[Finding::broken("configuration", format!("{error:#}"), cure)], args)
}

fn report(findings: &[Finding], args: &DoctorArgs) -> anyhow::Result<ExitCode> {
    if args.json {
        let findings: Vec<FindingJson<'_>> = findings.iter().map(FindingJson::of).collect();
        print_json(&findings)?;
    } else {
        for finding in findings {
            print(&format!("{:<8} {:<13} {}\n", finding.health.as_str(), finding.part, finding.seen))?;
            if let Some(remedy) = &finding.remedy {
                print(&format!("{:<22} → {}\n", "", remedy::words(remedy)))?;
            }
        }
    }
    let broken = findings.iter().any(|finding| finding.health == Health::Broken);
    Ok(if broken { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
