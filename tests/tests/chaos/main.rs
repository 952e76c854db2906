//! Failures of operation, injected during a task: nothing is lost or duplicated, the task completes, and its
//! confidences equal those of an undisturbed run.
//!
//! `cargo make chaos` runs it (minutes; Linux, as root for the full disk). The seed is printed; `LYRA_CHAOS_SEED` repeats a run,
//! `LYRA_CHAOS_KILLS` says how many processes are killed.

mod kills;
mod models;
mod sources;
mod store;

use anyhow::{Context, ensure};
use lyra_tests::TestApp;
use lyra_tests::mcp_client::StdioClient;
use serde_json::{Value, json};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions, Connection};
use std::path::Path;
use std::time::{Duration, Instant};

const QUESTION: &str = "Does biochar increase crop yield?";
const CLAIM: &str = "Biochar increases maize yield.";
const QUERIES: [&str; 2] = ["biochar crop yield", "biochar reduced yield in alkaline soil"];
/// For a task to end once its surroundings are in order again.
const PATIENCE: Duration = Duration::from_mins(6);

/// Creates the task for all disturbances; acknowledged data is in the store.
async fn begin(lyra: &mut StdioClient) -> anyhow::Result<String> {
    let task = lyra.call("create_task", json!({"query": QUESTION, "claims": [CLAIM]})).await?;
    let id = task["task_id"].as_str().context("a task id")?.to_owned();
    lyra.call("queue_searches", json!({"task_id": id, "queries": QUERIES})).await?;
    Ok(id)
}

/// Waits for the task to complete.
async fn finish(lyra: &mut StdioClient, task: &str) -> anyhow::Result<()> {
    let started = Instant::now();
    loop {
        let status = lyra.call("get_status", json!({"task_id": task, "wait": 10})).await?;
        if status["status"] == "completed" {
            return Ok(());
        }
        ensure!(status["status"] != "failed", "the task failed: {status}");
        ensure!(started.elapsed() < PATIENCE, "the task does not complete: {status}");
    }
}

/// What the task found, without ids, in an order that does not depend on them. Whatever else it says has to be right too.
async fn content(app: &TestApp, task: &str) -> anyhow::Result<Value> {
    sound(&app.data_dir().join("lyra.db")).await?;
    let report = app.json(&["task", "show", task, "--json"]);
    let mut claims = report["claims"].as_array().context("claims")?.clone();
    for claim in &mut claims {
        for id in ["claim_id", "task_id", "same_as"] {
            claim.as_object_mut().context("a claim")?.remove(id);
        }
        let evidence = claim["evidence"].as_array_mut().context("evidence")?;
        for passage in evidence.iter_mut() {
            passage.as_object_mut().context("a passage")?.remove("edge_id");
        }
        evidence.sort_by_key(ToString::to_string);
    }
    claims.sort_by_key(ToString::to_string);
    ensure!(claims.len() > 2, "too few claims to tell anything: {report}");
    Ok(json!({"claims": claims, "totals": report["totals"], "warnings": report["warnings"]}))
}

/// The file is intact, no row has a dangling reference, nothing is stored twice, and no job is left.
async fn sound(database: &Path) -> anyhow::Result<()> {
    let mut connection = connect(database).await?;
    let whole: String = sqlx::query_scalar("PRAGMA integrity_check").fetch_one(&mut connection).await?;
    ensure!(whole == "ok", "{whole}");
    let broken = sqlx::query("PRAGMA foreign_key_check").fetch_all(&mut connection).await?;
    ensure!(broken.is_empty(), "{} rows point nowhere", broken.len());
    for (what, sql) in [
        ("edges twice", "SELECT count(*) - count(DISTINCT source_id || target_id || relation) FROM edges"),
        ("claims twice", "SELECT count(*) - count(DISTINCT task_id || claim_text) FROM claims"),
        ("pages twice", "SELECT count(*) - count(DISTINCT url) FROM pages"),
        ("fragments twice", "SELECT count(*) - count(DISTINCT page_id || text_hash) FROM fragments"),
        (
            "edges without a claim",
            "SELECT count(*) FROM edges WHERE target_type = 'claim' AND target_id NOT IN (SELECT id FROM claims)",
        ),
    ] {
        let count: i64 = sqlx::query_scalar(sql).fetch_one(&mut connection).await?;
        ensure!(count == 0, "{count} {what}");
    }
    let sql = "SELECT kind || ' ' || state || ' after ' || attempts || ' attempts and ' || deaths || ' deaths: ' || coalesce(error, '')
               FROM jobs WHERE state <> 'completed'";
    let open: Vec<String> = sqlx::query_scalar(sql).fetch_all(&mut connection).await?;
    ensure!(open.is_empty(), "jobs that are not done: {open:?}");
    Ok(connection.close().await?)
}

async fn connect(database: &Path) -> anyhow::Result<SqliteConnection> {
    Ok(SqliteConnectOptions::new().filename(database).busy_timeout(Duration::from_secs(5)).connect().await?)
}

/// The task as it comes out when nothing happens.
async fn undisturbed(flags: &[&str]) -> anyhow::Result<Value> {
    let app = TestApp::new();
    let mut lyra = StdioClient::start_with(&app, flags).await?;
    let task = begin(&mut lyra).await?;
    finish(&mut lyra, &task).await?;
    lyra.close().await?;
    content(&app, &task).await
}

/// Prints what was done.
#[expect(clippy::print_stdout, reason = "figures of a run that takes minutes")]
fn tell(what: &str) {
    println!("{what}");
}
