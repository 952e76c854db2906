//! Mutated requests to `lyra serve` and to `lyra-ml-server`.

use crate::planted::{leaked, plant};
use crate::requests::{Request, changed};
use crate::watch::Watch;
use crate::{IN_TIME, Run, pick};
use anyhow::{Context, ensure};
use lyra_tests::TestApp;
use lyra_tests::mcp_server::HttpServer;
use lyra_tests::ml_server::{MlServer, free_port, get};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Requests at a time.
const IN_FLIGHT: usize = 8;
/// How long a connection may stay idle after the last byte of an answer, because the client has closed its side.
const SILENCE: Duration = Duration::from_mins(1);
/// Requests between two health checks.
const ROUND: usize = 64;

/// Sends bytes, closes the sending side, and reads the response.
async fn sent(address: &str, bytes: &[u8]) -> anyhow::Result<Vec<u8>> {
    let mut stream = TcpStream::connect(address).await.context("connect")?;
    // A server that refuses the head may close before it has read the rest.
    let _ = tokio::time::timeout(SILENCE, stream.write_all(bytes)).await.context("it reads no more")?;
    let _ = stream.shutdown().await;
    let mut answer = Vec::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match tokio::time::timeout(SILENCE, stream.read(&mut buffer)).await.context("no answer and no end")? {
            Ok(0) | Err(_) => return Ok(answer),
            Ok(read) => answer.extend(&buffer[..read]),
        }
    }
}

/// Sends a round of requests, some at a time, and checks every answer.
async fn round(address: &str, requests: Vec<Vec<u8>>) -> anyhow::Result<()> {
    let mut waiting = requests.into_iter();
    let mut open = tokio::task::JoinSet::new();
    loop {
        while open.len() < IN_FLIGHT {
            let Some(bytes) = waiting.next() else { break };
            let address = address.to_owned();
            open.spawn(async move {
                let answer = tokio::time::timeout(IN_TIME, sent(&address, &bytes)).await;
                let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(2_000)]).into_owned();
                let answer = answer.context("not in time").and_then(|answer| answer);
                checked(&answer.with_context(|| shown.clone())?).with_context(|| shown)
            });
        }
        match open.join_next().await {
            Some(ended) => ended??,
            None => return Ok(()),
        }
    }
}

/// The answer is valid HTTP or missing; it blames the request and not the server, and contains no secret.
fn checked(answer: &[u8]) -> anyhow::Result<()> {
    let text = String::from_utf8_lossy(answer);
    ensure!(!leaked(&text), "a secret: {text}");
    if answer.is_empty() {
        return Ok(());
    }
    let status = text.strip_prefix("HTTP/1.1 ").or_else(|| text.strip_prefix("HTTP/1.0 "));
    let status: u16 =
        status.and_then(|rest| rest.get(..3)?.parse().ok()).with_context(|| text.to_string())?;
    // 503 reports an overload, which is correct here.
    ensure!(status < 500 || status == 503, "{text}");
    Ok(())
}

/// Requests of a Lyra client.
fn lyra_seeds(host: &str, token: &str) -> Vec<Request> {
    let bearer = format!("Bearer {token}");
    let base = [("Host", host), ("Authorization", bearer.as_str())];
    let json = [
        base[0],
        base[1],
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
    ];
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "x", "version": "0" },
        "io.modelcontextprotocol/clientCapabilities": {}
    });
    let call = |method: &str, mut params: Value| {
        params["_meta"] = meta.clone();
        let name = params["name"].as_str().unwrap_or_default().to_owned();
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
        let own = [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", method), ("Mcp-Name", &name)];
        Request::new("POST", "/mcp", &[&json[..], &own].concat(), body)
    };
    let sql = |sql: &str| call("tools/call", json!({ "name": "query_graph", "arguments": { "sql": sql } }));
    let initialize = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": { "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "x", "version": "0" } }
    });
    vec![
        Request::new("GET", "/health", &base[..1], ""),
        Request::new("GET", "/ready", &base, ""),
        Request::new("GET", "/metrics", &base, ""),
        Request::new("GET", "/mcp", &[&base[..], &[("Accept", "text/event-stream")]].concat(), ""),
        Request::new("DELETE", "/mcp", &[&base[..], &[("Mcp-Session-Id", "x")]].concat(), ""),
        Request::new(
            "OPTIONS",
            "/mcp",
            &[base[0], ("Origin", "http://localhost"), ("Access-Control-Request-Method", "POST")],
            "",
        ),
        Request::new("POST", "/mcp", &json, initialize.to_string()),
        call("tools/list", json!({})),
        call("resources/list", json!({})),
        call("prompts/list", json!({})),
        sql("SELECT count(*) AS n FROM tasks"),
        sql("SELECT session FROM (SELECT 'x' AS session) FULL JOIN sessions USING(session)"),
        sql("SELECT state FROM (SELECT 'x' AS state) FULL JOIN rate_state USING(state)"),
        call("tools/call", json!({ "name": "create_task", "arguments": { "query": "who may not?" } })),
        call("tools/call", json!({ "name": "stop_task", "arguments": { "task_id": "x" } })),
        call("tools/call", json!({ "name": "get_auth_queue", "arguments": {} })),
        call("resources/read", json!({ "uri": "lyra://tasks/x" })),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn mutated_requests_leave_lyra_well() -> anyhow::Result<()> {
    const MEMORY: u64 = 1 << 30;
    let app = TestApp::new();
    plant(&app).await?;
    let made = app.json(&["token", "create", "--json", "viewer", "--scope", "read"]);
    let tokens = app.json(&["token", "list", "--json"]);
    let limits = [("LYRA__SERVER__AUTH", "required"), ("LYRA__SERVER__REQUESTS_PER_MINUTE", "0")];
    let server = HttpServer::start_with(&app, &[], &limits).await?;
    let watch = Watch::start(server.pid().context("it runs")?);
    let seeds = lyra_seeds(&server.address, made["token"].as_str().context("a token")?);

    let mut run = Run::new("HTTP, lyra serve");
    let mut more = true;
    while more {
        let mut requests = Vec::new();
        while requests.len() < ROUND && more {
            more = run.next();
            let seed = pick(&mut run.rng, &seeds).clone();
            requests.push(changed(&mut run.rng, seed));
        }
        round(&server.address, requests).await?;
        ensure!(server.request("GET /health", &[], "").await?.status == 200, "it is not well");
    }
    ensure!(watch.peak() <= MEMORY, "{} MB", watch.peak() >> 20);
    server.stop().await?;
    // A read token changed nothing.
    let now = app.json(&["token", "list", "--json"]);
    let names = |tokens: &Value| -> Vec<String> {
        let all = tokens.as_array().into_iter().flatten();
        all.map(|token| format!("{} {} {}", token["name"], token["scope"], token["revoked_at"])).collect()
    };
    ensure!(names(&now) == names(&tokens), "{now}");
    ensure!(app.json(&["task", "list", "--json"]) == json!([]), "a task was made");
    Ok(())
}

/// Requests of an ml-server client: the seeds of its fuzz targets.
fn ml_seeds(host: &str) -> anyhow::Result<Vec<Request>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ml-server/fuzz/seeds");
    let mut seeds = vec![
        Request::new("GET", "/health", &[("Host", host)], ""),
        Request::new("GET", "/metrics", &[("Host", host)], ""),
        Request::new("GET", "/openapi.json", &[("Host", host)], ""),
    ];
    for route in std::fs::read_dir(&folder)? {
        let route = route?;
        let name = route.file_name().to_string_lossy().into_owned();
        let target = if name == "embeddings" { "/v1/embeddings".to_owned() } else { format!("/{name}") };
        for file in std::fs::read_dir(route.path())? {
            let body = std::fs::read(file?.path())?;
            let headers = [("Host", host), ("Content-Type", "application/json")];
            seeds.push(Request::new("POST", &target, &headers, body));
        }
    }
    Ok(seeds)
}

#[tokio::test(flavor = "multi_thread")]
async fn mutated_requests_leave_the_ml_server_well() -> anyhow::Result<()> {
    const MEMORY: u64 = 2 << 30;
    let server = MlServer::start_at(free_port()?).await?;
    let address = server.address();
    let watch = Watch::start(server.pid().context("it runs")?);
    let seeds = ml_seeds(&address.to_string())?;

    let mut run = Run::new("HTTP, lyra-ml-server");
    let mut more = true;
    while more {
        let mut requests = Vec::new();
        while requests.len() < ROUND && more {
            more = run.next();
            let seed = pick(&mut run.rng, &seeds).clone();
            requests.push(changed(&mut run.rng, seed));
        }
        round(&address.to_string(), requests).await?;
        ensure!(get(address, "/health").await?.contains(" 200 "), "it is not well");
    }
    ensure!(watch.peak() <= MEMORY, "{} MB", watch.peak() >> 20);
    Ok(())
}
