//! All known kinds of invalid requests, on every route: the status, the error type, a helpful message, and a server
//! that answers the next request normally.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::allow_attributes,
    reason = "helpers of tests may panic and print"
)]

mod common;
#[path = "common/tiny.rs"]
mod tiny;

use common::server::{Server, length};
use lyra_ml_server::ServerConfig;
use lyra_ml_server::model::ModelSource;
use lyra_proto::ErrorType::{
    self, Backend, Empty, Malformed, NotFound, TooLarge, UnsupportedMediaType, Validation,
};
use lyra_proto::{EmbeddingsErrorBody, ErrorBody};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// One request and its expected refusal.
struct Case {
    method: Method,
    path: &'static str,
    media_type: Option<&'static str>,
    body: Vec<u8>,
    status: u16,
    kind: ErrorType,
    says: &'static str,
}

fn raw(
    path: &'static str,
    body: impl Into<Vec<u8>>,
    status: u16,
    kind: ErrorType,
    says: &'static str,
) -> Case {
    let media_type = Some("application/json");
    Case { method: Method::POST, path, media_type, body: body.into(), status, kind, says }
}

fn case(path: &'static str, body: &Value, status: u16, kind: ErrorType, says: &'static str) -> Case {
    raw(path, body.to_string(), status, kind, says)
}

fn media(path: &'static str, media_type: Option<&'static str>, says: &'static str) -> Case {
    Case { media_type, ..raw(path, "{\"inputs\": \"red\"}", 415, UnsupportedMediaType, says) }
}

fn method(method: Method, path: &'static str, status: u16, says: &'static str) -> Case {
    Case { method, ..raw(path, "", status, NotFound, says) }
}

const POSTS: [&str; 8] =
    ["/", "/embed", "/nli", "/verify", "/predict", "/similarity", "/tokenize", "/v1/embeddings"];
const GETS: [&str; 6] = ["/health", "/ready", "/info", "/metrics", "/openapi.json", "/docs"];

/// Requests that every route with a body refuses.
fn everywhere() -> Vec<Case> {
    let mut cases = Vec::new();
    for path in POSTS {
        let deep = "[".repeat(100_000);
        let huge = format!("{{\"inputs\": \"{}\"}}", "a".repeat(10_000_000));
        cases.extend([
            raw(path, "", 400, Empty, "the body is empty"),
            raw(path, "{", 400, Malformed, "EOF"),
            raw(path, "\u{feff}{}", 400, Malformed, "line 1 column 1"),
            raw(path, "null", 400, Malformed, "invalid type: null"),
            raw(path, "[]", 400, Malformed, ""),
            raw(path, "{}", 400, Malformed, "missing field"),
            raw(path, b"{\"inputs\": \"\xff\xfe\"}", 400, Malformed, ""),
            raw(path, deep, 400, Malformed, ""),
            raw(path, "{\"inputs\": \"red\"} x", 400, Malformed, ""),
            raw(path, "{\"inputs\": \"\\ud800\"}", 400, Malformed, ""),
            raw(path, huge, 413, TooLarge, "8388608 bytes"),
            media(path, None, "not as nothing"),
            media(path, Some("text/plain"), "send the body as application/json, not as text/plain"),
            media(path, Some("application/x-www-form-urlencoded"), "application/json"),
            media(path, Some("multipart/form-data; boundary=x"), "application/json"),
            method(Method::GET, path, 405, "method GET is not allowed"),
            method(Method::DELETE, path, 405, "method DELETE"),
        ]);
    }
    for path in GETS {
        cases.push(method(Method::POST, path, 405, "method POST is not allowed"));
    }
    for path in ["/nothing", "/embed/", "/v1", "//", "/%00", "/..%2fetc"] {
        cases.push(method(Method::POST, path, 404, "no such route"));
    }
    cases
}

/// What `/embed` refuses.
fn embed() -> Vec<Case> {
    let embed = |body: Value, status, kind, says| case("/embed", &body, status, kind, says);
    let long = "red ".repeat(20);
    vec![
        embed(json!({"inputs": []}), 400, Empty, "send at least one text"),
        embed(json!({"inputs": [[]]}), 400, Empty, "empty list of token ids"),
        embed(json!({"inputs": ["red", []]}), 400, Empty, "send at least one id, or a text"),
        embed(json!({"texts": "red"}), 400, Malformed, "missing field `inputs`"),
        embed(json!({"inputs": null}), 400, Malformed, "expected a text, a list of texts"),
        embed(json!({"inputs": 1}), 400, Malformed, "expected a text, a list of texts"),
        embed(json!({"inputs": true}), 400, Malformed, "a list of token ids"),
        embed(json!({"inputs": {"a": 1}}), 400, Malformed, "a list of token ids"),
        embed(json!({"inputs": ["red", 1]}), 400, Malformed, "a list of token ids"),
        embed(json!({"inputs": [1, -1]}), 400, Malformed, "a list of token ids"),
        embed(json!({"inputs": [1.5]}), 400, Malformed, "a list of token ids"),
        embed(json!({"inputs": [4_294_967_296u64]}), 400, Malformed, "a list of token ids"),
        embed(json!({"inputs": [[[1]]]}), 400, Malformed, "a list of token ids"),
        embed(json!({"inputs": "red", "normalize": "yes"}), 400, Malformed, "expected a boolean"),
        embed(json!({"inputs": "red", "truncate": 1}), 400, Malformed, "expected a boolean"),
        embed(json!({"inputs": "red", "truncation_direction": "up"}), 400, Malformed, "`left`"),
        embed(
            json!({"inputs": "red", "dimensions": 0}),
            400,
            Malformed,
            "dimensions is 0, it must be 1 to 32",
        ),
        embed(
            json!({"inputs": "red", "dimensions": 33}),
            400,
            Malformed,
            "dimensions is 33, it must be 1 to 32",
        ),
        embed(json!({"inputs": "red", "dimensions": -1}), 400, Malformed, "-1"),
        embed(json!({"inputs": "red", "dimensions": 1.5}), 400, Malformed, "1.5"),
        embed(json!({"inputs": "red", "dimensions": "8"}), 400, Malformed, "expected usize"),
        raw("/embed", format!("{{\"inputs\": {}", "[".repeat(100_000)), 400, Malformed, "recursion limit"),
        raw("/embed", "{\"inputs\": \"red\", \"dimensions\": 1e999}", 400, Malformed, "number out of range"),
        raw(
            "/embed",
            format!("{{\"inputs\": \"red\", \"dimensions\": {}}}", "9".repeat(400)),
            400,
            Malformed,
            "",
        ),
        raw(
            "/embed",
            "{\"inputs\": \"red\", \"inputs\": \"red\"}",
            400,
            Malformed,
            "duplicate field `inputs`",
        ),
        embed(
            json!({"inputs": "red", "prompt_name": "ask"}),
            400,
            Malformed,
            "`ask` is unknown; this model has: query",
        ),
        embed(json!({"inputs": "red", "prompt_name": 1}), 400, Malformed, "expected a string"),
        embed(json!({"inputs": [[4]], "prompt_name": "query"}), 400, Malformed, "needs texts, not token ids"),
        embed(
            json!({"inputs": vec!["red"; 2_000]}),
            413,
            TooLarge,
            "the batch has 2000 inputs, the limit is 1024; split it",
        ),
        embed(
            json!({"inputs": ["red", long], "truncate": false}),
            422,
            Validation,
            "input 1 has 22 tokens, the limit is 16",
        ),
        embed(
            json!({"inputs": [[4], [8]]}),
            422,
            Validation,
            "input 1 has token id 8, but this model has 0 to 7",
        ),
        embed(json!({"inputs": [4, 100_257]}), 422, Validation, "ids from this server's /tokenize"),
        embed(json!({"inputs": vec![4; 20], "truncate": false}), 422, Validation, "input 0 has 22 tokens"),
        embed(
            json!({"inputs": ["red", "stone"]}),
            424,
            Backend,
            "input 1: the model returned numbers that are not finite",
        ),
        embed(
            json!({"inputs": [[7]]}),
            424,
            Backend,
            "input 0: the model returned numbers that are not finite",
        ),
    ]
}

/// Requests that the classifier's routes refuse.
fn classify() -> Vec<Case> {
    let nli = |body: Value, status, kind, says| case("/nli", &body, status, kind, says);
    let predict = |body: Value, status, kind, says| case("/predict", &body, status, kind, says);
    let pair = json!({"premise": "red", "hypothesis": "blue"});
    let long = json!({"premise": "red ".repeat(20), "hypothesis": "blue"});
    vec![
        nli(json!({"pairs": []}), 400, Empty, "send at least one premise with its hypothesis"),
        nli(json!({"pairs": pair}), 400, Malformed, "expected a sequence"),
        nli(json!({"pairs": [{"hypothesis": "blue"}]}), 400, Malformed, "missing field `premise`"),
        nli(json!({"pairs": [{"premise": "red"}]}), 400, Malformed, "missing field `hypothesis`"),
        nli(json!({"pairs": [{"premise": null, "hypothesis": "blue"}]}), 400, Malformed, "expected a string"),
        nli(json!({"pairs": [["red", 1]]}), 400, Malformed, "expected a string"),
        nli(json!({"pairs": [pair], "truncate": "no"}), 400, Malformed, "expected a boolean"),
        nli(json!({"pairs": vec![&pair; 1_025]}), 413, TooLarge, "1025 inputs, the limit is 1024"),
        nli(json!({"pairs": [pair, long], "truncate": false}), 422, Validation, "input 1 has 24 tokens"),
        predict(json!({"inputs": []}), 400, Empty, "at least one text or pair"),
        predict(json!({"inputs": [[]]}), 400, Malformed, "input 0 has 0 texts"),
        predict(json!({"inputs": ["a", "b", "c"]}), 400, Malformed, "input 0 has 3 texts"),
        predict(json!({"inputs": [["a"], ["a", "b", "c"]]}), 400, Malformed, "input 1 has 3 texts"),
        predict(json!({"inputs": [1]}), 400, Malformed, "a text, a pair"),
        predict(json!({"inputs": "red", "raw_scores": 1}), 400, Malformed, "expected a boolean"),
        predict(json!({"inputs": vec![["red"]; 2_000]}), 413, TooLarge, "2000 inputs"),
        predict(
            json!({"inputs": "red ".repeat(20), "truncate": false}),
            422,
            Validation,
            "input 0 has 22 tokens",
        ),
    ]
}

/// Requests that the other routes of the embedder refuse.
fn others() -> Vec<Case> {
    let similarity = |source: Value, sentences: Value, status, kind, says| {
        let body = json!({"inputs": {"source_sentence": source, "sentences": sentences}, "parameters": {"truncate": false}});
        case("/similarity", &body, status, kind, says)
    };
    let tokenize = |body: Value, status, kind, says| case("/tokenize", &body, status, kind, says);
    let openai = |body: Value, status, kind, says| case("/v1/embeddings", &body, status, kind, says);
    let prompt =
        json!({"inputs": {"source_sentence": "a", "sentences": ["b"]}, "parameters": {"prompt_name": "q"}});
    vec![
        similarity(json!("red"), json!([]), 400, Empty, "at least one sentence"),
        similarity(json!(1), json!(["red"]), 400, Malformed, "expected a string"),
        similarity(json!("red"), json!("blue"), 400, Malformed, "expected a sequence"),
        case("/similarity", &json!({"inputs": ["red"]}), 400, Malformed, "source_sentence and sentences"),
        case("/similarity", &prompt, 400, Malformed, "`q` is unknown"),
        similarity(json!("red"), json!(vec!["blue"; 2_000]), 413, TooLarge, "2000"),
        similarity(json!("red"), json!(["red ".repeat(20)]), 422, Validation, "input 1"),
        similarity(json!("red"), json!(["stone"]), 424, Backend, "input 1"),
        tokenize(json!({"inputs": []}), 400, Empty, "at least one text"),
        tokenize(json!({"inputs": [1, 2]}), 400, Malformed, "a text or a list of texts"),
        tokenize(json!({"inputs": "red", "add_special_tokens": "no"}), 400, Malformed, "expected a boolean"),
        tokenize(json!({"inputs": "red", "prompt_name": "q"}), 400, Malformed, "`q` is unknown"),
        tokenize(json!({"inputs": vec!["red"; 1_025]}), 413, TooLarge, "split it"),
        openai(json!({"input": []}), 400, Empty, "at least one text"),
        openai(json!({"input": [[]]}), 400, Empty, "empty list of token ids"),
        openai(json!({"inputs": "red"}), 400, Malformed, "missing field `input`"),
        openai(json!({"input": {"text": "red"}}), 400, Malformed, "a list of token ids"),
        openai(json!({"input": "red", "encoding_format": "hex"}), 400, Malformed, "`float` or `base64`"),
        openai(json!({"input": "red", "dimensions": 0}), 400, Malformed, "1 to 32"),
        openai(json!({"input": "red", "model": 1}), 400, Malformed, "expected a string"),
        openai(json!({"input": vec!["red"; 2_000]}), 413, TooLarge, "the limit is 1024"),
        // The numbers of a tokenizer that is not this model's.
        openai(
            json!({"input": [[9_906, 1_917]]}),
            422,
            Validation,
            "ids of another tokenizer stand for other words here",
        ),
        openai(json!({"input": "stone"}), 424, Backend, "not finite"),
    ]
}

/// A server of tiny models; the embedder fails on `stone` and has the prompt `query`.
async fn server() -> (Server, [tempfile::TempDir; 2]) {
    let (embedder, embed) = tiny::folder(tiny::FAMILIES[0], false);
    tiny::poison(&embed, &["stone"]);
    std::fs::write(embed.join("config_sentence_transformers.json"), r#"{"prompts": {"query": "red "}}"#)
        .unwrap();
    let (classifier, nli) = tiny::folder(tiny::FAMILIES[0], true);
    let config = ServerConfig::new(Some(ModelSource::Folder(embed)), Some(ModelSource::Folder(nli)));
    (Server::start(config.with_threads(1)).await, [embedder, classifier])
}

async fn refused(server: &Server, case: Case) {
    let what = format!(
        "{} {} {:?} {}",
        case.method,
        case.path,
        case.media_type,
        String::from_utf8_lossy(&case.body[..case.body.len().min(100)])
    );
    let url = format!("{}{}", server.handle.url(), case.path);
    let mut request = server.client.request(case.method, url).header("x-request-id", "mine").body(case.body);
    if let Some(media_type) = case.media_type {
        request = request.header("content-type", media_type);
    }
    let response = request.send().await.unwrap_or_else(|error| panic!("{what}: {error:?}"));
    assert_eq!(response.status().as_u16(), case.status, "{what}");
    assert_eq!(response.headers()["x-request-id"], "mine", "{what}");
    assert_eq!(response.headers()["content-type"], "application/json", "{what}");
    let body = response.bytes().await.unwrap();
    let openai = case.path == "/v1/embeddings" && ![404, 405].contains(&case.status);
    let (message, kind, id) = if openai {
        let EmbeddingsErrorBody { error } = serde_json::from_slice(&body).unwrap();
        (error.message, error.error_type, error.error_id)
    } else {
        let ErrorBody { error, error_type, error_id } = serde_json::from_slice(&body).unwrap();
        (error, error_type, error_id)
    };
    assert_eq!(kind, case.kind, "{what}: {message}");
    assert!(message.contains(case.says), "{what}: {message}");
    assert!(!id.is_empty() && message.len() < 400, "{what}: {message}");
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_requests_are_refused_and_harm_nobody() {
    let (server, _folders) = server().await;
    let good = json!({"inputs": ["red", "green blue"]});
    let want = server.embed(&good).await;
    let cases: Vec<_> = [everywhere(), embed(), classify(), others()].into_iter().flatten().collect();
    assert!(cases.len() > 150, "{}", cases.len());
    for case in cases {
        refused(&server, case).await;
        assert_eq!(server.embed(&good).await, want);
    }
    let metrics = server.get("/metrics").await.text().await.unwrap();
    assert!(
        !metrics.contains(r#"err="unavailable""#) && !metrics.contains(r#"err="overloaded""#),
        "{metrics}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn odd_but_valid_requests_are_served() {
    let (server, _folders) = server().await;
    let long = "red ".repeat(1_500_000);
    for body in [
        json!({"inputs": ["", " ", "\u{0}", "研究", "\u{202e}\u{feff}", "👩‍🔬", long]}),
        json!({"inputs": ["red"], "unknown": 1, "model": "other server's field"}),
        json!({"inputs": "red", "normalize": true, "truncate": null, "dimensions": 1}),
        json!({"inputs": vec![4; 1_000], "truncation_direction": "left"}),
        json!({"inputs": vec!["red"; 1_024]}),
    ] {
        let rows = server.embed(&body).await;
        assert!(rows.iter().all(|row| (length(row) - 1.0).abs() < 1e-5));
    }
    let url = format!("{}/embed", server.handle.url());
    for media_type in ["application/json; charset=utf-8", "Application/JSON", "application/vnd.api+json"] {
        let request =
            server.client.post(&url).header("content-type", media_type).body("{\"inputs\":\"red\"}");
        assert_eq!(request.send().await.unwrap().status(), 200, "{media_type}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn bodies_without_a_length_have_the_same_limit() {
    let (server, _folders) = server().await;
    let address = server.handle.address();
    let sent = async |chunk: &[u8], times: usize| {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let head = "POST /embed HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\n";
        stream.write_all(format!("{head}transfer-encoding: chunked\r\n\r\n").as_bytes()).await.unwrap();
        for _ in 0..times {
            stream.write_all(format!("{:x}\r\n", chunk.len()).as_bytes()).await.unwrap();
            stream.write_all(&[chunk, b"\r\n"].concat()).await.unwrap();
        }
        stream.write_all(b"0\r\n\r\n").await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    };
    for (chunk, times, status, says) in [
        (&b"{\"inputs\": \"red\"}"[..], 1, 200, "[["),
        (&[b' '; 10_000], 1_200, 413, "8388608 bytes"),
        (b"{}", 0, 400, "the body is empty"),
    ] {
        let answer = sent(chunk, times).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")) && answer.contains(says), "{answer}");
    }
}

/// A page in a browser can reach loopback, also under a name that its owner points there.
#[tokio::test(flavor = "multi_thread")]
async fn on_loopback_only_requests_of_this_machine_are_served() {
    let (server, _folders) = server().await;
    let url = format!("{}/health", server.handle.url());
    let status = async |name: &str, value: &str| {
        server.client.get(&url).header(name, value).send().await.unwrap().status().as_u16()
    };
    for (name, value, expect) in [
        ("host", "localhost:1", 200),
        ("host", "[::1]", 200),
        ("origin", "http://localhost:3000", 200),
        ("host", "attacker.example", 403),
        ("host", "[::1].attacker.example", 403),
        ("origin", "https://attacker.example", 403),
        ("origin", "null", 403),
    ] {
        assert_eq!(status(name, value).await, expect, "{name}: {value}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_breaks_off_harms_nobody() {
    let (server, _folders) = server().await;
    for head in
        ["content-length: 100", "transfer-encoding: chunked", "content-length: -1", "content-length: 1e9", ""]
    {
        let mut stream = TcpStream::connect(server.handle.address()).await.unwrap();
        let request = format!(
            "POST /embed HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n{head}\r\n\r\nzz{{"
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        stream.shutdown().await.unwrap();
        let mut answer = String::new();
        // Whether there is still an answer depends on where it broke.
        let _ = stream.read_to_string(&mut answer).await;
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{head}: {answer}");
        server.embed(&json!({"inputs": "red"})).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_a_model_says_which() {
    let (_parent, path) = tiny::folder(tiny::FAMILIES[0], true);
    for (config, path, body, says) in [
        (ServerConfig::new(None, None), "/embed", json!({"inputs": "red"}), "--embed-model"),
        (ServerConfig::new(None, None), "/", json!({"inputs": "red"}), "--nli-model"),
        (ServerConfig::new(None, None), "/tokenize", json!({"inputs": "red"}), "--embed-model"),
        (
            ServerConfig::new(Some(common::lite("lite-embed")), None),
            "/nli",
            json!({"pairs": [{"premise": "p", "hypothesis": "h"}]}),
            "--nli-model",
        ),
        (
            ServerConfig::new(None, Some(ModelSource::Folder(path))),
            "/embed",
            json!({"inputs": "red"}),
            "--embed-model",
        ),
    ] {
        let server = Server::start(config.with_threads(1)).await;
        let answer = server.refused(path, &body, 424).await;
        assert!(answer.error.contains(says), "{answer}");
        assert_eq!(server.get("/health").await.status(), 200);
    }
}
