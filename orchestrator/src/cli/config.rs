//! `lyra config …`.

use super::{Global, print, print_json, tell};
use clap::Subcommand;
use lyra_usecases::config::{Layers, schema, written};
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, Subcommand)]
pub(super) enum ConfigCommand {
    /// Print every key with its effective value and where it comes from; secrets are not shown
    Show {
        /// Only keys set by file, environment or flags
        #[arg(long)]
        set: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List everything that is wrong with the configuration, and how to fix it
    Check {
        /// File to check [default: the one in use]
        file: Option<PathBuf>,
    },
    /// Print the JSON Schema of the configuration file
    Schema,
}

/// It needs no valid configuration: it is for finding out what is wrong with one.
pub(super) fn run(global: &Global, command: &ConfigCommand) -> anyhow::Result<ExitCode> {
    match command {
        ConfigCommand::Schema => print_json(&schema())?,
        ConfigCommand::Check { file } => {
            let layers = layers(global, file.clone())?;
            let mut problems = layers.problems();
            if let Ok(config) = layers.config() {
                problems.extend(config.problems());
            }
            for problem in &problems {
                print(&format!("{problem}\n"))?;
            }
            if !problems.is_empty() {
                return Ok(ExitCode::FAILURE);
            }
            print("the configuration is valid\n")?;
        }
        ConfigCommand::Show { set, json } => {
            let layers = layers(global, None)?;
            let mut settings = layers.settings();
            settings.retain(|setting| !set || setting.origin != lyra_usecases::config::Origin::Default);
            if *json {
                let lines: Vec<_> = settings
                    .iter()
                    .map(|s| json!({ "key": s.key, "value": s.value, "hidden": s.hidden, "origin": s.origin.to_string() }))
                    .collect();
                print_json(&lines)?;
            } else {
                for setting in settings {
                    let line = match (&setting.value, setting.hidden) {
                        (Some(value), _) => format!("{} = {}", setting.key, written(value)),
                        (None, true) => format!("# {} = (hidden)", setting.key),
                        (None, false) => format!("# {} = (not set)", setting.key),
                    };
                    print(&format!("{line:<60} # {}\n", setting.origin))?;
                }
            }
            let problems = layers.problems();
            for problem in &problems {
                tell(&format!("error: {problem}"));
            }
            if !problems.is_empty() {
                return Ok(ExitCode::FAILURE);
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Where addresses of ml-servers are given besides the configuration.
const ML_URL: &str = "--ml-url or LYRA_ML_URL";

fn layers(global: &Global, file: Option<PathBuf>) -> anyhow::Result<Layers> {
    let file = file.or_else(|| global.config.clone());
    let environment = lyra_usecases::config::environment();
    let mut layers = Layers::read(file.as_deref(), environment)?;
    let flags = [
        (
            "data_dir",
            global.data_dir.as_ref().map(|dir| dir.display().to_string()),
            "--data-dir or LYRA_DATA_DIR",
        ),
        ("log.level", global.log.clone(), "--log"),
    ];
    for (key, value, name) in flags {
        if let Some(value) = value {
            layers.flag(key, value.into(), name);
        }
    }
    if !global.ml_url.is_empty() {
        layers.flag("ml.url", serde_json::Value::Null, ML_URL);
        layers.flag("ml.urls", global.ml_url.clone().into(), ML_URL);
    }
    Ok(layers)
}
