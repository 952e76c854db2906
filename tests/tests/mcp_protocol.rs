//! What clients of the protocol rely on besides the tools: subscriptions, handles of long calls, links to resources,
//! `search` and `fetch`, and JSON-RPC's errors.

use anyhow::{Context, ensure};
use lyra_tests::TestApp;
use lyra_tests::mcp_client::StdioClient;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const QUESTION: &str = "Does a short daytime nap improve memory?";
const LIMIT: Duration = Duration::from_mins(3);

/// Metadata of a request of revision 2026-07-28 whose client knows tasks.
fn with_tasks() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "lyra-tests", "version": "0" },
        "io.modelcontextprotocol/clientCapabilities": {
            "extensions": { "io.modelcontextprotocol/tasks": {} }
        }
    })
}

/// The code of a JSON-RPC error.
async fn refused(client: &mut StdioClient, method: &str, params: Value) -> anyhow::Result<i64> {
    let error = client.request(method, params.clone()).await.err().context(format!("{method} {params}"))?;
    let text = error.to_string();
    let error: Value = serde_json::from_str(text.strip_prefix("the server answered ").context("an error")?)?;
    error["code"].as_i64().context("a code")
}

/// Waits until the client has been told that a resource changed.
async fn told(client: &mut StdioClient, uri: &str) -> anyhow::Result<()> {
    let until = Instant::now() + LIMIT;
    let is_update = |message: &Value| {
        message["method"] == "notifications/resources/updated" && message["params"]["uri"] == uri
    };
    while !client.notifications.iter().any(is_update) {
        ensure!(Instant::now() < until, "no update of {uri}: {:?}", client.notifications);
        // Notifications are read with answers.
        client.request("ping", json!({})).await?;
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Ok(())
}

#[tokio::test]
async fn a_task_is_subscribed_to_until_it_is_not() -> anyhow::Result<()> {
    let app = TestApp::new();
    let mut client = StdioClient::start(&app).await?;
    assert_eq!(client.server["capabilities"]["resources"]["subscribe"], true);
    let made = client.call("create_task", json!({ "query": QUESTION })).await?;
    let task = made["task_id"].as_str().context("an id")?.to_owned();
    let uri = format!("lyra://tasks/{task}");
    assert_eq!(client.request("resources/subscribe", json!({ "uri": uri })).await?, json!({}));
    client.call("stop_task", json!({ "task_id": task, "reason": "a test" })).await?;
    told(&mut client, &uri).await?;
    assert_eq!(client.request("resources/unsubscribe", json!({ "uri": uri })).await?, json!({}));

    for uri in ["lyra://schema", "lyra://tasks/task_x", "https://a.example/"] {
        let code = refused(&mut client, "resources/subscribe", json!({ "uri": uri })).await?;
        assert_eq!(code, -32002, "{uri}");
    }
    for claim in 0..16 {
        let uri = format!("{uri}/claims/claim_{claim}");
        client.request("resources/subscribe", json!({ "uri": uri })).await?;
    }
    assert_eq!(refused(&mut client, "resources/subscribe", json!({ "uri": uri })).await?, -32600);
    client.close().await
}

#[tokio::test]
async fn an_answer_that_takes_long_comes_through_a_handle() -> anyhow::Result<()> {
    let app = TestApp::new();
    let mut client = StdioClient::start(&app).await?;
    assert!(client.server["capabilities"]["extensions"]["io.modelcontextprotocol/tasks"].is_object());
    let ask = json!({ "name": "answer", "arguments": { "question": QUESTION }, "_meta": with_tasks() });
    let handle = client.request("tools/call", ask).await?;
    assert_eq!((&handle["resultType"], &handle["status"]), (&json!("task"), &json!("working")), "{handle}");
    assert!(handle.get("content").is_none() && handle["pollIntervalMs"].is_u64(), "{handle}");
    let task = handle["taskId"].clone();

    let params = json!({ "taskId": task, "_meta": with_tasks() });
    let until = Instant::now() + LIMIT;
    let ended = loop {
        let state = client.request("tasks/get", params.clone()).await?;
        assert_eq!((&state["taskId"], &state["resultType"]), (&task, &json!("complete")), "{state}");
        if state["status"] != "working" {
            break state;
        }
        assert!(state.get("result").is_none(), "{state}");
        ensure!(Instant::now() < until, "the task does not end: {state}");
        tokio::time::sleep(Duration::from_millis(500)).await;
    };
    assert_eq!(ended["status"], "completed", "{ended}");
    let answer = &ended["result"]["structuredContent"];
    assert_eq!((&answer["ok"], &answer["task_id"]), (&json!(true), &task), "{ended}");
    // As a call without the extension returns it.
    assert_eq!(client.call("answer", json!({ "task_id": task })).await?, *answer);
    for method in ["tasks/update", "tasks/cancel"] {
        let mut params = params.clone();
        params["inputResponses"] = json!({});
        let ack = client.request(method, params).await?;
        assert_eq!(ack["resultType"], "complete", "{method}: {ack}");
        assert!(ack.get("taskId").is_none(), "{method}: {ack}");
    }
    assert_eq!(client.request("tasks/get", params).await?["status"], "completed");

    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        for id in ["task_x", "nothing"] {
            let params = json!({ "taskId": id, "inputResponses": {}, "_meta": with_tasks() });
            assert_eq!(refused(&mut client, method, params).await?, -32602, "{method} {id}");
        }
        let params = json!({ "taskId": task, "inputResponses": {} });
        assert_eq!(refused(&mut client, method, params).await?, -32021, "{method} without the extension");
    }
    client.close().await
}

#[tokio::test]
async fn a_call_that_is_cancelled_through_its_handle_stops_its_task() -> anyhow::Result<()> {
    let app = TestApp::new();
    let mut client = StdioClient::start(&app).await?;
    let ask = |wait: Option<u64>| {
        let mut arguments = json!({ "question": QUESTION });
        if let Some(wait) = wait {
            arguments["wait"] = json!(wait);
        }
        json!({ "name": "answer", "arguments": arguments, "_meta": with_tasks() })
    };
    let handle = client.request("tools/call", ask(None)).await?;
    let params = json!({ "taskId": handle["taskId"], "_meta": with_tasks() });
    client.request("tasks/cancel", params.clone()).await?;
    let state = client.request("tasks/get", params).await?;
    assert!(["cancelled", "completed"].iter().any(|end| state["status"] == *end), "{state}");

    // A caller that says how long it waits gets what there is by then.
    let direct = client.request("tools/call", ask(Some(0))).await?;
    assert!(direct["structuredContent"]["task_id"].is_string(), "{direct}");
    client.close().await
}

#[tokio::test]
async fn what_is_stored_is_found_fetched_and_linked() -> anyhow::Result<()> {
    let app = TestApp::new();
    let mut client = StdioClient::start(&app).await?;
    let none = client.call("search", json!({ "query": "xyzzy" })).await?;
    assert!(none["results"].is_array(), "{none}");
    let mut answer = client.call("answer", json!({ "question": QUESTION })).await?;
    while answer["status"] != "completed" {
        answer = client.call("answer", json!({ "task_id": answer["task_id"] })).await?;
    }

    let again = json!({ "name": "answer", "arguments": { "task_id": answer["task_id"] } });
    let result = client.request("tools/call", again).await?;
    let blocks = result["content"].as_array().context("content")?;
    assert_eq!(blocks[0]["type"], "text");
    let links: Vec<&Value> = blocks.iter().filter(|block| block["type"] == "resource_link").collect();
    assert!(!links.is_empty(), "{result}");
    for link in links {
        let read = client.request("resources/read", json!({ "uri": link["uri"] })).await?;
        assert!(read["contents"][0]["text"].is_string(), "{link}");
    }

    let found = client
        .request("tools/call", json!({ "name": "search", "arguments": { "query": "nap memory" } }))
        .await?;
    assert_eq!(found["content"].as_array().map(Vec::len), Some(1), "one block of text");
    let results = found["structuredContent"]["results"].as_array().context("results")?;
    let of_kind = |prefix: &str| {
        results.iter().find(|found| found["id"].as_str().is_some_and(|id| id.starts_with(prefix)))
    };
    assert!(of_kind("claim_").is_some() && of_kind("page_").is_some(), "{found}");
    for result in results {
        let item = client.call("fetch", json!({ "id": result["id"] })).await?;
        assert_eq!((&item["id"], &item["url"]), (&result["id"], &result["url"]), "{item}");
        for field in ["title", "text"] {
            assert!(item[field].as_str().is_some_and(|text| !text.is_empty()), "{field} of {item}");
        }
        assert!(item["metadata"]["kind"].is_string(), "{item}");
        let url = result["url"].as_str().context("a URL")?;
        if url.starts_with("lyra://") {
            let read = client.request("resources/read", json!({ "uri": url })).await?;
            assert!(read["contents"][0]["text"].is_string(), "{url}");
        }
    }
    for id in ["task_1", "claim_x", "page_x", "corpus:example/none"] {
        let error = client.call("fetch", json!({ "id": id })).await?;
        assert_eq!(error["ok"], false, "{id}: {error}");
    }
    client.close().await
}

#[tokio::test]
async fn errors_have_the_codes_of_the_specification() -> anyhow::Result<()> {
    let app = TestApp::new();
    let mut client = StdioClient::start(&app).await?;
    let uri = "lyra://tasks/task_x";
    for (method, params, code) in [
        ("nothing", json!({}), -32601),
        ("logging/setLevel", json!({ "level": "info" }), -32601),
        ("tools/list", json!({ "cursor": "2" }), -32602),
        ("prompts/list", json!({ "cursor": "2" }), -32602),
        ("resources/list", json!({ "cursor": "nowhere" }), -32602),
        ("resources/templates/list", json!({ "cursor": "2" }), -32602),
        ("tools/call", json!({ "name": "nothing" }), -32602),
        ("prompts/get", json!({ "name": "nothing" }), -32602),
        ("prompts/get", json!({ "name": "evidence_review" }), -32602),
        ("resources/read", json!({ "uri": uri }), -32002),
        ("resources/read", json!({ "uri": uri, "_meta": with_tasks() }), -32602),
        ("subscriptions/listen", json!({ "notifications": {} }), -32601),
    ] {
        assert_eq!(refused(&mut client, method, params.clone()).await?, code, "{method} {params}");
    }
    client.close().await
}
