//! Overload test of the ml-server, over loopback only.
//!
//!     cargo make load --overload-seconds 60
//!
//! Starts the built `lyra-ml-server` with the lite models, measures what it sustains with clients that wait for their
//! answers, then offers several times that rate with clients that do not wait, and checks that the server neither slows
//! down, nor fails, nor grows. Exits with 1 when a goal is missed.

mod program;
mod work;

use std::time::Duration;

use anyhow::{Result, ensure};
use clap::Parser;

use self::program::{Program, Usage};
use self::work::{Tally, Workload};

/// Offers the ml-server more than it can do.
#[derive(Debug, Parser)]
struct Cli {
    /// Seconds of clients that wait for their answers.
    #[arg(long, default_value_t = 20)]
    peak_seconds: u64,
    /// Seconds of overload.
    #[arg(long, default_value_t = 60)]
    overload_seconds: u64,
    /// Seconds before each measurement that do not count.
    #[arg(long, default_value_t = 3)]
    warm_up_seconds: u64,
    /// Clients that wait for their answers.
    #[arg(long, default_value_t = 16)]
    peak_clients: usize,
    /// Clients that do not.
    #[arg(long, default_value_t = 64)]
    clients: usize,
    /// Offered rate as a multiple of the sustained one.
    #[arg(long, default_value_t = 4.0)]
    factor: f64,
    /// Computing threads of the server [default: the server's own].
    #[arg(long)]
    threads: Option<usize>,
    /// Smallest share of the peak that overload may leave.
    #[arg(long, default_value_t = 0.95)]
    keep: f64,
}

/// The measurements and the goals.
#[derive(Default)]
struct Report {
    missed: Vec<String>,
}

impl Report {
    fn goal(&mut self, what: &str, value: &str, reached: bool) {
        line(what, &format!("{value}  {}", if reached { "ok" } else { "MISSED" }));
        if !reached {
            self.missed.push(what.to_owned());
        }
    }
}

#[expect(clippy::print_stdout, reason = "the report is what the program is for")]
fn line(what: &str, value: &str) {
    println!("{what:<28} {value}");
}

#[tokio::main]
async fn main() -> Result<()> {
    let cli = Cli::parse();
    let (warm_up, mut report) = (Duration::from_secs(cli.warm_up_seconds), Report::default());
    let mut program = Program::start(cli.threads).await?;
    let workload = Workload::new(program.url());

    let peak = workload.closed_loop(cli.peak_clients, warm_up, Duration::from_secs(cli.peak_seconds)).await?;
    let sustained = peak.answered_per_second();
    line("sustained", &format!("{:.0} tokens/s, {sustained:.1} requests/s", peak.tokens_per_second()));
    line("  latency", &peak.latencies(200));
    report.goal("  statuses", &peak.statuses(), peak.only(&[200]));
    ensure!(sustained > 0.0, "nothing was answered");

    let before = program.usage()?;
    let watching = program.watch();
    let overload = workload
        .open_loop(cli.clients, cli.factor * sustained, warm_up, Duration::from_secs(cli.overload_seconds))
        .await?;
    let during = watching.stop().await;
    let share = overload.tokens_per_second() / peak.tokens_per_second();
    line("offered", &format!("{:.1} requests/s for {} s", cli.factor * sustained, cli.overload_seconds));
    let throughput =
        format!("{:.0} tokens/s, {:.1} % of the sustained", overload.tokens_per_second(), 100.0 * share);
    report.goal("  answered", &throughput, share >= cli.keep);
    report.goal("  statuses", &overload.statuses(), overload.only(&[200, 429]));
    let waits = format!("{} of {}", overload.with_retry_after, overload.count(429));
    report.goal("  429 with Retry-After", &waits, overload.with_retry_after == overload.count(429));
    line("  latency of 200", &overload.latencies(200));
    line("  latency of 429", &overload.latencies(429));

    workload.healthy().await?;
    line("after", "healthy, and answers");
    drop(workload);
    let after = program.settled(before.handles).await?;
    flat(&mut report, before, &during, after);
    let ended = program.terminate().await?;
    report.goal("SIGTERM", &format!("exit code {ended:?}"), ended == Some(0));
    ensure!(report.missed.is_empty(), "missed: {}", report.missed.join(", "));
    Ok(())
}

/// Memory may rise until every thread has had its largest input, then it has to stay; handles go with their connections.
fn flat(report: &mut Report, before: Usage, during: &[Usage], after: Usage) {
    let most = |part: &[Usage], of: fn(&Usage) -> u64| part.iter().map(of).max().unwrap_or_default();
    let (early, late) = during.split_at(during.len() / 2);
    let (early, late) = (most(early, |usage| usage.memory), most(late, |usage| usage.memory));
    let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    let memory = format!(
        "{:.0} MiB before, {:.0} at most in the first half, {:.0} in the second, {:.0} after",
        mib(before.memory),
        mib(early),
        mib(late),
        mib(after.memory)
    );
    report.goal("memory", &memory, late as f64 <= 1.05 * early as f64 + f64::from(8 << 20));
    let most = most(during, |usage| usage.handles);
    let handles = format!("{} before, {most} at most, {} after", before.handles, after.handles);
    report.goal("open handles", &handles, after.handles <= before.handles);
}

/// Rates and latencies of one phase.
impl Tally {
    fn only(&self, allowed: &[u16]) -> bool {
        self.failed == 0 && self.latencies.keys().all(|status| allowed.contains(status))
    }

    fn statuses(&self) -> String {
        let counts = self.latencies.iter().map(|(status, times)| format!("{status}: {}", times.len()));
        let mut counts: Vec<_> = counts.collect();
        if self.failed > 0 {
            counts.push(format!("no answer: {} ({})", self.failed, self.failure));
        }
        counts.join(", ")
    }

    fn latencies(&self, status: u16) -> String {
        let mut times = self.latencies.get(&status).cloned().unwrap_or_default();
        if times.is_empty() {
            return "none".to_owned();
        }
        times.sort();
        let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
        format!(
            "p50 {:.1} ms, p95 {:.1} ms, p99 {:.1} ms, max {:.1} ms",
            at(0.5),
            at(0.95),
            at(0.99),
            at(1.0)
        )
    }
}
