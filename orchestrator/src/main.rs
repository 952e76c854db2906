//! The `lyra` binary.

use std::process::ExitCode;

fn main() -> ExitCode {
    // Started by another `lyra` to work for it.
    if let Some(ended) = lyra_usecases::worker::run(std::env::args_os()) {
        return ended;
    }
    lyra::cli::run(&lyra::cli::Cli::read())
}
