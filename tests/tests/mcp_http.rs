//! `lyra serve` as seen by plain HTTP.

use lyra_tests::TestApp;
use lyra_tests::mcp_server::HttpServer;
use serde_json::{Value, json};

const JSON: &str = "Content-Type: application/json";
const ACCEPT: &str = "Accept: application/json, text/event-stream";

#[tokio::test]
async fn health_answers_and_strangers_are_refused() -> anyhow::Result<()> {
    let app = TestApp::new();
    let server = HttpServer::start(&app).await?;
    for path in ["GET /health", "GET /ready"] {
        let answer = server.request(path, &[], "").await?;
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
    }
    for stranger in ["Host: attacker.example", "Origin: https://attacker.example", "Origin: null"] {
        for line in ["GET /health", "POST /mcp"] {
            let answer = server.request(line, &[stranger, JSON, ACCEPT], "{}").await?;
            assert_eq!(answer.status, 403, "{line} {stranger}: {answer:?}");
        }
    }
    let large = "x".repeat(1024 * 1024 + 1);
    assert_eq!(server.request("POST /mcp", &[JSON, ACCEPT], &large).await?.status, 413);
    assert_eq!(server.request("GET /nothing", &[], "").await?.status, 404);
    server.stop().await
}

#[tokio::test]
async fn both_protocol_revisions_are_served() -> anyhow::Result<()> {
    let app = TestApp::new();
    let server = HttpServer::start(&app).await?;

    let client = json!({ "name": "lyra-tests", "version": "0" });
    let initialize = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": { "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client }
    });
    let origin = format!("Origin: http://{}", server.address);
    let answer = server.request("POST /mcp", &[JSON, ACCEPT, &origin], &initialize.to_string()).await?;
    assert_eq!(answer.status, 200, "{answer:?}");
    assert!(answer.head.contains("\r\nmcp-session-id:"), "{answer:?}");
    assert_eq!(message(&answer.body)["result"]["protocolVersion"], "2025-11-25");

    let list = json!({
        "jsonrpc": "2.0", "id": 2, "method": "tools/list",
        "params": { "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": client,
            "io.modelcontextprotocol/clientCapabilities": {}
        } }
    });
    let headers = [JSON, ACCEPT, "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/list"];
    let answer = server.request("POST /mcp", &headers, &list.to_string()).await?;
    assert_eq!(answer.status, 200, "{answer:?}");
    assert!(!answer.head.contains("\r\nmcp-session-id:"), "this revision has no sessions: {answer:?}");
    let message = message(&answer.body);
    let tools: Vec<&str> = message["result"]["tools"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|t| t["name"].as_str())
        .collect();
    assert!(tools.starts_with(&["create_task", "queue_searches", "get_status"]), "{tools:?}");
    assert!(tools.ends_with(&["get_provenance", "register_representatives"]), "{tools:?}");
    server.stop().await
}

/// The JSON-RPC message in a body, whether it came as JSON or as an event stream.
fn message(body: &str) -> Value {
    body.lines()
        .map(|line| line.strip_prefix("data:").unwrap_or(line).trim())
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .find(|value| value.get("result").is_some())
        .unwrap_or_else(|| panic!("no result in {body}"))
}
