//! `lyra sources …`.

use super::{print, print_json};
use clap::Subcommand;
use lyra_usecases::{App, SourceInfo, SourceTest};
use std::process::ExitCode;

#[derive(Debug, Subcommand)]
pub(super) enum SourcesCommand {
    /// List the sources that a task can search, and the APIs that search the web
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Send a small query to the external sources; report which respond, how fast, and why others fail
    Test {
        /// Sources or web search APIs to test; a paid API charges for one search [default: the usual ones, and those
        /// listed in the configuration]
        names: Vec<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// Exit code 1 when a tested source does not answer.
pub(super) async fn run(app: &App, command: &SourcesCommand) -> anyhow::Result<ExitCode> {
    match command {
        SourcesCommand::List { json } => {
            let sources = app.list_sources().await?;
            if *json {
                print_json(&sources)?;
            } else {
                for source in &sources {
                    print(&listed(source))?;
                }
            }
            Ok(ExitCode::SUCCESS)
        }
        SourcesCommand::Test { names, json } => {
            let tests = app.test_sources(names).await?;
            if *json {
                print_json(&tests)?;
            } else {
                for test in &tests {
                    print(&tested(test))?;
                }
            }
            let answered = tests.iter().all(|test| test.answers);
            Ok(if answered { ExitCode::SUCCESS } else { ExitCode::FAILURE })
        }
    }
}

fn listed(source: &SourceInfo) -> String {
    let mut facts = vec![if source.kind == "web_api" { "engine of web" } else { source.kind }.to_owned()];
    facts.extend(source.missing.as_ref().map(|setting| format!("not configured (set {setting})")));
    facts.extend(source.base_url.clone());
    facts.extend(source.key.map(|key| if key { "with a key" } else { "without a key" }.to_owned()));
    facts.extend(source.by_default.then(|| "used by default".to_owned()));
    facts.extend(
        source.left_alone.as_ref().map(|(seconds, why)| format!("cooling down for {seconds} s: {why}")),
    );
    format!("{:<18} {}\n", source.name, facts.join(", "))
}

fn tested(test: &SourceTest) -> String {
    let key = match test.source.key {
        Some(true) => "with a key",
        _ => "without a key",
    };
    let seen = match (&test.error, test.milliseconds) {
        (Some(error), _) => error.clone(),
        (None, took) => format!("answered in {} ms, {key}", took.unwrap_or_default()),
    };
    let state = if test.answers { "ok" } else { "broken" };
    let advice =
        test.source.left_alone.as_ref().filter(|_| !test.answers).map_or_else(String::new, |(seconds, _)| {
            format!("{:<27} → wait {seconds} s, or configure your own API key\n", "")
        });
    format!("{state:<8} {:<18} {seen}\n{advice}", test.source.name)
}
