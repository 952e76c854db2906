//! `lyra serve` as seen by plain HTTP.

use lyra_tests::TestApp;
use lyra_tests::mcp_server::HttpServer;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

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
            let is_mcp = line == "POST /mcp";
            assert_eq!(error_code(&answer.body) == json!(-32000), is_mcp, "{line}: {answer:?}");
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
    assert!(tools.starts_with(&["answer", "create_task", "queue_searches", "get_status"]), "{tools:?}");
    assert!(tools.ends_with(&["get_provenance", "register_representatives"]), "{tools:?}");
    server.stop().await
}

#[tokio::test]
async fn idle_connections_cost_their_slots_and_nothing_else() -> anyhow::Result<()> {
    let app = TestApp::new();
    // A third of 384 files is 128 connections.
    let lyra = app.command(&["serve", "--port", "0"]);
    let mut command = std::process::Command::new("sh");
    command.args(["-c", "ulimit -n 384; exec \"$0\" \"$@\""]).arg(lyra.get_program()).args(lyra.get_args());
    command.envs(lyra.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let server = HttpServer::start_command(command).await?;

    let mut idle = Vec::new();
    for n in 0..500 {
        let mut stream = tokio::net::TcpStream::connect(&server.address).await?;
        if n % 2 == 1 {
            // Half a request head. Being disconnected meanwhile is fine.
            let _ = stream.write_all(b"GET /health HTTP/1.1\r\nHost: loc").await;
        }
        idle.push(stream);
    }
    for path in ["GET /health", "GET /ready"] {
        assert_eq!(server.request(path, &[], "").await?.status, 200, "{path}");
    }
    let log = server.log.lines().join("\n");
    assert!(!log.contains("Too many open files"), "{log}");
    drop(idle);
    server.stop().await
}

#[tokio::test]
async fn requests_that_cannot_be_served_say_what_is_wrong_with_them() -> anyhow::Result<()> {
    let app = TestApp::new();
    let server = HttpServer::start(&app).await?;
    for body in ["{", "nonsense", "{\"jsonrpc\":\"2.0\",}"] {
        let answer = server.request("POST /mcp", &[JSON, ACCEPT], body).await?;
        assert_eq!((answer.status, error_code(&answer.body)), (400, json!(-32700)), "{body}: {answer:?}");
    }
    for body in ["{}", "[]", r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#] {
        let answer = server.request("POST /mcp", &[JSON, ACCEPT], body).await?;
        assert_eq!((answer.status, error_code(&answer.body)), (400, json!(-32600)), "{body}: {answer:?}");
    }
    // In chunks, so that no length is announced.
    let mut stream = tokio::net::TcpStream::connect(&server.address).await?;
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\n{JSON}\r\n{ACCEPT}\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n",
        server.address
    );
    stream.write_all(head.as_bytes()).await?;
    let chunk = format!("10000\r\n{}\r\n", "x".repeat(0x10000));
    for _ in 0..17 {
        stream.write_all(chunk.as_bytes()).await?;
    }
    stream.write_all(b"0\r\n\r\n").await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");

    let long = format!("X-Long: {}", "x".repeat(100_000));
    assert_eq!(server.request("GET /health", &[&long], "").await?.status, 431);
    for host in ["Host: [::1].evil.example", "Host: localhost\r\nHost: localhost", "Host: localhost:80:80"] {
        assert_eq!(server.request("GET /health", &[host], "").await?.status, 403, "{host}");
    }
    let elsewhere = server.request("GET http://evil.example/health", &["Host: localhost"], "").await?;
    assert_eq!(elsewhere.status, 403, "{elsewhere:?}");
    server.stop().await
}

#[tokio::test]
async fn sessions_are_counted_and_belong_to_those_who_opened_them() -> anyhow::Result<()> {
    let app = TestApp::new();
    let server = HttpServer::start(&app).await?;
    let initialize = |name: &str| {
        json!({
            "jsonrpc": "2.0", "id": 1, "method": "initialize",
            "params": { "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": name, "version": "0" } }
        })
        .to_string()
    };
    let open = async |headers: &[&str]| {
        let answer =
            server.request("POST /mcp", &[&[JSON, ACCEPT][..], headers].concat(), &initialize("c")).await?;
        let id = answer.head.lines().find_map(|line| line.strip_prefix("mcp-session-id: "));
        Ok::<_, anyhow::Error>(format!("Mcp-Session-Id: {}", id.unwrap_or_else(|| panic!("{answer:?}"))))
    };
    let ping = json!({ "jsonrpc": "2.0", "id": 2, "method": "ping" }).to_string();
    let status = async |line: &str, headers: &[&str]| {
        let body = if line.starts_with("POST") { ping.as_str() } else { "" };
        let answer = server.request(line, &[&[JSON, ACCEPT][..], headers].concat(), body).await?;
        Ok::<_, anyhow::Error>(answer.status)
    };

    let long = server.request("POST /mcp", &[JSON, ACCEPT], &initialize(&"x".repeat(900_000))).await?;
    assert_eq!(long.status, 413, "{long:?}");

    let made = app.json(&["token", "create", "--json", "other", "--scope", "full"]);
    let other = format!("Authorization: Bearer {}", made["token"].as_str().expect("a token"));
    let id = open(&[&other]).await?;
    for line in ["POST /mcp", "GET /mcp", "DELETE /mcp"] {
        assert_eq!(status(line, &[&id]).await?, 404, "{line} without its token");
    }
    assert_eq!(status("POST /mcp", &[&id, &other]).await?, 200);
    assert_eq!(status("DELETE /mcp", &[&id, &other]).await?, 204);
    assert_eq!(status("POST /mcp", &[&id, &other]).await?, 404);
    assert_eq!(status("DELETE /mcp", &[&id, &other]).await?, 404);

    let first = open(&[]).await?;
    let kept = open(&[&other]).await?;
    let mut last = String::new();
    for _ in 0..70 {
        last = open(&[]).await?;
    }
    assert_eq!(status("POST /mcp", &[&first]).await?, 404, "the oldest idle session made room");
    assert_eq!(status("POST /mcp", &[&last]).await?, 200);
    assert_eq!(status("POST /mcp", &[&kept, &other]).await?, 200, "another caller's session stays");
    server.stop().await
}

/// The code of the JSON-RPC error in a body.
fn error_code(body: &str) -> Value {
    let message = serde_json::from_str::<Value>(body).unwrap_or_default();
    message.pointer("/error/code").cloned().unwrap_or_default()
}

/// The JSON-RPC message in a body, whether it came as JSON or as an event stream.
fn message(body: &str) -> Value {
    body.lines()
        .map(|line| line.strip_prefix("data:").unwrap_or(line).trim())
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .find(|value| value.get("result").is_some())
        .unwrap_or_else(|| panic!("no result in {body}"))
}
