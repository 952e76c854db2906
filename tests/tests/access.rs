//! Access control of `lyra serve`, and its audit log.

use lyra_tests::TestApp;
use lyra_tests::mcp_server::HttpServer;
use serde_json::{Value, json};
use std::time::Duration;

/// A server that requires a token from all callers, even local ones, and logs at the highest level.
async fn guarded(app: &TestApp, settings: &[(&str, &str)]) -> anyhow::Result<HttpServer> {
    let mut command = app.command(&["--log", "debug", "serve", "--port", "0"]);
    command.env("LYRA__SERVER__AUTH", "required").envs(settings.iter().copied());
    HttpServer::start_command(command).await
}

/// Makes a token as an operator would, while the server runs.
fn token(app: &TestApp, flags: &[&str]) -> String {
    let made = app.json(&[&["token", "create", "--json"], flags].concat());
    made["token"].as_str().expect("a token").to_owned()
}

fn bearer(token: &str) -> String {
    format!("Authorization: Bearer {token}")
}

/// A task that sends no requests and needs no model.
fn task(query: &str) -> Value {
    json!({ "query": query, "config": { "sources": ["openalex"] } })
}

async fn status(server: &HttpServer, line: &str, header: &str) -> anyhow::Result<u16> {
    Ok(server.request(line, &[header], "").await?.status)
}

#[tokio::test]
async fn only_tokens_in_force_are_let_in_and_each_does_what_it_may() -> anyhow::Result<()> {
    let app = TestApp::new();
    let server = guarded(&app, &[]).await?;
    let full = token(&app, &["agent", "--scope", "full"]);
    let read = token(&app, &["viewer"]);
    let former = token(&app, &["former", "--scope", "full"]);
    let brief = token(&app, &["brief", "--scope", "full", "--expires", "5s"]);

    // Health checks need no token and reveal nothing.
    assert_eq!(server.request("GET /health", &[], "").await?.status, 200);
    let id = read.split('_').nth(1).expect("an id");
    let wrong = bearer(&format!("lyra_{id}_{}", "0".repeat(64)));
    let strangers = [
        "X-Nothing: 1",
        "Authorization: Basic bHlyYQ==",
        "Authorization: Bearer",
        "Authorization: Bearer lyra_a_b",
        &wrong,
    ];
    for header in strangers {
        for line in ["GET /mcp", "POST /mcp", "DELETE /mcp", "GET /nothing"] {
            let answer = server.request(line, &[header], "{}").await?;
            assert_eq!(answer.status, 401, "{line} {header}: {answer:?}");
            assert!(answer.head.contains("www-authenticate: bearer"), "{answer:?}");
        }
    }

    let made = server.call("create_task", task("who may?"), &[&bearer(&full)]).await?;
    assert_eq!(made["ok"], true, "{made}");
    let refused = server.call("create_task", task("who may not?"), &[&bearer(&read)]).await?;
    assert_eq!((&refused["ok"], &refused["error_code"]), (&json!(false), &json!("forbidden")), "{refused}");
    let counted = json!({ "sql": "SELECT count(*) AS n FROM tasks" });
    let seen = server.call("query_graph", counted, &[&bearer(&read)]).await?;
    assert_eq!(seen["rows"][0]["n"], 1, "{seen}");
    for table in ["access_tokens", "audit_log"] {
        let sql = json!({ "sql": format!("SELECT * FROM {table}") });
        assert_eq!(server.call("query_graph", sql, &[&bearer(&full)]).await?["ok"], false, "{table} is open");
    }
    for (token, mutating) in [(&full, true), (&read, false)] {
        let listed = server.rpc(&[&bearer(token)], "tools/list", json!({})).await?;
        let tools = listed["tools"].as_array().expect("tools");
        for tool in ["create_task", "feedback", "register_representatives"] {
            assert_eq!(tools.iter().any(|listed| listed["name"] == tool), mutating, "{tool}");
        }
        let more: Vec<&str> = tools
            .iter()
            .filter(|tool| tool["annotations"]["readOnlyHint"] == false)
            .filter_map(|tool| tool["name"].as_str())
            .collect();
        // Searching is reading, although it stores a run.
        let searches =
            |name: &&str| name.starts_with("search_") || name.starts_with("rr") || name.starts_with("run_");
        assert_eq!(more.iter().all(searches), !mutating, "{more:?}");
    }
    assert_eq!(status(&server, "POST /nothing", &bearer(&read)).await?, 403);
    assert_eq!(status(&server, "POST /nothing", &bearer(&full)).await?, 404);

    assert_eq!(status(&server, "GET /nothing", &bearer(&former)).await?, 404);
    assert!(app.run(&["token", "revoke", "former"]).status.success());
    assert_eq!(
        status(&server, "GET /nothing", &bearer(&former)).await?,
        401,
        "revoked while the server runs"
    );
    for _ in 0..200 {
        if status(&server, "GET /nothing", &bearer(&brief)).await? == 401 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(status(&server, "GET /nothing", &bearer(&brief)).await?, 401, "expired");

    let audit = app.json(&["audit", "list", "--json"]);
    let noted = |actor: &str, action: &str, outcome: &str| {
        let entries = audit.as_array().expect("entries");
        let found = entries.iter().find(|entry| {
            (&entry["actor"], &entry["action"], &entry["outcome"])
                == (&json!(actor), &json!(action), &json!(outcome))
        });
        found.unwrap_or_else(|| panic!("{actor} {action} {outcome} is not in {audit:#}")).clone()
    };
    let created = noted("token:agent", "create_task", "ok");
    assert_eq!((&created["task_id"], &created["via"]), (&made["task_id"], &json!("mcp_http")));
    assert_eq!(created["arguments"]["query"], "who may?");
    noted("token:viewer", "create_task", "refused");
    noted("token:viewer", "POST /nothing", "refused");
    assert_eq!(noted("token:agent", "POST /nothing", "error")["detail"], "404 Not Found");
    assert!(!audit.to_string().contains("query_graph"), "reading is no mutation: {audit}");

    let listed = app.json(&["token", "list", "--json"]);
    let used =
        listed.as_array().expect("tokens").iter().find(|token| token["name"] == "agent").expect("agent");
    assert!(used["last_used_at"].is_string(), "{used}");
    let log = server.log.lines();
    assert!(log.iter().any(|line| line.contains("request refused")), "{log:?}");
    server.stop().await?;
    let everything = format!("{log:?}{audit}{listed}");
    for token in [&full, &read, &former, &brief] {
        let secret = token.rsplit('_').next().expect("a secret");
        assert!(!everything.contains(secret), "a token was written down");
    }
    Ok(())
}

#[tokio::test]
async fn a_client_that_asks_too_often_waits_and_others_do_not() -> anyhow::Result<()> {
    let app = TestApp::new();
    let server =
        guarded(&app, &[("LYRA__SERVER__REQUESTS_PER_MINUTE", "6"), ("LYRA__SERVER__MAX_BODY_KB", "1")])
            .await?;
    let (eager, patient) = (token(&app, &["eager"]), token(&app, &["patient"]));
    let mut refused = None;
    for _ in 0..30 {
        let answer = server.request("GET /nothing", &[&bearer(&eager)], "").await?;
        if answer.status == 429 {
            refused = Some(answer);
            break;
        }
        assert_eq!(answer.status, 404);
    }
    let refused = refused.expect("more than the limit");
    assert!(refused.head.contains("retry-after: "), "{refused:?}");
    assert_eq!(status(&server, "GET /nothing", &bearer(&patient)).await?, 404);
    assert_eq!(server.request("GET /health", &[], "").await?.status, 200);
    let answer = server.request("POST /mcp", &[&bearer(&patient)], &"x".repeat(1025)).await?;
    assert_eq!(answer.status, 413);
    // Failed attempts are counted by peer.
    let mut last = 0;
    for _ in 0..30 {
        last = status(&server, "GET /mcp", "Authorization: Bearer lyra_guess_1").await?;
    }
    assert_eq!(last, 429);
    server.stop().await
}

#[tokio::test]
async fn who_may_read_may_search_so_many_times() -> anyhow::Result<()> {
    let app = TestApp::new();
    let server = guarded(&app, &[("LYRA__SERVER__READER_SEARCHES_PER_HOUR", "1")]).await?;
    let read = token(&app, &["viewer"]);
    let header = bearer(&read);
    let lane = |query: &str| json!({ "query": query, "corpus": "example" });
    let found = server.call("rrf_search_fulltext_raw", lane("nap OR memory"), &[&header]).await?;
    assert_eq!(found["ok"], true, "{found}");
    let fused = server.call("rrf_blend_frontier", json!({ "runs": [found["run_id"]] }), &[&header]).await?;
    assert_eq!(fused["ok"], true, "{fused}");
    let run = json!({ "run_id": fused["run_id"] });
    assert_eq!(server.call("peek_snippets", run.clone(), &[&header]).await?["ok"], true);
    let judged = json!({ "run_id": fused["run_id"], "representatives": [{ "doc_id": "x", "label": "A" }] });
    let refused = server.call("register_representatives", judged, &[&header]).await?;
    assert_eq!(refused["error_code"], "forbidden", "{refused}");
    // A burst of ten is allowed, then one per hour.
    let mut last = found;
    for nth in 0..10 {
        last = server.call("rrf_search_fulltext_raw", lane(&format!("nap OR word{nth}")), &[&header]).await?;
    }
    assert_eq!(last["error_code"], "unavailable", "{last}");
    assert!(last["hint"].as_str().is_some_and(|hint| hint.contains("peek_snippets")), "{last}");
    assert_eq!(server.call("peek_snippets", run, &[&header]).await?["ok"], true, "reading goes on");
    let full = token(&app, &["agent", "--scope", "full"]);
    let found = server.call("rrf_search_fulltext_raw", lane("nap OR others"), &[&bearer(&full)]).await?;
    assert_eq!(found["ok"], true, "{found}");
    let audit = app.json(&["audit", "list", "--json", "--actor", "token:viewer"]);
    assert!(audit.to_string().contains("rrf_search_fulltext_raw"), "{audit}");
    server.stop().await?;

    let server = guarded(&app, &[("LYRA__SERVER__READER_SEARCHES_PER_HOUR", "0")]).await?;
    let refused = server.call("rrf_search_fulltext_raw", lane("nap OR memory"), &[&header]).await?;
    assert_eq!(refused["error_code"], "forbidden", "{refused}");
    server.stop().await
}

#[tokio::test]
async fn on_this_machine_a_token_is_needed_only_when_one_is_sent() -> anyhow::Result<()> {
    let app = TestApp::new();
    let server = HttpServer::start(&app).await?;
    let made = server.call("create_task", task("no token?"), &[]).await?;
    assert_eq!(made["ok"], true, "{made}");
    assert_eq!(status(&server, "GET /nothing", "Authorization: Bearer lyra_a_b").await?, 401);
    let read = token(&app, &["viewer"]);
    let refused = server.call("create_task", task("a token that may not"), &[&bearer(&read)]).await?;
    assert_eq!(refused["error_code"], "forbidden", "{refused}");
    let audit = app.json(&["audit", "list", "--json", "--actor", "local"]);
    assert_eq!(audit[0]["action"], "create_task", "{audit}");
    server.stop().await?;

    let mut open = app.command(&["serve", "--port", "0"]);
    let output = open.env("LYRA__SERVER__ALLOWED_HOSTS", "[\"*\"]").output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("server.auth = \"required\""), "{said}");
    Ok(())
}

#[tokio::test]
async fn off_loopback_every_request_needs_a_token() -> anyhow::Result<()> {
    let app = TestApp::new();
    let mut command = app.command(&["serve", "--host", "0.0.0.0", "--port", "0"]);
    // A name as a reverse proxy would pass it on; auth is left as it is by default.
    command.env("LYRA__SERVER__ALLOWED_HOSTS", "lyra.example");
    let mut server = HttpServer::start_command(command).await?;
    let port = server.address.rsplit(':').next().expect("a port").to_owned();
    let read = token(&app, &["viewer"]);
    let mut addresses = vec!["127.0.0.1".to_owned()];
    addresses.extend(own_address());
    for address in addresses {
        server.address = format!("{address}:{port}");
        let host = "Host: lyra.example";
        for line in ["GET /mcp", "POST /mcp", "GET /metrics", "GET /nothing"] {
            assert_eq!(server.request(line, &[host], "{}").await?.status, 401, "{line} at {address}");
        }
        assert_eq!(
            server.request("GET /metrics", &[host, &bearer(&read)], "").await?.status,
            200,
            "{address}"
        );
        assert_eq!(server.request("GET /health", &[host], "").await?.status, 200, "{address}");
        let stranger = ["Host: attacker.example", &bearer(&read)];
        assert_eq!(server.request("GET /metrics", &stranger, "").await?.status, 403, "{address}");
    }
    server.address = format!("127.0.0.1:{port}");
    server.stop().await
}

/// An address of this machine that is not loopback, when it has one. Nothing is sent to find it.
fn own_address() -> Option<String> {
    let socket = std::net::UdpSocket::bind("0.0.0.0:0").ok()?;
    socket.connect("192.0.2.1:9").ok()?;
    let address = socket.local_addr().ok()?.ip();
    (!address.is_loopback() && !address.is_unspecified()).then(|| address.to_string())
}

#[tokio::test]
async fn pages_of_named_origins_may_call_and_read_and_every_page_is_counted() -> anyhow::Result<()> {
    const PAGE: &str = "https://app.example";
    let app = TestApp::new();
    let server = guarded(&app, &[("LYRA__SERVER__ALLOWED_ORIGINS", PAGE)]).await?;
    let read = token(&app, &["page"]);
    let page = format!("Origin: {PAGE}");
    let allowed = format!("access-control-allow-origin: {PAGE}");

    // A browser sends a preflight request, without a token.
    let asked = [
        &page,
        "Access-Control-Request-Method: POST",
        "Access-Control-Request-Headers: authorization, mcp-method",
    ];
    let preflight = server.request("OPTIONS /mcp", &asked, "").await?;
    assert_eq!(preflight.status, 200, "{preflight:?}");
    for header in
        [&allowed, "access-control-allow-headers: authorization, mcp-method", "access-control-max-age: "]
    {
        assert!(preflight.head.contains(header), "{header} is missing in {preflight:?}");
    }
    // Refusals are readable as well: the page must learn that its token is invalid.
    let refused = server.request("POST /mcp", &[&page], "{}").await?;
    assert!(refused.status == 401 && refused.head.contains(&allowed), "{refused:?}");
    let listed = server.rpc(&[&page, &bearer(&read)], "tools/list", json!({})).await?;
    assert!(listed["tools"].is_array(), "{listed}");
    let other = server.request("OPTIONS /mcp", &["Origin: https://attacker.example"], "").await?;
    assert!(other.status == 403 && !other.head.contains("access-control-allow-origin"), "{other:?}");

    let metrics = server.request("GET /metrics", &[&bearer(&read)], "").await?.body;
    for (status, count) in [(200, 2), (401, 1), (403, 1)] {
        let series = format!("lyra_http_page_requests_total{{status=\"{status}\"}} {count}");
        assert!(metrics.contains(&series), "{series} is missing in\n{metrics}");
    }
    assert!(metrics.contains(r#"lyra_http_requests_total{route="/mcp",status="403"} 1"#), "{metrics}");
    server.stop().await
}
