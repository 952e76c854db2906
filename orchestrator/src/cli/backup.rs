//! `lyra backup …`.

use super::{print, print_json, tell};
use crate::app::{App, BackupReport, Caller, Mutation};
use crate::config::Config;
use crate::worker::BackupReaders;
use clap::Subcommand;
use lyra_store::AuditOutcome;
use serde_json::json;
use std::io::{IsTerminal, Stdin};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tokio_util::sync::CancellationToken;

/// What `lyra backup --help` says at its end.
pub(super) const HELP: &str = "\
A backup holds the databases and every corpus, with size and SHA-256 of each file. It may be written
while a server runs. It holds the cookies of logins: keep it as safe as the data folder.

  lyra backup create lyra.tar.gz       one file (.tar, .tar.gz, .tgz), or a new folder
  lyra backup verify lyra.tar.gz       is every byte as it was written?
  lyra backup restore lyra.tar.gz      into the data folder, with every lyra process stopped

`-` in place of a file is standard output or input, for containers and for other machines:

  ssh HOST lyra backup create - > lyra.tar.gz

The configuration is not in it, nor are models and kept answers of sources.";

#[derive(Debug, Subcommand)]
pub(super) enum BackupCommand {
    /// Write a backup, and read it again
    Create {
        /// File (.tar, .tar.gz, .tgz) or folder to write; `-` writes a .tar.gz to standard output
        target: PathBuf,
        /// Replace a backup that is there
        #[arg(long)]
        force: bool,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Read a backup to its end and say whether it can be used
    Verify {
        /// File or folder; `-` reads standard input
        source: PathBuf,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Put a backup into the data folder, after checking it
    Restore {
        /// File or folder; `-` reads standard input
        source: PathBuf,
        /// Replace the data that is there; it is kept beside the new
        #[arg(long)]
        force: bool,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
}

/// Does what has to be done with the data folder closed; none when the application is needed.
pub(super) async fn without_app(
    config: &Config,
    command: &BackupCommand,
    cancel: &CancellationToken,
) -> anyhow::Result<Option<ExitCode>> {
    let done = read_backup(config, command, cancel).await;
    match done {
        Err(error) if cancel.is_cancelled() => {
            tell(&format!("{error:#}"));
            Ok(Some(ExitCode::from(130)))
        }
        done => done,
    }
}

async fn read_backup(
    config: &Config,
    command: &BackupCommand,
    cancel: &CancellationToken,
) -> anyhow::Result<Option<ExitCode>> {
    let readers = BackupReaders::new(config.worker_program.clone()).until(cancel.clone());
    match command {
        BackupCommand::Create { .. } => return Ok(None),
        BackupCommand::Verify { source, json } => {
            let report = if is_pipe(source) {
                App::verify_backup_from(piped()?, &config.data_dir()?, &readers).await?
            } else {
                App::verify_backup(source, &readers).await?
            };
            show(&report, "sound:", *json)?;
        }
        BackupCommand::Restore { source, force, json } => {
            let data_dir = config.data_dir()?;
            let report = if is_pipe(source) {
                App::restore_backup_from(piped()?, &data_dir, *force, &readers).await?
            } else {
                App::restore_backup(source, &data_dir, *force, &readers).await?
            };
            // Opened once, so that an older database is upgraded now and not when somebody waits for it.
            let app = App::open(config.clone()).await?;
            let arguments = json!({ "source": source, "force": force, "created_at": report.created_at });
            let call = Mutation::begin(Caller::user(), "backup restore", arguments);
            app.audit(call, AuditOutcome::Ok, None).await;
            app.close().await;
            show(&report, "restored", *json)?;
            if report.tokens_revoked > 0 {
                tell(&format!("{} tokens had been revoked since: they stay revoked", report.tokens_revoked));
            }
            if !report.tokens_in_force.is_empty() {
                tell(&format!(
                    "tokens in force: {}; what was revoked elsewhere since the backup, revoke again: lyra token revoke NAME",
                    report.tokens_in_force.join(", ")
                ));
            }
            if let Some(old) = &report.replaced {
                tell(&format!(
                    "the data that was there is now in {}; delete it when nothing is missed",
                    old.display()
                ));
            }
        }
    }
    Ok(Some(ExitCode::SUCCESS))
}

pub(super) async fn run(app: &App, command: &BackupCommand) -> anyhow::Result<ExitCode> {
    if let BackupCommand::Create { target, force, json } = command {
        if is_pipe(target) {
            anyhow::ensure!(
                !json,
                "--json would stand among the backup on standard output; leave it out, or name a file"
            );
            let out = std::io::stdout();
            anyhow::ensure!(
                !out.is_terminal(),
                "a backup is nothing to look at; write: lyra backup create - > lyra.tar.gz"
            );
            let report = app.write_backup_to(out).await?;
            problems(&report);
            tell(&described(&report, "wrote"));
            return Ok(ExitCode::SUCCESS);
        }
        show(&app.create_backup(target, *force).await?, "wrote", *json)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Standard output or input in place of a file.
fn is_pipe(path: &Path) -> bool {
    path.as_os_str() == "-"
}

fn piped() -> anyhow::Result<Stdin> {
    let input = std::io::stdin();
    anyhow::ensure!(!input.is_terminal(), "nothing is piped in; write: lyra backup restore - < lyra.tar.gz");
    Ok(input)
}

fn show(report: &BackupReport, verb: &str, json: bool) -> anyhow::Result<()> {
    problems(report);
    if json { print_json(report) } else { print(&format!("{}\n", described(report, verb))) }
}

fn problems(report: &BackupReport) {
    for problem in &report.problems {
        tell(&format!("note: {problem}"));
    }
}

fn described(report: &BackupReport, verb: &str) -> String {
    let corpora = match report.corpora.as_slice() {
        [] => "no corpus".to_owned(),
        names => format!("corpora {}", names.join(", ")),
    };
    format!(
        "{verb} {}: {} files, {:.1} MB, schema {}, {corpora}, of {} by lyra {}",
        report.path.display(),
        report.files,
        report.bytes as f64 / 1e6,
        report.schema,
        report.created_at,
        report.lyra,
    )
}
