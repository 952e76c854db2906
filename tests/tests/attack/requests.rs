//! HTTP requests as no client sends them: whole ones with a part changed, and bytes changed at random.

use crate::pick;
use fastrand::Rng;
use serde_json::{Value, json};

/// A request before it is written.
#[derive(Clone)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) target: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Request {
    pub(crate) fn new(
        method: &str,
        target: &str,
        headers: &[(&str, &str)],
        body: impl Into<Vec<u8>>,
    ) -> Self {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Self {
            method: method.to_owned(),
            target: target.to_owned(),
            headers: headers.collect(),
            body: body.into(),
        }
    }

    /// As it is sent, with a `Content-Length` unless it has one or is sent in chunks.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut head = format!("{} {} HTTP/1.1\r\n", self.method, self.target);
        for (name, value) in &self.headers {
            head.extend([name.as_str(), ": ", value, "\r\n"]);
        }
        let framed = |name: &str| self.headers.iter().any(|(header, _)| header.eq_ignore_ascii_case(name));
        if !framed("content-length") && !framed("transfer-encoding") && !self.body.is_empty() {
            head.extend(["Content-Length: ", &self.body.len().to_string(), "\r\n"]);
        }
        [head.as_bytes(), b"\r\n", &self.body].concat()
    }

    fn header(&mut self, name: &str, value: impl Into<String>) {
        self.headers.push((name.to_owned(), value.into()));
    }
}

const METHODS: [&str; 14] = [
    "GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "TRACE", "CONNECT", "get", "PRI", "M-SEARCH",
    "G\u{0}T", "",
];

const TARGETS: [&str; 20] = [
    "/",
    "*",
    "//mcp",
    "/mcp/../metrics",
    "/mcp%00",
    "/%2e%2e/metrics",
    "/mcp?x=%ff",
    "/mcp#x",
    "http://evil.example/mcp",
    "http://localhost/mcp",
    "https://localhost:1/metrics",
    "evil.example:80",
    "/metrics",
    "/health",
    "/ready",
    "/auth",
    "/tasks",
    "mcp",
    "/mcp\u{7f}",
    "/nothing",
];

const HOSTS: [&str; 16] = [
    "evil.example",
    "[::1].evil.com",
    "[::1]",
    "localhost",
    "localhost:99999",
    "localhost@evil.example",
    "127.0.0.1.nip.io",
    "127.1",
    "0.0.0.0",
    "",
    "localhost, evil.example",
    "localhost\tevil.example",
    "LOCALHOST.",
    "xn--localhost-.example",
    "127.0.0.1:80:80",
    "\"localhost\"",
];

/// Names and values that have confused parsers. None of them grants access.
const HEADERS: [(&str, &str); 38] = [
    ("Transfer-Encoding", "chunked"),
    ("Transfer-Encoding", "chunked, identity"),
    ("Transfer-Encoding", "\u{b}chunked"),
    ("Transfer-Encoding", "gzip, chunked"),
    ("Content-Length", "0"),
    ("Content-Length", "-1"),
    ("Content-Length", "+5"),
    ("Content-Length", "5, 5"),
    ("Content-Length", "1e3"),
    ("Content-Length", "99999999999999999999"),
    ("Content-Length", "1048577"),
    ("Content-Encoding", "gzip"),
    ("Content-Type", "text/plain"),
    ("Content-Type", "application/json; charset=utf-7"),
    ("Content-Type", "multipart/form-data; boundary="),
    ("Expect", "100-continue"),
    ("Expect", "nonsense"),
    ("Connection", "Upgrade"),
    ("Upgrade", "h2c"),
    ("Upgrade", "websocket"),
    ("Accept", "*/*"),
    ("Accept", "text/event-stream;q=\u{1}"),
    ("Origin", "null"),
    ("Origin", "https://evil.example"),
    ("Origin", "http://[::1].evil.com"),
    ("Authorization", "Bearer lyra_x_0"),
    ("Authorization", "Basic bHlyYTpseXJh"),
    ("Authorization", "Bearer"),
    ("Mcp-Session-Id", "00000000-0000-0000-0000-000000000000"),
    ("Mcp-Session-Id", "../../private.db"),
    ("MCP-Protocol-Version", "2025-11-25"),
    ("MCP-Protocol-Version", "9999-99-99"),
    ("Mcp-Method", "tools/call"),
    ("Mcp-Name", "create_task"),
    ("Last-Event-Id", "0/0"),
    ("X-Forwarded-For", "127.0.0.1"),
    ("X-Forwarded-Host", "localhost"),
    ("Range", "bytes=0-0,-1"),
];

const VALUES: [&str; 12] = [
    "null",
    "true",
    "-1",
    "1e999",
    "18446744073709551616",
    "\"\"",
    "\"\\ud800\"",
    "\"\\u0000\"",
    "[]",
    "{}",
    "[[[[[[[[[[",
    "\"../../private.db\"",
];

/// The request with one to three changes, as it is sent.
pub(crate) fn changed(rng: &mut Rng, mut request: Request) -> Vec<u8> {
    for _ in 0..rng.usize(1..=3) {
        change(rng, &mut request);
    }
    let mut bytes = if rng.u8(..6) == 0 { in_chunks(rng, &request) } else { request.bytes() };
    match rng.u8(..8) {
        0 => disturb(rng, &mut bytes),
        1 => bytes.truncate(rng.usize(..=bytes.len())),
        2 => bytes = bytes.repeat(rng.usize(2..6)),
        _ => {}
    }
    bytes
}

fn change(rng: &mut Rng, request: &mut Request) {
    match rng.u8(..12) {
        0 => (*pick(rng, &METHODS)).clone_into(&mut request.method),
        1 => (*pick(rng, &TARGETS)).clone_into(&mut request.target),
        2 => request.target = format!("/{}", "a".repeat(rng.usize(..200_000))),
        3 => request.headers.retain(|(name, _)| name != "Host"),
        4 => request.header("Host", *pick(rng, &HOSTS)),
        5 => {
            if let Some((_, value)) = request.headers.iter_mut().find(|(name, _)| name == "Host") {
                (*pick(rng, &HOSTS)).clone_into(value);
            }
        }
        6 => {
            let (name, value) = *pick(rng, &HEADERS);
            request.header(name, value);
        }
        7 => {
            let (name, value) = *pick(rng, &HEADERS);
            request.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
            request.header(name, value);
        }
        8 => request.header(pick(rng, &HEADERS).0, "x".repeat(rng.usize(..100_000))),
        9 => (0..rng.usize(..300)).for_each(|n| request.header(&format!("X-{n}"), "x")),
        10 if !request.headers.is_empty() => {
            let at = rng.usize(..request.headers.len());
            request.headers.remove(at);
        }
        _ => {
            let body = std::mem::take(&mut request.body);
            request.body = body_changed(rng, body);
        }
    }
}

fn body_changed(rng: &mut Rng, mut body: Vec<u8>) -> Vec<u8> {
    match rng.u8(..8) {
        0 => disturb(rng, &mut body),
        1 => body.truncate(rng.usize(..=body.len())),
        2 => body = vec![b'['; rng.usize(..300_000)],
        3 => body = vec![b' '; rng.usize(..2_000_000)],
        4 => body = [b"[".to_vec(), body.clone(), b",".to_vec(), body, b"]".to_vec()].concat(),
        5 => body = rng_bytes(rng, 400),
        _ => {
            if let Ok(mut value) = serde_json::from_slice::<Value>(&body) {
                grow(rng, &mut value, 0);
                body = value.to_string().into_bytes();
            }
        }
    }
    body
}

/// Replaces one of its values.
fn grow(rng: &mut Rng, value: &mut Value, depth: u8) {
    let inner = match value {
        Value::Object(fields) if !fields.is_empty() && depth < 6 => {
            let at = rng.usize(..fields.len());
            fields.values_mut().nth(at)
        }
        Value::Array(items) if !items.is_empty() && depth < 6 => {
            let at = rng.usize(..items.len());
            items.get_mut(at)
        }
        _ => None,
    };
    if let Some(inner) = inner.filter(|_| depth == 0 || rng.u8(..3) > 0) {
        return grow(rng, inner, depth + 1);
    }
    *value = match rng.u8(..4) {
        0 => json!("x".repeat(rng.usize(..100_000))),
        1 => json!(rng.i64(..)),
        2 => (0..rng.usize(..3_000)).collect(),
        _ => serde_json::from_str(pick::<&str>(rng, &VALUES)).unwrap_or(Value::Null),
    };
}

/// The body in chunks that are right, or nearly.
fn in_chunks(rng: &mut Rng, request: &Request) -> Vec<u8> {
    let mut request = request.clone();
    let body = std::mem::take(&mut request.body);
    request.headers.retain(|(name, _)| !name.eq_ignore_ascii_case("content-length"));
    request.header("Transfer-Encoding", "chunked");
    let mut bytes = request.bytes();
    for chunk in body.chunks(rng.usize(1..=body.len().max(1))) {
        let length = match rng.u8(..12) {
            0 => format!("{:X};x=\"y\"", chunk.len()),
            1 => format!("{:x}", chunk.len() + 1),
            2 => "ffffffffffffffff".to_owned(),
            3 => format!("-{:x}", chunk.len()),
            4 => format!("{:x};{}", chunk.len(), "x".repeat(20_000)),
            _ => format!("{:x}", chunk.len()),
        };
        bytes.extend([length.as_bytes(), b"\r\n", chunk, b"\r\n"].concat());
    }
    bytes.extend(pick(rng, &[&b"0\r\n\r\n"[..], b"0\r\nX: y\r\n\r\n", b"0\n\n", b""]).iter());
    bytes
}

fn disturb(rng: &mut Rng, bytes: &mut Vec<u8>) {
    for _ in 0..rng.usize(1..8) {
        let start = rng.usize(..=bytes.len());
        let end = bytes.len().min(start + rng.usize(..30));
        let new = match rng.u8(..4) {
            0 => Vec::new(),
            1 => rng_bytes(rng, 8),
            2 => pick(rng, &[&b"\r\n"[..], b"\n", b"\0", b" ", b"\r\n\r\n", b":", b"\t", b"\xff"]).to_vec(),
            _ => bytes[start..end].repeat(rng.usize(1..20)),
        };
        bytes.splice(start..end, new);
    }
}

fn rng_bytes(rng: &mut Rng, most: usize) -> Vec<u8> {
    (0..rng.usize(..=most)).map(|_| rng.u8(..)).collect()
}
