//! The telemetry of a call: metrics, and one trace id from the call through its jobs to the batches of the ml-server.

use lyra_tests::mcp_server::HttpServer;
use lyra_tests::ml_server::{self, MlServer};
use lyra_tests::{Log, TestApp};
use serde_json::{Value, json};
use std::time::Duration;

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const SECRET: &str = "a-key-that-must-stay-secret";

/// Calls a tool over HTTP as part of this trace.
async fn call(server: &HttpServer, tool: &str, arguments: Value) -> anyhow::Result<Value> {
    server.call(tool, arguments, &[&format!("traceparent: 00-{TRACE}-00f067aa0ba902b7-01")]).await
}

/// Log lines, which must be JSON objects.
fn objects(log: &Log) -> Vec<Value> {
    let object =
        |line: &String| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in {line}"));
    log.lines().iter().map(object).collect()
}

/// Whether a span of the line, or the line, has this trace.
fn traced(line: &Value) -> bool {
    let spans = line["spans"].as_array().into_iter().flatten();
    spans.chain([&line["span"], &line["fields"]]).any(|fields| fields["trace_id"] == TRACE)
}

#[tokio::test]
async fn one_id_leads_from_a_call_to_the_batches_and_everything_is_counted() -> anyhow::Result<()> {
    let (app, ml) = (TestApp::new(), MlServer::start().await?);
    let environment = [
        ("LYRA__LOG__FORMAT", "json"),
        ("RUST_LOG", "debug,hyper=off"),
        ("LYRA__SOURCES__OPENALEX__API_KEY", SECRET),
        ("LYRA__LLM__API_KEY", SECRET),
    ];
    let server = HttpServer::start_with(&app, &["--ml-url", &ml.url()], &environment).await?;
    let task =
        call(&server, "create_task", json!({"query": "Do naps help?", "claims": ["Naps improve memory."]}))
            .await?;
    let id = task["task_id"].as_str().expect("a task");
    let mut status = Value::Null;
    while status != "completed" {
        status = call(&server, "get_status", json!({"task_id": id, "wait": 20})).await?["status"].clone();
    }
    assert_eq!(call(&server, "get_status", json!({"task_id": "task_none"})).await?["ok"], false);

    // The jobs name the call as their cause, directly or through the job before.
    let sql = format!("SELECT cause_id FROM queries WHERE task_id = '{id}'");
    let rows = call(&server, "query_graph", json!({"sql": sql})).await?;
    assert_eq!(rows["rows"][0]["cause_id"], format!("trace_{TRACE}"), "{rows}");

    // The ml-server ran batches for this trace.
    let batches: Vec<Value> =
        objects(&ml.log).into_iter().filter(|line| line["fields"]["message"] == "ran in batch").collect();
    assert!(batches.iter().any(traced), "{batches:?}");

    let metrics = server.request("GET /metrics", &[], "").await?;
    assert_eq!(metrics.status, 200);
    for series in [
        r#"lyra_tool_calls_total{tool="create_task",outcome="ok"} 1"#,
        r#"lyra_tool_calls_total{tool="get_status",outcome="not_found"} 1"#,
        r#"lyra_job_runs_total{kind="judge",outcome="completed"}"#,
        r#"lyra_jobs{kind="search",state="completed"} 1"#,
        r#"lyra_tasks{status="completed"} 1"#,
        r#"lyra_inference_calls_total{call="nli",outcome="ok"}"#,
        "lyra_queue_depth 0",
        r#"lyra_http_requests_total{route="/mcp",status="200"}"#,
    ] {
        assert!(metrics.body.contains(series), "{series} is missing in\n{}", metrics.body);
    }
    let theirs = ml_server::get(ml.address(), "/metrics").await?;
    assert!(theirs.contains("te_request_count"), "{theirs}");

    let log = server.log.clone();
    server.stop().await?;
    // The reader of the log may be a moment behind.
    tokio::time::sleep(Duration::from_millis(200)).await;
    let lines = objects(&log);
    assert!(lines.iter().any(traced), "no line of the trace among {}", lines.len());
    assert!(log.lines().iter().all(|line| !line.contains(SECRET)), "a key is in the log");
    Ok(())
}
