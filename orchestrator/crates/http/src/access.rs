//! Access control: bearer tokens, their scopes, and rate limits.
//!
//! On other addresses than loopback, a token is required. On loopback a caller without one is local; a token that is
//! sent is checked anyway. A browser has a token's session in its place.

use crate::api;
use crate::refusal::{MCP, refusal};
use crate::session::{self, Sessions};
use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};
use lyra_store::{AuditOutcome, AuditVia, Scope, Token, TokenRefusal};
use lyra_usecases::rate::Limiter;
use lyra_usecases::{App, AppError, Caller, Mutation};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use secrecy::{ExposeSecret, SecretString};
use serde_json::json;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Routes that only report whether the server is alive, and the page where one logs in.
const OPEN: [&str; 3] = ["/health", "/ready", "/login"];
/// What that page needs.
const ASSETS: &str = "/assets/";
/// Routes for programs, which are not sent to the page where one logs in.
const PROGRAMS: [&str; 2] = [MCP, "/metrics"];
/// How often the use of one token is noted.
const NOTE_EVERY: Duration = Duration::from_mins(1);

/// Decides about every request.
pub(super) struct Gate {
    app: App,
    /// A token is required, even from loopback.
    required: bool,
    sessions: Arc<Sessions>,
    limiter: Limiter,
    /// When the use of each token was noted last.
    noted: Mutex<HashMap<String, Instant>>,
}

impl Gate {
    pub(super) fn new(app: App, required: bool, sessions: Arc<Sessions>) -> Self {
        let limiter = Limiter::new(app.config().server.requests_per_minute, Duration::from_mins(1));
        Self { app, required, sessions, limiter, noted: Mutex::default() }
    }

    /// The caller, the name for its rate limit, and what proves who it is.
    async fn caller(&self, request: &Head<'_>, peer: &str) -> Result<(Caller, String, Proof), Response> {
        let path = request.path();
        let via = if path == MCP { AuditVia::McpHttp } else { AuditVia::Http };
        let proof = match Proof::of(request.headers) {
            Ok(proof) => proof,
            Err(why) => return Err(self.unauthorised(request, peer, why)),
        };
        let local = || (Caller::local(via), format!("peer {peer}"), Proof::None);
        let why = match self.token_of(&proof).await {
            Ok(None) if self.required => "a token is required: send `Authorization: Bearer TOKEN`",
            Ok(None) => return Ok(local()),
            Ok(Some(Ok(token))) => {
                if matches!(proof, Proof::Session(_))
                    && !request.reads()
                    && !session::from_own_page(request.headers)
                {
                    let why = "a session may only change something from a page of this server: the request's \
                               `Origin` must name the host that it is sent to";
                    return Err(refusal(path, StatusCode::FORBIDDEN, "forbidden", why));
                }
                self.note_use(&token);
                return Ok((Caller::token(&token, via), format!("token {}", token.id), proof));
            }
            Ok(Some(Err(refusal))) => {
                if let Proof::Session(value) = &proof {
                    self.sessions.end(value.expose_secret());
                    if !self.required {
                        return Ok(local());
                    }
                }
                match refusal {
                    TokenRefusal::Unknown => "unknown token",
                    TokenRefusal::Expired => "the token has expired",
                    TokenRefusal::Revoked => "the token was revoked",
                }
            }
            Err(error) => {
                tracing::error!(%error, "tokens cannot be checked");
                let why = "tokens cannot be checked now";
                return Err(refusal(path, StatusCode::SERVICE_UNAVAILABLE, "unavailable", why));
            }
        };
        Err(self.unauthorised(request, peer, why))
    }

    /// The token behind a proof; `None` without one, or when its session has ended.
    async fn token_of(&self, proof: &Proof) -> Result<Option<Result<Token, TokenRefusal>>, AppError> {
        let sent = match proof {
            Proof::None => None,
            Proof::Token(token) => Some(token.clone()),
            Proof::Session(value) => self.sessions.token(value.expose_secret(), Instant::now()),
        };
        let Some(sent) = sent else { return Ok(None) };
        self.app.authenticate(sent.expose_secret()).await.map(Some)
    }

    /// Whether what was proven still holds: the token was not revoked, the session has not ended.
    pub(super) async fn still_holds(&self, proof: &Proof) -> bool {
        match self.token_of(proof).await {
            Ok(None) => matches!(proof, Proof::None),
            Ok(Some(token)) => token.is_ok(),
            // The disk may be busy: the next check decides.
            Err(_) => true,
        }
    }

    /// Refuses the request, and counts it against the peer. A person is sent to the page where one logs in.
    fn unauthorised(&self, request: &Head<'_>, peer: &str, why: &str) -> Response {
        let path = request.path();
        if let Err(wait) = self.limiter.admit(&format!("peer {peer}"), Instant::now()) {
            return too_many(path, wait);
        }
        if request.is_for_page() {
            let wanted = request.uri.path_and_query().map_or("/", |wanted| wanted.as_str());
            let next = utf8_percent_encode(wanted, NON_ALPHANUMERIC);
            return Redirect::to(&format!("/login?next={next}")).into_response();
        }
        tracing::warn!(peer, why, "request refused");
        let mut response = refusal(path, StatusCode::UNAUTHORIZED, "unauthorized", why);
        response.headers_mut().insert(
            header::WWW_AUTHENTICATE,
            HeaderValue::from_static("Bearer realm=\"lyra\", error=\"invalid_token\""),
        );
        response
    }

    /// Once a minute is enough to see which tokens are unused.
    fn note_use(&self, token: &Token) {
        let now = Instant::now();
        let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        if noted.get(&token.id).is_some_and(|last| now.duration_since(*last) < NOTE_EVERY) {
            return;
        }
        noted.insert(token.id.clone(), now);
        let (app, id) = (self.app.clone(), token.id.clone());
        tokio::spawn(async move { app.note_token_use(&id).await });
    }
}

/// What proves who a caller is.
#[derive(Clone)]
pub(super) enum Proof {
    /// Nothing.
    None,
    /// A token in the request.
    Token(SecretString),
    /// The cookie of a session.
    Session(SecretString),
}

/// Lets a long request ask whether its caller may still make it.
#[derive(Clone)]
pub(super) struct Standing {
    gate: Arc<Gate>,
    proof: Proof,
}

impl Standing {
    /// Whether the caller's token was not revoked, and its session has not ended.
    pub(super) async fn holds(&self) -> bool {
        self.gate.still_holds(&self.proof).await
    }
}

impl Proof {
    /// The token of a request, else its cookie.
    fn of(headers: &HeaderMap) -> Result<Self, &'static str> {
        Ok(match (bearer(headers)?, session::cookie(headers)) {
            (Some(token), _) => Self::Token(SecretString::from(token)),
            (None, Some(value)) => Self::Session(SecretString::from(value)),
            (None, None) => Self::None,
        })
    }
}

/// The head of a request.
struct Head<'a> {
    method: &'a Method,
    uri: &'a Uri,
    headers: &'a HeaderMap,
}

impl Head<'_> {
    fn path(&self) -> &str {
        self.uri.path()
    }

    fn reads(&self) -> bool {
        matches!(*self.method, Method::GET | Method::HEAD | Method::OPTIONS)
    }

    /// Whether a person wants to see a page.
    fn is_for_page(&self) -> bool {
        let accept = self.headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok());
        self.method == Method::GET
            && accept.is_some_and(|accept| accept.contains("text/html"))
            && !PROGRAMS.contains(&self.path())
            && !api::is_below(self.path())
    }
}

/// Passes a request on with its [`Caller`] in its extensions, or refuses it.
pub(super) async fn admit(State(gate): State<Arc<Gate>>, mut request: Request, next: Next) -> Response {
    let path = request.uri().path().to_owned();
    if OPEN.contains(&path.as_str()) || path.starts_with(ASSETS) {
        return next.run(request).await;
    }
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|peer| peer.0.ip().to_string());
    let peer = peer.unwrap_or_else(|| "unknown".to_owned());
    if api::opens_session(request.method(), &path) {
        return match gate.limiter.admit(&format!("peer {peer}"), Instant::now()) {
            Ok(()) => next.run(request).await,
            Err(wait) => too_many(&path, wait),
        };
    }
    let head = Head { method: request.method(), uri: request.uri(), headers: request.headers() };
    let reads = head.reads();
    let (caller, counted, proof) = match gate.caller(&head, &peer).await {
        Ok(known) => known,
        Err(refusal) => return refusal,
    };
    if let Err(wait) = gate.limiter.admit(&counted, Instant::now()) {
        tracing::warn!(peer, actor = caller.actor, "too many requests");
        return too_many(&path, wait);
    }
    // The tools of the MCP endpoint and the routes of the API are authorized and recorded individually.
    let individual = path == MCP || api::is_below(&path);
    if api::is_below(&path) {
        request.extensions_mut().insert(Standing { gate: Arc::clone(&gate), proof });
    }
    if individual || reads {
        request.extensions_mut().insert(caller);
        return next.run(request).await;
    }
    let refused = caller.scope == Scope::Read;
    let call = Mutation::begin(caller.clone(), format!("{} {path}", request.method()), json!({}));
    let (response, outcome) = if refused {
        let why = "this token is read-only; the request changes something";
        (refusal(&path, StatusCode::FORBIDDEN, "forbidden", why), AuditOutcome::Refused)
    } else {
        request.extensions_mut().insert(caller);
        let response = next.run(request).await;
        let outcome = if response.status().is_success() { AuditOutcome::Ok } else { AuditOutcome::Error };
        (response, outcome)
    };
    gate.app.audit(call, outcome, Some(response.status().to_string())).await;
    response
}

/// The token of the `Authorization` header, if any.
fn bearer(headers: &HeaderMap) -> Result<Option<&str>, &'static str> {
    let mut all = headers.get_all(header::AUTHORIZATION).iter();
    let Some(value) = all.next() else { return Ok(None) };
    let malformed = "the Authorization header does not have the form `Bearer TOKEN`";
    if all.next().is_some() {
        return Err("there is more than one Authorization header");
    }
    let (scheme, token) =
        value.to_str().ok().and_then(|text| text.trim().split_once(' ')).ok_or(malformed)?;
    if scheme.eq_ignore_ascii_case("bearer") { Ok(Some(token.trim())) } else { Err(malformed) }
}

fn too_many(path: &str, wait: Duration) -> Response {
    let seconds = wait.as_secs_f64().ceil().max(1.0) as u64;
    let why = format!("too many requests; try again in {seconds} s");
    let mut response = refusal(path, StatusCode::TOO_MANY_REQUESTS, "unavailable", &why);
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_bearer_token_is_one() {
        let headers = |values: &[&'static str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(header::AUTHORIZATION, HeaderValue::from_static(value));
            }
            headers
        };
        assert_eq!(bearer(&headers(&[])), Ok(None));
        for sent in ["Bearer lyra_a_b", "bearer lyra_a_b", "BEARER  lyra_a_b "] {
            assert_eq!(bearer(&headers(&[sent])), Ok(Some("lyra_a_b")), "{sent}");
        }
        for sent in [&["Basic bHlyYQ=="][..], &["lyra_a_b"], &[""], &["Bearer a", "Bearer b"]] {
            assert!(bearer(&headers(sent)).is_err(), "{sent:?}");
        }
    }
}
