//! `lyra completions` and `lyra man`: the command line as shells and manual pages have it.

use super::{Cli, print, tell};
use clap::{Args, CommandFactory};
use clap_complete::Shell;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(super) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

#[derive(Debug, Args)]
pub(super) struct ManArgs {
    /// Folder for the pages; made when it is not there
    folder: PathBuf,
}

pub(super) fn completions(args: &CompletionsArgs) -> anyhow::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "lyra", &mut script);
    print(&String::from_utf8_lossy(&script))
}

/// One page for every command.
pub(super) fn man(args: &ManArgs) -> anyhow::Result<()> {
    use anyhow::Context;
    let cannot = || format!("{} cannot be written", args.folder.display());
    std::fs::create_dir_all(&args.folder).with_context(cannot)?;
    clap_mangen::generate_to(Cli::command(), &args.folder).with_context(cannot)?;
    tell(&format!(
        "manual pages are in {}; read one with: man -l {}/lyra.1",
        args.folder.display(),
        args.folder.display()
    ));
    Ok(())
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
            assert!(folder.path().join("man").join(page).is_file(), "{page}");
        }
    }
}
