//! Repeated requests, files, and sessions.

use super::*;

#[tokio::test]
async fn a_key_makes_a_change_happen_once() {
    let server = Server::start(false).await;
    let body = json!({"query": "Do naps help?", "sources": ["openalex"]});
    let path = format!("{BASE}/tasks");
    let key = [("idempotency-key", "first")];
    let made = server.send("POST", &path, &key, &body).await;
    let again = server.send("POST", &path, &key, &body).await;
    assert_eq!((made.status, again.status), (StatusCode::CREATED, StatusCode::CREATED), "{again:?}");
    assert_eq!(made.body, again.body);
    assert_eq!(made.header("location"), again.header("location"));
    assert_eq!((made.header("idempotency-replayed"), again.header("idempotency-replayed")), ("", "true"));
    let other = server.send("POST", &path, &key, &json!({"query": "Does tea help?"})).await;
    assert!(other.status == 422 && is_problem(&other), "{other:?}");
    assert_eq!(server.audit().await, ["create_task ok"], "one change, one entry");

    // What failed is tried again.
    let key = [("idempotency-key", "second")];
    for _ in 0..2 {
        let failed = server.send("POST", &path, &key, &json!({"query": ""})).await;
        assert!(failed.status == 400 && failed.header("idempotency-replayed").is_empty(), "{failed:?}");
    }
    let two = [("idempotency-key", "a"), ("idempotency-key", "b")];
    assert_eq!(server.send("POST", &path, &two, &body).await.status, 400);
    server.close().await;
}

#[tokio::test]
async fn requests_with_one_key_at_the_same_time_are_one_change() {
    let server = Server::start(false).await;
    let body = json!({"query": "Do naps help?", "sources": ["openalex"]});
    let path = format!("{BASE}/tasks");
    let key = [("idempotency-key", "same")];
    let all = futures::future::join_all((0..5).map(|_| server.send("POST", &path, &key, &body))).await;
    let ids: std::collections::BTreeSet<String> =
        all.iter().map(|answer| answer.body["task_id"].to_string()).collect();
    assert_eq!(ids.len(), 1, "{all:?}");
    assert_eq!(server.audit().await.len(), 1);
    server.close().await;
}

#[tokio::test]
async fn a_file_is_imported_and_the_corpus_is_read() {
    let server = Server::start(false).await;
    let mut events = server.app.events(None, None);
    let record = json!({"doc_id": "a", "title": "Naps", "text": "A nap of twenty minutes helps memory."});
    let path = format!("{BASE}/corpora/sleep/files?filename=sleep.jsonl");
    let sent = server.raw("POST", &path, &[], Body::from(format!("{record}\n"))).await;
    assert_eq!(sent.status(), 202);
    let last = loop {
        if let lyra_usecases::Heard::Event(_, event) = events.next().await
            && let lyra_wire::Happened::Import(event) = &*event
            && event.state != lyra_wire::ImportState::Running
        {
            break event.clone();
        }
    };
    // Without models the import ends with the reason.
    assert_eq!((last.corpus.as_str(), last.state), ("sleep", lyra_wire::ImportState::Failed), "{last:?}");
    assert!(last.error.is_some_and(|error| error.contains("models")));
    assert!(!server.app.data_dir().join("uploads/sleep").exists(), "the file is removed");
    for (name, wrong) in [
        ("sleep", "filename=..%2Fx.jsonl"),
        ("sleep", "filename="),
        ("sleep", "filename=.hidden"),
        ("sleep", ""),
        ("sleep", "filename=x&other=1"),
        ("..", "filename=x"),
        ("a%2Fb", "filename=x"),
    ] {
        let path = format!("{BASE}/corpora/{name}/files?{wrong}");
        let answer = server.send("POST", &path, &[], &json!({})).await;
        assert!(answer.status == 400 && is_problem(&answer), "{path}: {answer:?}");
    }
    let empty = server.send("POST", &path, &[], &Value::Null).await;
    assert!(empty.status == 400 && is_problem(&empty), "{empty:?}");
    let announced = [("content-length", "600000000")];
    let large = server.raw("POST", &path, &announced, Body::from("x")).await;
    assert_eq!(large.status(), 413);
    let entries = server.app.audit_log(&AuditFilter::default(), 200).await.expect("the log");
    assert!(entries.iter().all(|entry| entry.action == "import_file"));
    server.close().await;
}

#[tokio::test]
async fn a_session_stands_for_its_token_until_it_ends() {
    let server = Server::start(true).await;
    let full = server.token("person", Scope::Full).await;
    let secret = full.strip_prefix("Bearer ").expect("a token");
    let opened = server.post("/session", json!({ "token": secret })).await;
    assert_eq!((opened.status, &opened.body["name"]), (StatusCode::CREATED, &json!("person")), "{opened:?}");
    assert_eq!(opened.header("cache-control"), "no-store");
    let set = opened.header("set-cookie").to_owned();
    assert!(set.contains("HttpOnly; SameSite=Strict; Path=/") && !set.contains(secret), "{set}");
    let cookie = set.split(';').next().expect("a cookie").to_owned();

    let path = format!("{BASE}/tasks");
    let body = json!({"query": "Do naps help?", "sources": ["openalex"]});
    let own = [("cookie", cookie.as_str()), ("origin", "http://localhost:8420")];
    assert_eq!(server.send("GET", &path, &own[..1], &Value::Null).await.status, 200);
    assert_eq!(server.send("POST", &path, &own, &body).await.status, 201);
    for origin in [None, Some("http://localhost:9999"), Some("http://127.0.0.1:8420")] {
        let mut headers = vec![own[0]];
        headers.extend(origin.map(|origin| ("origin", origin)));
        let refused = server.send("POST", &path, &headers, &body).await;
        assert!(refused.status == 403 && is_problem(&refused), "{origin:?} {refused:?}");
    }
    let entries = server.app.audit_log(&AuditFilter::default(), 10).await.expect("the log");
    assert_eq!((entries.len(), entries[0].actor.as_str()), (1, "token:person"));

    let ended = server.send("DELETE", &format!("{BASE}/session"), &own, &Value::Null).await;
    assert_eq!(ended.status, 204, "{ended:?}");
    assert!(ended.header("set-cookie").contains("Max-Age=0"));
    let gone = server.send("GET", &path, &own, &Value::Null).await;
    assert!(gone.status == 401 && is_problem(&gone), "{gone:?}");
    server.close().await;
}

#[tokio::test]
async fn revoking_a_token_ends_its_sessions() {
    let server = Server::start(true).await;
    let full = server.token("person", Scope::Full).await;
    let secret = full.strip_prefix("Bearer ").expect("a token");
    let opened = server.post("/session", json!({ "token": secret })).await;
    let cookie = opened.header("set-cookie").split(';').next().expect("a cookie").to_owned();
    let headers = [("cookie", cookie.as_str())];
    let path = format!("{BASE}/tasks");
    assert_eq!(server.send("GET", &path, &headers, &Value::Null).await.status, 200);
    server.app.revoke_token("person").await.expect("revoked");
    let refused = server.send("GET", &path, &headers, &Value::Null).await;
    assert!(refused.status == 401 && is_problem(&refused), "{refused:?}");
    for wrong in [json!({ "token": secret }), json!({ "token": "lyra_a_b" }), json!({ "token": "" })] {
        let refused = server.post("/session", wrong).await;
        assert!(refused.status == 401 && is_problem(&refused), "{refused:?}");
        assert!(refused.header("set-cookie").is_empty());
    }
    server.close().await;
}

#[tokio::test]
async fn a_person_without_a_token_is_sent_to_the_page_where_one_logs_in() {
    let server = Server::start(true).await;
    let page = [("accept", "text/html,application/xhtml+xml")];
    let sent = server.raw("GET", "/tasks/task_1?side=open", &page, Body::empty()).await;
    assert_eq!(sent.status(), 303);
    assert_eq!(sent.headers()["location"], "/login?next=%2Ftasks%2Ftask%5F1%3Fside%3Dopen");
    for path in ["/metrics", "/mcp", "/api/v1/tasks"] {
        assert_eq!(server.raw("GET", path, &page, Body::empty()).await.status(), 401, "{path}");
    }
    assert_eq!(server.raw("GET", "/tasks/task_1", &[], Body::empty()).await.status(), 401);
    for (path, status) in [("/login", 200), ("/assets/0/workbench.js", 200), ("/assets/0/nothing.js", 404)] {
        assert_eq!(server.raw("GET", path, &page, Body::empty()).await.status(), status, "{path}");
    }
    server.close().await;
}
