//! Prints the records of a file, one JSON object a line, and on stderr what is wrong with the others.
//!
//! `cargo run -p lyra-bibliography --example records -- FILE [FORMAT]`

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it is a command")]

use lyra_bibliography::{Format, read};
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(path) = arguments.first() else {
        eprintln!("usage: records FILE [FORMAT]");
        return ExitCode::FAILURE;
    };
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) => {
            eprintln!("{path}: {error}");
            return ExitCode::FAILURE;
        }
    };
    let asked = arguments.get(1).map(|name| name.parse::<Format>());
    let format = match asked {
        Some(Ok(format)) => Some(format),
        Some(Err(error)) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
        None => Format::detect(path, &bytes[..bytes.len().min(4_096)]),
    };
    let Some(format) = format else {
        eprintln!("{path}: not a file of a reference manager");
        return ExitCode::FAILURE;
    };
    for record in read(&bytes, format) {
        match record {
            Ok(record) => println!("{}", serde_json::to_string(&record).unwrap_or_default()),
            Err(rejected) => eprintln!("{path}:{}: {}", rejected.line, rejected.reason),
        }
    }
    ExitCode::SUCCESS
}
