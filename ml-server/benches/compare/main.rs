//! This side of the comparison with `PyTorch` that `compare.py` makes: an embedder in process, and clients of a server.
//!
//! Both speak lines of JSON over stdin and stdout, so that the script can take turns between the two sides.

#![allow(clippy::print_stdout, clippy::allow_attributes, reason = "stdout carries the results")]

use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use lyra_ml_server::model::ops::normalise;
use lyra_ml_server::model::tokenizer::{Tokens, Truncation};
use lyra_ml_server::model::{Model, ModelSource};
use lyra_proto::TruncationDirection::Right;
use rayon::prelude::*;
use serde_json::{Value, json};

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["embed", model, threads] => embed(model, threads.parse()?),
        ["load", url, clients, texts] => load(url, clients.parse()?, Path::new(texts)),
        _ => {
            println!("skipped: `cargo make bench-compare` runs this with its other side");
            Ok(())
        }
    }
}

/// Prints `value` as one line.
fn say(value: &Value) -> Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{value}")?;
    out.flush().context("stdout")
}

fn texts(path: &Path) -> Result<Vec<String>> {
    let bytes = std::fs::read(path).with_context(|| path.display().to_string())?;
    Ok(serde_json::from_slice(&bytes)?)
}

/// For each line `{"texts": FILE, "batch": N, "vectors": FILE or null}`: embeds the texts and says how long it took.
fn embed(model: &str, threads: usize) -> Result<()> {
    let started = Instant::now();
    let model = Model::load(&ModelSource::parse(model, None, true), None)?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    say(&json!({"loaded": started.elapsed().as_secs_f64()}))?;
    for line in std::io::stdin().lock().lines() {
        let order: Value = serde_json::from_str(&line?)?;
        let file = |key: &str| order[key].as_str().map(PathBuf::from);
        let texts = texts(&file("texts").context("`texts` is missing")?)?;
        let batch = order["batch"].as_u64().context("`batch` is missing")? as usize;
        let started = Instant::now();
        let vectors = pool.install(|| encode(&model, &texts, batch))?;
        let seconds = started.elapsed().as_secs_f64();
        if let Some(path) = file("vectors") {
            std::fs::write(path, serde_json::to_vec(&vectors)?)?;
        }
        say(&json!({"seconds": seconds}))?;
    }
    Ok(())
}

/// Normalized vectors in the order of the texts. Longest first and in batches of a fixed number of texts, which is what
/// `SentenceTransformer.encode` does.
fn encode(model: &Model, texts: &[String], batch: usize) -> Result<Vec<Vec<f32>>> {
    let mut order: Vec<usize> = (0..texts.len()).collect();
    order.sort_by_key(|&index| std::cmp::Reverse(texts[index].len()));
    let mut vectors = vec![Vec::new(); texts.len()];
    for indices in order.chunks(batch) {
        let tokens = indices
            .par_iter()
            .map(|&index| model.tokenizer.text(&texts[index], Truncation::Cut(Right)))
            .collect::<Result<Vec<Tokens>, _>>()?;
        let rows = model.run(&tokens.iter().collect::<Vec<_>>())?;
        for (&index, mut row) in indices.iter().zip(rows) {
            normalise(&mut row);
            vectors[index] = row;
        }
    }
    Ok(vectors)
}

/// For each line `{"seconds": S}`: so many clients post one text after the other to `{url}/embed` for S seconds, and it says
/// how many were answered and how long an answer took.
fn load(url: &str, clients: usize, file: &Path) -> Result<()> {
    let texts = Arc::new(texts(file)?);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let next = Arc::new(AtomicUsize::new(0));
    say(&json!({"loaded": 0.0}))?;
    for line in std::io::stdin().lock().lines() {
        let order: Value = serde_json::from_str(&line?)?;
        let length = Duration::from_secs_f64(order["seconds"].as_f64().context("`seconds` is missing")?);
        // Connections of the round before may have been closed meanwhile.
        let client = lyra_tls::client().build()?;
        let times = Arc::new(Mutex::new(Vec::new()));
        let started = Instant::now();
        let run: Result<()> = runtime.block_on(async {
            let mut running = tokio::task::JoinSet::new();
            for _ in 0..clients {
                let (client, texts, next, times) =
                    (client.clone(), Arc::clone(&texts), Arc::clone(&next), Arc::clone(&times));
                let url = format!("{url}/embed");
                running.spawn(async move {
                    while started.elapsed() < length {
                        let text = &texts[next.fetch_add(1, Ordering::Relaxed) % texts.len()];
                        let asked = Instant::now();
                        let answer = client.post(&url).json(&json!({"inputs": text})).send().await?;
                        let status = answer.status();
                        if !status.is_success() {
                            bail!("{url} answered {status}");
                        }
                        answer.bytes().await?;
                        times.lock().expect("no client panics").push(asked.elapsed().as_secs_f64());
                    }
                    Ok(())
                });
            }
            while let Some(done) = running.join_next().await {
                done??;
            }
            Ok(())
        });
        run?;
        let seconds = started.elapsed().as_secs_f64();
        let mut times = std::mem::take(&mut *times.lock().expect("no client panics"));
        times.sort_by(f64::total_cmp);
        let at = |share: f64| times.get((times.len() as f64 * share) as usize).copied();
        say(&json!({"answered": times.len(), "seconds": seconds, "p50": at(0.5), "p99": at(0.99)}))?;
    }
    Ok(())
}
