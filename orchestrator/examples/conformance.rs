//! The `lyra` binary with the fixtures of the MCP conformance suite: `tests/clients/conformance.sh` runs it.

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    lyra::cli::run(&lyra::cli::Cli::parse())
}
