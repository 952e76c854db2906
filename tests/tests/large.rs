//! A task of 10,000 claims and 50,000 edges over MCP: no answer is larger than clients accept, the pages of a resource
//! add up to the whole, and every id in an answer exists.

use anyhow::{Context, ensure};
use lyra_research::ports::{EmbeddingTarget, VectorStore};
use lyra_store::{Store, StoreConfig};
use lyra_tests::TestApp;
use lyra_tests::mcp_client::StdioClient;
use serde_json::{Value, json};
use sqlx::ConnectOptions;
use sqlx::sqlite::SqliteConnectOptions;
use std::collections::HashSet;

const GRAPH: &str = include_str!("../../orchestrator/crates/store/benches/large.sql");
const MOST_BYTES: usize = 60_000;
const TASK: &str = "task_0";

async fn large(app: &TestApp) -> anyhow::Result<StdioClient> {
    let path = app.data_dir().join("lyra.db");
    let model = app.json(&["embeddings", "status", "--json"])["present_model"]
        .as_str()
        .context("a model")?
        .to_owned();
    let mut connection = SqliteConnectOptions::new().filename(&path).connect().await?;
    sqlx::raw_sql(GRAPH).execute(&mut connection).await?;
    let store = Store::open(&path, StoreConfig::default()).await?;
    let mut vectors = Vec::new();
    for i in 0..10_000 {
        let mut vector = vec![0.0; 384];
        vector[i % 384] = 1.0;
        vectors.push((EmbeddingTarget::Claim(format!("claim_{i:032x}").parse()?), vector));
    }
    store.put_embeddings(&model, &vectors).await?;
    store.close().await;
    StdioClient::start(app).await
}

/// The contents of a resource, which fit into an answer.
async fn read(client: &mut StdioClient, uri: &str) -> anyhow::Result<Value> {
    let answer = client.request("resources/read", json!({ "uri": uri })).await?;
    let text = answer["contents"][0]["text"].as_str().context("a text")?;
    ensure!(text.len() <= MOST_BYTES, "{uri} has {} bytes", text.len());
    Ok(serde_json::from_str(text)?)
}

/// Ids anywhere in a document, at most a hundred of them.
fn ids(document: &Value) -> HashSet<String> {
    let text = document.to_string();
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let named = |word: &&str| {
        word.len() > 36 && ["claim_", "frag_", "page_", "edge_"].iter().any(|kind| word.starts_with(kind))
    };
    words.filter(named).take(100).map(str::to_owned).collect()
}

/// Whether all these are in the store.
async fn exist(client: &mut StdioClient, ids: &HashSet<String>) -> anyhow::Result<bool> {
    let list = json!(ids);
    let sql = format!(
        "WITH wanted (id) AS (SELECT value FROM json_each('{list}'))
         SELECT count(*) AS missing FROM wanted WHERE id NOT IN (SELECT id FROM claims) AND id NOT IN (SELECT id FROM fragments)
         AND id NOT IN (SELECT id FROM pages) AND id NOT IN (SELECT id FROM edges)"
    );
    let limits = json!({"timeout_ms": 2_000, "max_vm_steps": 5_000_000});
    let found = client.call("query_graph", json!({ "sql": sql, "options": limits })).await?;
    ensure!(found["ok"] == true, "{found}");
    Ok(found["rows"][0]["missing"] == 0)
}

#[tokio::test]
async fn tools_answer_within_their_size() -> anyhow::Result<()> {
    let app = TestApp::new();
    let mut client = large(&app).await?;
    // `call` checks the size.
    let status = client.call("get_status", json!({"task_id": TASK, "detail": "full"})).await?;
    assert_eq!(status["metrics"]["claims"], 10_000, "{status}");
    let most = json!({"limit": 200, "timeout_ms": 2_000, "max_vm_steps": 5_000_000, "include_schema": true});
    let schema = read(&mut client, "lyra://schema").await?;
    let views = schema["tables"].as_array().into_iter().flatten().filter(|table| table["kind"] == "view");
    let views: Vec<&str> = views.filter_map(|view| view["name"].as_str()).collect();
    assert_eq!(views.len(), 16);
    for view in views {
        let sql = format!("SELECT * FROM {view} WHERE task_id = '{TASK}'");
        let found = client.call("query_graph", json!({"sql": sql, "options": most})).await?;
        // A machine that is busy may need longer than the time limit, but steps are counted alike everywhere.
        ensure!(found["ok"] == true || found["details"]["reason"] == "timeout", "{view}: {found}");
    }
    let close =
        client.call("vector_search", json!({"query": "naps", "top_k": 50, "min_similarity": 0.0})).await?;
    assert_eq!(close["total_searched"], 10_000, "{close}");
    let ids: Vec<String> = close["results"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|hit| hit["id"].to_string().replace('"', "'"))
        .collect();
    let sql = format!("SELECT count(*) AS n FROM claims WHERE id IN ({})", ids.join(", "));
    let found = client.call("query_graph", json!({ "sql": sql })).await?;
    assert_eq!((ids.len(), &found["rows"][0]["n"]), (50, &json!(50)));
    client.close().await
}

#[tokio::test]
async fn resources_come_in_pages_and_name_what_exists() -> anyhow::Result<()> {
    let app = TestApp::new();
    let mut client = large(&app).await?;
    for (part, least) in [("materials", 140_000), ("graph", 80_000)] {
        let uri = format!("lyra://tasks/{TASK}/{part}");
        // The first pages, each from the one before.
        let (mut next, mut items, mut total) = (uri.clone(), 0, 0);
        for _ in 0..5 {
            let page = read(&mut client, &next).await?;
            ensure!(page["page"]["changed_since_cursor"] == false && !ids(&page).is_empty());
            items += page["page"]["items"].as_u64().context("a number")?;
            total = page["page"]["total_items"].as_u64().context("a number")?;
            next = page["page"]["next"].as_str().context("more pages")?.to_owned();
            ensure!(next.contains(&format!(".{items}.")), "{next} does not go on after {items} items");
        }
        ensure!(total >= least, "{part} has {total} items");
        // Places all over the document, the last page included; a cursor of no revision says that it is one.
        for i in 1..=12 {
            let page = read(&mut client, &format!("{uri}?cursor=0.{}.", total * i / 12 - 1)).await?;
            ensure!(page["page"]["changed_since_cursor"] == true);
            ensure!((i == 12) == page["page"]["next"].is_null(), "page {i} of 12 is the last one");
            ensure!(exist(&mut client, &ids(&page)).await?, "{part}, page {i}: an id that does not exist");
        }
    }
    let claim = format!("claim_{:032x}", 17);
    let found = read(&mut client, &format!("lyra://tasks/{TASK}/claims/{claim}")).await?;
    assert_eq!(
        (found["claim_id"].as_str(), found["evidence"].as_array().map(Vec::len)),
        (Some(claim.as_str()), Some(3))
    );
    for wrong in ["?cursor=x", "?page=2", "/nothing"] {
        let uri = format!("lyra://tasks/{TASK}/materials{wrong}");
        ensure!(client.request("resources/read", json!({ "uri": uri })).await.is_err(), "{wrong} was taken");
    }
    client.close().await
}

#[tokio::test]
async fn lists_and_completions_name_what_exists() -> anyhow::Result<()> {
    let app = TestApp::new();
    let mut client = large(&app).await?;
    for i in 0..60 {
        client.call("create_task", json!({"query": format!("question {i}")})).await?;
    }
    let first = client.request("resources/list", json!({})).await?;
    let second = client.request("resources/list", json!({"cursor": first["nextCursor"]})).await?;
    let uris: Vec<&str> = [&first, &second]
        .iter()
        .flat_map(|page| page["resources"].as_array().into_iter().flatten())
        .filter_map(|resource| resource["uri"].as_str())
        .collect();
    assert_eq!((uris[0], uris.len(), second.get("nextCursor")), ("lyra://schema", 63, None));
    assert_eq!(uris[62], "lyra://tasks/task_0");
    ensure!(
        client.request("resources/list", json!({"cursor": "x"})).await.is_err(),
        "a wrong cursor was taken"
    );
    read(&mut client, uris[1]).await?;

    let templates = client.request("resources/templates/list", json!({})).await?;
    let template = "lyra://tasks/{task_id}/claims/{claim_id}{?cursor}";
    ensure!(templates.to_string().contains(template), "{templates}");
    let complete = |reference: Value, name: &str, value: &str| json!({"ref": reference, "argument": {"name": name, "value": value}, "context": {"arguments": {"task_id": TASK}}});
    let claims = json!({"type": "ref/resource", "uri": template});
    let found =
        client.request("completion/complete", complete(claims.clone(), "claim_id", "claim_0000")).await?;
    let completion = &found["completion"];
    assert_eq!(completion["values"].as_array().map(Vec::len), Some(100));
    assert_eq!((&completion["total"], &completion["hasMore"]), (&json!(10_000), &json!(true)));
    let prompt = json!({"type": "ref/prompt", "name": "evidence_review"});
    let found = client.request("completion/complete", complete(prompt.clone(), "task_id", "task_1")).await?;
    assert_eq!(found["completion"]["values"][0], "task_1", "{found}");
    let found = client.request("completion/complete", complete(prompt, "question", "do")).await?;
    assert_eq!(found["completion"]["values"], json!([]));
    let unknown = json!({"type": "ref/prompt", "name": "nothing"});
    ensure!(client.request("completion/complete", complete(unknown, "task_id", "")).await.is_err());
    client.close().await
}
