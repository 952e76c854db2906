//! A task of 10,000 claims and 50,000 edges over MCP: no answer is larger than a client can take, resources come in pages
//! that make up the whole, and every id in an answer exists.

use anyhow::{Context, ensure};
use lyra_research::ports::{EmbeddingTarget, EvidenceStore};
use lyra_store::{Store, StoreConfig};
use lyra_tests::TestApp;
use lyra_tests::mcp_client::StdioClient;
use serde_json::{Value, json};
use sqlx::ConnectOptions;
use sqlx::sqlite::SqliteConnectOptions;
use std::collections::{BTreeMap, HashSet};

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

/// Ids of the items in every list of a document that comes in pages, by the list's name; of its first pages only when they
/// are counted.
async fn walk(
    client: &mut StdioClient,
    uri: &str,
    pages: Option<usize>,
) -> anyhow::Result<BTreeMap<String, Vec<String>>> {
    let mut ids: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let (mut next, mut total) = (Some(uri.to_owned()), 0);
    let mut left = pages.unwrap_or(usize::MAX);
    while let Some(uri) = next.filter(|_| left > 0) {
        left -= 1;
        let page = read(client, &uri).await?;
        let about = &page["page"];
        ensure!(about["changed_since_cursor"] == false, "nothing was changed");
        total += about["items"].as_u64().context("a number")?;
        let nested = page.as_object().into_iter().flatten().flat_map(|(name, value)| match value {
            Value::Object(fields) => {
                fields.iter().map(|(inner, value)| (format!("{name}.{inner}"), value)).collect()
            }
            value => vec![(name.clone(), value)],
        });
        for (name, value) in nested {
            for item in value.as_array().into_iter().flatten() {
                let id = ["id", "edge_id", "page_id"].iter().find_map(|key| item.get(*key)?.as_str());
                ids.entry(name.clone()).or_default().extend(id.map(str::to_owned));
            }
        }
        next = about["next"].as_str().map(str::to_owned);
        ensure!(next.is_some() || about["total_items"] == total, "{about} is the end, {total} items came");
    }
    Ok(ids)
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
    let number = |id: &str, prefix: &str| {
        id.strip_prefix(prefix)
            .and_then(|digits| u64::from_str_radix(digits, 16).ok())
            .filter(|i| *i < 10_000)
    };
    let materials = walk(&mut client, &format!("lyra://tasks/{TASK}/materials"), None).await?;
    for (list, prefix, count) in [("claims", "claim_", 10_000), ("fragments", "frag_", 10_000)] {
        let distinct: HashSet<u64> = materials[list].iter().filter_map(|id| number(id, prefix)).collect();
        assert_eq!((materials[list].len(), distinct.len()), (count, count), "{list}");
    }
    let pages = &materials["citation_network.source_pages"];
    assert!(pages.len() > 5_000 && pages.iter().all(|id| number(id, "page_").is_some()));
    let nodes = &materials["evidence_graph.nodes"];
    assert!(nodes.len() > 25_000 && materials["evidence_graph.edges"].len() >= 50_000);
    let graph = walk(&mut client, &format!("lyra://tasks/{TASK}/graph"), Some(5)).await?;
    assert!(graph["nodes"].len() > 500 && nodes.starts_with(&graph["nodes"]));
    let cited: HashSet<&String> = materials["citation_network.citations"].iter().collect();
    assert_eq!(cited.len(), 10_000);

    let claim = format!("lyra://tasks/{TASK}/claims/{}", materials["claims"][17]);
    let found = read(&mut client, &claim).await?;
    assert_eq!(
        (found["id"].as_str(), found["evidence"].as_array().map(Vec::len)),
        (Some(&*materials["claims"][17]), Some(3))
    );
    for wrong in ["?cursor=x", "?page=2", "/nothing"] {
        let error = client
            .request("resources/read", json!({"uri": format!("lyra://tasks/{TASK}/materials{wrong}")}))
            .await;
        ensure!(error.is_err(), "{wrong} was taken");
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
    let template = format!("lyra://tasks/{{task_id}}/claims/{{claim_id}}{{?cursor}}");
    ensure!(templates.to_string().contains(&template), "{templates}");
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
