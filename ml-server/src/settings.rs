//! The settings of the command line and the environment: effective values, their origins, and unknown variables.

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};
use std::io::Write;
use std::process::ExitCode;

/// Prefix of the ml-server's variables.
const PREFIX: &str = "LYRA_ML_";
/// Read by the orchestrator, or set by Kubernetes in every container beside a service called `lyra-ml`.
const OTHERS: [&str; 3] = ["LYRA_ML_URL", "LYRA_ML_SERVICE_", "LYRA_ML_PORT_"];

/// Prints every setting with its value and where it comes from.
pub(crate) fn show(command: &Command, matches: &ArgMatches) -> ExitCode {
    let mut out = std::io::stdout().lock();
    for arg in settings(command) {
        let name = arg.get_id().as_str();
        let values = matches.try_get_raw(name).ok().flatten();
        let value =
            values.into_iter().flatten().map(|value| value.to_string_lossy()).collect::<Vec<_>>().join(",");
        let variable = arg.get_env().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let origin = match matches.value_source(name) {
            Some(ValueSource::CommandLine) => format!("flag --{}", name.replace('_', "-")),
            Some(ValueSource::EnvVariable) => format!("environment {variable}"),
            Some(_) => "default".to_owned(),
            None => "not set".to_owned(),
        };
        let line = writeln!(out, "{:<28} {value:<28} {origin:<40} {variable}", name.replace('_', "-"));
        if line.is_err() {
            // The reader has closed the pipe.
            break;
        }
    }
    ExitCode::SUCCESS
}

/// Rejects variables that look like settings but are not.
///
/// # Errors
/// Unknown variables, each with the one that was probably meant.
pub(crate) fn check(command: &Command, names: impl Iterator<Item = String>) -> anyhow::Result<()> {
    let known: Vec<String> =
        settings(command).filter_map(|arg| Some(arg.get_env()?.to_string_lossy().into_owned())).collect();
    let unknown: Vec<String> = names
        .filter(|name| name.starts_with(PREFIX) && !known.contains(name))
        .filter(|name| !OTHERS.iter().any(|other| name.starts_with(other)))
        .map(|name| {
            let near = known
                .iter()
                .max_by(|a, b| strsim::jaro_winkler(a, &name).total_cmp(&strsim::jaro_winkler(b, &name)));
            let near = near.map(|near| format!(", did you mean {near}?")).unwrap_or_default();
            format!("the variable {name} is not a setting{near}")
        })
        .collect();
    anyhow::ensure!(unknown.is_empty(), "{}", unknown.join("; "));
    Ok(())
}

fn settings(command: &Command) -> impl Iterator<Item = &Arg> {
    let aside = ["help", "version", "show_config"];
    command.get_arguments().filter(move |arg| !aside.contains(&arg.get_id().as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn variables_that_are_no_settings_are_named_with_the_nearest() {
        let command = crate::Cli::command();
        let check = |names: &[&str]| check(&command, names.iter().map(|name| (*name).to_owned()));
        check(&["LYRA_ML_PORT", "LYRA_ML_URL", "LYRA_ML_SERVICE_HOST", "LYRA_DATA_DIR", "PATH"]).unwrap();
        let error = check(&["LYRA_ML_PROT", "LYRA_ML_BATCH_TOKENS"]).unwrap_err().to_string();
        assert!(error.contains("LYRA_ML_PROT is not a setting, did you mean LYRA_ML_PORT?"), "{error}");
        assert!(error.contains("LYRA_ML_BATCH_TOKENS"), "{error}");
    }

    #[test]
    fn every_setting_can_come_from_the_environment() {
        let command = crate::Cli::command();
        for arg in settings(&command) {
            assert!(arg.get_env().is_some(), "{} has no variable", arg.get_id());
            assert!(arg.get_help().is_some(), "{} is not described", arg.get_id());
        }
    }
}
