//! Vectors of another model: detected, and re-embedded by a command that may be killed.

use anyhow::Context;
use lyra_domain::{Claim, JobId, Priority, TaskConfig, TaskId};
use lyra_research::ports::{ClaimStore, EmbeddingTarget, VectorStore};
use lyra_store::{NewTask, Store, StoreConfig};
use lyra_tests::TestApp;
use lyra_tests::mcp_client::StdioClient;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::process::Stdio;

const CLAIMS: usize = 1_500;

/// A task whose claims were embedded by a model that is no longer available.
async fn outdated(app: &TestApp) -> anyhow::Result<TaskId> {
    let store = Store::open(&app.data_dir().join("lyra.db"), StoreConfig::default()).await?;
    let config = TaskConfig::default();
    let new = NewTask { query: "Do naps help?".to_owned(), config, ..NewTask::default() };
    let task = store.create_task(new, Priority::Medium).await?.id;
    // Added without jobs to judge them.
    let text = |i| format!("Nap number {i} improves memory in adults.");
    let claims: Vec<Claim> = (0..CLAIMS).map(|i| Claim::new(&task, &text(i), None, None)).collect();
    store.add_claims(&claims, &JobId::derive(&["none"])).await?;
    let vectors: Vec<_> = store
        .task_claims(&task)
        .await?
        .into_iter()
        .map(|claim| (EmbeddingTarget::Claim(claim.id), vec![0.6, 0.8]))
        .collect();
    store.put_embeddings("a-model-of-old", &vectors).await?;
    store.close().await;
    Ok(task)
}

/// Vectors of claims by model.
fn stored(status: &Value) -> Vec<(String, u64)> {
    let made = |made: &Value| {
        (made["model"].as_str().unwrap_or_default().to_owned(), made["vectors"].as_u64().unwrap_or(0))
    };
    status["stored"].as_array().into_iter().flatten().map(made).collect()
}

#[tokio::test]
async fn a_rebuild_that_is_killed_goes_on_where_it_was() -> anyhow::Result<()> {
    let app = TestApp::new();
    outdated(&app).await?;
    let mut child =
        app.command(&["embeddings", "rebuild"]).stderr(Stdio::piped()).stdout(Stdio::null()).spawn()?;
    let stderr = BufReader::new(child.stderr.take().context("stderr is piped")?);
    let mut batches = 0;
    for line in stderr.lines() {
        batches += usize::from(line?.starts_with("embedded "));
        if batches == 3 {
            child.kill()?;
        }
    }
    anyhow::ensure!(!child.wait()?.success(), "it was killed");

    let status = app.json(&["embeddings", "status", "--json"]);
    let (left, by_model) = (status["outdated"].as_u64().context("a number")?, stored(&status));
    let total = CLAIMS as u64;
    assert!((1..=total - 3 * 64).contains(&left), "{status}");
    let of = |name: &str| by_model.iter().find(|(model, _)| model == name).map(|(_, vectors)| *vectors);
    assert_eq!(of("a-model-of-old"), Some(total), "old vectors stay until all new ones exist: {status}");
    assert_eq!(of(status["present_model"].as_str().context("a name")?), Some(total - left), "{status}");

    let rebuilt = app.json(&["embeddings", "rebuild", "--json", "--quiet"]);
    assert_eq!(rebuilt, json!({"embedded": left, "removed": total, "outdated": 0}), "nothing is done twice");
    let status = app.json(&["embeddings", "status", "--json"]);
    assert_eq!(stored(&status), [(status["present_model"].as_str().context("a name")?.to_owned(), total)]);
    let again = app.json(&["embeddings", "rebuild", "--json"]);
    assert_eq!(again, json!({"embedded": 0, "removed": 0, "outdated": 0}));
    Ok(())
}

#[tokio::test]
async fn an_agent_and_the_doctor_are_told() -> anyhow::Result<()> {
    let app = TestApp::new();
    let task = outdated(&app).await?;
    let mut client = StdioClient::start(&app).await?;
    let search = json!({"query": "napping and memory", "task_id": task});
    let refused = client.call("vector_search", search.clone()).await?;
    assert_eq!(refused["error_code"], "unavailable", "{refused}");
    let said = refused.to_string();
    assert!(said.contains("another model") && said.contains("lyra embeddings rebuild"), "{said}");
    let status = client.call("get_status", json!({"task_id": task})).await?;
    let warnings = status["warnings"].to_string();
    assert!(warnings.contains("1500 texts have vectors of another model"), "{status}");
    client.close().await?;

    let doctor = app.command(&["doctor", "--json"]).output()?;
    let findings: Value = serde_json::from_slice(&doctor.stdout)?;
    let vectors = findings.as_array().into_iter().flatten().find(|finding| finding["part"] == "vectors");
    let vectors = vectors.context("the doctor looks at vectors")?;
    assert_eq!((&vectors["health"], &vectors["remedy"]), (&json!("note"), &json!("lyra embeddings rebuild")));

    app.json(&["embeddings", "rebuild", "--json", "--quiet", "--task", task.as_str()]);
    let mut client = StdioClient::start(&app).await?;
    let found = client.call("vector_search", search).await?;
    assert_eq!((&found["total_searched"], &found["not_searched"]), (&json!(CLAIMS), &json!(0)), "{found}");
    assert_eq!(found["results"].as_array().map(Vec::len), Some(10));
    client.close().await
}
