//! `lyra backup …`.

use super::{print, print_json, tell};
use clap::Subcommand;
use lyra_store::AuditOutcome;
use lyra_usecases::config::Config;
use lyra_usecases::worker::BackupReaders;
use lyra_usecases::{App, BackupReport, Caller, Mutation};
use serde_json::json;
use std::io::{IsTerminal, Stdin};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tokio_util::sync::CancellationToken;

/// What `lyra backup --help` says at its end.
pub(super) const HELP: &str = "\
A backup holds the databases and every corpus, with size and SHA-256 of each file. You can create one
while a server runs. It contains login cookies: protect it like the data folder.

  lyra backup create lyra.tar.gz       one file (.tar, .tar.gz, .tgz), or a new folder
  lyra backup verify lyra.tar.gz       check every byte
  lyra backup restore lyra.tar.gz      into the data folder, with all lyra processes stopped

`-` instead of a file means standard output or input, for containers and remote machines:

  ssh HOST lyra backup create - > lyra.tar.gz

A backup does not contain the configuration, models or cached responses of sources.";

#[derive(Debug, Subcommand)]
pub(super) enum BackupCommand {
    /// Create a backup, and verify it
    Create {
        /// File (.tar, .tar.gz, .tgz) or folder to write; `-` writes a .tar.gz to standard output
        target: PathBuf,
        /// Replace an existing backup
        #[arg(long)]
        force: bool,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Read a whole backup and check that it is usable
    Verify {
        /// File or folder; `-` reads standard input
        source: PathBuf,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Restore a backup into the data folder, after verifying it
    Restore {
        /// File or folder; `-` reads standard input
        source: PathBuf,
        /// Replace existing data; it is kept beside the new data
        #[arg(long)]
        force: bool,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
}

/// Runs the commands that need the data folder closed; `None` when the application is needed.
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
            let app = crate::compose::open(config.clone()).await?;
            let arguments = json!({ "source": source, "force": force, "created_at": report.created_at });
            let call = Mutation::begin(Caller::user(), "backup restore", arguments);
            app.audit(call, AuditOutcome::Ok, None).await;
            app.close().await;
            show(&report, "restored", *json)?;
            if report.tokens_revoked > 0 {
                tell(&format!(
                    "{} tokens had been revoked since then: they stay revoked",
                    report.tokens_revoked
                ));
            }
            if !report.tokens_in_force.is_empty() {
                tell(&format!(
                    "active tokens: {}; if you revoked some elsewhere since the backup, revoke them again: \
                     lyra token revoke NAME",
                    report.tokens_in_force.join(", ")
                ));
            }
            if let Some(old) = &report.replaced {
                tell(&format!(
                    "the previous data is now in {}; delete it when you no longer need it",
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
                "--json would mix with the backup on standard output; omit it, or give a file"
            );
            let out = std::io::stdout();
            anyhow::ensure!(
                !out.is_terminal(),
                "a backup is binary data; redirect it: lyra backup create - > lyra.tar.gz"
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

/// Standard output or input instead of a file.
fn is_pipe(path: &Path) -> bool {
    path.as_os_str() == "-"
}

fn piped() -> anyhow::Result<Stdin> {
    let input = std::io::stdin();
    anyhow::ensure!(
        !input.is_terminal(),
        "standard input is a terminal; redirect a backup: lyra backup restore - < \
        lyra.tar.gz"
    );
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
        "{verb} {}: {} files, {:.1} MB, schema {}, {corpora}, from {} by lyra {}",
        report.path.display(),
        report.files,
        report.bytes as f64 / 1e6,
        report.schema,
        report.created_at,
        report.lyra,
    )
}
