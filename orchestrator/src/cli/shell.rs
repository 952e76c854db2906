//! `lyra completions` and `lyra man`: the command line as shells and manual pages have it.

use super::{Cli, print_document, tell};
use clap::{Args, Command, CommandFactory};
use clap_complete::Shell;
use std::fs::File;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub(super) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

#[derive(Debug, Args)]
pub(super) struct ManArgs {
    /// Folder for the pages; created if missing
    folder: PathBuf,
}

pub(super) fn completions(args: &CompletionsArgs) -> anyhow::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "lyra", &mut script);
    print_document(&String::from_utf8_lossy(&script))
}

/// One page for every command.
pub(super) fn man(args: &ManArgs) -> anyhow::Result<()> {
    use anyhow::Context;
    let cannot = || format!("{} cannot be written", args.folder.display());
    std::fs::create_dir_all(&args.folder).with_context(cannot)?;
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    pages(&command, &args.folder).with_context(cannot)?;
    tell(&format!(
        "manual pages are in {}; read one with: man -l {}/lyra.1",
        args.folder.display(),
        args.folder.display()
    ));
    Ok(())
}

/// The page of a command and of its subcommands, named as man looks them up: `lyra-task-show`.
fn pages(command: &Command, folder: &Path) -> std::io::Result<()> {
    for inner in command.get_subcommands() {
        pages(inner, folder)?;
    }
    let name = command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned();
    let mut page = File::create(folder.join(format!("{name}.1")))?;
    clap_mangen::Man::new(command.clone()).title(name).render(&mut page)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ValueEnum;

    #[test]
    fn the_command_line_holds_together_in_every_shell() {
        Cli::command().debug_assert();
        for shell in Shell::value_variants() {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), "lyra", &mut script);
            assert!(String::from_utf8(script).unwrap().contains("doctor"), "{shell}");
        }
    }

    #[test]
    fn every_command_has_a_manual_page() {
        let folder = tempfile::tempdir().unwrap();
        man(&ManArgs { folder: folder.path().join("man") }).unwrap();
        for page in ["lyra.1", "lyra-serve.1", "lyra-task-show.1"] {
            let text = std::fs::read_to_string(folder.path().join("man").join(page)).unwrap();
            let title = format!(".TH {} 1", page.trim_end_matches(".1"));
            assert!(text.contains(&title), "{page} is not titled {title}");
        }
    }
}
