//! All attacks on memory and CPU time at once, on a process in a group with the memory limit of its container.

use crate::IN_TIME;
use crate::bombs::quoted_pages;
use crate::group::Group;
use crate::planted::{leaked, plant};
use anyhow::{Context, ensure};
use futures::future::try_join_all;
use lyra_tests::TestApp;
use lyra_tests::mcp_server::HttpServer;
use lyra_tests::ml_server::{MlServer, free_port, get};
use lyra_tests::site::{Page, Site};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Steps without an end.
const ENDLESS: &str = include_str!("../../../orchestrator/crates/store/src/guarded/endless.sql");

/// Prepare bombs of every size that the findings name, and what cannot be interrupted.
fn costly() -> Vec<String> {
    let bombs = (16..=30).step_by(2).flat_map(|n| {
        let tables = |first: &str, body: fn(usize) -> String| {
            let made: Vec<String> = (1..n).map(|i| format!(", c{i} AS ({})", body(i - 1))).collect();
            format!("WITH c0 AS (SELECT {first} AS x){} SELECT x FROM c{}", made.concat(), n - 1)
        };
        let twice = |c| format!("SELECT (SELECT x FROM c{c})+(SELECT x FROM c{c}) AS x");
        let literal = format!("'{}'", "a".repeat(15_000));
        [
            tables("1", twice),
            tables(&literal, twice),
            tables("1", |c| format!("SELECT p.x FROM c{c} p, c{c} q")),
        ]
    });
    let endless = ENDLESS.split("\n==\n").map(|statement| {
        let lines = statement.lines().filter(|line| !line.starts_with("-- "));
        lines.collect::<Vec<_>>().join("\n")
    });
    endless.filter(|statement| !statement.is_empty()).chain(bombs).collect()
}

/// The outcome of a request. A connection may lose its slot to another before its request is read; clients try again.
async fn patiently<T>(mut ask: impl AsyncFnMut() -> anyhow::Result<T>) -> anyhow::Result<T> {
    let begun = Instant::now();
    loop {
        match ask().await {
            Err(_) if begun.elapsed() < IN_TIME => tokio::time::sleep(Duration::from_millis(200)).await,
            answered => return answered,
        }
    }
}

/// Every statement, some at a time, each answered in time and without a secret.
async fn statements(server: &HttpServer, bearer: &str) -> anyhow::Result<()> {
    for statements in costly().chunks(4) {
        let answers = statements.iter().map(async |sql| {
            let arguments = json!({ "sql": sql, "timeout_ms": 500 });
            let asked = patiently(async || server.call("query_graph", arguments.clone(), &[bearer]).await);
            let answer = tokio::time::timeout(IN_TIME, asked).await.with_context(|| sql.clone())??;
            ensure!(!leaked(&answer.to_string()), "{sql}: {answer}");
            Ok(())
        });
        try_join_all(answers).await?;
    }
    Ok(())
}

/// Sessions with long names, and many of them.
async fn sessions(server: &HttpServer, bearer: &str) -> anyhow::Result<()> {
    let headers = [bearer, "Content-Type: application/json", "Accept: application/json, text/event-stream"];
    for n in 0..300_usize {
        let name = "x".repeat(if n % 3 == 0 { 900_000 } else { 1 });
        let initialize = json!({
            "jsonrpc": "2.0", "id": 1, "method": "initialize",
            "params": { "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": name, "version": "0" } }
        });
        let body = initialize.to_string();
        let answer = patiently(async || server.request("POST /mcp", &headers, &body).await).await?;
        ensure!([200, 413, 429, 503].contains(&answer.status), "{answer:?}");
    }
    Ok(())
}

/// Connections on which nothing comes, or half of something.
async fn idle(server: &HttpServer, bearer: &str) -> Vec<TcpStream> {
    let mut open = Vec::new();
    for n in 0..1_000 {
        let Ok(mut stream) = TcpStream::connect(&server.address).await else { continue };
        let half = match n % 5 {
            3 => "GET /health HTTP/1.1\r\nHost: loc".to_owned(),
            4 => format!(
                "POST /mcp HTTP/1.1\r\nHost: {}\r\n{bearer}\r\nContent-Type: application/json\r\n\
                 Content-Length: 1000000\r\n\r\n{{\"jsonrpc\"",
                server.address
            ),
            _ => String::new(),
        };
        // Being disconnected meanwhile is fine.
        let _ = stream.write_all(half.as_bytes()).await;
        open.push(stream);
    }
    open
}

/// A task whose only results are the pages, to its end.
async fn research(server: &HttpServer, bearer: &str) -> anyhow::Result<()> {
    let task = json!({ "query": "Does a nap improve memory?", "config": { "sources": ["web"] } });
    let call = async |tool: &str, arguments: Value| {
        patiently(async || server.call(tool, arguments.clone(), &[bearer]).await).await
    };
    let made = call("create_task", task).await?;
    let id = made["task_id"].as_str().with_context(|| made.to_string())?.to_owned();
    let queued = call("queue_searches", json!({ "task_id": id, "queries": ["nap memory"] })).await?;
    ensure!(queued["ok"] == true, "{queued}");
    let begun = Instant::now();
    loop {
        let status = call("get_status", json!({ "task_id": id, "wait": 10 })).await?;
        if ["completed", "failed"].iter().any(|end| status["status"] == *end) {
            return Ok(());
        }
        // Each page may take its time.
        ensure!(begun.elapsed() < IN_TIME * 10, "{status}");
    }
}

/// Processor time of a process and its children, in ticks.
fn ticks(pid: u32) -> u64 {
    let of = |stat: &str| -> Option<(u32, u64)> {
        let fields: Vec<&str> = stat.rsplit(')').next()?.split_whitespace().collect();
        Some((
            fields.get(1)?.parse().ok()?,
            fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?,
        ))
    };
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let all = processes.filter_map(|entry| {
        let own = entry.file_name().to_str()?.parse::<u32>().ok()?;
        let (parent, ticks) = of(&std::fs::read_to_string(entry.path().join("stat")).ok()?)?;
        (own == pid || parent == pid).then_some(ticks)
    });
    all.sum()
}

#[tokio::test(flavor = "multi_thread")]
async fn lyra_in_a_gigabyte_outlives_all_attacks_at_once() -> anyhow::Result<()> {
    let Some(group) = Group::of(1 << 30) else { return Ok(()) };
    let app = TestApp::new();
    plant(&app).await?;
    let token = |name: &str, scope: &str| {
        let made = app.json(&["token", "create", "--json", name, "--scope", scope]);
        format!("Authorization: Bearer {}", made["token"].as_str().unwrap_or_default())
    };
    let (read, full) = (token("viewer", "read"), token("owner", "full"));
    let pages: Vec<Page> =
        quoted_pages(if crate::at_length() { 1 } else { 10 }).into_iter().map(|(_, page)| page).collect();
    let site = Site::start(pages)?;
    let file = app.data_dir().join("site.toml");
    std::fs::write(&file, site.configuration(app.data_dir())?)?;
    let mut command = app.command(&["--config", &file.to_string_lossy(), "serve", "--port", "0"]);
    command.env("LYRA__SERVER__REQUESTS_PER_MINUTE", "0").env("LYRA__SERVER__AUTH", "required");
    let server = HttpServer::start_command(group.command(&command)).await?;
    let pid = server.pid().context("it runs")?;

    let held = idle(&server, &read).await;
    let all = async {
        tokio::try_join!(
            async { statements(&server, &read).await.context("statements") },
            async { sessions(&server, &read).await.context("sessions") },
            async { research(&server, &full).await.context("pages") },
        )
    };
    all.await.with_context(|| {
        format!("its log ends {:?}", server.log.lines().iter().rev().take(5).collect::<Vec<_>>())
    })?;
    drop(held);

    ensure!(server.request("GET /health", &[], "").await?.status == 200, "it is not well");
    let one = server.call("query_graph", json!({ "sql": "SELECT 1 AS one" }), &[&read]).await?;
    ensure!(one["rows"][0]["one"] == 1, "{one}");
    // No work continues once its client is gone.
    let deadline = Instant::now() + IN_TIME;
    loop {
        let before = ticks(pid);
        tokio::time::sleep(Duration::from_secs(1)).await;
        let used = ticks(pid).saturating_sub(before);
        if used < 20 {
            break;
        }
        ensure!(Instant::now() < deadline, "{used} ticks in a second after all was answered");
    }
    told("lyra", &group);
    ensure!(group.killed() == 0, "the kernel killed {} processes", group.killed());
    server.stop().await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_ml_server_in_two_gigabytes_outlives_large_bodies_at_once() -> anyhow::Result<()> {
    let Some(group) = Group::of(2 << 30) else { return Ok(()) };
    let server = MlServer::start_in(free_port()?, |command| group.command(&command)).await?;
    let address = server.address();
    let long = "a ".repeat(4_000_000);
    let bodies: Vec<(&str, Value)> = vec![
        ("/tokenize", json!({ "inputs": long })),
        ("/embed", json!({ "inputs": long, "truncate": true })),
        ("/v1/embeddings", json!({ "input": long })),
        ("/nli", json!({ "pairs": [{ "premise": long, "hypothesis": "a" }] })),
        ("/embed", json!({ "inputs": vec!["a"; 1_000] })),
        ("/tokenize", json!({ "inputs": vec!["a ".repeat(250); 1_000] })),
        ("/embed", json!({ "inputs": vec!["naps ".repeat(400); 30] })),
        ("/similarity", json!({ "inputs": { "source_sentence": long, "sentences": ["a"] } })),
    ];
    let posts = bodies.iter().cycle().take(16).map(async |(path, body)| {
        let mut stream = TcpStream::connect(address).await?;
        let body = body.to_string();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).await?;
        let _ = stream.write_all(body.as_bytes()).await;
        let mut answer = Vec::new();
        tokio::time::timeout(IN_TIME * 5, stream.read_to_end(&mut answer)).await.context("no answer")??;
        let answer = String::from_utf8_lossy(&answer[..answer.len().min(300)]).into_owned();
        let known = ["200", "413", "422", "424", "429"].iter().any(|code| answer.starts_with(&format!("HTTP/1.1 {code} ")));
        ensure!(known, "{path}: {answer}");
        Ok(())
    });
    try_join_all(posts).await?;
    ensure!(get(address, "/health").await?.contains(" 200 "), "it is not well");
    told("lyra-ml-server", &group);
    ensure!(group.killed() == 0, "the kernel killed it");
    Ok(())
}

#[expect(clippy::print_stdout, reason = "how much it took is worth knowing")]
fn told(what: &str, group: &Group) {
    println!("{what}: at most {} MB in its group", group.peak() >> 20);
}
