//! Access control: bearer tokens, their scopes, and rate limits.
//!
//! On other addresses than loopback, a token is required. On loopback a caller without one is local; a token that is
//! sent is checked anyway.

use crate::refusal::{MCP, refusal};
use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;
use lyra_serve::rate::Limiter;
use lyra_store::{AuditOutcome, AuditVia, Scope, Token, TokenRefusal};
use lyra_usecases::{App, Caller, Mutation};
use serde_json::json;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Routes that only report whether the server is alive.
const OPEN: [&str; 2] = ["/health", "/ready"];
/// How often the use of one token is noted.
const NOTE_EVERY: Duration = Duration::from_mins(1);

/// Decides about every request.
pub(super) struct Gate {
    app: App,
    /// A token is required, even from loopback.
    required: bool,
    limiter: Limiter,
    /// When the use of each token was noted last.
    noted: Mutex<HashMap<String, Instant>>,
}

impl Gate {
    pub(super) fn new(app: App, required: bool) -> Self {
        let limiter = Limiter::new(app.config().server.requests_per_minute, Duration::from_mins(1));
        Self { app, required, limiter, noted: Mutex::default() }
    }

    /// The caller, and the name for its rate limit.
    async fn caller(
        &self,
        path: &str,
        headers: &HeaderMap,
        peer: &str,
    ) -> Result<(Caller, String), Response> {
        let sent = match bearer(headers) {
            Ok(sent) => sent,
            Err(why) => return Err(self.unauthorised(path, peer, why)),
        };
        let Some(sent) = sent else {
            if self.required {
                let why = "a token is required: send `Authorization: Bearer TOKEN`";
                return Err(self.unauthorised(path, peer, why));
            }
            return Ok((Caller::local(AuditVia::McpHttp), format!("peer {peer}")));
        };
        match self.app.authenticate(sent).await {
            Ok(Ok(token)) => {
                self.note_use(&token);
                Ok((Caller::token(&token, AuditVia::McpHttp), format!("token {}", token.id)))
            }
            Ok(Err(refusal)) => {
                let why = match refusal {
                    TokenRefusal::Unknown => "unknown token",
                    TokenRefusal::Expired => "the token has expired",
                    TokenRefusal::Revoked => "the token was revoked",
                };
                Err(self.unauthorised(path, peer, why))
            }
            Err(error) => {
                tracing::error!(%error, "tokens cannot be checked");
                let why = "tokens cannot be checked now";
                Err(refusal(path, StatusCode::SERVICE_UNAVAILABLE, "unavailable", why))
            }
        }
    }

    /// Refuses the request, and counts it against the peer.
    fn unauthorised(&self, path: &str, peer: &str, why: &str) -> Response {
        if let Err(wait) = self.limiter.admit(&format!("peer {peer}"), Instant::now()) {
            return too_many(path, wait);
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

/// Passes a request on with its [`Caller`] in its extensions, or refuses it.
pub(super) async fn admit(State(gate): State<Arc<Gate>>, mut request: Request, next: Next) -> Response {
    let path = request.uri().path().to_owned();
    if OPEN.contains(&path.as_str()) {
        return next.run(request).await;
    }
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|peer| peer.0.ip().to_string());
    let peer = peer.unwrap_or_else(|| "unknown".to_owned());
    let (mut caller, counted) = match gate.caller(&path, request.headers(), &peer).await {
        Ok(known) => known,
        Err(refusal) => return refusal,
    };
    if let Err(wait) = gate.limiter.admit(&counted, Instant::now()) {
        tracing::warn!(peer, actor = caller.actor, "too many requests");
        return too_many(&path, wait);
    }
    let reads = matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS);
    // The tools of the MCP endpoint are authorized individually.
    if path == MCP || reads {
        request.extensions_mut().insert(caller);
        return next.run(request).await;
    }
    caller.via = AuditVia::Http;
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
