//! One request and its answer: timed, bounded, repeated a few times where that helps, and without secrets in messages.

use crate::backend::BackendKind;
use crate::embedded::stoppable;
use crate::{CorpusError, Result};
use reqwest::header::RETRY_AFTER;
use reqwest::{Method, RequestBuilder, StatusCode};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
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

/// A client of one server.
#[derive(Debug, Clone)]
pub(super) struct Client {
    kind: BackendKind,
    base: Url,
    auth: Auth,
    timeout: Duration,
    http: reqwest::Client,
}

impl Client {
    /// Creates a client without connecting.
    pub(super) fn new(kind: BackendKind, url: &str, auth: Auth, timeout: Duration) -> Result<Self> {
        let setting = |why: String, expected: &str| CorpusError::Search {
            why: format!("{kind}: {why}"),
            expected: expected.to_owned(),
        };
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
        if auth.secret().is_some_and(|secret| !secret.chars().all(|c| c.is_ascii_graphic() || c == ' ')) {
            return Err(setting(
                "the key holds characters that no header can hold".to_owned(),
                "copy it again",
            ));
        }
        let loopback =
            base.host_str().is_some_and(|host| matches!(host, "localhost" | "127.0.0.1" | "[::1]"));
        let mut http = reqwest::Client::builder()
            // A redirect would carry the key to an address outside the configuration.
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(CONNECT_TIMEOUT)
            .user_agent(concat!("Lyra/", env!("CARGO_PKG_VERSION")));
        if loopback {
            http = http.no_proxy();
        }
        let http = http.build().map_err(|error| setting(error.to_string(), "check the network settings"))?;
        Ok(Self { kind, base, auth, timeout, http })
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
        let mut url = self.base.clone();
        if let Ok(mut parts) = url.path_segments_mut() {
            parts.pop_if_empty().extend(path);
        }
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        let mut pause = PAUSE;
        for attempt in 0.. {
            let mut request = self.auth.sign(self.http.request(method.clone(), url.clone()));
            if let Some(body) = body {
                request = request.json(body);
            }
            let error = match stoppable(stop, self.exchange(request)).await {
                Err(Failure::Final(error)) => return Err(error),
                Err(Failure::Passing { error, pause }) => (error, pause),
                Ok(answer) => return Ok(answer),
            };
            let (error, named) = error;
            let wait = named.unwrap_or(pause);
            if attempt >= RETRIES || wait > LONGEST_PAUSE {
                return Err(error);
            }
            tracing::debug!(backend = %self.kind, %error, "asking again");
            stoppable(stop, async {
                tokio::time::sleep(wait).await;
                Ok::<(), CorpusError>(())
            })
            .await?;
            pause *= 2;
        }
        Ok(None)
    }

    async fn exchange(&self, request: RequestBuilder) -> std::result::Result<Option<Value>, Failure> {
        let limit = self.timeout;
        let answer = tokio::time::timeout(limit, self.answer(request)).await;
        answer.unwrap_or_else(|_| {
            let why = format!("no answer from {} within {} s", self.base, limit.as_secs_f64());
            Err(Failure::Passing { error: self.error(why, true), pause: None })
        })
    }

    async fn answer(&self, request: RequestBuilder) -> std::result::Result<Option<Value>, Failure> {
        let unreachable = |error: &reqwest::Error| {
            let mut cause: &dyn std::error::Error = error;
            while let Some(source) = cause.source() {
                cause = source;
            }
            let why = format!("cannot reach {}: {cause}", self.base);
            Failure::Passing { error: self.error(why, true), pause: None }
        };
        let mut response = request.send().await.map_err(|error| unreachable(&error))?;
        let status = response.status();
        let retry_after =
            response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.trim().parse().ok());
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| unreachable(&error))? {
            if body.len() + chunk.len() > MAX_BODY {
                return Err(Failure::Final(
                    self.error(format!("the answer exceeds {} MiB", MAX_BODY >> 20), false),
                ));
            }
            body.extend_from_slice(&chunk);
        }
        if status.is_success() {
            return serde_json::from_slice(&body).map(Some).map_err(|error| {
                Failure::Final(self.error(format!("the response is not valid JSON: {error}"), false))
            });
        }
        if status == StatusCode::NOT_FOUND {
            return Ok(None);
        }
        let message = self.shown(&body);
        if status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error() {
            let error =
                self.error(format!("the server cannot answer now ({}): {message}", status.as_u16()), true);
            return Err(Failure::Passing { error, pause: retry_after.map(Duration::from_secs) });
        }
        let hint = match status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => "; check the key in the configuration",
            _ if status.is_redirection() => "; it redirects, which is not followed: check the address",
            _ => "",
        };
        Err(Failure::Final(
            self.error(
                format!("the server refuses the request ({}): {message}{hint}", status.as_u16()),
                false,
            ),
        ))
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

/// Why there is no answer, and whether asking again may help.
enum Failure {
    Final(CorpusError),
    Passing { error: CorpusError, pause: Option<Duration> },
}

impl From<CorpusError> for Failure {
    fn from(error: CorpusError) -> Self {
        Self::Final(error)
    }
}
