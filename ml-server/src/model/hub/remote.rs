//! Requests to the hub, and the interpretation of its responses.

use std::collections::BTreeMap;
use std::error::Error as _;
use std::path::{Component, Path};
use std::time::Duration;

use reqwest::header::{ACCEPT_ENCODING, HeaderMap, HeaderValue, RANGE};
use reqwest::{Response, StatusCode, Url};
use serde::Deserialize;

use super::cache::is_commit;

/// Retries, each after twice the previous pause.
pub(super) const RETRIES: u32 = 4;
const FIRST_PAUSE: Duration = Duration::from_millis(200);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);
/// Longest silence of the hub.
const READ_TIMEOUT: Duration = Duration::from_mins(1);

/// Why something was not fetched, with the reason in words.
#[derive(Debug)]
pub(super) enum Trouble {
    /// It may be temporary.
    Passing(String),
    /// It is permanent.
    Final(String),
}

impl From<std::io::Error> for Trouble {
    fn from(error: std::io::Error) -> Self {
        Self::Final(format!("the cache cannot be written: {error}"))
    }
}

impl From<reqwest::Error> for Trouble {
    fn from(error: reqwest::Error) -> Self {
        // The address may contain a signature. The innermost cause is the informative one.
        let error = error.without_url();
        let mut text = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            text = cause.to_string();
            source = cause.source();
        }
        if error.is_builder() { Self::Final(text) } else { Self::Passing(text) }
    }
}

/// The hub that `HF_ENDPOINT` names.
pub(super) fn endpoint() -> String {
    let endpoint = std::env::var("HF_ENDPOINT").unwrap_or_default();
    let endpoint = if endpoint.is_empty() { "https://huggingface.co" } else { &endpoint };
    endpoint.trim_end_matches('/').to_owned()
}

/// The pause before try number `failures` + 1.
pub(super) async fn pause(failures: u32) {
    tokio::time::sleep(FIRST_PAUSE * 2_u32.pow(failures.saturating_sub(1))).await;
}

/// One repository on the hub.
pub(super) struct Remote {
    http: reqwest::Client,
    endpoint: Url,
    token: Option<String>,
    repo: String,
}

impl Remote {
    /// The repository on the hub of the environment, with its token.
    pub(super) fn from_environment(repo: &str) -> Result<Self, Trouble> {
        // A compressed answer would have another length and could not be resumed.
        let headers = HeaderMap::from_iter([(ACCEPT_ENCODING, HeaderValue::from_static("identity"))]);
        let http = lyra_tls::client()
            .user_agent(concat!("lyra-ml-server/", env!("CARGO_PKG_VERSION")))
            .default_headers(headers)
            .connect_timeout(CONNECT_TIMEOUT)
            .read_timeout(READ_TIMEOUT)
            .build()?;
        let endpoint = Url::parse(&endpoint())
            .ok()
            .filter(|url| !url.cannot_be_a_base())
            .ok_or_else(|| Trouble::Final("HF_ENDPOINT is not an http address".to_owned()))?;
        Ok(Self { http, endpoint, token: token(), repo: repo.to_owned() })
    }

    /// The repository's files at `revision`, which may be a branch, a tag or a commit.
    pub(super) async fn listing(&self, revision: &str) -> Result<Listing, Trouble> {
        let segments =
            ["api", "models"].into_iter().chain(self.repo.split('/')).chain(["revision", revision]);
        let mut url = self.url(segments);
        url.set_query(Some("blobs=true"));
        let mut failures = 0;
        let answer = loop {
            let answer =
                async { self.get(url.clone(), 0).await?.json::<Answer>().await.map_err(Trouble::from) };
            match answer.await {
                Ok(answer) => break answer,
                Err(Trouble::Passing(reason)) if failures < RETRIES => {
                    failures += 1;
                    tracing::warn!(repo = self.repo, reason, "the hub does not answer, retrying");
                    pause(failures).await;
                }
                Err(Trouble::Final(reason)) if reason == NOT_FOUND => {
                    return Err(Trouble::Final(format!(
                        "the repository does not exist, or has no revision {revision}"
                    )));
                }
                Err(trouble) => return Err(trouble),
            }
        };
        if !is_commit(&answer.sha) {
            return Err(Trouble::Final("the hub did not report the commit of the revision".to_owned()));
        }
        let files = answer.siblings.into_iter().map(|file| (file.rfilename.clone(), file)).collect();
        Ok(Listing { sha: answer.sha, files })
    }

    /// Starts to read a file, from byte `from` on where the hub can do that.
    pub(super) async fn open(&self, commit: &str, name: &str, from: u64) -> Result<Response, Trouble> {
        let segments = self.repo.split('/').chain(["resolve", commit]).chain(name.split('/'));
        self.get(self.url(segments), from).await
    }

    fn url<'a>(&self, segments: impl Iterator<Item = &'a str>) -> Url {
        let mut url = self.endpoint.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend(segments);
        }
        url
    }

    async fn get(&self, url: Url, from: u64) -> Result<Response, Trouble> {
        let mut request = self.http.get(url);
        if let Some(token) = &self.token {
            request = request.bearer_auth(token);
        }
        if from > 0 {
            request = request.header(RANGE, format!("bytes={from}-"));
        }
        let response = request.send().await?;
        let status = response.status();
        if status.is_success() || status == StatusCode::RANGE_NOT_SATISFIABLE {
            return Ok(response);
        }
        let code = response.headers().get("x-error-code").and_then(|code| code.to_str().ok());
        let page = format!("{}/{}", self.endpoint.as_str().trim_end_matches('/'), self.repo);
        Err(match (status, code.unwrap_or_default()) {
            (StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN, "GatedRepo") => Trouble::Final(format!(
                "the repository is gated: accept its terms at {page} and set HF_TOKEN to a token of that account"
            )),
            (StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN | StatusCode::NOT_FOUND, "RepoNotFound")
            | (StatusCode::UNAUTHORIZED, _) => Trouble::Final(format!(
                "the repository does not exist or is private; check the name at {page}, or set HF_TOKEN"
            )),
            (StatusCode::FORBIDDEN, _) => Trouble::Final(
                "access is forbidden (status 403); set HF_TOKEN to a token that may read it".to_owned(),
            ),
            (StatusCode::NOT_FOUND, _) => Trouble::Final(NOT_FOUND.to_owned()),
            (StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS, _) => {
                Trouble::Passing(format!("status {status}"))
            }
            _ if status.is_server_error() => Trouble::Passing(format!("status {status}")),
            _ => Trouble::Final(format!("status {status}")),
        })
    }
}

const NOT_FOUND: &str = "the hub does not have it (status 404)";

/// The token of `HF_TOKEN`, or the one that `hf auth login` saved.
fn token() -> Option<String> {
    let variable = |name| std::env::var(name).ok().filter(|value: &String| !value.trim().is_empty());
    if variable("HF_HUB_DISABLE_IMPLICIT_TOKEN").is_some() {
        return None;
    }
    let saved = || {
        let path =
            std::env::var_os("HF_TOKEN_PATH").map_or_else(|| super::place::home().join("token"), Into::into);
        std::fs::read_to_string(path).ok()
    };
    let token = variable("HF_TOKEN").or_else(saved)?;
    Some(token.trim().to_owned()).filter(|token| !token.is_empty())
}

#[derive(Deserialize)]
struct Answer {
    sha: String,
    siblings: Vec<Sibling>,
}

#[derive(Deserialize)]
struct Sibling {
    rfilename: String,
    size: Option<u64>,
    #[serde(rename = "blobId")]
    blob_id: Option<String>,
    lfs: Option<Lfs>,
}

#[derive(Deserialize)]
struct Lfs {
    sha256: String,
    size: u64,
}

/// The files of a commit.
pub(super) struct Listing {
    /// The commit.
    pub(super) sha: String,
    files: BTreeMap<String, Sibling>,
}

/// A file of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RemoteFile {
    /// Path in the repository.
    pub(super) name: String,
    /// Length in bytes.
    pub(super) size: u64,
    /// SHA-256 (64 digits) of large files, git's object id (40 digits) of others; the hub's `ETag`.
    pub(super) hash: String,
}

impl Listing {
    /// Whether the commit has this file.
    pub(super) fn has(&self, name: &str) -> bool {
        self.files.contains_key(name)
    }

    /// A file that can be downloaded and verified. `None` when the commit lacks it, the hub does not report its hash,
    /// or its name would escape the cache.
    pub(super) fn file(&self, name: &str) -> Option<RemoteFile> {
        let file = self.files.get(name)?;
        let (hash, size) = match &file.lfs {
            Some(lfs) => (&lfs.sha256, lfs.size),
            None => (file.blob_id.as_ref()?, file.size?),
        };
        let plain = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
        let hexadecimal = hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        (plain && hexadecimal && matches!(hash.len(), 40 | 64)).then(|| RemoteFile {
            name: name.to_owned(),
            size,
            hash: hash.to_ascii_lowercase(),
        })
    }
}
