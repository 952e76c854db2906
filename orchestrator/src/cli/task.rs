//! `lyra task …`.

use super::report::{self, ReportArgs};
use super::{print, print_document, print_json, research, tell};
use clap::{Subcommand, ValueEnum};
use lyra_domain::{JobState, TaskId};
use lyra_store::{Deleted, Deletion, StopMode, TaskProgress};
use lyra_usecases::{App, ScreeningExport, unfinished};
use lyra_workbench::report::ReportOptions;
use std::process::ExitCode;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

#[derive(Debug, Subcommand)]
pub(super) enum TaskCommand {
    /// List the newest tasks
    List {
        /// Maximum number of tasks
        #[arg(short, default_value_t = 20, value_name = "N")]
        n: u32,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print a task's report
    Show {
        /// Id of the task
        id: TaskId,
        #[command(flatten)]
        report: ReportArgs,
    },
    /// Export a task: claims with evidence, fragments, and the graph as JSON; a report; or the screening results
    Export {
        /// Id of the task
        id: TaskId,
        /// What to export
        #[arg(long, value_enum, default_value_t = Format::Materials)]
        format: Format,
    },
    /// Resume a task that was interrupted, stopped, or ended by its time limit
    Resume {
        /// Id of the task
        id: TaskId,
        /// New page limit, 1 to 500
        #[arg(long, value_name = "N")]
        max_pages: Option<u32>,
        /// New time limit in seconds of work, those already used included
        #[arg(long, value_name = "S")]
        max_seconds: Option<u32>,
        #[command(flatten)]
        report: ReportArgs,
        /// No progress on stderr
        #[arg(long, short)]
        quiet: bool,
    },
    /// Stop a task; its results are kept
    Stop {
        /// Id of the task
        id: TaskId,
        /// Cancel running jobs too
        #[arg(long)]
        immediate: bool,
    },
    /// Delete a task with everything that no other task uses; only a backup can restore it
    Delete {
        /// Id of the task
        id: TaskId,
        /// Delete it; without this flag, only show what would be deleted
        #[arg(long)]
        yes: bool,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum Format {
    /// Claims with their evidence, fragments, and the graph
    Materials,
    /// The graph as node-link JSON
    Graph,
    /// A report that opens without Lyra or a network: one HTML file, in the language of the question
    Html,
    /// The decisions about its documents as CSV
    ScreeningCsv,
    /// The included works as RIS
    IncludedRis,
    /// The included works as BibTeX
    IncludedBibtex,
    /// The included works as CSL-JSON
    IncludedCsl,
}

async fn print_screening(app: &App, id: &TaskId, format: ScreeningExport) -> anyhow::Result<()> {
    print_document(&app.export_screening(id, format).await?)
}

pub(super) async fn run(
    app: &App,
    command: &TaskCommand,
    cancel: &CancellationToken,
) -> anyhow::Result<ExitCode> {
    match command {
        TaskCommand::List { n, json } => list(app, *n, *json).await?,
        TaskCommand::Show { id, report } => {
            let task = app.task(id).await?;
            return research::show(app, &task, report).await;
        }
        TaskCommand::Export { id, format } => match format {
            Format::Materials => print_json(&app.materials(id).await?)?,
            Format::Graph => print_json(&app.graph(id).await?.node_link())?,
            Format::Html => report::print_page(app.answer(id).await?, ReportOptions::default(), app.now())?,
            Format::ScreeningCsv => print_screening(app, id, ScreeningExport::Csv).await?,
            Format::IncludedRis => print_screening(app, id, ScreeningExport::Ris).await?,
            Format::IncludedBibtex => print_screening(app, id, ScreeningExport::BibTex).await?,
            Format::IncludedCsl => print_screening(app, id, ScreeningExport::CslJson).await?,
        },
        TaskCommand::Resume { id, max_pages, max_seconds, report, quiet } => {
            if max_pages.is_some() || max_seconds.is_some() {
                app.change_budget(id, *max_pages, *max_seconds).await?;
            }
            app.resume_task(id).await?;
            let task = app.task(id).await?;
            if !research::work(app, &task, *quiet, cancel).await? {
                return Ok(ExitCode::from(130));
            }
            return research::show(app, &task, report).await;
        }
        TaskCommand::Stop { id, immediate } => {
            let mode = if *immediate { StopMode::Immediate } else { StopMode::Graceful };
            let outcome = app.stop_task(id, "stopped from the command line", mode).await?;
            tell(&format!(
                "{id} is {}; {} jobs cancelled",
                outcome.final_status,
                outcome.cancelled_queued + outcome.cancelled_running
            ));
        }
        TaskCommand::Delete { id, yes, json } => return delete(app, id, *yes, *json).await,
    }
    Ok(ExitCode::SUCCESS)
}

/// Exit code 1 without `--yes`, since nothing was deleted.
async fn delete(app: &App, id: &TaskId, yes: bool, json: bool) -> anyhow::Result<ExitCode> {
    let how = if yes { Deletion::Commit } else { Deletion::DryRun };
    let task = app.task(id).await?;
    let deleted = app.delete_task(id, how).await?;
    if json {
        print_json(&serde_json::json!({ "task_id": id, "deleted": yes, "rows": deleted.rows }))?;
    } else {
        let verb = if yes { "deleted" } else { "would delete" };
        print(&format!("{verb} {id} ({}) with\n{}", task.query, rows(&deleted)))?;
    }
    if deleted.cited_pages_kept {
        tell(
            "a job of another task is running: pages known only from citations stay until `lyra store prune`",
        );
    }
    if !yes {
        tell("nothing was deleted; add --yes to delete it");
    }
    Ok(if yes { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Deleted rows, one table per line.
pub(super) fn rows(deleted: &Deleted) -> String {
    let line = |(table, count): (&String, &u64)| format!("{count:>8}  {}\n", table.replace('_', " "));
    deleted.rows.iter().map(line).collect()
}

async fn list(app: &App, n: u32, json: bool) -> anyhow::Result<()> {
    let tasks = app.list_tasks(n).await?;
    if json {
        return print_json(&tasks.iter().map(lyra_wire::Task::from).collect::<Vec<_>>());
    }
    if tasks.is_empty() {
        return print("no tasks yet; to start one: lyra research \"…\"\n");
    }
    for task in tasks {
        let status = app.task_status(&task.id, Duration::ZERO).await?;
        print(&line(&status))?;
    }
    Ok(())
}

/// A task in one line. One that no process works on is `unfinished` while something is left to do.
fn line(progress: &TaskProgress) -> String {
    let task = &progress.task;
    let left = unfinished(progress);
    let rests = progress.jobs_in(JobState::Running) == 0;
    let status = if left.is_some() && rests { "unfinished" } else { task.status.as_str() };
    let unjudged = match left {
        Some(left) if left.claims > 0 => format!(", {} not judged", left.claims),
        _ => String::new(),
    };
    format!("{}  {status:<10} {:>4} claims{unjudged}  {}\n", task.id, progress.claims, task.query)
}
