//! A stand-in of the hub with one repository, `tiny/model`. Its routes, redirects and headers are the hub's: small files come
//! from a relative redirect, large ones from a second server that knows ranges.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::{Path as Segments, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use serde_json::json;
use sha1::Sha1;
use sha2::{Digest, Sha256};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// What `main` and `v1` point to.
pub(crate) const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

/// The fault.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Fault {
    #[default]
    None,
    /// Responses for large files break off in the middle, this many times.
    Cut(usize),
    /// One byte of each large file is another.
    Spoiled,
    /// Large files end early, as if that were all.
    Short,
    /// Whole files are sent, regardless of the requested range.
    NoRanges,
    /// Small files have another content of the same length.
    SpoiledText,
    /// Files are only for `hf_secret`.
    Gated,
}

pub(crate) struct Hub {
    pub(crate) url: String,
    large: String,
    pub(crate) files: BTreeMap<String, Vec<u8>>,
    fault: Mutex<Fault>,
    log: Mutex<Vec<String>>,
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(|digit| char::from_digit(digit.into(), 16).unwrap()).collect()
}

pub(crate) fn sha256(content: &[u8]) -> String {
    hex(&Sha256::digest(content))
}

fn is_large(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|extension| extension == "safetensors" || extension == "bin")
}

/// The files of a folder by their path in it.
pub(crate) fn read(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.is_dir() {
            files
                .extend(read(&path).into_iter().map(|(inner, content)| (format!("{name}/{inner}"), content)));
        } else {
            files.insert(name, std::fs::read(path).unwrap());
        }
    }
    files
}

impl Hub {
    /// Serves these files until the runtime ends.
    pub(crate) async fn start(files: BTreeMap<String, Vec<u8>>) -> Arc<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let large = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = |listener: &TcpListener| format!("http://{}", listener.local_addr().unwrap());
        let hub = Arc::new(Self {
            url: url(&listener),
            large: url(&large),
            files,
            fault: Mutex::default(),
            log: Mutex::default(),
        });
        let router = Router::new()
            .route("/api/models/{org}/{name}/revision/{revision}", get(listing))
            .route("/{org}/{name}/resolve/{revision}/{*file}", get(resolve))
            .route("/api/resolve-cache/models/{*file}", get(small))
            .layer(axum::middleware::from_fn_with_state(Arc::clone(&hub), log))
            .with_state(Arc::clone(&hub));
        tokio::spawn(async move { axum::serve(listener, router).await });
        let server = Arc::clone(&hub);
        tokio::spawn(async move {
            loop {
                let (stream, _) = large.accept().await.unwrap();
                tokio::spawn(Arc::clone(&server).send_large(stream));
            }
        });
        hub
    }

    pub(crate) fn set(&self, fault: Fault) {
        *self.fault.lock().unwrap() = fault;
    }

    fn fault(&self) -> Fault {
        *self.fault.lock().unwrap()
    }

    /// The requests since the last call: paths, and ranges after a space.
    pub(crate) fn requests(&self) -> Vec<String> {
        std::mem::take(&mut *self.log.lock().unwrap())
    }

    /// Answers one request for a large file by hand, so that the connection can break.
    async fn send_large(self: Arc<Self>, mut stream: TcpStream) {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.unwrap());
        }
        let head = String::from_utf8(head).unwrap().to_lowercase();
        assert!(!head.contains("authorization"), "the token went to another server");
        let path = head.split(' ').nth(1).unwrap().to_owned();
        let range = head.lines().find_map(|line| line.strip_prefix("range: ")).unwrap_or_default();
        self.log.lock().unwrap().push(format!("{path} {range}").trim().to_owned());
        let hash = path.trim_start_matches("/objects/");
        let mut content = self.files.values().find(|content| sha256(content) == hash).unwrap().clone();
        let fault = self.fault();
        if fault == Fault::Spoiled {
            *content.last_mut().unwrap() ^= 1;
        } else if fault == Fault::Short {
            content.truncate(content.len() - 8);
        }
        let range = if fault == Fault::NoRanges { "" } else { range };
        let start: usize = range.trim_start_matches("bytes=").trim_end_matches('-').parse().unwrap_or(0);
        let (total, rest) = (content.len(), &content[start..]);
        let status = if range.is_empty() {
            "200 OK".to_owned()
        } else {
            format!("206 Partial Content\r\ncontent-range: bytes {start}-{}/{total}", total - 1)
        };
        let head =
            format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", rest.len());
        stream.write_all(head.as_bytes()).await.unwrap();
        let sent = match fault {
            Fault::Cut(times) if times > 0 => {
                self.set(Fault::Cut(times - 1));
                &rest[..rest.len() / 2]
            }
            _ => rest,
        };
        stream.write_all(sent).await.unwrap();
        stream.shutdown().await.unwrap();
    }
}

async fn log(State(hub): State<Arc<Hub>>, request: Request, next: axum::middleware::Next) -> Response {
    let token = request.headers().get(header::AUTHORIZATION).map(|token| token.to_str().unwrap().to_owned());
    assert!(token.is_none_or(|token| token == "Bearer hf_secret"));
    hub.log.lock().unwrap().push(request.uri().path().to_owned());
    next.run(request).await
}

fn refuse(status: StatusCode, code: &'static str) -> Response {
    (status, [("x-error-code", code)]).into_response()
}

async fn listing(
    State(hub): State<Arc<Hub>>,
    Segments((org, name, revision)): Segments<(String, String, String)>,
) -> Response {
    if org != "tiny" || name != "model" {
        return refuse(StatusCode::UNAUTHORIZED, "RepoNotFound");
    }
    if ![COMMIT, "main", "v1"].contains(&revision.as_str()) {
        return refuse(StatusCode::NOT_FOUND, "RevisionNotFound");
    }
    let siblings: Vec<_> = hub
        .files
        .iter()
        .map(|(name, content)| {
            let (size, blob) = (content.len(), git(content));
            if is_large(name) {
                let lfs = json!({"sha256": sha256(content), "size": size, "pointerSize": 133});
                json!({"rfilename": name, "size": size, "blobId": "0".repeat(40), "lfs": lfs})
            } else {
                json!({"rfilename": name, "size": size, "blobId": blob})
            }
        })
        .collect();
    axum::Json(json!({"id": "tiny/model", "sha": COMMIT, "siblings": siblings})).into_response()
}

/// The id that git gives to a content.
fn git(content: &[u8]) -> String {
    hex(&Sha1::new().chain_update(format!("blob {}\0", content.len())).chain_update(content).finalize())
}

async fn resolve(
    State(hub): State<Arc<Hub>>,
    Segments((org, repo, revision, name)): Segments<(String, String, String, String)>,
    sent: HeaderMap,
) -> Response {
    if hub.fault() == Fault::Gated && !sent.contains_key(header::AUTHORIZATION) {
        return refuse(StatusCode::UNAUTHORIZED, "GatedRepo");
    }
    let Some(content) = hub.files.get(&name).filter(|_| revision == COMMIT) else {
        return refuse(StatusCode::NOT_FOUND, "EntryNotFound");
    };
    let mut headers = HeaderMap::new();
    headers.insert("x-repo-commit", COMMIT.parse().unwrap());
    headers.insert("x-linked-size", content.len().into());
    let to = if is_large(&name) {
        headers.insert("x-linked-etag", format!("\"{}\"", sha256(content)).parse().unwrap());
        format!("{}/objects/{}", hub.large, sha256(content))
    } else {
        format!("/api/resolve-cache/models/{org}/{repo}/{revision}/{name}")
    };
    (headers, Redirect::temporary(&to)).into_response()
}

async fn small(State(hub): State<Arc<Hub>>, Segments(path): Segments<String>) -> Response {
    let name = path.splitn(4, '/').last().unwrap();
    let mut content = hub.files[name].clone();
    if hub.fault() == Fault::SpoiledText {
        content.reverse();
    }
    ([("etag", format!("\"{}\"", git(&hub.files[name]))), ("x-repo-commit", COMMIT.to_owned())], content)
        .into_response()
}
