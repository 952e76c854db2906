//! `lyra store …`.

use super::{print, print_json, task, tell};
use clap::Subcommand;
use lyra_store::Deletion;
use lyra_usecases::App;
use std::process::ExitCode;

#[derive(Debug, Subcommand)]
pub(super) enum StoreCommand {
    /// Read the whole database and report what is wrong with it
    Check {
        /// Rebuild the full-text indexes first
        #[arg(long)]
        rebuild_full_text: bool,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Delete tasks and cached responses older than [retention] allows, and unreferenced rows
    Prune {
        /// Only show what would be deleted
        #[arg(long)]
        dry_run: bool,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
}

/// Exit code 1 when something is wrong with the database.
pub(super) async fn run(app: &App, command: &StoreCommand) -> anyhow::Result<ExitCode> {
    match command {
        StoreCommand::Check { rebuild_full_text, json } => {
            if *rebuild_full_text {
                app.rebuild_full_text().await?;
            }
            let check = app.check_store().await?;
            if *json {
                print_json(&check)?;
            } else {
                for problem in &check.problems {
                    print(&format!("{:<14} {}\n", problem.check, problem.found))?;
                }
                for (table, rows) in &check.leftovers {
                    print(&format!(
                        "{:<14} {rows} unreferenced {table}; `lyra store prune` removes them\n",
                        "note"
                    ))?;
                }
                let verdict = if check.problems.is_empty() { "whole" } else { "damaged" };
                print(&format!("{verdict}: schema {}, {:.1} MB\n", check.schema, check.bytes as f64 / 1e6))?;
            }
            if !check.problems.is_empty() {
                tell(
                    "restore a backup (lyra backup restore), or, for full_text alone, use --rebuild-full-text",
                );
                return Ok(ExitCode::FAILURE);
            }
        }
        StoreCommand::Prune { dry_run, json } => {
            let how = if *dry_run { Deletion::DryRun } else { Deletion::Commit };
            let report = app.prune(how).await?;
            if *json {
                print_json(&report)?;
            } else {
                let verb = if *dry_run { "would delete" } else { "deleted" };
                print(&format!(
                    "{verb} {} tasks and {} cached responses ({:.1} MB)\n{}",
                    report.tasks.len(),
                    report.cache_files,
                    report.cache_bytes as f64 / 1e6,
                    task::rows(&report.deleted)
                ))?;
            }
            if report.deleted.cited_pages_kept {
                tell("a job is running: unreferenced rows stay until no job runs");
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}
