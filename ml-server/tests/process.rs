//! The program as an operator runs it: starts that fail, requests while it loads, SIGTERM under load, SIGKILL.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::allow_attributes, reason = "helpers of tests may panic")]

#[path = "common/program.rs"]
mod program;
#[path = "common/tiny.rs"]
mod tiny;

use std::path::{Path, PathBuf};
use std::time::Duration;

use lyra_proto::{ErrorBody, ErrorType, ReadyResponse, ReadyState};
use program::Program;
use reqwest::{Client, Response, StatusCode};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

const LITE: [&str; 4] = ["--threads", "1", "--models-dir", concat!(env!("CARGO_MANIFEST_DIR"), "/../models")];

fn tiny_folder(classifier: bool) -> (tempfile::TempDir, PathBuf) {
    tiny::folder(tiny::FAMILIES[0], classifier)
}

fn client() -> Client {
    lyra_tls::client().build().unwrap()
}

async fn post(url: &str, body: &Value) -> reqwest::Result<Response> {
    client().post(format!("{url}/embed")).json(body).send().await
}

async fn get(url: &str, path: &str) -> Response {
    client().get(format!("{url}{path}")).send().await.unwrap()
}

/// A request that the lite embedder needs a while for, and the client's side of it.
fn long_request(url: &str, inputs: usize) -> tokio::task::JoinHandle<reqwest::Result<Response>> {
    let (url, body) = (url.to_owned(), json!({"inputs": vec!["word ".repeat(250); inputs]}));
    tokio::spawn(async move { post(&url, &body).await })
}

async fn metric(url: &str, name: &str) -> f64 {
    let text = get(url, "/metrics").await.text().await.unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.unwrap_or("0").parse().unwrap()
}

/// Waits until a metric is above 0.
async fn until_positive(url: &str, name: &str) {
    while metric(url, name).await <= 0.0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_that_fails_says_why_and_exits_with_1() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = listener.local_addr().unwrap().port().to_string();
    let nowhere = ["--embed-model", "./no-such-folder"];
    for (arguments, says) in [
        (&nowhere[..], &["lacks config.json", "is this the folder of a model?"][..]),
        (&["--embed-model", "none.gguf"], &["none.gguf: No such file"]),
        (&["--models-dir", "/no-such-folder"], &["looked in /no-such-folder", "--models-dir"]),
        (&["--port", &taken, nowhere[0], nowhere[1]], &["cannot listen on 127.0.0.1", "in use"]),
    ] {
        let (code, log) = Program::fail(arguments).await;
        assert_eq!(code, Some(1), "{log}");
        assert!(says.iter().all(|text| log.contains(text)), "{says:?} in {log}");
        assert!(!log.contains("panicked"), "{log}");
    }
    let (code, log) = Program::fail(&["--threads", "many"]).await;
    assert!(code == Some(2) && log.contains("invalid value 'many'"), "{log}");
}

type Spoil = fn(&Path);

/// Truncates a file by this many bytes.
fn shorten(path: &Path, by: usize) {
    let bytes = std::fs::read(path).unwrap();
    std::fs::write(path, &bytes[..bytes.len() - by]).unwrap();
}

/// Replaces a safetensors header, leaving the data.
fn header(path: &Path, change: impl Fn(&mut Value)) {
    let path = path.join("model.safetensors");
    let bytes = std::fs::read(&path).unwrap();
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let mut header: Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
    change(&mut header);
    let header = header.to_string();
    let length = (header.len() as u64).to_le_bytes();
    let data = &bytes[8 + usize::from_le_bytes(bytes[..8].try_into().unwrap())..];
    std::fs::write(path, [&length[..], header.as_bytes(), data].concat()).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn damaged_models_are_named_and_panic_nowhere() {
    const WORDS: &str = "embeddings.word_embeddings.weight";
    let cases: [(&str, Spoil, &str); 11] = [
        (
            "no tokenizer",
            |path| std::fs::remove_file(path.join("tokenizer.json")).unwrap(),
            "lacks tokenizer.json",
        ),
        (
            "tokenizer of another kind",
            |path| std::fs::write(path.join("tokenizer.json"), "{}").unwrap(),
            "tokenizer",
        ),
        (
            "config is not JSON",
            |path| std::fs::write(path.join("config.json"), "{").unwrap(),
            "config.json: EOF",
        ),
        (
            "foreign architecture",
            |path| std::fs::write(path.join("config.json"), r#"{"architectures": ["T5Model"]}"#).unwrap(),
            "has architecture `T5Model`, which this build cannot run; supported: BertModel",
        ),
        ("cut short", |path| shorten(&path.join("model.safetensors"), 1_000), "cut short"),
        (
            "cut inside the length",
            |path| std::fs::write(path.join("model.safetensors"), [1, 2, 3]).unwrap(),
            "not a safetensors file, or cut short inside its header",
        ),
        (
            "header longer than the file",
            |path| std::fs::write(path.join("model.safetensors"), [0xff; 100]).unwrap(),
            "not a safetensors file, or cut short inside its header",
        ),
        (
            "shape that lies",
            |path| header(path, |header| header[WORDS]["shape"] = json!([8, 33])),
            "header: ",
        ),
        (
            "shape beyond all numbers",
            |path| header(path, |header| header[WORDS]["shape"] = json!([u64::MAX, u64::MAX])),
            "header: ",
        ),
        (
            "offsets that run backwards",
            |path| header(path, |header| header[WORDS]["data_offsets"] = json!([1_000, 0])),
            "header: ",
        ),
        (
            "an unknown type",
            |path| header(path, |header| header[WORDS]["dtype"] = json!("F33")),
            "header: unknown variant `F33`",
        ),
    ];
    for (what, spoil, says) in cases {
        let (_parent, path) = tiny_folder(false);
        spoil(&path);
        let (code, log) = Program::fail(&["--embed-model", path.to_str().unwrap()]).await;
        assert_eq!(code, Some(1), "{what}: {log}");
        assert!(log.contains(says) && !log.contains("panicked"), "{what}: {log}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn gguf_files_cut_short_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.gguf");
    let lite = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../models/lite-embed.gguf")).unwrap();
    for length in [0, 3, 10, 100, 10_000, lite.len() / 2, lite.len() - 1_000] {
        std::fs::write(&path, &lite[..length]).unwrap();
        let (code, log) = Program::fail(&["--embed-model", path.to_str().unwrap()]).await;
        assert!(code == Some(1) && log.contains("cut.gguf") && !log.contains("panicked"), "{length}: {log}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_carry_their_trace_into_the_batch_log() {
    let (_parent, path) = tiny_folder(false);
    let debug = [("RUST_LOG", "info,lyra_ml_server=debug")];
    let program = Program::start_with(&["--embed-model", path.to_str().unwrap()], &debug).await;
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    let request = client()
        .post(format!("{}/embed", program.url))
        .header("traceparent", format!("00-{trace}-00f067aa0ba902b7-01"))
        .header("x-request-id", "my-request")
        .json(&json!({"inputs": ["red", "green"]}));
    let response = request.send().await.unwrap();
    assert_eq!(
        (response.status(), &response.headers()["x-request-id"]),
        (StatusCode::OK, &"my-request".parse().unwrap())
    );
    let own = post(&program.url, &json!({"inputs": "red"})).await.unwrap();
    let own = own.headers()["x-request-id"].to_str().unwrap().to_owned();
    let (_, log) = program.terminate().await;
    let line = |texts: &[&str]| log.lines().any(|line| texts.iter().all(|text| line.contains(text)));
    let parts = [&format!("trace_id=\"{trace}\""), "parent_id=\"00f067aa0ba902b7\"", "id=\"my-request\""];
    assert!(line(&[parts[0], parts[1], parts[2], "ran in batch", "inputs=2"]), "{log}");
    assert!(line(&[&format!("id=\"{own}\""), "ran in batch", "inputs=1"]), "an id of our own\n{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn sigterm_finishes_what_is_in_work_and_refuses_what_is_new() {
    // However slow the machine is: `a_drain_has_an_end` tests the other side.
    let patient = [&LITE[..], &["--drain-seconds", "600"]].concat();
    let program = Program::start(&patient).await;
    let url = program.url.clone();
    let request = long_request(&url, 96);
    until_positive(&url, "te_queue_size").await;
    program.signal("TERM");
    // Until the work is done the port stays open, to report that no more requests are admitted.
    let ready = async || -> ReadyResponse { get(&url, "/ready").await.json().await.unwrap() };
    while ready().await.status != ReadyState::Draining {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let late = post(&url, &json!({"inputs": "late"})).await.unwrap();
    assert_eq!(late.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert!(late.headers().contains_key("retry-after"));
    assert_eq!(late.headers()["connection"], "close");
    let body: ErrorBody = late.json().await.unwrap();
    let want = (ErrorType::Unavailable, "the server is shutting down");
    assert_eq!((body.error_type, body.error.as_str()), want);
    let response = request.await.unwrap().unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    let rows: Vec<Vec<f32>> = response.json().await.unwrap();
    assert_eq!(rows.len(), 96);
    let (code, log) = program.end().await;
    assert_eq!(code, Some(0), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_drain_has_an_end() {
    let arguments = [&LITE[..], &["--drain-seconds", "0"]].concat();
    let program = Program::start(&arguments).await;
    let request = long_request(&program.url, 1_024);
    until_positive(&program.url, "te_queue_size").await;
    let (code, log) = program.terminate().await;
    assert!(code == Some(0) && log.contains("aborting the requests still in progress"), "{log}");
    let response = request.await.unwrap().unwrap();
    assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE, "aborted requests get 503");
}

#[tokio::test(flavor = "multi_thread")]
async fn sigterm_while_loading_ends_it() {
    // Nothing is ever written into this pipe, so the model never finishes loading.
    let (_parent, path) = tiny_folder(false);
    std::fs::remove_file(path.join("tokenizer.json")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(path.join("tokenizer.json")).status().unwrap();
    assert!(made.success());
    let program = Program::listening(&["--embed-model", path.to_str().unwrap()]).await;
    let url = &program.url;
    let ready = get(url, "/ready").await;
    assert_eq!(ready.status(), StatusCode::SERVICE_UNAVAILABLE);
    let ready: ReadyResponse = ready.json().await.unwrap();
    assert_eq!((ready.status, ready.loading), (ReadyState::Loading, vec!["tiny".to_owned()]));
    assert_eq!(get(url, "/health").await.status(), StatusCode::OK);
    let early = post(url, &json!({"inputs": "red"})).await.unwrap();
    assert_eq!((early.status().as_u16(), &early.headers()["retry-after"]), (503, &"1".parse().unwrap()));
    assert_eq!(early.json::<ErrorBody>().await.unwrap().error, "still loading tiny");
    let (code, log) = program.terminate().await;
    assert_eq!(code, Some(0), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn ready_turns_when_the_model_is_there() {
    let (_parent, path) = tiny_folder(false);
    let pipe = path.join("tokenizer.json");
    let tokenizer = std::fs::read(&pipe).unwrap();
    std::fs::remove_file(&pipe).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let program = Program::listening(&["--embed-model", path.to_str().unwrap()]).await;
    let ready = async || get(&program.url, "/ready").await.status();
    assert_eq!(ready().await, StatusCode::SERVICE_UNAVAILABLE);
    tokio::fs::write(&pipe, tokenizer).await.unwrap();
    while ready().await != StatusCode::OK {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(post(&program.url, &json!({"inputs": "red"})).await.unwrap().status(), StatusCode::OK);
}

#[tokio::test(flavor = "multi_thread")]
async fn after_sigkill_the_next_start_works() {
    let program = Program::start(&LITE).await;
    let (url, port) = (program.url.clone(), program.url.rsplit(':').next().unwrap().to_owned());
    let request = long_request(&url, 96);
    until_positive(&url, "te_queue_size").await;
    program.signal("KILL");
    assert!(request.await.unwrap().is_err());
    let (code, _) = program.end().await;
    assert_eq!(code, None, "killed");
    let again = Program::start(&[&LITE[..], &["--port", &port]].concat()).await;
    assert_eq!(again.url, url);
    assert_eq!(post(&url, &json!({"inputs": "red"})).await.unwrap().status(), StatusCode::OK);
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_that_hang_up_are_not_computed() {
    let program = Program::start(&LITE).await;
    let request = long_request(&program.url, 64);
    until_positive(&program.url, "te_queue_size").await;
    let body = json!({"inputs": ["gone", "gone"]}).to_string();
    let mut leaver = tokio::net::TcpStream::connect(program.url.trim_start_matches("http://")).await.unwrap();
    let head = format!(
        "POST /embed HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    leaver.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
    while metric(&program.url, "te_embed_count").await < 66.0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    drop(leaver);
    assert_eq!(request.await.unwrap().unwrap().status(), StatusCode::OK);
    assert_eq!(post(&program.url, &json!({"inputs": "red"})).await.unwrap().status(), StatusCode::OK);
    assert_eq!(metric(&program.url, "lyra_ml_dropped_total").await, 2.0);
    assert_eq!(metric(&program.url, "te_embed_success").await, 65.0);
}

/// A body at the limit, of very many tokens, on every route that reads texts.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn a_body_of_8_mb_needs_a_bounded_amount_of_memory() {
    let models = [
        "--embed-model",
        concat!(env!("CARGO_MANIFEST_DIR"), "/../models/lite-embed.gguf"),
        "--nli-model",
        concat!(env!("CARGO_MANIFEST_DIR"), "/../models/lite-nli.gguf"),
    ];
    let program = Program::start(&models).await;
    let before = program.peak_memory();
    let long = "a ".repeat(4_000_000);
    let client = client();
    for (path, body, status) in [
        ("/tokenize", json!({"inputs": long}), 413),
        ("/embed", json!({"inputs": long}), 200),
        ("/embed", json!({"inputs": long, "truncation_direction": "left"}), 200),
        ("/embed", json!({"inputs": long, "truncate": false}), 422),
        ("/v1/embeddings", json!({"input": long}), 200),
        ("/predict", json!({"inputs": long}), 200),
        ("/nli", json!({"pairs": [{"premise": long, "hypothesis": "a"}]}), 200),
        ("/nli", json!({"pairs": [{"premise": "a", "hypothesis": long}], "truncate": false}), 422),
        ("/similarity", json!({"inputs": {"source_sentence": "a", "sentences": [long]}}), 200),
    ] {
        let answer = client.post(format!("{}{path}", program.url)).json(&body).send().await.unwrap();
        assert_eq!(answer.status().as_u16(), status, "{path}: {}", answer.text().await.unwrap());
    }
    let grown = program.peak_memory() - before;
    // Twenty times the body; tokens of all of it took two hundred times.
    assert!(grown < 160 * 1_024 * 1_024, "{grown} bytes more than at rest");
}
