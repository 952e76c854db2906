//! MCP sessions: whose each is, and how many there may be.

use super::{NO_SESSION, SESSION, refuse};
use axum::http::StatusCode;
use axum::response::Response;
use rmcp::transport::streamable_http_server::SessionManager;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::Mutex;

/// Most sessions of one caller: of a token, or of all programs of this machine that send none.
pub(super) const PER_CALLER: usize = 64;
/// Most sessions in all. One takes about 70 kB.
pub(super) const IN_ALL: usize = 256;

/// The sessions that rmcp keeps, with their owners.
#[derive(Debug)]
pub(super) struct Sessions {
    manager: Arc<LocalSessionManager>,
    /// Held while one is opened, so that those opened at once are counted.
    seats: Mutex<HashMap<String, Seat>>,
}

#[derive(Debug)]
struct Seat {
    owner: String,
    used: Instant,
    /// Shared with every answer that is still being read.
    open: Arc<()>,
}

/// Keeps a session from counting as idle.
#[derive(Debug)]
pub(super) struct InUse(#[expect(dead_code, reason = "counted")] Arc<()>);

/// What a session is to a caller.
#[derive(Debug)]
pub(super) enum Use {
    /// Theirs.
    Own(InUse),
    /// Somebody else's.
    Other,
    /// Not known.
    Unknown,
}

impl Sessions {
    pub(super) fn new(manager: Arc<LocalSessionManager>) -> Self {
        Self { manager, seats: Mutex::default() }
    }

    /// Begins to use the session of this id.
    pub(super) async fn enter(&self, id: &str, caller: &str) -> Use {
        match self.seats.lock().await.get_mut(id) {
            None => Use::Unknown,
            Some(seat) if seat.owner != caller => Use::Other,
            Some(seat) => {
                seat.used = Instant::now();
                Use::Own(InUse(Arc::clone(&seat.open)))
            }
        }
    }

    /// The session has ended.
    pub(super) async fn forget(&self, id: &str) {
        self.seats.lock().await.remove(id);
    }

    /// Opens a session by `initialize`, whose answer names it. For one more than the limits, the caller's idle session that was
    /// used longest ago ends, or anybody's when it is the limit of all. 429 when none of these is idle.
    pub(super) async fn open(&self, caller: &str, initialize: impl Future<Output = Response>) -> Response {
        let mut seats = self.seats.lock().await;
        {
            let alive = self.manager.sessions.read().await;
            seats.retain(|id, _| alive.contains_key(id.as_str()));
        }
        let own = seats.values().filter(|seat| seat.owner == caller).count();
        if own >= PER_CALLER || seats.len() >= IN_ALL {
            let oldest = seats
                .iter()
                .filter(|(_, seat)| own < PER_CALLER || seat.owner == caller)
                .filter(|(_, seat)| Arc::strong_count(&seat.open) == 1)
                .min_by_key(|(_, seat)| seat.used)
                .map(|(id, _)| id.clone());
            let Some(oldest) = oldest else {
                let why = "too many sessions are in use: end one of them first";
                return refuse(StatusCode::TOO_MANY_REQUESTS, NO_SESSION, &Value::Null, why);
            };
            seats.remove(&oldest);
            if let Err(error) = self.manager.close_session(&oldest.into()).await {
                tracing::debug!(%error, "an idle session did not end cleanly");
            }
        }
        let response = initialize.await;
        if let Some(id) = response.headers().get(SESSION).and_then(|id| id.to_str().ok()) {
            let seat = Seat { owner: caller.to_owned(), used: Instant::now(), open: Arc::default() };
            seats.insert(id.to_owned(), seat);
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;

    async fn open(sessions: &Sessions, caller: &str) -> Result<String, StatusCode> {
        let manager = Arc::clone(&sessions.manager);
        let response = sessions
            .open(caller, async move {
                let (id, _) = manager.create_session().await.expect("a session");
                Response::builder().header(SESSION, id.as_ref()).body(Body::empty()).expect("an answer")
            })
            .await;
        let id = response.headers().get(SESSION).map(|id| id.to_str().expect("text").to_owned());
        id.ok_or(response.status())
    }

    #[tokio::test]
    async fn a_session_is_its_callers_alone() {
        let sessions = Sessions::new(Arc::default());
        let id = open(&sessions, "token:a").await.expect("a session");
        assert!(matches!(sessions.enter(&id, "token:a").await, Use::Own(_)));
        assert!(matches!(sessions.enter(&id, "token:b").await, Use::Other));
        assert!(matches!(sessions.enter(&id, "local").await, Use::Other));
        assert!(matches!(sessions.enter("other", "token:a").await, Use::Unknown));
    }

    #[tokio::test]
    async fn one_too_many_ends_the_callers_oldest_idle_one() {
        let sessions = Sessions::new(Arc::default());
        let others = open(&sessions, "token:b").await.expect("a session");
        let mut own = Vec::new();
        for _ in 0..PER_CALLER {
            own.push(open(&sessions, "token:a").await.expect("a session"));
        }
        let Use::Own(in_use) = sessions.enter(&own[0], "token:a").await else { panic!("it is theirs") };
        open(&sessions, "token:a").await.expect("one more");
        assert!(matches!(sessions.enter(&own[1], "token:a").await, Use::Unknown), "the oldest idle one");
        assert!(matches!(sessions.enter(&own[0], "token:a").await, Use::Own(_)), "it was in use");
        assert!(matches!(sessions.enter(&others, "token:b").await, Use::Own(_)), "another caller's");
        assert_eq!(sessions.manager.sessions.read().await.len(), PER_CALLER + 1);
        drop(in_use);
    }

    #[tokio::test]
    async fn there_is_an_end_for_all_callers_together() {
        let sessions = Sessions::new(Arc::default());
        let mut held = Vec::new();
        for n in 0..IN_ALL {
            let caller = format!("token:{n}");
            let id = open(&sessions, &caller).await.expect("a session");
            let Use::Own(in_use) = sessions.enter(&id, &caller).await else { panic!("it is theirs") };
            held.push(in_use);
        }
        assert_eq!(open(&sessions, "late").await, Err(StatusCode::TOO_MANY_REQUESTS));
        held.pop();
        open(&sessions, "late").await.expect("one is idle now");
        assert_eq!(sessions.manager.sessions.read().await.len(), IN_ALL);
    }
}
