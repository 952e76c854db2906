//! `lyra open`.

use super::{print, serve, tell};
use clap::Args;
use lyra_domain::TaskId;
use lyra_usecases::{App, served_at};
use std::process::ExitCode;
use tokio_util::sync::CancellationToken;

#[derive(Debug, Args)]
pub(super) struct OpenArgs {
    /// Task to show [default: the start page]
    #[arg(value_name = "TASK")]
    task: Option<TaskId>,
    /// Print the address of the running server, without opening a browser or starting a server
    #[arg(long)]
    print: bool,
}

/// Opens the workbench in the browser. Without a running server, this process is the server until it is interrupted.
pub(super) async fn run(app: &App, args: &OpenArgs, cancel: CancellationToken) -> anyhow::Result<ExitCode> {
    let path = match &args.task {
        Some(task) => format!("/tasks/{}", app.task(task).await?.id),
        None => "/".to_owned(),
    };
    match served_at(app.data_dir()).await {
        Some(address) if args.print => print(&format!("{address}{path}\n"))?,
        Some(address) => browse(&format!("{address}{path}")),
        None if args.print => anyhow::bail!("no server runs on this data folder; start one with: lyra serve"),
        None => return serve::and_open(app, path, cancel).await,
    }
    Ok(ExitCode::SUCCESS)
}

/// Opens an address in the person's browser, and says it for those without one.
pub(super) fn browse(address: &str) {
    match open::that_detached(address) {
        Ok(()) => tell(&format!("opened {address}")),
        Err(error) => tell(&format!("no browser could be started ({error}); open this address: {address}")),
    }
}
