//! Measures on SciFact what `lyra eval` does not: import rate, rankings, counter-claims, and titles as claims.
//!
//! `cargo run --release -p lyra-tests --bin eval -- --claims 809`; needs the shared data (see CONTRIBUTING.md).
//!
//! The embedder was not trained on labels, so that retrieval is measured fairly; so are the titles of abstracts that no
//! training saw.

#![expect(clippy::print_stdout, reason = "a program that prints its measurements")]

mod retrieval;
mod scifact;
mod unseen;

use anyhow::Result;
use clap::{Parser, ValueEnum};
use lyra_corpus::ImportOptions;
use lyra_ml_client::MlClient;
use lyra_ml_server::{Profile, ServerConfig, ServerHandle};
use lyra_usecases::App;
use lyra_usecases::config::Config;
use scifact::SciFact;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// Name of the corpus in the data folder.
const CORPUS: &str = "scifact";

#[derive(Debug, Parser)]
struct Args {
    /// Folder that keeps the imported corpus between runs
    #[arg(long, default_value = "target/eval")]
    data_dir: PathBuf,
    /// Use a running lyra-ml-server
    #[arg(long)]
    ml_url: Option<String>,
    /// Claims to take, spread evenly over the 809 of the training set, with and without evidence
    #[arg(long, default_value_t = 100)]
    claims: usize,
    /// Only these parts
    #[arg(long, value_enum, num_args = 1.., default_values_t = [Part::Retrieval, Part::Counter, Part::Unseen])]
    parts: Vec<Part>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// nDCG and recall of the rankings
    Retrieval,
    /// What searching with the counter-claim adds
    Counter,
    /// Titles of abstracts that no training saw
    Unseen,
}

#[tokio::main]
async fn main() -> Result<()> {
    let args = Args::parse();
    let Some(shared) = lyra_tests::shared() else { return Ok(()) };
    let data = shared.join("data");
    let scifact = SciFact::read(&data)?;
    let mut server = None;
    let url = match &args.ml_url {
        Some(url) => url.clone(),
        None => server.insert(lite().await?).url(),
    };
    let inference = MlClient::new(&url)?;
    inference.wait_ready(Duration::from_mins(2)).await?;
    let mut config = Config::load(None)?;
    config.data_dir = Some(args.data_dir.clone());
    config.ml.url = Some(url);
    let app = lyra::compose::open(config).await?;
    let wanted = |part: Part| args.parts.contains(&part);
    if wanted(Part::Retrieval) || wanted(Part::Counter) {
        import(&app, &data.join("scifact/corpus.jsonl")).await?;
    }
    if wanted(Part::Retrieval) {
        retrieval::rankings(&app, &data.join("scifact/beir")).await?;
    }
    if wanted(Part::Counter) {
        retrieval::counter_claims(&app, &scifact, args.claims).await?;
    }
    if wanted(Part::Unseen) {
        unseen::titles(&inference, &scifact).await?;
    }
    app.close().await;
    if let Some(server) = server {
        server.shutdown().await;
    }
    Ok(())
}

/// The repository's models on a loopback port.
async fn lite() -> Result<ServerHandle> {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../models");
    let config = ServerConfig::from_profile(Profile::Lite, Some(&models), true)?;
    let server = lyra_ml_server::start(config, TcpListener::bind(("127.0.0.1", 0)).await?)?;
    server.ready().await?;
    Ok(server)
}

async fn import(app: &App, file: &Path) -> Result<()> {
    let start = Instant::now();
    let (options, stop) = (ImportOptions::default(), CancellationToken::new());
    let report = app.import_corpus(CORPUS, &[file.to_owned()], &options, &|_| {}, &stop).await?;
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "import: {} added, {} unchanged, {} rejected in {seconds:.1} s ({:.1} documents/s)",
        report.added,
        report.unchanged,
        report.rejected_count,
        (report.added + report.unchanged) as f64 / seconds,
    );
    Ok(())
}
