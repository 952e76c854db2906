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
    let error = format!("{error:#}");
    let cure = match variable(&error) {
        Some(name) => format!("correct the variable {name}, or unset it; config/lyra.toml shows every key"),
        None => "fix that key in the configuration file; config/lyra.toml shows every key".to_owned(),
    };
    report(&[Finding::broken("configuration", error, cure)], args)
}

/// The variable of the environment that an error of the configuration blames first.
fn variable(error: &str) -> Option<&str> {
    let is_name = |word: &&str| word.starts_with("LYRA_") || *word == "RUST_LOG";
    let (blamed, _) = error.split_once(", did you mean").unwrap_or((error, ""));
    blamed.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').find(is_name)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_to_correct_is_the_one_that_is_wrong() {
        for (error, name) in [
            ("the variable LYRA__SERVER__PORT should be a whole number", Some("LYRA__SERVER__PORT")),
            (
                "the variable LYRA_SERVER_PORT is not read, did you mean LYRA__SERVER__PORT?",
                Some("LYRA_SERVER_PORT"),
            ),
            ("`server.auth` (environment LYRA__SERVER__AUTH): unknown variant", Some("LYRA__SERVER__AUTH")),
            ("/etc/lyra.toml: unknown key `server.prot`, did you mean `server.port`?", None),
        ] {
            assert_eq!(variable(error), name, "{error}");
        }
    }
}
