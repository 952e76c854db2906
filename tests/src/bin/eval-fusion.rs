//! Measures lanes and their fusion: nDCG@10 and recall@100 of the lanes wide and semantic and of both fused, on SciFact's training
//! queries, Cranfield, and the patents, where sharing an IPC subclass stands for relevance (a weak stand-in: it says that two
//! patents are of one field, not that one is prior art of the other).
//!
//! `cargo run --release -p lyra-tests --bin eval-fusion -- --data-dir DIR`; needs the shared data (see CONTRIBUTING.md).

#![expect(clippy::print_stdout, reason = "a program that prints its measurements")]

use anyhow::{Context, Result};
use clap::Parser;
use flate2::read::GzDecoder;
use lyra_corpus::{ImportOptions, eval};
use lyra_usecases::App;
use lyra_usecases::config::Config;
use lyra_usecases::fusion::{BlendRequest, LaneSearch, ProvenanceRequest, RunRef, Show};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::{fs, time::Instant};
use tokio_util::sync::CancellationToken;

/// Documents of each lane that are fused.
const DEPTH: usize = 200;

#[derive(Debug, Parser)]
struct Args {
    /// Folder that keeps the imported corpora between runs
    #[arg(long, default_value = "target/eval-fusion")]
    data_dir: PathBuf,
    /// Use a running lyra-ml-server
    #[arg(long)]
    ml_url: Option<String>,
    /// Most queries of each set
    #[arg(long, default_value_t = usize::MAX)]
    queries: usize,
    /// Sets to measure
    #[arg(long, value_delimiter = ',', default_values = ["scifact", "cranfield", "patents"])]
    sets: Vec<String>,
}

/// Queries with what is relevant to each.
struct Set {
    corpus: &'static str,
    file: PathBuf,
    queries: Vec<Judged>,
}

struct Judged {
    text: String,
    /// A document that is the query itself.
    own: Option<String>,
    grades: HashMap<String, u32>,
}

#[tokio::main]
async fn main() -> Result<()> {
    let args = Args::parse();
    let Some(shared) = lyra_tests::shared() else { return Ok(()) };
    fs::create_dir_all(&args.data_dir)?;
    // Runs of the last time would be served again, however they were scored then.
    for kept in ["lyra.db", "lyra.db-wal", "lyra.db-shm"] {
        match fs::remove_file(args.data_dir.join(kept)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
    }
    let mut config = Config::load(None)?;
    config.data_dir = Some(args.data_dir.clone());
    config.ml.url.clone_from(&args.ml_url);
    let app = lyra::compose::open(config).await?;
    println!("                                   nDCG@10   recall@100   ms/query");
    for name in &args.sets {
        let data = shared.join("data");
        let set = match name.as_str() {
            "scifact" => scifact(&data.join("scifact"))?,
            "cranfield" => cranfield(&data.join("cranfield"), &args.data_dir)?,
            "patents" => patents(&data.join("patents"), &args.data_dir)?,
            other => anyhow::bail!("there is no set `{other}`; there are scifact, cranfield and patents"),
        };
        measure(&app, &set, args.queries).await?;
    }
    app.close().await;
    Ok(())
}

async fn measure(app: &App, set: &Set, most: usize) -> Result<()> {
    let cancel = CancellationToken::new();
    app.import_corpus(
        set.corpus,
        std::slice::from_ref(&set.file),
        &ImportOptions::default(),
        &|_| {},
        &cancel,
    )
    .await?;
    let mut sums = [[0.0; 3]; 3];
    // The default embedder reads English, and says so when it is asked for more.
    let (queries, foreign): (Vec<&Judged>, Vec<&Judged>) = set
        .queries
        .iter()
        .take(most)
        .partition(|query| lyra_text::language(&query.text).is_none_or(|language| language == "en"));
    for query in &queries {
        let started = Instant::now();
        let wide = lane(app, set.corpus, &any_word(&query.text), false).await?;
        let wide_ms = started.elapsed();
        let meant = Instant::now();
        let semantic = lane(app, set.corpus, &query.text, true).await?;
        let semantic_ms = meant.elapsed();
        let runs = [&wide, &semantic].map(|run_id| RunRef { run_id: run_id.clone(), lane: None }).to_vec();
        let blended = Instant::now();
        let fused = app.fusion().blend(BlendRequest { runs, ..BlendRequest::default() }).await?;
        let fused_ms = blended.elapsed();
        for (sum, (run_id, took)) in
            sums.iter_mut().zip([(&wide, wide_ms), (&semantic, semantic_ms), (&fused.run_id, fused_ms)])
        {
            let ranked = ranked(app, run_id, query.own.as_deref()).await?;
            sum[0] += eval::ndcg_at(10, &ranked, &query.grades);
            sum[1] += eval::recall_at(100, &ranked, &query.grades);
            sum[2] += took.as_secs_f64() * 1e3;
        }
    }
    let n = queries.len().max(1) as f64;
    println!("{} ({} queries, {} left out that are not English)", set.corpus, queries.len(), foreign.len());
    for (name, [ndcg, recall, ms]) in ["wide", "semantic", "fused"].into_iter().zip(sums) {
        println!("  {name:<32} {:.4}    {:.4}       {:.1}", ndcg / n, recall / n, ms / n);
    }
    let best = sums[0][0].max(sums[1][0]) / n;
    println!("  fused over the best lane         {:+.4}", sums[2][0] / n - best);
    Ok(())
}

async fn lane(app: &App, corpus: &str, text: &str, semantic: bool) -> Result<String> {
    let search = LaneSearch {
        corpus: Some(corpus.to_owned()),
        semantic,
        text: text.to_owned(),
        top_k: DEPTH,
        ..LaneSearch::default()
    };
    Ok(app.fusion().search_lane(search, Show::default()).await?.run_id)
}

/// The run's documents but for the query itself.
async fn ranked(app: &App, run_id: &str, own: Option<&str>) -> Result<Vec<String>> {
    let request =
        ProvenanceRequest { run_id: run_id.to_owned(), top_k_lane: 101, ..ProvenanceRequest::default() };
    let said = app.fusion().provenance(&request).await?;
    let ids = said.documents.into_iter().map(|document| document.doc_id);
    Ok(ids.filter(|id| Some(id.as_str()) != own).collect())
}

/// A query that any of the text's words matches.
fn any_word(text: &str) -> String {
    let words: BTreeSet<String> = text
        .split(|c: char| !c.is_alphanumeric())
        .map(str::to_lowercase)
        .filter(|word| word.chars().count() > 1 && !lyra_text::is_stop_word(word))
        .filter(|word| !["and", "or", "not"].contains(&word.as_str()))
        .collect();
    words.into_iter().take(60).map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(" OR ")
}

fn scifact(folder: &Path) -> Result<Set> {
    #[derive(Deserialize)]
    struct Query {
        #[serde(rename = "_id")]
        id: String,
        text: String,
    }
    let mut grades: HashMap<String, HashMap<String, u32>> = HashMap::new();
    for line in fs::read_to_string(folder.join("beir/qrels/train.tsv"))?.lines().skip(1) {
        if let [query, doc, grade] = line.split('\t').collect::<Vec<_>>()[..] {
            grades.entry(query.to_owned()).or_default().insert(doc.to_owned(), grade.trim().parse()?);
        }
    }
    let mut queries = Vec::new();
    for line in fs::read_to_string(folder.join("beir/queries.jsonl"))?.lines() {
        let query: Query = serde_json::from_str(line)?;
        if let Some(grades) = grades.remove(&query.id) {
            queries.push(Judged { text: query.text, own: None, grades });
        }
    }
    Ok(Set { corpus: "scifact", file: folder.join("corpus.jsonl"), queries })
}

/// Judgments name queries by their place in the file, not by their number.
fn cranfield(folder: &Path, work: &Path) -> Result<Set> {
    let documents = fs::read_to_string(folder.join("cran.all.1400.xml"))?;
    let mut lines = String::new();
    for document in documents.split("<doc>").skip(1) {
        let id = between(document, "docno").context("a document without a number")?;
        let title = between(document, "title").unwrap_or_default();
        let text = between(document, "text").unwrap_or_default();
        let line = json!({ "id": id, "title": title, "abstract": text, "language": "en" });
        lines.push_str(&line.to_string());
        lines.push('\n');
    }
    let file = work.join("cranfield.jsonl");
    fs::write(&file, lines)?;
    let mut grades: Vec<HashMap<String, u32>> = Vec::new();
    for line in fs::read_to_string(folder.join("cranqrel.trec.txt"))?.lines() {
        let cells: Vec<&str> = line.split_whitespace().collect();
        if let [query, _, doc, grade] = cells[..] {
            let query: usize = query.parse()?;
            grades.resize(grades.len().max(query), HashMap::new());
            let relevant = grade.parse::<i32>()? > 0;
            grades[query - 1].insert(doc.to_owned(), u32::from(relevant));
        }
    }
    let asked = fs::read_to_string(folder.join("cran.qry.xml"))?;
    let texts = asked.split("<top>").skip(1).filter_map(|top| between(top, "title"));
    let queries = texts.zip(grades).map(|(text, grades)| Judged { text, own: None, grades }).collect();
    Ok(Set { corpus: "cranfield", file, queries })
}

fn patents(folder: &Path, work: &Path) -> Result<Set> {
    let mut text = String::new();
    GzDecoder::new(fs::File::open(folder.join("patents.jsonl.gz"))?).read_to_string(&mut text)?;
    let file = work.join("patents.jsonl");
    fs::write(&file, &text)?;
    let mut read: Vec<(String, String, BTreeSet<String>)> = Vec::new();
    for line in text.lines() {
        let patent: Value = serde_json::from_str(line)?;
        let part = |name: &str| patent[name].as_str().unwrap_or_default().to_owned();
        let subclasses = patent["ipc"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let subclasses =
            subclasses.filter_map(|code| code.replace(' ', "").get(..4).map(str::to_owned)).collect();
        read.push((part("id"), format!("{}. {}", part("title"), part("abstract")), subclasses));
    }
    let queries = read
        .iter()
        .map(|(id, text, subclasses)| Judged {
            text: text.clone(),
            own: Some(id.clone()),
            grades: read
                .iter()
                .filter(|(other, _, theirs)| other != id && !theirs.is_disjoint(subclasses))
                .map(|(other, ..)| (other.clone(), 1))
                .collect(),
        })
        .filter(|query| !query.grades.is_empty())
        .collect();
    Ok(Set { corpus: "patents", file, queries })
}

fn between(text: &str, tag: &str) -> Option<String> {
    let (_, rest) = text.split_once(&format!("<{tag}>"))?;
    let (inner, _) = rest.split_once(&format!("</{tag}>"))?;
    Some(inner.split_whitespace().collect::<Vec<_>>().join(" "))
}
