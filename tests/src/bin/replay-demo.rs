//! `lyra research … --sources s2,openalex,web` against stand-ins of both APIs, of search engines and of a site, and the
//! resulting evidence graph. Fails when an expected part is missing.
//!
//! `cargo run --release -p lyra-tests --bin replay-demo -- ["question"]`, after `cargo build --release -p lyra`; needs
//! no network. `cargo make replay-demo` does both.

#![expect(clippy::print_stdout, reason = "a program that prints what it found")]

use anyhow::{Context, Result};
use clap::Parser;
use lyra_store::GuardOptions;
use lyra_tests::binary;
use lyra_tests::replay::Replay;
use lyra_usecases::config::Config;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

/// The question with known figures.
const QUESTION: &str = "Does a short daytime nap improve memory in adults?";

#[derive(Debug, Parser)]
struct Args {
    /// What to ask; the stand-ins know naps, remote work, phone bans and biochar. Figures are checked for the default only
    #[arg(default_value = QUESTION)]
    question: String,
    /// Sources to ask
    #[arg(long, default_value = "s2,openalex,web")]
    sources: String,
    /// Folder to keep what was found in, for `lyra --data-dir`; a temporary one by default
    #[arg(long)]
    data_dir: Option<PathBuf>,
}

/// The expected value of a figure.
#[derive(Clone, Copy, PartialEq)]
enum Need {
    /// At least one.
    Some,
    /// Zero.
    None,
    /// Whatever it is.
    Any,
}

/// The figure, its query, and the expected value.
const COUNTS: [(&str, &str, Need); 14] = [
    ("works", "SELECT count(*) AS n FROM works", Need::Some),
    (
        "of them answered by both APIs",
        "SELECT count(*) AS n FROM works WHERE s2_id IS NOT NULL AND openalex_id IS NOT NULL",
        Need::Some,
    ),
    (
        "answered by both and kept twice",
        "SELECT count(*) - count(DISTINCT doi) AS n FROM works WHERE doi IS NOT NULL",
        Need::None,
    ),
    ("retracted", "SELECT count(*) AS n FROM works WHERE is_retracted", Need::Any),
    ("pages of the web", "SELECT count(*) AS n FROM task_pages WHERE reason = 'serp'", Need::Some),
    (
        "works without an abstract, read from their pages",
        "SELECT count(*) AS n FROM pages WHERE fetch_method = 'http' AND work_id IS NOT NULL",
        Need::Some,
    ),
    ("pages found through citations", "SELECT count(*) AS n FROM task_pages WHERE reason = 'citation'", Need::Some),
    ("citations", "SELECT count(*) AS n FROM edges WHERE relation = 'cites'", Need::Some),
    ("claims", "SELECT count(*) AS n FROM claims", Need::Some),
    ("edges: origin", "SELECT count(*) AS n FROM edges WHERE relation = 'origin'", Need::Some),
    ("edges: supports", "SELECT count(*) AS n FROM edges WHERE relation = 'supports'", Need::Some),
    ("edges: refutes", "SELECT count(*) AS n FROM edges WHERE relation = 'refutes'", Need::Some),
    ("edges: neutral", "SELECT count(*) AS n FROM edges WHERE relation = 'neutral'", Need::Some),
    (
        "judgments of passages from the web",
        "SELECT count(*) AS n FROM edges JOIN fragments ON fragments.id = source_id JOIN pages ON pages.id = page_id
         WHERE relation IN ('supports', 'refutes', 'neutral') AND fetch_method = 'http'",
        Need::Some,
    ),
];

fn main() -> Result<ExitCode> {
    let args = Args::parse();
    let replay = Replay::start()?;
    println!("search engines that answer: {}", replay.engines().join(", "));
    if lyra_tests::shared().is_none() {
        println!("note: without the recorded answers; the stand-ins know invented works only");
    }
    let temporary = tempfile::tempdir()?;
    let folder = args.data_dir.unwrap_or_else(|| temporary.path().to_owned());
    let file = replay.configure(temporary.path())?;
    let lyra = binary("lyra");
    let status = Command::new(&lyra)
        .arg("--config")
        .arg(&file)
        .arg("--data-dir")
        .arg(&folder)
        .args(["research", &args.question, "--sources", &args.sources])
        .status()
        .with_context(|| lyra.display().to_string())?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let wrong = runtime.block_on(async {
        let mut config = Config::load(Some(&file))?;
        config.data_dir = Some(folder);
        let app = lyra::compose::open(config).await?;
        println!("\nin the evidence graph:");
        let mut wrong = Vec::new();
        for (what, sql, need) in COUNTS {
            let found = app.query_graph("replay", sql, GuardOptions::default()).await?;
            let count = found.rows[0]["n"].as_i64().unwrap_or_default();
            println!("{count:>6}  {what}");
            if (need == Need::Some && count == 0) || (need == Need::None && count > 0) {
                wrong.push(format!("{count} {what}"));
            }
        }
        app.close().await;
        anyhow::Ok(wrong)
    })?;
    println!("note: the stand-ins answer with invented passages; they prove nothing");
    if args.question != QUESTION {
        return Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    if !wrong.is_empty() {
        println!("not as it has to be: {}", wrong.join(", "));
    }
    Ok(if status.success() && wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
