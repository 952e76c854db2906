//! `lyra research … --sources s2,openalex` against stand-ins of both APIs, and what it left in the evidence graph.
//!
//! `cargo run --release -p lyra-tests --bin replay-demo -- ["question"]`; needs no network.

#![expect(clippy::print_stdout, reason = "a program that prints what it found")]

use anyhow::Result;
use clap::Parser;
use lyra::app::App;
use lyra::cli::{self, Cli};
use lyra::config::Config;
use lyra_store::GuardOptions;
use lyra_tests::replay::Replay;
use std::process::ExitCode;

#[derive(Debug, Parser)]
struct Args {
    /// What to ask; the stand-ins know naps, remote work, phone bans and biochar
    #[arg(default_value = "Does a short daytime nap improve memory in adults?")]
    question: String,
    /// Sources to ask
    #[arg(long, default_value = "s2,openalex")]
    sources: String,
}

/// What to count, and how.
const COUNTS: [(&str, &str); 6] = [
    ("works", "SELECT count(*) AS n FROM works"),
    (
        "answered by both APIs",
        "SELECT count(*) AS n FROM (SELECT page_id FROM serp_items GROUP BY page_id HAVING count(DISTINCT source) > 1)",
    ),
    ("retracted", "SELECT count(*) AS n FROM works WHERE is_retracted"),
    ("pages found through citations", "SELECT count(*) AS n FROM task_pages WHERE reason = 'citation'"),
    ("citations", "SELECT count(*) AS n FROM edges WHERE relation = 'cites'"),
    ("judgements", "SELECT count(*) AS n FROM edges WHERE relation IN ('supports', 'refutes', 'neutral')"),
];

fn main() -> Result<ExitCode> {
    let args = Args::parse();
    let replay = Replay::start()?;
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("lyra.toml");
    std::fs::write(&file, replay.configuration())?;
    let (file, data_dir) = (file.display().to_string(), folder.path().display().to_string());
    let command = [
        "lyra",
        "--config",
        &file,
        "--data-dir",
        &data_dir,
        "research",
        &args.question,
        "--sources",
        &args.sources,
    ];
    let code = cli::run(&Cli::parse_from(command));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut config = Config::load(Some(file.as_ref()))?;
        config.data_dir = Some(folder.path().to_owned());
        let app = App::open(config).await?;
        println!("\nin the evidence graph:");
        for (what, sql) in COUNTS {
            let found = app.query_graph(sql, GuardOptions::default()).await?;
            println!("{:>6}  {what}", found.rows[0]["n"].as_i64().unwrap_or_default());
        }
        app.close().await;
        anyhow::Ok(())
    })?;
    println!("note: the stand-ins answer with invented passages; they prove nothing");
    Ok(code)
}
