//! `lyra audit …`, and what the command line itself notes there.

use super::auth::AuthCommand;
use super::calibration::CalibrationCommand;
use super::corpus::CorpusCommand;
use super::embeddings::EmbeddingsCommand;
use super::feedback::{ClaimCommand, DomainCommand, EdgeCommand};
use super::fuse::FuseCommand;
use super::store::StoreCommand;
use super::task::TaskCommand;
use super::token::TokenCommand;
use super::{Command, print, print_json};
use clap::Subcommand;
use lyra_store::{AuditEntry, AuditFilter, AuditOutcome};
use lyra_usecases::{App, Caller, Mutation};
use serde_json::json;
use std::process::ExitCode;

#[derive(Debug, Subcommand)]
pub(super) enum AuditCommand {
    /// List calls that changed something, newest first
    List {
        /// Maximum number of entries
        #[arg(short, default_value_t = 50, value_name = "N")]
        n: u32,
        /// Only calls of this actor: token:NAME, user:NAME, local, server
        #[arg(long)]
        actor: Option<String>,
        /// Only calls about this task
        #[arg(long, value_name = "ID")]
        task: Option<String>,
        /// Only entries before this one
        #[arg(long, value_name = "SEQ")]
        before: Option<i64>,
        /// Print JSON, with the arguments
        #[arg(long)]
        json: bool,
    },
}

pub(super) async fn run(app: &App, command: &AuditCommand) -> anyhow::Result<ExitCode> {
    let AuditCommand::List { n, actor, task, before, json } = command;
    let filter = AuditFilter { actor: actor.clone(), task: task.clone(), before: *before };
    let entries = app.audit_log(&filter, *n).await?;
    if *json {
        print_json(&entries)?;
    } else if entries.is_empty() {
        print("no entries\n")?;
    } else {
        print(&entries.iter().map(line).collect::<String>())?;
    }
    Ok(ExitCode::SUCCESS)
}

fn line(entry: &AuditEntry) -> String {
    let AuditEntry { seq, at, actor, via, action, outcome, .. } = entry;
    let task = entry.task_id.as_deref().unwrap_or("");
    let detail = entry.detail.as_deref().unwrap_or("");
    format!("{seq:>6}  {at}  {actor:<20} {via:<9} {outcome:<9} {action:<22} {task} {detail}")
        .trim_end()
        .to_owned()
        + "\n"
}

/// The call that a command is when it changes something.
pub(super) fn of(command: &Command) -> Option<Mutation> {
    let mut task = None;
    let changes = match command {
        // Who took all data with them in a backup is worth knowing.
        Command::Research(_)
        | Command::Check(_)
        | Command::Edge(EdgeCommand::Correct { .. } | EdgeCommand::Undo { .. })
        | Command::Backup(_) => true,
        Command::Corpus(command) => {
            matches!(
                command,
                CorpusCommand::Import(_) | CorpusCommand::Embed(_) | CorpusCommand::Remove { .. }
            )
        }
        // What a search by lanes leaves behind: runs, and what a person judged.
        Command::Fuse(command) => matches!(
            command,
            FuseCommand::Search(_) | FuseCommand::Blend(_) | FuseCommand::Mutate(_) | FuseCommand::Judge(_)
        ),
        Command::Auth(command) => !matches!(command, AuthCommand::List { .. }),
        Command::Task(TaskCommand::Resume { id, .. } | TaskCommand::Stop { id, .. }) => {
            task = Some(id);
            true
        }
        Command::Task(TaskCommand::Delete { id, yes, .. }) => {
            task = Some(id);
            *yes
        }
        Command::Calibration(command) => {
            !matches!(command, CalibrationCommand::Stats { .. } | CalibrationCommand::Evaluations { .. })
        }
        Command::Embeddings(command) => matches!(command, EmbeddingsCommand::Rebuild { .. }),
        Command::Domain(command) => !matches!(command, DomainCommand::List { .. }),
        Command::Claim(command) => !matches!(command, ClaimCommand::Show { .. }),
        Command::Token(command) => !matches!(command, TokenCommand::List { .. }),
        Command::Store(StoreCommand::Prune { dry_run, .. }) => !dry_run,
        Command::Store(StoreCommand::Check { rebuild_full_text, .. }) => *rebuild_full_text,
        Command::Task(
            TaskCommand::List { .. } | TaskCommand::Show { .. } | TaskCommand::Export { .. },
        )
        // Servers note every call themselves.
        | Command::Open(_)
        | Command::Serve(_)
        | Command::Mcp(_)
        | Command::Eval(_)
        | Command::Lanes(_)
        | Command::Sources(_)
        | Command::Web(_)
        | Command::Graph(_)
        | Command::View(_)
        | Command::Audit(_)
        | Command::Config(_)
        | Command::Doctor(_)
        | Command::Completions(_)
        | Command::Man(_) => false,
    };
    changes.then(|| {
        let written = format!("{command:?}");
        let name = written.split(['(', ' ', '{']).next().unwrap_or_default().to_lowercase();
        let part = written.split('(').nth(1).and_then(|rest| rest.split([' ', '{', '(']).next());
        let part =
            part.filter(|part| !part.ends_with("Args")).map(|part| format!(" {}", part.to_lowercase()));
        let action = format!("{name}{}", part.unwrap_or_default());
        let mut call = Mutation::begin(Caller::user(), action, json!({ "command": written }));
        if let Some(task) = task {
            call.about(task.as_str());
        }
        call
    })
}

/// Records the outcome of a command.
pub(super) async fn note(app: &App, call: Mutation, code: &anyhow::Result<ExitCode>) {
    let (outcome, detail) = match code {
        Ok(code) if *code == ExitCode::from(130) => (AuditOutcome::Cancelled, None),
        Ok(code) if *code == ExitCode::SUCCESS => (AuditOutcome::Ok, None),
        Ok(_) => (AuditOutcome::Error, None),
        Err(error) => (AuditOutcome::Error, Some(format!("{error:#}"))),
    };
    app.audit(call, outcome, detail).await;
}
