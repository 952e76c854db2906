//! `kill -9` at every step, then resume: the same claims, edges and confidence as an undisturbed run.

use lyra_tests::TestApp;
use lyra_tests::mcp_client::StdioClient;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::time::Duration;

const QUESTION: &str = "Does biochar increase crop yield?";

/// Claims with their numbers and evidence, in an order that does not depend on ids.
fn content(report: &Value) -> Value {
    let mut claims: Vec<Value> = report["claims"]
        .as_array()
        .expect("claims")
        .iter()
        .map(|claim| {
            let mut claim = claim.clone();
            for id in ["claim_id", "task_id", "same_as"] {
                claim.as_object_mut().expect("object").remove(id);
            }
            let evidence = claim["evidence"].as_array_mut().expect("evidence");
            for passage in evidence.iter_mut() {
                passage.as_object_mut().expect("object").remove("edge_id");
            }
            evidence.sort_by_key(ToString::to_string);
            claim
        })
        .collect();
    claims.sort_by_key(ToString::to_string);
    json!({"claims": claims, "totals": report["totals"], "warnings": report["warnings"]})
}

/// Starts the research, kills it when a line on stderr contains `moment`, and resumes it.
fn killed_at(moment: &str) -> Value {
    let app = TestApp::new();
    let mut child = app.spawn(&["research", QUESTION]);
    let lines = BufReader::new(child.stderr.take().expect("stderr")).lines();
    let seen = lines.map_while(Result::ok).any(|line| line.contains(moment));
    child.kill().expect("killed");
    child.wait().expect("waited");
    assert!(seen, "the research never said `{moment}`");
    let tasks = app.json(&["task", "list", "--json"]);
    let id = tasks[0]["task_id"].as_str().expect("task id").to_owned();
    app.json(&["task", "resume", &id, "--json"])
}

#[test]
fn a_killed_task_finishes_as_if_nothing_had_happened() {
    let undisturbed = content(&TestApp::new().json(&["research", QUESTION, "--json"]));
    assert!(undisturbed["totals"]["claims"].as_u64().expect("number") > 0);
    for moment in ["loading", "found", "ranked", "claims to judge", "judged 1 of", "judged 4 of"] {
        assert_eq!(content(&killed_at(moment)), undisturbed, "killed at `{moment}`");
    }
}

/// Runs a task through `lyra mcp`. With a pause, the server is killed that long after the searches were queued, and a
/// new one must finish the task automatically.
async fn served(killed_after: Option<Duration>) -> anyhow::Result<Value> {
    let app = TestApp::new();
    let mut lyra = StdioClient::start(&app).await?;
    let new = json!({"query": QUESTION, "claims": ["Biochar increases maize yield."]});
    let task = lyra.call("create_task", new).await?["task_id"].clone();
    let queries = json!(["biochar crop yield", "biochar reduced yield in alkaline soil"]);
    lyra.call("queue_searches", json!({"task_id": task, "queries": queries})).await?;
    if let Some(pause) = killed_after {
        tokio::time::sleep(pause).await;
        drop(lyra);
        lyra = StdioClient::start(&app).await?;
    }
    while lyra.call("get_status", json!({"task_id": task, "wait": 20})).await?["status"] != "completed" {}
    drop(lyra);
    Ok(content(&app.json(&["task", "show", task.as_str().unwrap_or_default(), "--json"])))
}

#[tokio::test]
async fn a_killed_server_takes_its_tasks_up_again_when_it_starts() -> anyhow::Result<()> {
    let undisturbed = served(None).await?;
    assert!(undisturbed["totals"]["claims"].as_u64() > Some(1), "{undisturbed}");
    for milliseconds in [100, 700, 2500] {
        let killed = served(Some(Duration::from_millis(milliseconds))).await?;
        assert_eq!(killed, undisturbed, "killed after {milliseconds} ms");
    }
    Ok(())
}
