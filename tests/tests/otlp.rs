//! The spans of a call in an OpenTelemetry collector: one tree over both processes. Needs binaries with the feature
//! `otlp`.

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::routing::post;
use lyra_tests::TestApp;
use lyra_tests::mcp_server::HttpServer;
use lyra_tests::ml_server::{MlServer, free_port};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Attribute;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use prost::Message;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const UNWANTED: &str = "4bf92f3577b34da6a3ce929d0e0e4737";
const CALLER: &str = "00f067aa0ba902b7";

/// One span as a collector sees it.
#[derive(Debug, Clone, PartialEq)]
struct Seen {
    service: String,
    name: String,
    trace: String,
    id: String,
    parent: String,
    kind: SpanKind,
    attributes: Vec<KeyValue>,
}

/// A stand-in for a collector with OTLP over HTTP.
#[derive(Clone, Default)]
struct Collector(Arc<Mutex<Vec<Seen>>>);

impl Collector {
    /// Its address, for `OTEL_EXPORTER_OTLP_ENDPOINT`.
    async fn start(&self) -> anyhow::Result<String> {
        let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let routes = Router::new().route("/v1/traces", post(receive)).with_state(self.clone());
        tokio::spawn(axum::serve(listener, routes).into_future());
        Ok(format!("http://{address}"))
    }

    /// The spans of a trace so far.
    fn of(&self, trace: &str) -> Vec<Seen> {
        self.0.lock().expect("not poisoned").iter().filter(|span| span.trace == trace).cloned().collect()
    }
}

async fn receive(State(collector): State<Collector>, headers: HeaderMap, body: Bytes) {
    assert_eq!(headers["content-type"], "application/x-protobuf");
    let request = ExportTraceServiceRequest::decode(body).expect("protobuf of OTLP");
    for resource in request.resource_spans {
        let named = resource.resource.expect("a resource").attributes;
        let service = text(&named, "service.name").expect("a service");
        for span in resource.scope_spans.into_iter().flat_map(|scope| scope.spans) {
            let seen = Seen {
                service: service.clone(),
                kind: span.kind(),
                name: span.name,
                trace: hex(&span.trace_id),
                id: hex(&span.span_id),
                parent: hex(&span.parent_span_id),
                attributes: span.attributes,
            };
            collector.0.lock().expect("not poisoned").push(seen);
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn text(attributes: &[KeyValue], key: &str) -> Option<String> {
    let found = attributes.iter().find(|attribute| attribute.key == key)?;
    match &found.value {
        Some(AnyValue { value: Some(Attribute::StringValue(text)) }) => Some(text.clone()),
        _ => None,
    }
}

/// Every span of this name hangs below one of these names and that service. Gives how many hang below the first.
#[track_caller]
fn below(spans: &[Seen], (service, name): (&str, &str), (parent_service, parents): (&str, &[&str])) -> usize {
    let mut count = 0;
    for span in spans.iter().filter(|span| span.service == service && span.name == name) {
        let found = spans.iter().find(|other| other.id == span.parent);
        let found = found.unwrap_or_else(|| panic!("{span:?} has no parent among {spans:#?}"));
        assert!(
            found.service == parent_service && parents.contains(&found.name.as_str()),
            "{span:?} {found:?}"
        );
        count += usize::from(found.name == parents[0]);
    }
    count
}

#[tokio::test]
async fn a_call_is_one_tree_over_both_processes() -> anyhow::Result<()> {
    let (app, collector) = (TestApp::new(), Collector::default());
    let url = collector.start().await?;
    let environment = [("OTEL_EXPORTER_OTLP_ENDPOINT", url.as_str()), ("OTEL_BSP_SCHEDULE_DELAY", "100")];
    let ml = MlServer::start_with(free_port()?, &environment).await?;
    let server = HttpServer::start_with(&app, &["--ml-url", &ml.url()], &environment).await?;
    let parent = format!("traceparent: 00-{TRACE}-{CALLER}-01");
    let asked = json!({"query": "Do naps help?", "claims": ["Naps improve memory."]});
    let task = server.call("create_task", asked, &[&parent]).await?;
    let id = task["task_id"].as_str().expect("a task");
    let mut status = Value::Null;
    while status != "completed" {
        status = server.call("get_status", json!({"task_id": id, "wait": 20}), &[]).await?["status"].clone();
    }
    // A caller that sends no spans wants none of this either, jobs included.
    let unwanted = format!("traceparent: 00-{UNWANTED}-{CALLER}-00");
    let asked =
        json!({"query": "Not followed?", "config": {"sources": ["openalex"]}, "claims": ["Tea helps."]});
    server.call("create_task", asked, &[&unwanted]).await?;
    let sql = format!("SELECT cause_id FROM queries WHERE task_id = '{id}'");
    let rows = server.call("query_graph", json!({ "sql": sql }), &[]).await?;
    let cause = rows["rows"][0]["cause_id"].as_str().expect("a cause").to_owned();
    // Remaining spans are sent when a process ends.
    server.stop().await?;
    let mut spans = Vec::new();
    for _ in 0..300 {
        spans = collector.of(TRACE);
        // Requests end after their batches, and each after the job that asked.
        let known = |span: &Seen| span.parent == CALLER || spans.iter().any(|other| other.id == span.parent);
        if spans.iter().any(|span| span.name == "batch") && spans.iter().all(known) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }

    assert_eq!(collector.of(UNWANTED), []);
    let calls: Vec<&Seen> = spans.iter().filter(|span| span.name == "tool_call").collect();
    let [call] = calls.as_slice() else { panic!("{calls:#?}") };
    assert_eq!((call.parent.as_str(), call.kind), (CALLER, SpanKind::Server));
    assert_eq!(text(&call.attributes, "tool").as_deref(), Some("create_task"));
    assert_eq!(cause, format!("trace_{TRACE}_{}", call.id));
    let (lyra, ml_server) = ("lyra", "lyra-ml-server");
    assert!(below(&spans, (lyra, "job"), (lyra, &["tool_call"])) >= 2, "a search and a judge: {spans:#?}");
    assert!(below(&spans, (lyra, "ml_request"), (lyra, &["job", "tool_call"])) >= 2, "{spans:#?}");
    let requests = below(&spans, (ml_server, "request"), (lyra, &["ml_request"]));
    let batches = below(&spans, (ml_server, "batch"), (ml_server, &["request"]));
    assert!(requests >= 2 && batches >= 2, "{spans:#?}");
    for (name, kind) in
        [("job", SpanKind::Consumer), ("ml_request", SpanKind::Client), ("request", SpanKind::Server)]
    {
        assert!(spans.iter().filter(|span| span.name == name).all(|span| span.kind == kind), "{name}");
    }
    Ok(())
}

#[tokio::test]
async fn a_command_with_its_models_inside_is_one_tree_too() -> anyhow::Result<()> {
    let (app, collector) = (TestApp::new(), Collector::default());
    let url = collector.start().await?;
    let mut command = app.command(&["check", "A short nap improves memory.", "--json"]);
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", &url).env("OTEL_SERVICE_NAME", "mine");
    let output = tokio::task::spawn_blocking(move || command.output()).await??;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let all = collector.0.lock().expect("not poisoned").clone();
    let roots: Vec<&Seen> = all.iter().filter(|span| span.name == "command").collect();
    let [root] = roots.as_slice() else { panic!("{roots:#?}") };
    assert_eq!(root.parent, "");
    let spans = collector.of(&root.trace);
    let tree: [(&str, &[&str]); 4] = [
        ("job", &["command"]),
        ("ml_request", &["job", "command"]),
        ("request", &["ml_request"]),
        ("batch", &["request"]),
    ];
    for (name, parents) in tree {
        assert!(below(&spans, ("mine", name), ("mine", parents)) > 0, "{name}: {spans:#?}");
    }
    Ok(())
}

#[test]
fn a_collector_that_is_away_holds_nothing_up() -> anyhow::Result<()> {
    let app = TestApp::new();
    let away: SocketAddr = free_port()?;
    for endpoint in [format!("http://{away}"), "nowhere".to_owned()] {
        let mut command = app.command(&["task", "list", "--json"]);
        let output = command.env("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint).output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        assert_eq!(serde_json::from_slice::<Value>(&output.stdout)?, json!([]));
        assert!(!said.is_empty(), "stderr does not say that nothing is sent to {endpoint}");
    }
    Ok(())
}
