//! Agents' statements in real worker processes: they end in time, in isolation, and cannot read closed files.
#![expect(clippy::unwrap_used, reason = "a test")]

use lyra_store::GuardOptions;
use lyra_usecases::config::Config;
use lyra_usecases::{App, Details, ErrorCode};
use std::path::Path;
use std::time::{Duration, Instant};

/// Most milliseconds of a statement, and far more than its answer may take on a busy machine.
const OPTIONS: GuardOptions =
    GuardOptions { limit: 50, timeout_ms: 300, max_vm_steps: 5_000_000, include_schema: false };
const IN_TIME: Duration = Duration::from_secs(20);

async fn app(folder: &Path) -> App {
    let config = Config {
        data_dir: Some(folder.to_owned()),
        worker_program: Some(env!("CARGO_BIN_EXE_lyra").into()),
        ..Config::default()
    };
    lyra::compose::open(config).await.unwrap()
}

/// The statements of a file, without the comments between them.
fn statements(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.split("\n==\n").map(|statement| {
        let lines = statement.split_inclusive('\n');
        let comments: usize = lines.take_while(|line| line.starts_with("-- ")).map(str::len).sum();
        statement[comments..].trim_end_matches('\n')
    })
}

/// Processor ticks that the children of this process have used and use.
#[cfg(target_os = "linux")]
fn children() -> Vec<u32> {
    let of = |entry: std::fs::DirEntry| -> Option<(u32, u32, char)> {
        let pid = entry.file_name().to_str()?.parse().ok()?;
        let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
        let mut fields = stat.rsplit(')').next()?.split_whitespace();
        Some((pid, fields.clone().nth(1)?.parse().ok()?, fields.next()?.chars().next()?))
    };
    let all = std::fs::read_dir("/proc").unwrap().flatten().filter_map(of);
    all.filter(|(_, parent, state)| *parent == std::process::id() && *state != 'Z')
        .map(|(pid, ..)| pid)
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_interrupted_is_killed_and_nothing_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let app = app(folder.path()).await;
    let doctor = app.query_graph("me", "SELECT 1 AS x", OPTIONS).await.unwrap();
    assert_eq!(doctor.rows[0]["x"], 1);
    for sql in statements(include_str!("../crates/store/src/guarded/endless.sql")) {
        let started = Instant::now();
        let answer = app.query_graph("me", sql, OPTIONS).await;
        assert!(started.elapsed() < IN_TIME, "{sql} took {:?}", started.elapsed());
        let Err(error) = answer else { continue };
        let reason = error.details.as_deref().and_then(Details::reason).unwrap_or_default();
        assert!(
            ["timeout", "too_much_memory", "too_many_steps", "too_large"].contains(&reason),
            "{sql}: {error}"
        );
        let again = app.query_graph("me", "SELECT 2 AS x", OPTIONS).await.unwrap();
        assert_eq!(again.rows[0]["x"], 2, "the next statement is answered");
    }
    app.close().await;
    drop(app);
    #[cfg(target_os = "linux")]
    {
        let deadline = Instant::now() + IN_TIME;
        while !children().is_empty() {
            assert!(Instant::now() < deadline, "still running: {:?}", children());
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_errors_of_a_worker_are_those_of_the_guard() {
    let folder = tempfile::tempdir().unwrap();
    let app = app(folder.path()).await;
    for (sql, code, part) in [
        ("DELETE FROM claims", ErrorCode::SqlRefused, "only reading is allowed"),
        ("SELECT claim_txt FROM claims", ErrorCode::SqlRefused, "there is no column `claim_txt`"),
        ("SELECT * FROM rate_state", ErrorCode::SqlRefused, "not open to queries"),
        (
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT sum(i) FROM n",
            ErrorCode::SqlTimeout,
            "stopped after",
        ),
    ] {
        let error = app.query_graph("me", sql, OPTIONS).await.unwrap_err();
        assert_eq!(error.code, code, "{sql}: {error}");
        assert!(error.message.contains(part), "{sql}: {error}");
    }
    let options = GuardOptions { include_schema: true, ..OPTIONS };
    let found = app.query_graph("me", "SELECT 1 AS x", options).await.unwrap();
    assert!(found.schema.unwrap().iter().any(|table| table.name == "claims"));
    app.close().await;
}

/// With `LYRA_WORKER_FIGURES`: what a statement costs in a worker, and what in this process.
#[tokio::test(flavor = "multi_thread")]
async fn figures() {
    let Some(n) = std::env::var("LYRA_WORKER_FIGURES").ok().and_then(|n| n.parse::<usize>().ok()) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let worker = app(folder.path()).await;
    let other = tempfile::tempdir().unwrap();
    let config = Config { data_dir: Some(other.path().to_owned()), ..Config::default() };
    let here = lyra::compose::open(config).await.unwrap();
    for (what, app) in [("a worker process", &worker), ("this process", &here)] {
        let mut times = Vec::new();
        for _ in 0..n {
            let started = Instant::now();
            app.query_graph("me", "SELECT count(*) AS n FROM claims", OPTIONS).await.unwrap();
            times.push(started.elapsed());
        }
        let first = times[0];
        times.sort_unstable();
        println!(
            "{what}: first {first:?}, n {n}, median {:?}, 95th percentile {:?}",
            times[n / 2],
            times[n * 95 / 100]
        );
    }
}
