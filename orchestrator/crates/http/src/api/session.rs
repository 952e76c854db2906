//! Logging in and out of a browser.

use super::call::{Call, Reply};
use super::route::{Needs, Nothing, Route, delete, post};
use crate::problem::Failure;
use crate::session::{clear_cookie, cookie, set_cookie};
use axum::http::{HeaderValue, StatusCode, header};
use lyra_store::TokenRefusal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Instant;

pub(super) fn routes() -> Vec<Route> {
    vec![
        post("/session", "open_session", "Exchange a token for the cookie of a session, for 12 hours", open)
            .needs(Needs::Nothing)
            .status(StatusCode::CREATED)
            .secret(),
        delete("/session", "end_session", "End the session of the cookie", end)
            .needs(Needs::Reading)
            .no_content()
            .secret(),
    ]
}

/// Who wants a session.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OpenSession {
    /// The token.
    token: String,
}

/// A session.
#[derive(Debug, Serialize, JsonSchema)]
struct Session {
    /// The name of its token.
    name: String,
    /// What it allows: `read` or `full`.
    scope: String,
}

async fn open(call: Call, body: OpenSession) -> Result<Reply<Session>, Failure> {
    let sent = body.token.trim();
    let token = match call.app().authenticate(sent).await? {
        Ok(token) => token,
        Err(refusal) => {
            let why = match refusal {
                TokenRefusal::Unknown => "unknown token",
                TokenRefusal::Expired => "the token has expired",
                TokenRefusal::Revoked => "the token was revoked",
            };
            tracing::warn!(why, "no session was opened");
            return Err(Failure::named(StatusCode::UNAUTHORIZED, "unauthorized", why)
                .hint("an operator can create tokens: lyra token create NAME")
                .header(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"lyra\"")));
        }
    };
    let value = call.api.sessions.open(sent, Instant::now());
    let cookie = set_cookie(&value, call.headers())
        .ok_or_else(|| Failure::internal("the cookie of the session cannot be written"))?;
    tracing::info!(actor = format!("token:{}", token.name), "a session was opened");
    let session = Session { name: token.name, scope: token.scope.to_string() };
    Ok(Reply::from(session).with(header::SET_COOKIE, cookie))
}

async fn end(call: Call, _: Nothing) -> Result<Reply<()>, Failure> {
    if let Some(value) = cookie(call.headers()) {
        call.api.sessions.end(value);
    }
    Ok(Reply::from(()).with(header::SET_COOKIE, clear_cookie()))
}
