//! `lyra doctor` with common problems, and its suggested fixes.

use lyra_domain::{Budget, Priority, TaskConfig};
use lyra_research::ports::{RateState, RateStore};
use lyra_store::{NewTask, Store, StoreConfig};
use lyra_tests::TestApp;
use serde_json::Value;
use std::net::TcpListener;

/// What doctor found of one part, and its exit code.
#[track_caller]
fn found(app: &TestApp, part: &str, args: &[&str], environment: &[(&str, &str)]) -> (Value, Option<i32>) {
    let args: Vec<&str> = [&["doctor", "--json"], args].concat();
    // This test does not care whether another process uses the port.
    let output = app.command(&args).env("LYRA__SERVER__PORT", "0").envs(environment.iter().copied()).output();
    let output = output.expect("lyra runs");
    let out = String::from_utf8_lossy(&output.stdout);
    let findings: Value = serde_json::from_str(&out).unwrap_or_else(|error| {
        panic!("no JSON ({error}):\n{out}\n{}", String::from_utf8_lossy(&output.stderr))
    });
    let all = findings.as_array().expect("findings");
    let finding = all.iter().find(|finding| finding["part"] == part);
    (finding.unwrap_or_else(|| panic!("nothing on {part} in {findings}")).clone(), output.status.code())
}

/// The part is in this state, for a reason with these words and with a cure.
#[track_caller]
fn check(app: &TestApp, part: &str, args: &[&str], environment: &[(&str, &str)], health: &str, words: &str) {
    let (finding, code) = found(app, part, args, environment);
    assert_eq!(finding["health"], health, "{finding}");
    assert!(finding["seen"].as_str().expect("text").contains(words), "`{words}` is not in {finding}");
    assert_eq!(finding["remedy"].is_string(), health != "ok", "{finding}");
    if health == "broken" {
        assert_eq!(code, Some(1), "{finding}");
    }
}

#[test]
fn what_is_in_order_is_said_to_be() {
    let app = TestApp::new();
    for (part, words) in [
        ("disk", "is writable"),
        ("space", "free"),
        ("database", "readable"),
        ("work", "0 jobs wait"),
        ("port", "is available"),
    ] {
        check(&app, part, &[], &[], "ok", words);
    }
}

#[test]
fn a_configuration_that_cannot_be_read_is_a_finding() {
    check(&TestApp::new(), "configuration", &[], &[("LYRA__SERVER__PROT", "1")], "broken", "PROT");
}

#[test]
fn a_folder_that_cannot_be_written_is_found() {
    check(&TestApp::new(), "disk", &["--data-dir", "/dev/null/lyra"], &[], "broken", "/dev/null/lyra");
}

#[test]
fn a_file_that_is_no_database_is_found() {
    let app = TestApp::new();
    std::fs::write(
        app.data_dir().join("lyra.db"),
        "certainly no database, and long enough to look like a file".repeat(40),
    )
    .expect("written");
    check(&app, "database", &[], &[], "broken", "lyra.db");
}

#[test]
fn models_that_are_not_there_are_found() {
    let app = TestApp::new();
    let folder = app.data_dir().to_str().expect("text").to_owned();
    check(&app, "models", &[], &[("LYRA_MODELS_DIR", &folder)], "broken", "lite");
}

#[test]
fn an_ml_server_that_does_not_answer_is_found() {
    let url = ["--ml-url", "http://user:hidden@127.0.0.1:1"];
    check(&TestApp::new(), "ml-server", &url, &[], "broken", "http://…@127.0.0.1:1");
    let (finding, _) = found(&TestApp::new(), "ml-server", &url, &[]);
    assert!(!finding.to_string().contains("hidden"), "{finding}");
}

#[test]
fn a_language_model_that_does_not_answer_is_found() {
    let settings = [
        ("LYRA__LLM__PROVIDER", "ollama"),
        ("LYRA__LLM__MODEL", "small"),
        ("LYRA__LLM__BASE_URL", "http://127.0.0.1:1"),
    ];
    check(&TestApp::new(), "llm", &[], &settings, "broken", "127.0.0.1:1");
}

#[test]
fn a_broken_corpus_is_found() {
    let app = TestApp::new();
    check(&app, "corpora", &[], &[], "note", "none imported");
    let folder = app.data_dir().join("corpora/papers");
    std::fs::create_dir_all(&folder).expect("made");
    std::fs::write(folder.join("manifest.json"), "{").expect("written");
    check(&app, "corpora", &[], &[], "broken", "papers");
}

#[test]
fn a_port_that_is_taken_is_found() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("address").port().to_string();
    check(&TestApp::new(), "port", &[], &[("LYRA__SERVER__PORT", &port)], "broken", &port);
}

#[tokio::test]
async fn a_source_that_is_left_alone_and_work_that_stands_still_are_found() -> anyhow::Result<()> {
    let app = TestApp::new();
    let store = Store::open(&app.data_dir().join("lyra.db"), StoreConfig::default()).await?;
    let state = RateState {
        paused_at: Some("2026-11-20T00:00:00Z".parse()?),
        pause_seconds: u64::from(u32::MAX),
        pause_reason: Some("it said \"too many requests\"".to_owned()),
        ..RateState::default()
    };
    RateStore::save(&store, "openalex", &state).await?;
    let config = TaskConfig { budget: Budget::default(), ..TaskConfig::default() };
    let new = NewTask {
        query: "Does tea help?".to_owned(),
        config,
        claims: vec!["Tea helps.".to_owned()],
        ..NewTask::default()
    };
    store.create_task(new, Priority::Medium).await?;
    store.close().await;
    check(&app, "sources", &[], &[], "note", "too many requests");
    check(&app, "work", &[], &[], "ok", "1 job waits");
    Ok(())
}
