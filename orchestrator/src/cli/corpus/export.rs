//! `lyra corpus export`.

use super::NarrowArgs;
use crate::cli::report::counted;
use crate::cli::{escaped, print_json, tell};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use lyra_corpus::ExportFormat;
use lyra_usecases::{App, ExportTarget};
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// Time between two lines of progress, where stderr is not a terminal.
const SAY_EVERY: Duration = Duration::from_secs(5);

#[derive(Debug, Args)]
pub(in crate::cli) struct ExportArgs {
    /// Name of the corpus
    name: String,
    /// bibtex, ris or csl for reference managers; jsonl for `lyra corpus import`, with everything in the corpus
    /// [default: from the file extension: .bib, .ris, .json, .jsonl]
    #[arg(long, value_name = "FORMAT")]
    format: Option<ExportFormat>,
    /// File to write, replaced only once the export is complete; `-` for stdout
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    output: PathBuf,
    #[command(flatten)]
    narrow: NarrowArgs,
    /// Print the result as JSON; only with a file
    #[arg(long)]
    json: bool,
    /// No progress on stderr
    #[arg(long, short)]
    quiet: bool,
}

pub(super) async fn run(
    app: &App,
    args: &ExportArgs,
    cancel: &CancellationToken,
) -> anyhow::Result<ExitCode> {
    let to_stdout = args.output == Path::new("-");
    anyhow::ensure!(
        !(to_stdout && args.json),
        "--json needs --output FILE, for the export itself goes to stdout"
    );
    let Some(format) = args.format.or_else(|| ExportFormat::of_path(&args.output)) else {
        anyhow::bail!(
            "which format? Give --format bibtex, ris, csl or jsonl, or --output with a file name that ends in .bib, \
             .ris, .json or .jsonl"
        );
    };
    let target = if to_stdout {
        ExportTarget::Open(stdout(), PathBuf::from("standard output"))
    } else {
        ExportTarget::File(args.output.clone())
    };
    let bar = bar(args.quiet || (to_stdout && std::io::stdout().is_terminal()));
    let progress = watched(bar.clone(), args.quiet);
    let written = app.export_corpus(&args.name, format, &args.narrow.read()?, target, progress, cancel).await;
    bar.finish_and_clear();
    let report = written?;
    if report.cancelled {
        let left = if to_stdout { "the output is not whole" } else { "nothing was written" };
        tell(&format!("interrupted; {left}"));
        return Ok(ExitCode::from(130));
    }
    if args.json {
        print_json(&report)?;
    } else if !to_stdout {
        tell(&format!("{}: {} as {format}", args.output.display(), counted(report.documents, "document")));
    }
    Ok(ExitCode::SUCCESS)
}

fn bar(hidden: bool) -> ProgressBar {
    let bar = if hidden { ProgressBar::hidden() } else { ProgressBar::new(0) };
    if let Ok(style) = ProgressStyle::with_template("{elapsed} [{bar:30}] {pos}/{len} documents eta {eta}") {
        bar.set_style(style.progress_chars("=> "));
    }
    bar
}

/// Moves the bar; where stderr is not a terminal, an occasional line.
fn watched(bar: ProgressBar, quiet: bool) -> impl Fn(u64, u64) + Send + 'static {
    let lines = !quiet && !std::io::stderr().is_terminal();
    let said = std::sync::Mutex::new(Instant::now());
    move |written, total| {
        bar.set_length(total);
        bar.set_position(written);
        if lines {
            let mut said = said.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            if said.elapsed() >= SAY_EVERY {
                *said = Instant::now();
                tell(&format!("exporting: {written} of {total} documents"));
            }
        }
    }
}

/// Stdout, as it is for programs; control characters of documents must not reach a terminal.
fn stdout() -> Box<dyn Write + Send> {
    let out = std::io::stdout();
    if out.is_terminal() { Box::new(Terminal { out, rest: Vec::new() }) } else { Box::new(out) }
}

struct Terminal<W> {
    out: W,
    /// The beginning of a character.
    rest: Vec<u8>,
}

impl<W: Write> Write for Terminal<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.rest.extend_from_slice(bytes);
        let whole = match std::str::from_utf8(&self.rest) {
            Ok(text) => text.len(),
            Err(error) => error.valid_up_to(),
        };
        let text = String::from_utf8_lossy(&self.rest[..whole]).into_owned();
        self.rest.drain(..whole);
        self.out.write_all(escaped(&text).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_gets_no_control_characters() {
        let mut terminal = Terminal { out: Vec::new(), rest: Vec::new() };
        let text = "睡眠\u{1b}[31m é\n";
        for byte in text.as_bytes() {
            terminal.write_all(&[*byte]).unwrap();
        }
        let shown = String::from_utf8(terminal.out).unwrap();
        assert_eq!(shown, escaped(text));
        assert!(!shown.contains('\u{1b}'));
    }
}
