use super::route::{Needs, Returns, Takes};
use super::{BASE, ROUTES, Route};
use crate::router;
use async_trait::async_trait;
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request, StatusCode, header};
use axum::response::Response;
use axum::routing::post;
use futures::StreamExt;
use lyra_research::PortError;
use lyra_store::{AuditFilter, AuditOutcome, Scope};
use lyra_usecases::config::{Config, MlConfig};
use lyra_usecases::{App, LocalModels, NewTask, StartedModels};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

mod changes;
mod fusion;
mod judged;
mod screening;
mod streams;

/// Models that cannot be started.
struct NoModels;

#[async_trait]
impl LocalModels for NoModels {
    async fn start(&self, _: &MlConfig) -> lyra_research::Result<Box<dyn StartedModels>> {
        Err(PortError::Unavailable { what: "models".to_owned(), why: "a test has none".to_owned() })
    }
}

/// A server on a folder of its own.
struct Server {
    app: App,
    router: Router,
    stop: CancellationToken,
    folder: TempDir,
}

/// An answer that was read.
#[derive(Debug)]
struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: Value,
}

impl Answer {
    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().expect("text"))
    }
}

impl Server {
    async fn start(token_required: bool) -> Self {
        Self::with(token_required, Config::default()).await
    }

    /// The same with this configuration.
    async fn with(token_required: bool, config: Config) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let config = Config { data_dir: Some(folder.path().to_owned()), ..config };
        let app = App::open(config, Arc::new(NoModels)).await.expect("the application opens");
        let stop = CancellationToken::new();
        let mcp = post(|| async { "mcp" });
        let router = router(app.clone(), mcp, IpAddr::from([127, 0, 0, 1]), token_required, stop.clone());
        Self { app, router, stop, folder }
    }

    /// Sends a request; the answer's body is not read.
    async fn raw(&self, method: &str, path: &str, headers: &[(&str, &str)], body: Body) -> Response {
        let mut request = Request::builder().method(method).uri(path).header(header::HOST, "localhost:8420");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(body).expect("a request");
        self.router.clone().oneshot(request).await.expect("an answer")
    }

    async fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &Value) -> Answer {
        let mut all = headers.to_vec();
        let body = if body.is_null() {
            Body::empty()
        } else {
            all.push(("content-type", "application/json"));
            Body::from(body.to_string())
        };
        let response = self.raw(method, path, &all, body).await;
        let (status, headers) = (response.status(), response.headers().clone());
        let bytes = to_bytes(response.into_body(), 10_000_000).await.expect("a body");
        let body = if bytes.is_empty() {
            Value::Null
        } else {
            serde_json::from_slice(&bytes).unwrap_or_else(|_| panic!("{path}: {bytes:?}"))
        };
        Answer { status, headers, body }
    }

    async fn get(&self, path: &str) -> Answer {
        self.send("GET", &format!("{BASE}{path}"), &[], &Value::Null).await
    }

    async fn post(&self, path: &str, body: Value) -> Answer {
        self.send("POST", &format!("{BASE}{path}"), &[], &body).await
    }

    async fn delete(&self, path: &str) -> Answer {
        self.send("DELETE", &format!("{BASE}{path}"), &[], &Value::Null).await
    }

    /// A token's `Authorization`.
    async fn token(&self, name: &str, scope: Scope) -> String {
        let made = self.app.create_token(name, scope, None).await.expect("a token");
        format!("Bearer {}", made.text)
    }

    /// A task with two claims that nothing works on.
    async fn task(&self) -> String {
        let config = lyra_domain::TaskConfig { sources: vec!["openalex".to_owned()], ..Default::default() };
        let claims = vec!["Naps help.".to_owned(), "Naps harm.".to_owned()];
        let new = NewTask { query: "Do naps help?".to_owned(), config, claims, judge_question: None };
        self.app.create_task(new).await.expect("a task").id.to_string()
    }

    /// The entries of the audit log as `action outcome`, the newest first.
    async fn audit(&self) -> Vec<String> {
        let entries = self.app.audit_log(&AuditFilter::default(), 200).await.expect("the log");
        entries.iter().map(|entry| format!("{} {}", entry.action, entry.outcome)).collect()
    }

    async fn close(self) {
        self.stop.cancel();
        self.app.close().await;
        drop(self.folder);
    }
}

/// Whether an answer is a problem document that agrees with itself.
fn is_problem(answer: &Answer) -> bool {
    answer.header("content-type") == "application/problem+json"
        && answer.body["status"] == answer.status.as_u16()
        && answer.body["type"] == format!("urn:lyra:problem:{}", answer.body["code"].as_str().unwrap_or("?"))
        && ["title", "detail", "error_id"].iter().all(|name| answer.body[*name].is_string())
}

/// The path of a route with this in its parts.
fn filled(route: &Route, part: impl Fn(&str) -> String) -> String {
    let parts = route.path.split('/').map(|name| {
        let inner = name.strip_prefix('{').and_then(|name| name.strip_suffix('}'));
        inner.map_or(name.to_owned(), &part)
    });
    format!("{BASE}{}", parts.collect::<Vec<_>>().join("/"))
}

/// An id of the right kind of something that does not exist.
fn unknown(name: &str) -> String {
    match name {
        "task_id" => "task_0",
        "claim_id" => "claim_0",
        "edge_id" => "edge_0",
        "page_id" => "page_0",
        "queue_id" => "auth_0",
        "decision_id" => "scr_0",
        _ => "nothing.example",
    }
    .to_owned()
}

#[tokio::test]
async fn reads_of_an_empty_store_answer() {
    let server = Server::start(false).await;
    for (path, list) in [
        ("/tasks", "tasks"),
        ("/corpora", "corpora"),
        ("/sources", "sources"),
        ("/domains", "decisions"),
        ("/auth-queue", "pages"),
        ("/schema", "tables"),
        ("/views", "views"),
        ("/calibration", "sources"),
        ("/jobs", "jobs"),
        ("/tokens", "tokens"),
        ("/audit-log", "entries"),
        ("/doctor", "findings"),
        ("/openapi.json", "security"),
    ] {
        let answer = server.get(path).await;
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        assert!(answer.body[list].is_array(), "{path}: {answer:?}");
        let cache = if ["/tokens", "/audit-log"].contains(&path) { "no-store" } else { "private, no-cache" };
        assert_eq!(answer.header("cache-control"), cache, "{path}");
    }
    server.close().await;
}

#[tokio::test]
async fn a_task_is_created_read_stopped_resumed_and_deleted() {
    let server = Server::start(false).await;
    let made = server
        .post("/tasks", json!({"query": "Do naps help?", "sources": ["openalex"], "budget_pages": 7}))
        .await;
    assert_eq!(made.status, 201, "{made:?}");
    let task = made.body["task_id"].as_str().expect("an id").to_owned();
    assert_eq!(made.header("location"), format!("{BASE}/tasks/{task}"));
    assert_eq!(made.body["config"]["budget"]["max_pages"], 7);

    let status = server.get(&format!("/tasks/{task}")).await;
    assert_eq!((status.status, &status.body["task_id"]), (StatusCode::OK, &json!(task)), "{status:?}");
    assert_eq!(status.body["searches"][0]["query"], "Do naps help?", "the question is the first search");
    for part in ["report", "claims", "materials"] {
        let answer = server.get(&format!("/tasks/{task}/{part}")).await;
        assert_eq!(answer.status, 200, "{part}: {answer:?}");
    }
    let listed = server.get("/tasks?limit=1").await;
    assert_eq!(listed.body["tasks"][0]["task_id"], task.as_str(), "{listed:?}");

    let more = json!({"queries": ["naps memory", "naps work"], "budget_pages": 20});
    let queued = server.post(&format!("/tasks/{task}/searches"), more).await;
    assert_eq!(
        (queued.status, queued.body["search_ids"].as_array().map(Vec::len)),
        (StatusCode::ACCEPTED, Some(2))
    );
    let stopped =
        server.post(&format!("/tasks/{task}/stop"), json!({"reason": "enough", "mode": "immediate"})).await;
    assert_eq!(
        (stopped.status, &stopped.body["cancelled_searches"]),
        (StatusCode::OK, &json!(3)),
        "{stopped:?}"
    );
    let resumed = server.post(&format!("/tasks/{task}/resume"), Value::Null).await;
    assert_eq!((resumed.status, &resumed.body["task_resumed"]), (StatusCode::ACCEPTED, &json!(true)));
    assert_eq!(resumed.body["search_ids"].as_array().map(Vec::len), Some(3), "{resumed:?}");

    let active = server.delete(&format!("/tasks/{task}")).await;
    assert_eq!(active.status, 400, "{active:?}");
    let hint = active.body["hint"].as_str().unwrap_or_default();
    assert!(hint.contains("/stop with mode `immediate`"), "{active:?}");
    server.post(&format!("/tasks/{task}/stop"), json!({"mode": "immediate"})).await;
    let deleted = server.delete(&format!("/tasks/{task}")).await;
    assert_eq!((deleted.status, &deleted.body["task_id"]), (StatusCode::OK, &json!(task)), "{deleted:?}");
    assert_eq!(server.get(&format!("/tasks/{task}")).await.status, 404);
    server.close().await;
}

#[tokio::test]
async fn claims_are_read_rejected_and_restored() {
    let server = Server::start(false).await;
    let task = server.task().await;
    let page = server.get(&format!("/tasks/{task}/claims?limit=1&sort=newest&side=open")).await;
    assert_eq!((page.status, &page.body["total"]), (StatusCode::OK, &json!(2)), "{page:?}");
    let cursor = page.body["next_cursor"].as_str().expect("a second page");
    let second =
        server.get(&format!("/tasks/{task}/claims?limit=1&sort=newest&side=open&cursor={cursor}")).await;
    assert_eq!((second.status, &second.body["next_cursor"]), (StatusCode::OK, &Value::Null), "{second:?}");
    let claim = second.body["claims"][0]["claim_id"].as_str().expect("an id").to_owned();

    let empty = server.post(&format!("/claims/{claim}/reject"), json!({"reason": " "})).await;
    assert_eq!(empty.status, 400, "{empty:?}");
    let rejected = server.post(&format!("/claims/{claim}/reject"), json!({"reason": "off topic"})).await;
    assert_eq!((rejected.status, &rejected.body["task_id"]), (StatusCode::OK, &json!(task)), "{rejected:?}");
    assert_ne!(rejected.body["status"], rejected.body["previous_status"]);
    assert_eq!(server.get(&format!("/tasks/{task}/claims")).await.body["total"], 1);
    let restored = server.post(&format!("/claims/{claim}/restore"), Value::Null).await;
    assert_eq!(restored.body["status"], rejected.body["previous_status"], "{restored:?}");
    let one = server.get(&format!("/claims/{claim}")).await;
    assert_eq!((one.status, &one.body["claim_id"]), (StatusCode::OK, &json!(claim)));
    let timeline = server.get(&format!("/claims/{claim}/timeline")).await;
    assert!(timeline.body["events"].as_array().is_some_and(|events| events.len() >= 3), "{timeline:?}");
    let same = server.post(&format!("/claims/{claim}/without"), json!({"edge_ids": []})).await;
    assert_eq!((same.status, &same.body["before"]), (StatusCode::OK, &same.body["after"]), "{same:?}");
    let none = server.post(&format!("/claims/{claim}/without"), json!({"edge_ids": ["edge_0"]})).await;
    assert_eq!(
        (none.status, &none.body["details"]["missing"][0]),
        (StatusCode::BAD_REQUEST, &json!("edge_0"))
    );

    let log = server.get(&format!("/audit-log?task_id={task}")).await;
    let actions: Vec<&Value> =
        log.body["entries"].as_array().into_iter().flatten().map(|e| &e["action"]).collect();
    assert_eq!(actions, ["restore_claim", "reject_claim"], "each change once, with its task: {log:?}");
    assert_eq!(log.body["entries"][1]["arguments"], json!({"claim_id": claim, "reason": "off topic"}));
    assert_eq!(log.body["entries"][1]["via"], "http");
    server.close().await;
}

#[tokio::test]
async fn the_evidence_is_read_by_sql_and_views() {
    let server = Server::start(false).await;
    let task = server.task().await;
    let rows = server.post("/sql", json!({"sql": "SELECT claim_text FROM claims", "limit": 1})).await;
    assert_eq!((rows.status, &rows.body["truncated"]), (StatusCode::OK, &json!(true)), "{rows:?}");
    assert_eq!(rows.body["columns"], json!(["claim_text"]));
    let refused = server.post("/sql", json!({"sql": "DELETE FROM claims"})).await;
    assert_eq!(
        (refused.status, &refused.body["code"]),
        (StatusCode::UNPROCESSABLE_ENTITY, &json!("sql_refused"))
    );
    assert!(refused.body["details"]["reason"].is_string(), "{refused:?}");
    assert_eq!(server.post("/sql", json!({"sql": "SELECT 1", "limit": 1000})).await.status, 400);
    let views = server.get("/views").await;
    for view in views.body["views"].as_array().expect("views") {
        let name = view["name"].as_str().expect("a name");
        let rows = server.get(&format!("/views/{name}?task_id={task}&limit=5")).await;
        assert_eq!(rows.status, 200, "{name}: {rows:?}");
    }
    assert_eq!(server.get("/views/v_nothing").await.status, 404);
    assert_eq!(server.get("/views/v_contradictions?task_id=task_0").await.status, 404);
    server.close().await;
}

#[tokio::test]
async fn domains_and_tokens_are_decided() {
    let server = Server::start(false).await;
    let path = format!("{BASE}/domains/*.example.com");
    let decided =
        server.send("PUT", &path, &[], &json!({"decision": "block", "reason": "content farm"})).await;
    assert_eq!((decided.status, &decided.body["decision"]), (StatusCode::OK, &json!("block")), "{decided:?}");
    assert_eq!(server.get("/domains").await.body["decisions"][0]["domain_pattern"], "*.example.com");
    let cleared = server.delete("/domains/*.example.com").await;
    assert_eq!((cleared.status, &cleared.body["decision"]), (StatusCode::OK, &Value::Null), "{cleared:?}");
    assert_eq!(server.send("PUT", &path, &[], &json!({"decision": "ban", "reason": "x"})).await.status, 422);

    let made = server.post("/tokens", json!({"name": "page", "scope": "read"})).await;
    assert_eq!((made.status, made.header("cache-control")), (StatusCode::CREATED, "no-store"), "{made:?}");
    let secret = made.body["token"].as_str().expect("a secret").to_owned();
    let id = made.body["about"]["id"].as_str().expect("an id");
    assert!(!server.get("/tokens").await.body.to_string().contains(&secret));
    assert!(!server.get("/audit-log").await.body.to_string().contains(&secret));
    let revoked = server.delete(&format!("/tokens/{id}")).await;
    assert!(revoked.body["revoked_at"].is_string(), "{revoked:?}");
    for wrong in [json!({"name": "a b"}), json!({"name": "x", "expires_at": "2001-01-01T00:00:00Z"})] {
        assert_eq!(server.post("/tokens", wrong).await.status, 400);
    }
    assert_eq!(server.post("/tokens", json!({"name": "x", "expires_at": "soon"})).await.status, 422);
    server.close().await;
}

#[tokio::test]
async fn wrong_requests_are_answered_with_problems() {
    let server = Server::start(false).await;
    for (method, path, body, status) in [
        ("GET", "/nothing", Value::Null, 404),
        ("GET", "", Value::Null, 404),
        ("POST", "/tasks/task_0/nothing", json!({}), 404),
        ("PATCH", "/tasks", json!({}), 405),
        ("DELETE", "/tasks", Value::Null, 405),
        ("GET", "/tasks?size=3", Value::Null, 400),
        ("GET", "/tasks?limit=0", Value::Null, 400),
        ("GET", "/tasks?cursor=nonsense", Value::Null, 400),
        ("GET", "/tasks/claim_1", Value::Null, 400),
        ("GET", "/tasks/%FF", Value::Null, 400),
        ("POST", "/tasks", json!({}), 422),
        ("POST", "/tasks", json!({"query": "x", "extra": 1}), 422),
        ("POST", "/tasks", json!({"query": "x", "claims": [1]}), 422),
        ("POST", "/tasks", json!({"query": ""}), 400),
        ("POST", "/tasks?dry=1", json!({"query": "x"}), 400),
        ("POST", "/tasks", json!({"query": "x", "sources": ["nowhere"]}), 400),
        ("GET", "/tasks/task_0/claims?year_from=2020&year_to=2010", Value::Null, 400),
        ("GET", "/corpora/nothing/search?query=x&limit=1000", Value::Null, 400),
        ("GET", "/corpora/nothing/search?query=x&method=bm25", Value::Null, 404),
        ("POST", "/edges/edge_0/correction", json!({"relation": "cites"}), 422),
    ] {
        let answer = server.send(method, &format!("{BASE}{path}"), &[], &body).await;
        assert!(answer.status == status && is_problem(&answer), "{method} {path} {body}: {answer:?}");
    }
    let allowed = server.send("PATCH", &format!("{BASE}/tasks"), &[], &Value::Null).await;
    assert_eq!(allowed.header("allow"), "GET, POST, HEAD");
    let large = server.post("/sql", json!({"sql": "x".repeat(1_100_000)})).await;
    assert!(large.status == 413 && is_problem(&large), "{large:?}");
    let form = [("content-type", "application/x-www-form-urlencoded")];
    let form = server.raw("POST", &format!("{BASE}/tasks"), &form, Body::from("query=x")).await;
    assert_eq!(form.status(), 415);
    server.close().await;
}

#[tokio::test]
async fn what_does_not_exist_is_not_found_on_every_route() {
    let server = Server::start(false).await;
    for route in ROUTES.iter().filter(|route| route.parts().next().is_some()) {
        let path = filled(route, unknown);
        let body = match route.id {
            "queue_searches" => json!({"queries": ["x"]}),
            "reject_claim" => json!({"reason": "x"}),
            "reject_claims" => json!({"claims": [unknown("claim_id")], "reason": "x"}),
            "restore_claims" => json!({"claims": [unknown("claim_id")]}),
            "change_budget" => json!({"budget_pages": 10}),
            "leave_out" => json!({"edge_ids": []}),
            "correct_edge" => json!({"relation": "supports"}),
            "register_representatives" => json!({"representatives": [{"doc_id": "x", "label": "A"}]}),
            "screen_document" => json!({"verdict": "include"}),
            _ => Value::Null,
        };
        // These create what they name, or have another body.
        if ["decide_domain", "import_file"].contains(&route.id) {
            continue;
        }
        let path = if route.id == "search_corpus" { format!("{path}?query=x&method=bm25") } else { path };
        let answer = server.send(route.method.as_str(), &path, &[], &body).await;
        assert!(is_problem(&answer), "{} {answer:?}", route.id);
        assert_eq!(answer.status, 404, "{} {answer:?}", route.id);
    }
    server.close().await;
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn no_id_makes_a_route_fail(part in "[ -~]{1,40}|\\PC{1,20}", query in "[a-z_]{1,8}=[ -~]{0,20}") {
        let escaped = percent_encoding::utf8_percent_encode(&part, percent_encoding::NON_ALPHANUMERIC).to_string();
        let query = percent_encoding::utf8_percent_encode(&query, percent_encoding::CONTROLS).to_string();
        let query = query.replace([' ', '"', '<', '>', '`', '{', '}', '\\', '^', '|', '#'], "+");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let answers = runtime.block_on(async {
            let server = Server::start(false).await;
            let mut answers = Vec::new();
            for route in ROUTES.iter().filter(|route| matches!(route.returns, Returns::Json(_))) {
                if matches!(route.takes, Takes::File) || ["examine", "test_sources"].contains(&route.id) {
                    continue;
                }
                let path = filled(route, |_| escaped.clone());
                answers.push((route.id, server.send(route.method.as_str(), &path, &[], &Value::Null).await));
                let path = format!("{path}?{query}");
                answers.push((route.id, server.send(route.method.as_str(), &path, &[], &json!({"x": part})).await));
            }
            server.close().await;
            answers
        });
        for (id, answer) in answers {
            let fine = answer.status.is_success() || answer.status.is_client_error() && is_problem(&answer);
            prop_assert!(fine, "{} {:?}", id, answer);
        }
    }
}

#[tokio::test]
async fn read_only_tokens_change_nothing_and_see_no_secrets() {
    let server = Server::start(true).await;
    let viewer = server.token("viewer", Scope::Read).await;
    let headers = [("authorization", viewer.as_str())];
    let (mut changes, mut searches, mut reads) = (0, 0, 0);
    for route in ROUTES.iter() {
        let path = filled(route, unknown);
        if matches!(route.returns, Returns::Events(_)) {
            continue;
        }
        let answer = server.send(route.method.as_str(), &path, &headers, &Value::Null).await;
        match route.needs {
            Needs::Writing => {
                assert!(answer.status == 403 && is_problem(&answer), "{} {answer:?}", route.id);
                changes += 1;
            }
            Needs::Insight => assert!(answer.status == 403 && is_problem(&answer), "{} {answer:?}", route.id),
            Needs::Reading | Needs::Searching | Needs::Nothing => {
                assert_ne!(answer.status, 403, "{} {answer:?}", route.id);
                searches += usize::from(route.needs == Needs::Searching);
                reads += 1;
            }
        }
    }
    assert!(changes >= 15 && searches >= 4 && reads >= 20, "{changes} {searches} {reads}");
    let entries = server.app.audit_log(&AuditFilter::default(), 200).await.expect("the log");
    assert_eq!(entries.len(), changes + searches, "one entry for each");
    assert!(entries.iter().all(|entry| entry.actor == "token:viewer"));
    let refused = entries.iter().filter(|entry| entry.outcome == AuditOutcome::Refused).count();
    assert_eq!(refused, changes, "searches were let through");
    let select = json!({"sql": "SELECT 1"});
    let sql = server.send("POST", &format!("{BASE}/sql"), &headers, &select).await;
    assert_eq!(sql.status, 200, "{sql:?}");
    server.close().await;
}

#[tokio::test]
async fn reads_have_tags() {
    let server = Server::start(false).await;
    let first = server.get("/tasks").await;
    let tag = first.header("etag").to_owned();
    assert!(tag.starts_with("W/\""), "{first:?}");
    let path = format!("{BASE}/tasks");
    for sent in [tag.as_str(), "*", &format!("\"other\", {tag}")] {
        let same = server.send("GET", &path, &[("if-none-match", sent)], &Value::Null).await;
        assert_eq!(
            (same.status, &same.body, same.header("etag")),
            (StatusCode::NOT_MODIFIED, &Value::Null, &*tag)
        );
    }
    server.task().await;
    let changed = server.send("GET", &path, &[("if-none-match", &tag)], &Value::Null).await;
    assert!(changed.status == 200 && changed.header("etag") != tag, "{changed:?}");
    server.close().await;
}
