//! `lyra check`.

use super::research::{TaskArgs, failure, link, work};
use super::{print, print_json, report, tell};
use anyhow::Context;
use clap::Args;
use lyra_usecases::{App, NewTask};
use std::process::ExitCode;
use tokio_util::sync::CancellationToken;

#[derive(Debug, Args)]
pub(super) struct CheckArgs {
    /// The claim, as one statement
    claim: String,
    #[command(flatten)]
    task: TaskArgs,
    /// Print one JSON object instead of the report
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(app: &App, args: &CheckArgs, cancel: &CancellationToken) -> anyhow::Result<ExitCode> {
    let config = args.task.config(app, cancel).await?;
    let new = NewTask {
        query: args.claim.clone(),
        config,
        claims: vec![args.claim.clone()],
        judge_question: Some(false),
    };
    let task = app.create_task(new).await?;
    if !work(app, &task, args.task.quiet, cancel).await? {
        return Ok(ExitCode::from(130));
    }
    let status = app.task_status(&task.id, std::time::Duration::ZERO).await?;
    let reports = app.claim_reports(&task.id).await?;
    let report = reports.first().context("the claim was not stored")?;
    let failure = failure(&status);
    let found = failure.is_none() || status.pages > 0;
    let warnings = status.warnings.iter().cloned().chain(app.task_notes(&status.task));
    if args.json {
        print_json(&lyra_wire::Claim::from(report))?;
        warnings.filter(|_| found).for_each(|warning| tell(&format!("note: {warning}")));
    } else if found {
        print(&report::claims(std::slice::from_ref(report)))?;
        for warning in warnings {
            print(&format!("note: {warning}\n"))?;
        }
    }
    if found {
        link(app, &task.id).await;
    }
    failure.map_or(Ok(ExitCode::SUCCESS), Err)
}
