//! `lyra embeddings …`.

use super::progress::TaskProgressLine;
use super::{print, print_json, tell};
use clap::Subcommand;
use lyra_domain::TaskId;
use lyra_usecases::App;
use serde_json::json;
use std::process::ExitCode;
use tokio_util::sync::CancellationToken;

#[derive(Debug, Subcommand)]
pub(super) enum EmbeddingsCommand {
    /// Show which models produced the stored vectors, and whether they are current
    Status {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Re-embed texts that only have vectors of another model; can be interrupted and resumed
    Rebuild {
        /// Only texts of this task
        #[arg(long, value_name = "ID")]
        task: Option<TaskId>,
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// No progress on stderr
        #[arg(long, short)]
        quiet: bool,
    },
}

pub(super) async fn run(
    app: &App,
    command: &EmbeddingsCommand,
    cancel: &CancellationToken,
) -> anyhow::Result<ExitCode> {
    match command {
        EmbeddingsCommand::Status { json } => {
            let status = app.embeddings_status().await?;
            if *json {
                let stored = status.stored.iter().map(|made| {
                    json!({
                        "target": made.target.as_str(),
                        "model": made.model,
                        "dimension": made.dimension,
                        "vectors": made.vectors,
                    })
                });
                print_json(&json!({
                    "present_model": status.present_model,
                    "stored": stored.collect::<Vec<_>>(),
                    "outdated": status.outdated,
                }))?;
            } else {
                print(&format!("current model: {}\n", status.present_model))?;
                for made in &status.stored {
                    print(&format!(
                        "{:>9} vectors of {:<9} by {} ({} dimensions)\n",
                        made.vectors,
                        made.target.as_str(),
                        made.model,
                        made.dimension
                    ))?;
                }
                if status.outdated > 0 {
                    print(&format!(
                        "{} texts only have vectors of another model: run `lyra embeddings rebuild`\n",
                        status.outdated
                    ))?;
                }
            }
        }
        EmbeddingsCommand::Rebuild { task, json, quiet } => {
            let line = TaskProgressLine::new(*quiet);
            line.say("loading the models");
            let rebuilt = app
                .rebuild_embeddings(task.as_ref(), cancel, |done, of| {
                    line.say(&format!("embedded {done} of {of} texts"));
                })
                .await?;
            drop(line);
            if *json {
                print_json(&rebuilt)?;
            } else {
                print(&format!(
                    "{} texts embedded, {} vectors of other models removed, {} texts left\n",
                    rebuilt.embedded, rebuilt.removed, rebuilt.outdated
                ))?;
            }
            if cancel.is_cancelled() {
                tell("interrupted: finished vectors are kept, run it again for the rest");
                return Ok(ExitCode::from(130));
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}
