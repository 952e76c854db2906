//! `kill -9` at every step, then resume: the same claims, edges and confidence as an undisturbed run.

use lyra_tests::TestApp;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};

const QUESTION: &str = "Does biochar increase crop yield?";

/// Claims with their numbers and evidence, in an order that does not depend on ids.
fn content(report: &Value) -> Value {
    let mut claims: Vec<Value> = report["claims"]
        .as_array()
        .expect("claims")
        .iter()
        .map(|claim| {
            let mut claim = claim.clone();
            claim.as_object_mut().expect("object").remove("claim_id");
            let evidence = claim["evidence"].as_array_mut().expect("evidence");
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
    let id = tasks[0]["id"].as_str().expect("task id").to_owned();
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
