//! `lyra doctor`.

use super::{print, print_json};
use crate::app::{App, Health};
use crate::config::Config;
use clap::Args;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub(super) struct DoctorArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Exit code 1 when something does not work.
pub(super) async fn run(config: Config, args: &DoctorArgs) -> anyhow::Result<ExitCode> {
    let findings = App::examine(config).await;
    if args.json {
        print_json(&findings)?;
    } else {
        for finding in &findings {
            print(&format!("{:<8} {:<10} {}\n", finding.health.as_str(), finding.part, finding.seen))?;
            if let Some(remedy) = &finding.remedy {
                print(&format!("{:<19} → {remedy}\n", ""))?;
            }
        }
    }
    let broken = findings.iter().any(|finding| finding.health == Health::Broken);
    Ok(if broken { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
