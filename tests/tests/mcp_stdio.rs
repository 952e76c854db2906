//! `lyra mcp` driven by JSON-RPC lines: the path that `mcp_python` tests, on a machine without Python.

use anyhow::{Context, ensure};
use lyra_tests::TestApp;
use lyra_tests::mcp_client::StdioClient;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::time::{Duration, Instant};

const CLAIM: &str = "A short daytime nap improves memory in adults.";

/// A client that validates every structured result against the schema that the tool's resource has; the one in the list
/// leaves out the fields of errors.
struct Checked {
    client: StdioClient,
    schemas: HashMap<String, Value>,
}

impl Checked {
    async fn start(app: &TestApp) -> anyhow::Result<Self> {
        let mut client = StdioClient::start(app).await?;
        let listed = client.request("tools/list", json!({})).await?;
        let tools = listed["tools"].as_array().context("tools")?;
        let mut schemas = HashMap::new();
        for name in tools.iter().filter_map(|tool| tool["name"].as_str()) {
            let uri = format!("lyra://tools/{name}");
            let read = client.request("resources/read", json!({ "uri": uri })).await?;
            let text = read["contents"][0]["text"].as_str().context("text")?;
            let mut described: Value = serde_json::from_str(text)?;
            ensure!(described["output_schema"]["additionalProperties"] == false, "{name} allows anything");
            schemas.insert(name.to_owned(), described["output_schema"].take());
        }
        Ok(Self { client, schemas })
    }

    async fn call(&mut self, tool: &str, arguments: Value) -> anyhow::Result<Value> {
        let content = self.client.call(tool, arguments).await?;
        let schema = self.schemas.get(tool).context("an announced tool")?;
        if let Err(error) = jsonschema::validate(schema, &content) {
            anyhow::bail!("{tool} breaks its own schema: {error}\n{content:#}");
        }
        Ok(content)
    }

    async fn done(&mut self, tool: &str, arguments: Value) -> anyhow::Result<Value> {
        let content = self.call(tool, arguments).await?;
        ensure!(content["ok"] == true, "{tool} failed: {content}");
        Ok(content)
    }

    /// The error code and message of a refusal.
    async fn refused(&mut self, tool: &str, arguments: Value) -> anyhow::Result<(String, String)> {
        let content = self.call(tool, arguments).await?;
        ensure!(
            content["ok"] == false && content["error_id"].is_string(),
            "{tool} did not refuse: {content}"
        );
        let text = |key: &str| content[key].as_str().unwrap_or_default().to_owned();
        Ok((text("error_code"), format!("{} {}", text("error"), text("hint"))))
    }

    async fn finish(&mut self, task: &Value) -> anyhow::Result<Value> {
        let deadline = Instant::now() + Duration::from_mins(3);
        loop {
            let status =
                self.done("get_status", json!({ "task_id": task, "wait": 10, "detail": "full" })).await?;
            if status["status"] == "completed" {
                return Ok(status);
            }
            ensure!(status["status"] == "exploring", "the task went astray: {status}");
            ensure!(Instant::now() < deadline, "the task does not end: {status}");
        }
    }
}

#[tokio::test]
async fn a_whole_task() -> anyhow::Result<()> {
    let app = TestApp::new();
    let mut lyra = Checked::start(&app).await?;
    assert_eq!(lyra.client.server["protocolVersion"], "2025-11-25");
    assert!(lyra.client.server["instructions"].as_str().is_some_and(|text| text.contains("queue_searches")));

    let query = "Does a short daytime nap improve memory?";
    let made = lyra.done("create_task", json!({ "hypothesis": query, "claims": [CLAIM] })).await?;
    let task = made["task_id"].clone();
    assert_eq!((&made["query"], &made["budget"]["max_pages"]), (&json!(query), &json!(120)));

    let searches = json!({ "task_id": task, "queries": ["nap word recall", "Nap  word recall"] });
    let queued = lyra.done("queue_searches", searches).await?;
    assert_eq!((&queued["queued_count"], &queued["skipped_count"]), (&json!(1), &json!(1)), "{queued}");

    let status = lyra.finish(&task).await?;
    assert_eq!(status["searches"].as_array().map(Vec::len), Some(2), "{status}");
    let evidence = &status["evidence_summary"];
    assert!(evidence["supporting_edges"].as_u64() > Some(0), "{status}");
    assert!(evidence["refuting_edges"].as_u64() > Some(0), "{status}");

    let task_id = task.as_str().context("an id")?;
    let sql = format!(
        "SELECT c.claim_text, e.relation, f.text_content FROM claims c JOIN edges e ON e.target_id = c.id \
         JOIN fragments f ON f.id = e.source_id WHERE c.task_id = '{task_id}' AND c.claim_type = 'user' \
         AND e.relation IN ('supports', 'refutes')"
    );
    let edges =
        lyra.done("query_graph", json!({ "sql": sql, "options": { "include_schema": true } })).await?;
    assert!(
        edges["rows"].as_array().is_some_and(|rows| rows.iter().all(|row| row["claim_text"] == CLAIM)),
        "{edges}"
    );
    assert_eq!(edges["columns"], json!(["claim_text", "relation", "text_content"]));
    assert_eq!(edges["untrusted_fields"], json!(["rows"]));

    let meaning =
        json!({ "query": "sleep and remembering words", "target": "fragments", "min_similarity": 0.2 });
    let close = lyra.done("vector_search", meaning).await?;
    let id = close["results"][0]["id"].as_str().context("a hit")?;
    let sql = format!("SELECT id FROM fragments WHERE id = '{id}'");
    assert_eq!(lyra.done("query_graph", json!({ "sql": sql })).await?["row_count"], 1);

    let resource = lyra.client.request("resources/read", json!({ "uri": "lyra://schema" })).await?;
    let schema: Value = serde_json::from_str(resource["contents"][0]["text"].as_str().context("text")?)?;
    let names: Vec<&str> =
        schema["tables"].as_array().into_iter().flatten().filter_map(|t| t["name"].as_str()).collect();
    for name in ["claims", "edges", "fragments", "v_claim_evidence_summary"] {
        assert!(names.contains(&name), "{name} is not in {names:?}");
    }
    let materials = read(&mut lyra, &format!("lyra://tasks/{task_id}/materials")).await?;
    for field in ["claims", "fragments", "evidence_graph", "citation_network", "untrusted_fields"] {
        assert!(materials.get(field).is_some(), "{field}");
    }
    let claim = &materials["claims"][0];
    for field in ["alpha", "beta", "confidence", "evidence_count", "independent_sources", "evidence_years"] {
        assert!(claim.get(field).is_some(), "{field} of {claim}");
    }
    for field in ["source_pages", "citations", "hub_pages"] {
        assert!(materials["citation_network"][field].is_array(), "{field}");
    }
    let claim_id = claim["claim_id"].as_str().context("an id")?;
    let alone = read(&mut lyra, &format!("lyra://tasks/{task_id}/claims/{claim_id}")).await?;
    assert_eq!((&alone["confidence"], &alone["evidence"]), (&claim["confidence"], &claim["evidence"]));
    let graph = read(&mut lyra, &format!("lyra://tasks/{task_id}/graph")).await?;
    assert_eq!(graph["stats"], materials["evidence_graph"]["stats"]);
    for wrong in ["claims/claim_x", "claims/task_x", "nothing"] {
        assert!(read(&mut lyra, &format!("lyra://tasks/{task_id}/{wrong}")).await.is_err(), "{wrong}");
    }
    lyra.done("stop_task", json!({ "task_id": task })).await?;
    lyra.client.close().await
}

#[tokio::test]
async fn a_question_in_one_call() -> anyhow::Result<()> {
    let app = TestApp::new();
    let mut lyra = Checked::start(&app).await?;
    let mut answer =
        lyra.done("answer", json!({ "question": "Does a short daytime nap improve memory?" })).await?;
    while answer["status"] != "completed" {
        answer = lyra.done("answer", json!({ "task_id": answer["task_id"] })).await?;
    }
    assert_eq!(answer["kind"], "claim");
    let verdict = &answer["verdict"];
    assert_eq!(verdict["claim"], "A short daytime nap improves memory.");
    let works = &verdict["works"];
    assert!(works["supporting"].as_u64() > Some(0) || works["refuting"].as_u64() > Some(0), "{answer}");
    assert!(answer.to_string().len() < 8_000, "{answer}");
    let sides = [&answer["supporting"], &answer["refuting"]];
    assert!(sides.iter().filter_map(|side| side.as_array()).all(|side| side.len() <= 5));
    assert!(answer["findings"][0]["source"].as_str().is_some_and(|source| !source.is_empty()), "{answer}");

    let wrong = json!({ "question": "Do naps help?", "task_id": answer["task_id"] });
    for arguments in [json!({}), wrong] {
        let refused = lyra.call("answer", arguments).await?;
        assert_eq!(refused["error_code"], "invalid_argument", "{refused}");
    }
    lyra.client.close().await
}

/// A resource's JSON.
async fn read(lyra: &mut Checked, uri: &str) -> anyhow::Result<Value> {
    let resource = lyra.client.request("resources/read", json!({ "uri": uri })).await?;
    Ok(serde_json::from_str(resource["contents"][0]["text"].as_str().context("text")?)?)
}

#[tokio::test]
async fn calibration_without_corrections_says_what_is_missing() -> anyhow::Result<()> {
    let app = TestApp::new();
    let mut lyra = Checked::start(&app).await?;
    let stats = lyra.done("calibration_metrics", json!({ "action": "get_stats" })).await?;
    assert_eq!(stats["sources"], json!([]));
    let found = lyra.done("calibration_metrics", json!({ "action": "get_evaluations", "limit": 5 })).await?;
    assert_eq!(found["evaluations"], json!([]));
    let (code, message) = lyra.refused("calibration_metrics", json!({ "action": "evaluate" })).await?;
    assert!(code == "not_found" && message.contains("correct or confirm edges"), "{code} {message}");
    let (code, _) = lyra.refused("calibration_rollback", json!({ "reason": "worse" })).await?;
    assert_eq!(code, "not_found");
    let (code, message) = lyra.refused("calibration_rollback", json!({ "version": 1 })).await?;
    assert!(code == "invalid_argument" && message.contains("`reason` is missing"), "{message}");
    lyra.client.close().await
}

#[tokio::test]
async fn every_view_that_the_schema_lists_can_be_queried() -> anyhow::Result<()> {
    let app = TestApp::new();
    let mut lyra = Checked::start(&app).await?;
    let asked = json!({ "sql": "SELECT 1", "options": { "include_schema": true } });
    let listed = lyra.done("query_graph", asked).await?;
    let tables = listed["schema"]["tables"].as_array().context("tables")?;
    let views: Vec<&Value> = tables.iter().filter(|table| table["kind"] == "view").collect();
    assert_eq!(views.len(), 16, "{listed}");
    for view in views {
        let name = view["name"].as_str().context("a name")?;
        let found = lyra.done("query_graph", json!({ "sql": format!("SELECT * FROM {name}") })).await?;
        let columns: Vec<&Value> =
            view["columns"].as_array().into_iter().flatten().map(|column| &column["name"]).collect();
        assert_eq!(found["columns"].as_array().map(|names| names.iter().collect()), Some(columns), "{name}");
    }
    lyra.client.close().await
}

#[tokio::test]
async fn wrong_arguments_and_forbidden_sql_are_answered_in_words() -> anyhow::Result<()> {
    let app = TestApp::new();
    let mut lyra = Checked::start(&app).await?;
    for (tool, arguments, code, words) in [
        ("create_task", json!({}), "invalid_argument", "`query` is missing"),
        ("create_task", json!({ "query": "a", "hypothesis": "b" }), "invalid_argument", "give one of them"),
        ("create_task", json!({ "query": "a", "budget": {} }), "invalid_argument", "query"),
        (
            "create_task",
            json!({ "query": "a", "config": { "budget": { "max_pages": 501 } } }),
            "invalid_argument",
            "`config.budget.max_pages` is 501, it should be an integer, 1 to 500",
        ),
        (
            "create_task",
            json!({ "query": "a", "config": { "corpora": ["none"] } }),
            "invalid_argument",
            "none",
        ),
        (
            "queue_searches",
            json!({ "task_id": "task_x", "query": ["a"] }),
            "invalid_argument",
            "did you mean `queries`",
        ),
        (
            "queue_searches",
            json!({ "task_id": "claim_x", "queries": ["a"] }),
            "invalid_argument",
            "`task_id`",
        ),
        ("get_status", json!({ "task_id": "task_x", "wait": 46 }), "invalid_argument", "an integer, 0 to 45"),
        ("get_status", json!({ "task_id": "task_x" }), "not_found", "task_x"),
        (
            "stop_task",
            json!({ "task_id": "task_x", "mode": "now" }),
            "invalid_argument",
            "one of graceful, immediate",
        ),
        ("query_graph", json!({ "sql": "UPDATE claims SET claim_text = ''" }), "sql_refused", ""),
        ("query_graph", json!({ "sql": "PRAGMA table_info(claims)" }), "sql_refused", ""),
        ("query_graph", json!({ "sql": "SELECT 1; SELECT 2" }), "sql_refused", ""),
        ("query_graph", json!({ "sql": "SELECT claim_txt FROM claims" }), "", "claim_text"),
        (
            "query_graph",
            json!({ "sql": "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n" }),
            "sql_timeout",
            "",
        ),
        (
            "vector_search",
            json!({ "query": "a", "target": "pages" }),
            "invalid_argument",
            "one of claims, fragments",
        ),
        ("feedback", json!({ "action": "block" }), "invalid_argument", "domain_block"),
        (
            "feedback",
            json!({ "action": "domain_block", "domain_pattern": "*.co.uk", "reason": "x" }),
            "invalid_argument",
            "public suffix",
        ),
        (
            "feedback",
            json!({ "action": "domain_block", "domain_pattern": "example.com" }),
            "invalid_argument",
            "`reason` is missing",
        ),
        (
            "feedback",
            json!({ "action": "claim_reject", "claim_id": "claim_x", "edge_id": "edge_x", "reason": "x" }),
            "invalid_argument",
            "`edge_id` does not belong to action `claim_reject`",
        ),
        (
            "feedback",
            json!({ "action": "claim_restore", "claim_id": "claim_x" }),
            "not_found",
            "vector_search",
        ),
        (
            "feedback",
            json!({ "action": "edge_correct", "edge_id": "edge_x" }),
            "invalid_argument",
            "`correct_relation` is missing",
        ),
    ] {
        let (got, message) = lyra.refused(tool, arguments.clone()).await?;
        assert!(code.is_empty() || got == code, "{tool} {arguments}: {got}, {message}");
        assert!(message.contains(words), "{tool} {arguments}: {message}");
    }
    let literal = "SELECT count(*) AS n FROM claims WHERE claim_text LIKE '%update; delete%'";
    assert_eq!(lyra.done("query_graph", json!({ "sql": literal })).await?["rows"], json!([{ "n": 0 }]));
    let unknown = lyra.client.request("tools/call", json!({ "name": "nothing", "arguments": {} })).await;
    assert!(unknown.is_err_and(|error| error.to_string().contains("create_task")), "the tools are named");
    let nowhere = lyra.client.request("resources/read", json!({ "uri": "lyra://tasks/task_x" })).await;
    assert!(nowhere.is_err(), "a task that does not exist is no resource");
    lyra.client.close().await
}

#[tokio::test]
async fn a_cancelled_call_is_given_up_and_the_session_goes_on() -> anyhow::Result<()> {
    let app = TestApp::new();
    let mut lyra = Checked::start(&app).await?;
    let slow = json!({ "name": "create_task", "arguments": { "query": "Does biochar raise yields?" } });
    let id = lyra.client.post("tools/call", slow).await?;
    let gone =
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } });
    lyra.client.send(&gone).await?;
    assert_eq!(
        lyra.done("query_graph", json!({ "sql": "SELECT 1 AS one" })).await?["rows"],
        json!([{ "one": 1 }])
    );
    lyra.client.close().await
}
