//! `lyra backup …`.

use super::{print, print_json, tell};
use crate::app::{App, BackupReport, Caller, Mutation};
use crate::config::Config;
use clap::Subcommand;
use lyra_store::AuditOutcome;
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;

/// What `lyra backup --help` says at its end.
pub(super) const HELP: &str = "\
A backup holds the database and every corpus, with size and SHA-256 of each file. It may be written
while a server runs. It holds the cookies of logins: keep it as safe as the data folder.

  lyra backup create lyra.tar.gz       one file (.tar, .tar.gz, .tgz), or a new folder
  lyra backup verify lyra.tar.gz       is every byte as it was written?
  lyra backup restore lyra.tar.gz      into the data folder, with every lyra process stopped

The configuration is not in it, nor are models and kept answers of sources.";

#[derive(Debug, Subcommand)]
pub(super) enum BackupCommand {
    /// Write a backup, and read it again
    Create {
        /// File (.tar, .tar.gz, .tgz) or folder to write
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
        /// File or folder
        source: PathBuf,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Put a backup into the data folder, after checking it
    Restore {
        /// File or folder
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
) -> anyhow::Result<Option<ExitCode>> {
    match command {
        BackupCommand::Create { .. } => return Ok(None),
        BackupCommand::Verify { source, json } => {
            let report = App::verify_backup(source).await?;
            show(&report, "sound:", *json)?;
        }
        BackupCommand::Restore { source, force, json } => {
            let report = App::restore_backup(source, &config.data_dir()?, *force).await?;
            // Opened once, so that an older database is upgraded now and not when somebody waits for it.
            let app = App::open(config.clone()).await?;
            let arguments = json!({ "source": source, "force": force, "created_at": report.created_at });
            let call = Mutation::begin(Caller::user(), "backup restore", arguments);
            app.audit(call, AuditOutcome::Ok, None).await;
            app.close().await;
            show(&report, "restored", *json)?;
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
        show(&app.create_backup(target, *force).await?, "wrote", *json)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn show(report: &BackupReport, verb: &str, json: bool) -> anyhow::Result<()> {
    for problem in &report.problems {
        tell(&format!("note: {problem}"));
    }
    if json {
        return print_json(report);
    }
    let corpora = match report.corpora.as_slice() {
        [] => "no corpus".to_owned(),
        names => format!("corpora {}", names.join(", ")),
    };
    print(&format!(
        "{verb} {}: {} files, {:.1} MB, schema {}, {corpora}, of {} by lyra {}\n",
        report.path.display(),
        report.files,
        report.bytes as f64 / 1e6,
        report.schema,
        report.created_at,
        report.lyra,
    ))
}
