//! One request and its answer: timed, bounded, repeated a few times where that helps, and without secrets in messages.

use crate::backend::BackendKind;
use crate::embedded::stoppable;
use crate::{CorpusError, Result};
use lyra_tls::Distrust;
use reqwest::header::{CONTENT_TYPE, RETRY_AFTER};
use reqwest::{Certificate, Method, RequestBuilder, StatusCode};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use url::Url;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Repetitions of a request that a server in trouble did not answer.
const RETRIES: u32 = 2;
/// Pause before the first of them, doubled each time, when the server names none.
const PAUSE: Duration = Duration::from_millis(300);
/// A server that wants a longer pause than this is not waited for.
const LONGEST_PAUSE: Duration = Duration::from_secs(20);
/// Most bytes of an answer: ten thousand hits, or some hundred full texts.
const MAX_BODY: usize = 256 << 20;
/// Most characters of an explanation that a server gives.
const MAX_MESSAGE: usize = 300;

/// How requests say who asks.
#[derive(Debug, Clone)]
pub(super) enum Auth {
    None,
    Basic {
        user: String,
        password: SecretString,
    },
    /// `Authorization: SCHEME KEY`.
    Scheme {
        scheme: &'static str,
        key: SecretString,
    },
}

impl Auth {
    fn secret(&self) -> Option<&str> {
        match self {
            Self::None => None,
            Self::Basic { password, .. } => Some(password.expose_secret()),
            Self::Scheme { key, .. } => Some(key.expose_secret()),
        }
    }

    fn sign(&self, request: RequestBuilder) -> RequestBuilder {
        match self {
            Self::None => request,
            Self::Basic { user, password } => request.basic_auth(user, Some(password.expose_secret())),
            Self::Scheme { scheme, key } => {
                let text = format!("{scheme} {}", key.expose_secret());
                match reqwest::header::HeaderValue::from_str(&text) {
                    Ok(mut value) => {
                        value.set_sensitive(true);
                        request.header(reqwest::header::AUTHORIZATION, value)
                    }
                    // `Client::new` refuses such a key.
                    Err(_) => request,
                }
            }
        }
    }
}

/// What a server means by an answer that is not a success: why, and whether asking again may help. `None`: what the
/// status says.
pub(super) type Explain = fn(StatusCode, &Value) -> Option<(String, bool)>;

/// Where a server is, and how it is talked to.
pub(super) struct Access<'a> {
    pub(super) kind: BackendKind,
    /// Addresses of nodes that answer alike, one at least: the next one is asked when one does not answer.
    pub(super) urls: &'a [String],
    pub(super) auth: Auth,
    /// Certificates of authorities to trust besides the system's, as PEM.
    pub(super) ca_file: Option<&'a Path>,
    pub(super) timeout: Duration,
    pub(super) explain: Explain,
}

/// A client of one server, or of the nodes of one.
#[derive(Debug, Clone)]
pub(super) struct Client {
    kind: BackendKind,
    bases: Vec<Url>,
    /// The node that answered last.
    at: Arc<AtomicUsize>,
    auth: Auth,
    timeout: Duration,
    explain: Explain,
    http: reqwest::Client,
}

/// What a request carries.
#[derive(Debug, Clone, Copy)]
pub(super) enum Body<'a> {
    None,
    Json(&'a Value),
    /// JSON values, each on a line.
    Lines(&'a [u8]),
}

impl<'a> From<Option<&'a Value>> for Body<'a> {
    fn from(body: Option<&'a Value>) -> Self {
        body.map_or(Self::None, Self::Json)
    }
}

impl Client {
    /// Creates a client without connecting.
    pub(super) fn new(access: Access<'_>) -> Result<Self> {
        let Access { kind, urls, auth, ca_file, timeout, explain } = access;
        let setting = |why: String, expected: &str| CorpusError::Search {
            why: format!("{kind}: {why}"),
            expected: expected.to_owned(),
        };
        let bases = urls.iter().map(|url| base(url, &setting)).collect::<Result<Vec<Url>>>()?;
        if bases.is_empty() {
            return Err(setting("the address is missing".to_owned(), "write it like https://host:9200"));
        }
        if auth.secret().is_some_and(|secret| !secret.chars().all(|c| c.is_ascii_graphic() || c == ' ')) {
            return Err(setting(
                "the key holds characters that no header can hold".to_owned(),
                "copy it again",
            ));
        }
        let is_loopback = |base: &Url| matches!(base.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"));
        let mut http = lyra_tls::client()
            // A redirect would carry the key to an address outside the configuration.
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(CONNECT_TIMEOUT)
            .user_agent(concat!("Lyra/", env!("CARGO_PKG_VERSION")));
        if bases.iter().all(is_loopback) {
            http = http.no_proxy();
        }
        if let Some(path) = ca_file {
            let unusable = |why: String| {
                setting(format!("ca_file {}: {why}", path.display()), "name a file of certificates as PEM")
            };
            let pem = std::fs::read(path).map_err(|error| unusable(error.to_string()))?;
            let own = Certificate::from_pem_bundle(&pem).map_err(|error| unusable(error.to_string()))?;
            if own.is_empty() {
                return Err(unusable("it has no certificate".to_owned()));
            }
            http = http.tls_certs_merge(own);
        }
        let http =
            http.build().map_err(|error| setting(cause(&error), "check the network settings and ca_file"))?;
        Ok(Self { kind, bases, at: Arc::default(), auth, timeout, explain, http })
    }

    /// The node to ask now.
    fn base(&self) -> (usize, &Url) {
        let at = self.at.load(Ordering::Relaxed) % self.bases.len();
        (at, &self.bases[at])
    }

    /// One attempt: the status and the body, `Value::Null` for one that is not JSON.
    ///
    /// # Errors
    /// [`CorpusError::Backend`] when there is no answer, which is passing; [`CorpusError::Stopped`].
    pub(super) async fn send(
        &self,
        method: &Method,
        path: &[&str],
        query: &[(&str, &str)],
        body: Body<'_>,
        stop: &CancellationToken,
    ) -> Result<Answer> {
        let (at, base) = self.base();
        let mut url = base.clone();
        if let Ok(mut parts) = url.path_segments_mut() {
            parts.pop_if_empty().extend(path);
        }
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        let mut request = self.auth.sign(self.http.request(method.clone(), url));
        request = match body {
            Body::None => request,
            Body::Json(json) => request.json(json),
            Body::Lines(lines) => request.header(CONTENT_TYPE, "application/x-ndjson").body(lines.to_vec()),
        };
        let exchange = async {
            let limit = self.timeout;
            let answer = tokio::time::timeout(limit, self.answer(request, base)).await;
            answer.unwrap_or_else(|_| {
                Err(self.error(format!("no answer from {base} within {} s", limit.as_secs_f64()), true))
            })
        };
        let answer = stoppable(stop, exchange).await;
        if matches!(answer, Err(CorpusError::Backend { passing: true, .. })) {
            // The next request goes to the next node, unless another request saw to that.
            let next = (at + 1) % self.bases.len();
            let _ = self.at.compare_exchange(at, next, Ordering::Relaxed, Ordering::Relaxed);
        }
        answer
    }

    /// Asks for a path under the base, each part of it escaped. `None` when there is nothing of that name (404).
    pub(super) async fn ask(
        &self,
        method: &Method,
        path: &[&str],
        query: &[(&str, &str)],
        body: Option<&Value>,
        stop: &CancellationToken,
    ) -> Result<Option<Value>> {
        let mut pause = PAUSE;
        // Every node is asked once before any is asked again.
        let (mut attempt, mut others) = (0, self.bases.len() - 1);
        loop {
            let (error, named) = match self.send(method, path, query, body.into(), stop).await {
                Ok(Answer { status: StatusCode::NOT_FOUND, .. }) => return Ok(None),
                Ok(answer) if answer.status.is_success() => {
                    let whole = |body: Value| (!body.is_null()).then_some(body);
                    let json = whole(answer.body);
                    return json
                        .map(Some)
                        .ok_or_else(|| self.error("the response is not valid JSON".to_owned(), false));
                }
                Ok(answer) => (self.refusal(&answer), answer.pause),
                Err(error @ CorpusError::Backend { passing: true, .. }) if others > 0 => {
                    tracing::debug!(backend = %self.kind, %error, "asking another node");
                    others -= 1;
                    continue;
                }
                Err(error) => (error, None),
            };
            let is_passing = matches!(error, CorpusError::Backend { passing: true, .. });
            let wait = named.unwrap_or(pause);
            if !is_passing || attempt >= RETRIES || wait > LONGEST_PAUSE {
                return Err(error);
            }
            tracing::debug!(backend = %self.kind, %error, "asking again");
            self.rest(wait, stop).await?;
            attempt += 1;
            pause *= 2;
        }
    }

    /// Waits.
    pub(super) async fn rest(&self, pause: Duration, stop: &CancellationToken) -> Result<()> {
        stoppable(stop, async {
            tokio::time::sleep(pause).await;
            Ok::<(), CorpusError>(())
        })
        .await
    }

    async fn answer(&self, request: RequestBuilder, base: &Url) -> Result<Answer> {
        let unreachable = |error: &reqwest::Error| match lyra_tls::distrust(error) {
            Some(distrust) => self.error(distrusted(base, &distrust), false),
            None => self.error(format!("cannot reach {base}: {}", cause(error)), true),
        };
        let mut response = request.send().await.map_err(|error| unreachable(&error))?;
        let status = response.status();
        let pause =
            response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.trim().parse().ok());
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| unreachable(&error))? {
            if body.len() + chunk.len() > MAX_BODY {
                return Err(self.error(format!("the answer exceeds {} MiB", MAX_BODY >> 20), false));
            }
            body.extend_from_slice(&chunk);
        }
        let said = if status.is_success() { String::new() } else { self.shown(&body) };
        let body = serde_json::from_slice(&body).unwrap_or_default();
        Ok(Answer { status, body, said, pause: pause.map(Duration::from_secs) })
    }

    /// What an answer that is no success means.
    pub(super) fn refusal(&self, answer: &Answer) -> CorpusError {
        let Answer { status, body, said, .. } = answer;
        if let Some((why, passing)) = (self.explain)(*status, body) {
            return self.error(why, passing);
        }
        let code = status.as_u16();
        if *status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error() {
            return self.error(format!("the server cannot answer now ({code}): {said}"), true);
        }
        let hint = match *status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => "; check the key in the configuration",
            _ if status.is_redirection() => "; it redirects, which is not followed: check the address",
            _ => "",
        };
        self.error(format!("the server refuses the request ({code}): {said}{hint}"), false)
    }

    pub(super) fn error(&self, why: String, passing: bool) -> CorpusError {
        CorpusError::Backend { backend: self.kind, why, passing }
    }

    /// What an error's body says: short, on one line, without the secret.
    fn shown(&self, body: &[u8]) -> String {
        let said = serde_json::from_slice::<Value>(body).ok().and_then(|body| {
            let error = &body["error"];
            [&error["root_cause"][0]["reason"], &error["reason"], error, &body["message"], &body["detail"]]
                .into_iter()
                .find_map(|place| place.as_str().map(str::to_owned))
        });
        let text = said.unwrap_or_else(|| String::from_utf8_lossy(body).into_owned());
        let text = self
            .auth
            .secret()
            .filter(|secret| !secret.is_empty())
            .map_or_else(|| text.clone(), |secret| text.replace(secret, "…"));
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let line: String = line.chars().filter(|c| !c.is_control()).take(MAX_MESSAGE).collect();
        if line.is_empty() { "no explanation given".to_owned() } else { line }
    }
}

/// The address of a server, to which paths are added.
fn base(url: &str, setting: &impl Fn(String, &str) -> CorpusError) -> Result<Url> {
    let mut base = Url::parse(url).map_err(|error| {
        setting(format!("`{url}` is not a valid URL: {error}"), "write it like https://host:9200")
    })?;
    if !matches!(base.scheme(), "http" | "https") || base.host().is_none() {
        return Err(setting(format!("`{url}` is not an HTTP URL"), "write it like https://host:9200"));
    }
    if !base.username().is_empty() || base.password().is_some() {
        return Err(setting(
            "the address holds a password".to_owned(),
            "give user and password as settings of their own",
        ));
    }
    if !base.path().ends_with('/') {
        base.set_path(&format!("{}/", base.path()));
    }
    Ok(base)
}

/// What is wrong with a certificate, and what helps.
fn distrusted(base: &Url, distrust: &Distrust) -> String {
    let why = match distrust {
        Distrust::Issuer => {
            "no authority that this machine trusts has signed it. If it is your own, name its certificate as ca_file"
        }
        Distrust::Name => "it is for another host. Use an address that the certificate names",
        Distrust::Expired => "it has expired. Renew it",
        Distrust::Other(why) => why,
    };
    format!("the certificate of {base} is not accepted: {why}")
}

/// The innermost reason.
fn cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

/// An answer of any status.
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) body: Value,
    /// What an error's body says, for people.
    said: String,
    /// The pause that the server asks for.
    pub(super) pause: Option<Duration>,
}
