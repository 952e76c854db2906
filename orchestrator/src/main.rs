//! The `lyra` binary.

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    lyra::cli::run(&lyra::cli::Cli::parse())
}
