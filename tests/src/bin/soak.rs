//! Steady load on `lyra serve` and `lyra-ml-server` for a bounded time; fails when memory or file handles of either keep growing.
//!
//! `cargo make soak 60` runs it for an hour. Needs Linux; build both binaries first.

#![expect(clippy::print_stdout, reason = "a program that prints what it measured")]

use anyhow::{Context, Result, ensure};
use clap::Parser;
use lyra_tests::TestApp;
use lyra_tests::mcp_server::HttpServer;
use lyra_tests::ml_server::MlServer;
use serde_json::json;
use std::time::{Duration, Instant};

/// The questions, in turns; the example corpus covers all of them.
const QUESTIONS: [&str; 4] = [
    "Does a short daytime nap improve memory in adults?",
    "Does biochar increase crop yield?",
    "Does remote work lower productivity?",
    "Do phone bans improve learning at school?",
];
/// Shares of the time: what comes before is warming up, and the last part is held against the part after it.
const WARM: f64 = 0.25;

#[derive(Debug, Parser)]
struct Args {
    /// Minutes, 2 to 240
    #[arg(default_value_t = 60, value_parser = clap::value_parser!(u64).range(2..=240))]
    minutes: u64,
    /// Seconds from the begin of one task to that of the next
    #[arg(long, default_value_t = 20)]
    pause: u64,
    /// Seconds between two samples
    #[arg(long, default_value_t = 5)]
    sample: u64,
    /// Growth in megabytes that is no leak: caches that fill, claims that are kept in memory
    #[arg(long, default_value_t = 48.0)]
    growth_mb: f64,
}

/// One process at one moment.
#[derive(Debug, Clone, Copy)]
struct Sample {
    minutes: f64,
    megabytes: f64,
    handles: f64,
}

/// A process and its samples.
struct Watched {
    name: &'static str,
    pid: u32,
    samples: Vec<Sample>,
}

impl Watched {
    fn new(name: &'static str, pid: Option<u32>) -> Result<Self> {
        Ok(Self { name, pid: pid.with_context(|| format!("{name} does not run"))?, samples: Vec::new() })
    }

    fn look(&mut self, since: Instant) -> Result<()> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid))
            .with_context(|| format!("{} is gone", self.name))?;
        let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
        let kilobytes: f64 = resident.trim().trim_end_matches("kB").trim().parse()?;
        let handles = std::fs::read_dir(format!("/proc/{}/fd", self.pid))?.count() as f64;
        let minutes = since.elapsed().as_secs_f64() / 60.0;
        self.samples.push(Sample { minutes, megabytes: kilobytes / 1024.0, handles });
        Ok(())
    }

    /// Slope per hour, and growth from the quarter after warming up to the last one, of one figure.
    fn trend(&self, figure: impl Fn(&Sample) -> f64) -> (f64, f64) {
        let end = self.samples.last().map_or(0.0, |sample| sample.minutes);
        let warm: Vec<&Sample> = self.samples.iter().filter(|s| s.minutes >= WARM * end).collect();
        let points: Vec<(f64, f64)> = warm.iter().map(|s| (s.minutes / 60.0, figure(s))).collect();
        let part = |from: f64, to: f64| {
            median(
                warm.iter()
                    .filter(|s| (from * end..=to * end).contains(&s.minutes))
                    .map(|s| figure(s))
                    .collect(),
            )
        };
        (slope(&points), part(1.0 - WARM, 1.0) - part(WARM, 2.0 * WARM))
    }

    /// Prints the figures and returns whether they stay flat.
    fn judge(&self, growth_mb: f64) -> bool {
        let (memory_slope, memory_growth) = self.trend(|s| s.megabytes);
        let (handle_slope, handle_growth) = self.trend(|s| s.handles);
        let peak = self.samples.iter().map(|s| s.megabytes).fold(0.0, f64::max);
        let last = self.samples.last().map_or((0.0, 0.0), |s| (s.megabytes, s.handles));
        println!(
            "{:<15} memory {:.0} MB at the end, {peak:.0} MB at most, slope {memory_slope:+.1} MB/h, growth {memory_growth:+.1} MB; \
             handles {:.0}, slope {handle_slope:+.1}/h, growth {handle_growth:+.0}",
            self.name, last.0, last.1
        );
        memory_growth <= growth_mb && handle_growth <= 8.0
    }
}

/// Least squares.
fn slope(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let (x, y) = points.iter().fold((0.0, 0.0), |(x, y), point| (x + point.0 / n, y + point.1 / n));
    let (over, under) = points.iter().fold((0.0, 0.0), |(over, under), point| {
        (over + (point.0 - x) * (point.1 - y), under + (point.0 - x).powi(2))
    });
    if under > 0.0 { over / under } else { 0.0 }
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or_default()
}

/// One task from start to end, with an agent's queries about it.
async fn task(server: &HttpServer, question: &str) -> Result<()> {
    let made = server.call("create_task", json!({"query": question}), &[]).await?;
    let id = made["task_id"].as_str().with_context(|| format!("no task: {made}"))?.to_owned();
    server.call("queue_searches", json!({"task_id": id, "queries": [question]}), &[]).await?;
    loop {
        let status = server.call("get_status", json!({"task_id": id, "wait": 15}), &[]).await?;
        match status["status"].as_str() {
            Some("completed") => break,
            Some("created" | "exploring") => {}
            _ => anyhow::bail!("the task ended otherwise: {status}"),
        }
    }
    let sql = format!(
        "SELECT relation, count(*) AS n FROM edges JOIN claims ON claims.id = target_id WHERE task_id = '{id}' GROUP BY relation"
    );
    let rows = server.call("query_graph", json!({"sql": sql}), &[]).await?;
    ensure!(rows["ok"] == true, "{rows}");
    let near = server.call("vector_search", json!({"query": question, "target": "claims"}), &[]).await?;
    ensure!(near["ok"] == true, "{near}");
    Ok(())
}

#[tokio::main]
async fn main() -> Result<()> {
    let args = Args::parse();
    let app = TestApp::new();
    let models = MlServer::start().await?;
    let server = HttpServer::start_with(&app, &["--ml-url", &models.url()], &[]).await?;
    let mut watched = [Watched::new("lyra", server.pid())?, Watched::new("lyra-ml-server", models.pid())?];
    let (started, lasts) = (Instant::now(), Duration::from_secs(args.minutes * 60));
    println!("{} minutes, one task every {} s", args.minutes, args.pause);

    let load = async {
        let mut tasks = 0_usize;
        let mut slowest = Duration::ZERO;
        let mut turns = tokio::time::interval(Duration::from_secs(args.pause.max(1)));
        turns.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        while started.elapsed() < lasts {
            turns.tick().await;
            let begun = Instant::now();
            task(&server, QUESTIONS[tasks % QUESTIONS.len()]).await?;
            slowest = slowest.max(begun.elapsed());
            tasks += 1;
            let metrics = server.request("GET /metrics", &[], "").await?;
            ensure!(metrics.status == 200, "{metrics:?}");
        }
        Ok::<_, anyhow::Error>((tasks, slowest))
    };
    let mut load = Box::pin(load);
    let mut samples = tokio::time::interval(Duration::from_secs(args.sample.max(1)));
    let (tasks, slowest) = loop {
        tokio::select! {
            done = &mut load => break done?,
            _ = samples.tick() => {
                for process in &mut watched {
                    process.look(started)?;
                }
            }
        }
    };
    drop(load);
    println!("{tasks} tasks, the slowest took {:.1} s", slowest.as_secs_f64());
    // Both are printed, regardless of the first one.
    let flat: Vec<bool> = watched.iter().map(|process| process.judge(args.growth_mb)).collect();
    server.stop().await?;
    ensure!(flat.iter().all(|flat| *flat), "memory or file handles keep growing");
    Ok(())
}
