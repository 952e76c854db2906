//! Measures Lyra on SciFact: import rate, retrieval, and how often a claim's confidence agrees with its label.
//!
//! `cargo run --release -p lyra-tests --bin eval -- --data-dir DIR`; needs the shared data (see CONTRIBUTING.md).

#![expect(clippy::print_stdout, reason = "a program that prints its measurements")]

use anyhow::{Context, Result};
use clap::Parser;
use lyra::app::{App, NewTask, idle};
use lyra::config::Config;
use lyra_corpus::{ImportOptions, Method, eval};
use lyra_domain::{ClaimReport, TaskConfig};
use serde::Deserialize;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
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
    /// Claims to check: half of them labelled SUPPORT, half REFUTE
    #[arg(long, default_value_t = 100)]
    claims: usize,
    /// Print every claim whose confidence disagrees with its label
    #[arg(long)]
    failures: bool,
}

#[tokio::main]
async fn main() -> Result<()> {
    let args = Args::parse();
    let Some(shared) = lyra_tests::shared() else { return Ok(()) };
    let scifact = shared.join("data/scifact");
    let mut config = Config::load(None)?;
    config.data_dir = Some(args.data_dir.clone());
    config.ml.url.clone_from(&args.ml_url);
    let app = App::open(config).await?;
    import(&app, &scifact.join("corpus.jsonl")).await?;
    retrieval(&app, &scifact.join("beir")).await?;
    checks(&app, &scifact.join("claims_train.jsonl"), &args).await?;
    app.close().await;
    Ok(())
}

async fn import(app: &App, file: &Path) -> Result<()> {
    let start = Instant::now();
    let report = app
        .import_corpus(
            CORPUS,
            &[file.to_owned()],
            &ImportOptions::default(),
            &|_| {},
            &CancellationToken::new(),
        )
        .await?;
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

#[derive(Deserialize)]
struct BeirQuery {
    #[serde(rename = "_id")]
    id: String,
    text: String,
}

async fn retrieval(app: &App, beir: &Path) -> Result<()> {
    let mut judged: HashMap<String, HashMap<String, u32>> = HashMap::new();
    for line in fs::read_to_string(beir.join("qrels/train.tsv"))?.lines().skip(1) {
        let mut cells = line.split('\t');
        let (Some(query), Some(doc), Some(grade)) = (cells.next(), cells.next(), cells.next()) else {
            continue;
        };
        judged.entry(query.to_owned()).or_default().insert(doc.to_owned(), grade.trim().parse()?);
    }
    let queries: Vec<BeirQuery> = jsonl(&beir.join("queries.jsonl"))?;
    let queries: Vec<&BeirQuery> = queries.iter().filter(|query| judged.contains_key(&query.id)).collect();
    println!("\nretrieval over {} training queries   nDCG@10   recall@10   ms/query", queries.len());
    for (name, method) in [("bm25", Method::Bm25), ("dense", Method::Dense), ("hybrid", Method::Hybrid)] {
        let start = Instant::now();
        let (mut ndcg, mut recall) = (0.0, 0.0);
        for query in &queries {
            let hits = app.search_corpus(CORPUS, &query.text, method, 10).await?.hits;
            let ranked: Vec<&str> = hits.iter().map(|hit| hit.document.doc_id.as_str()).collect();
            ndcg += eval::ndcg_at(10, &ranked, &judged[&query.id]);
            recall += eval::recall_at(10, &ranked, &judged[&query.id]);
        }
        let n = queries.len() as f64;
        let ms = start.elapsed().as_secs_f64() * 1e3 / n;
        println!("  {name:<42} {:.4}    {:.4}      {ms:.1}", ndcg / n, recall / n);
    }
    Ok(())
}

#[derive(Deserialize)]
struct ScifactClaim {
    id: u64,
    claim: String,
    evidence: HashMap<String, Vec<Rationale>>,
}

#[derive(Deserialize)]
struct Rationale {
    label: String,
}

impl ScifactClaim {
    fn label(&self) -> Option<&str> {
        self.evidence.values().flatten().next().map(|rationale| rationale.label.as_str())
    }
}

/// Counts of one label.
#[derive(Default)]
struct Tally {
    checked: usize,
    agree: usize,
    undecided: usize,
    recalled: f64,
}

async fn checks(app: &App, file: &Path, args: &Args) -> Result<()> {
    let claims: Vec<ScifactClaim> = jsonl(file)?;
    let mut tallies: HashMap<&str, Tally> = HashMap::new();
    let cancel = CancellationToken::new();
    let workers = app.start_workers(None, &cancel);
    let start = Instant::now();
    for label in ["SUPPORT", "REFUTE"] {
        let wanted = claims.iter().filter(|claim| claim.label() == Some(label)).take(args.claims / 2);
        for claim in wanted {
            let report = check(app, &claim.claim).await?;
            let tally = tallies.entry(label).or_default();
            let found = claim
                .evidence
                .keys()
                .filter(|id| report.evidence.iter().any(|e| e.doc_id.as_ref() == Some(id)));
            tally.recalled += found.count() as f64 / claim.evidence.len() as f64;
            tally.checked += 1;
            let confidence = report.posterior.confidence();
            let undecided = (confidence - 0.5).abs() < 1e-9;
            let agrees = !undecided && (confidence > 0.5) == (label == "SUPPORT");
            tally.undecided += usize::from(undecided);
            tally.agree += usize::from(agrees);
            if args.failures && !agrees {
                describe(claim, label, &report);
            }
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    cancel.cancel();
    workers.wait().await;
    println!("\nclaim checking             claims   recall@10   confidence agrees   undecided");
    for label in ["SUPPORT", "REFUTE"] {
        let Some(tally) = tallies.get(label) else { continue };
        let n = tally.checked as f64;
        println!(
            "  {label:<24} {:>6}   {:.3}       {:>3} ({:.2})          {}",
            tally.checked,
            tally.recalled / n,
            tally.agree,
            tally.agree as f64 / n,
            tally.undecided,
        );
    }
    let all: usize = tallies.values().map(|tally| tally.checked).sum();
    println!("  {:.2} s per claim", seconds / all.max(1) as f64);
    Ok(())
}

async fn check(app: &App, claim: &str) -> Result<ClaimReport> {
    let config = TaskConfig { corpora: vec![CORPUS.to_owned()], ..TaskConfig::default() };
    let task =
        app.create_task(NewTask { query: claim.to_owned(), config, claims: vec![claim.to_owned()] }).await?;
    while !idle(&app.task_status(&task.id, Duration::from_secs(30)).await?) {}
    app.claim_reports(&task.id).await?.into_iter().next().context("the claim was not stored")
}

fn describe(claim: &ScifactClaim, label: &str, report: &ClaimReport) {
    println!("\n{label} {} {} → {:.3}", claim.id, claim.claim, report.posterior.confidence());
    for evidence in &report.evidence {
        let cited = evidence.doc_id.as_ref().is_some_and(|id| claim.evidence.contains_key(id));
        println!(
            "   {}{} {:.2} {}",
            if cited { "*" } else { " " },
            evidence.relation,
            evidence.nli_confidence.get(),
            evidence.text.chars().take(160).collect::<String>(),
        );
    }
}

fn jsonl<T: for<'de> Deserialize<'de>>(file: &Path) -> Result<Vec<T>> {
    let text = fs::read_to_string(file).with_context(|| format!("{} cannot be read", file.display()))?;
    text.lines().map(|line| Ok(serde_json::from_str(line)?)).collect()
}
