//! `lyra view …`.

use super::{print, print_json, tell};
use clap::Subcommand;
use jiff::Timestamp;
use lyra_domain::TaskId;
use lyra_usecases::App;
use serde_json::Value;
use std::process::ExitCode;

#[derive(Debug, Subcommand)]
pub(super) enum ViewCommand {
    /// List the views with their descriptions
    List,
    /// Print a view's SQL, for one task or for all
    Render {
        /// Name of the view
        name: String,
        /// Task
        #[arg(long, value_name = "ID")]
        task: Option<TaskId>,
        /// Time to use as now, such as 2026-01-01T00:00:00Z [default: the current time]
        #[arg(long, value_name = "TIME")]
        now: Option<Timestamp>,
    },
    /// Print a view's rows as tab-separated text
    Query {
        /// Name of the view
        name: String,
        /// Task
        #[arg(long, value_name = "ID")]
        task: Option<TaskId>,
        /// Time to use as now, such as 2026-01-01T00:00:00Z [default: the current time]
        #[arg(long, value_name = "TIME")]
        now: Option<Timestamp>,
        /// Maximum number of rows
        #[arg(long, default_value_t = 50, value_name = "N")]
        limit: u32,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

pub(super) async fn run(app: &App, command: &ViewCommand) -> anyhow::Result<ExitCode> {
    match command {
        ViewCommand::List => {
            for view in app.views() {
                print(&format!("{:<28} {}\n", view.name, view.description))?;
            }
        }
        ViewCommand::Render { name, task, now } => {
            print(&format!("{}\n", app.render_view(name, task.as_ref(), *now)?.trim()))?;
        }
        ViewCommand::Query { name, task, now, limit, json } => {
            if let Some(task) = task {
                app.task(task).await?;
            }
            let found = app.query_view(name, task.as_ref(), *now, *limit).await?;
            if *json {
                print_json(&found.rows)?;
            } else {
                print(&format!("{}\n", found.columns.join("\t")))?;
                for row in &found.rows {
                    let cells: Vec<String> =
                        found.columns.iter().map(|column| cell(row.get(column))).collect();
                    print(&format!("{}\n", cells.join("\t")))?;
                }
                if found.truncated {
                    tell(&format!("only the first {limit} rows are shown; raise --limit for more"));
                }
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn cell(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.replace(['\t', '\n'], " "),
        Some(other) => other.to_string(),
    }
}
