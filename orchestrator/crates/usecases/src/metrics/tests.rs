use super::*;
use lyra_domain::{JobState, TaskStatus};
use lyra_research::ports::{CacheLookup, JobEnd, RequestEnd};
use lyra_store::JobCount;

/// Metrics in which every family has a series.
fn filled() -> String {
    let metrics = Metrics::default();
    let took = Duration::from_millis(20);
    metrics.request("/mcp", 200, took);
    metrics.page_request(403);
    metrics.tool_call("get_status", "ok", took);
    metrics.inference("embed", 3, true, took);
    let openalex = || "openalex".to_owned();
    for event in [
        Event::JobEnded { kind: "search", end: JobEnd::Completed, took },
        Event::SourceRequested { provider: "web:example.org".to_owned(), end: RequestEnd::Timeout, took },
        Event::RateWaited { provider: openalex(), waited: took },
        Event::CacheLookedUp { provider: openalex(), found: CacheLookup::Hit },
    ] {
        metrics.receive(&event);
    }
    let counts = StoreCounts {
        jobs: vec![JobCount { kind: "search".to_owned(), state: JobState::Queued, count: 2 }],
        tasks: vec![(TaskStatus::Exploring, 1)],
        waiting: 2,
        oldest_seconds: 1.5,
        auth_pending: 0,
        database_bytes: 4096,
        log_bytes: 0,
    };
    metrics.render(&counts, Some(1 << 30))
}

/// `name type` of every family.
fn families(text: &str) -> Vec<String> {
    let mut families: Vec<String> =
        text.lines().filter_map(|line| line.strip_prefix("# TYPE ").map(str::to_owned)).collect();
    families.sort_unstable();
    families
}

#[test]
fn every_metric_is_described_in_one_place() {
    let rows = include_str!("../../../../METRICS.md").lines().filter_map(|line| line.strip_prefix("| `"));
    let mut described: Vec<String> = rows
        .map(|row| {
            let cells: Vec<&str> = row.split(" | ").collect();
            // A counter's series end in `_total`, its family does not.
            let name = cells[0].trim_end_matches('`');
            let name = if cells[1] == "counter" { name.trim_end_matches("_total") } else { name };
            format!("{name} {}", cells[1])
        })
        .collect();
    described.sort_unstable();
    assert_eq!(families(&filled()), described);
}

#[test]
fn series_say_what_happened() {
    let text = filled();
    for series in [
        r#"lyra_http_requests_total{route="/mcp",status="200"} 1"#,
        r#"lyra_source_requests_total{provider="web",outcome="timeout"} 1"#,
        r#"lyra_job_runs_total{kind="search",outcome="completed"} 1"#,
        r#"lyra_jobs{kind="search",state="queued"} 2"#,
        r#"lyra_inference_inputs_total{call="embed"} 3"#,
        r#"lyra_store_size_bytes{part="database"} 4096"#,
        "lyra_queue_oldest_seconds 1.5",
    ] {
        assert!(text.contains(series), "{series} is missing in\n{text}");
    }
}

/// Names of metrics in an expression, without functions, labels and times.
fn names(expression: &str) -> Vec<String> {
    let words = expression.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let is_name = |word: &&str| ["lyra_", "te_", "process_"].iter().any(|prefix| word.starts_with(prefix));
    words.filter(is_name).map(str::to_owned).collect()
}

/// Names in the expressions of a dashboard.
fn used(dashboard: &str) -> Vec<String> {
    let dashboard: serde_json::Value = serde_json::from_str(dashboard).unwrap();
    let mut found = Vec::new();
    let mut open = vec![&dashboard];
    while let Some(value) = open.pop() {
        match value {
            serde_json::Value::Object(fields) => {
                if let Some(expression) = fields.get("expr").and_then(serde_json::Value::as_str) {
                    found.extend(names(expression));
                }
                open.extend(fields.values());
            }
            serde_json::Value::Array(items) => open.extend(items),
            _ => {}
        }
    }
    found
}

/// Names in the expressions of alarms.
fn alarms(rules: &str) -> Vec<String> {
    rules.lines().filter_map(|line| line.trim().strip_prefix("expr: ")).flat_map(names).collect()
}

#[test]
fn the_dashboard_and_the_alarms_use_metrics_that_exist() {
    // Another test compares the ml-server's metrics with its page.
    let ml_server = include_str!("../../../../../ml-server/METRICS.md");
    let ours = families(&filled());
    let ours: Vec<&str> = ours.iter().filter_map(|family| family.split(' ').next()).collect();
    let dashboard = used(include_str!("../../../../../docker/grafana/lyra.json"));
    assert!(dashboard.len() > 15, "the dashboard asks for {dashboard:?} only");
    let alarms = alarms(include_str!("../../../../../docker/alerts.yml"));
    assert!(alarms.len() >= 5, "{alarms:?}");
    for name in dashboard.into_iter().chain(alarms) {
        let base = ["_bucket", "_sum", "_count", "_total"].iter().find_map(|end| name.strip_suffix(end));
        let known = ours.contains(&name.as_str())
            || base.is_some_and(|base| ours.contains(&base))
            || [Some(name.as_str()), base]
                .into_iter()
                .flatten()
                .any(|name| ml_server.contains(&format!("`{name}`")));
        assert!(known, "no process writes {name}");
    }
}
