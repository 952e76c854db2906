//! What happens, as Server-Sent Events.

use super::body;
use super::call::{Call, optional_id};
use super::route::{Route, events};
use crate::problem::Failure;
use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures::{FutureExt, stream};
use lyra_domain::TaskId;
use lyra_usecases::{ErrorCode, Heard, Listener};
use lyra_wire::Happened;
use schemars::JsonSchema;
use serde::Deserialize;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, Interval, MissedTickBehavior};

/// How often a comment is sent, so that no proxy takes the connection for dead.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// How often the caller's token is checked again.
const CHECK: Duration = Duration::from_secs(30);
/// The id of the last event that a client has seen.
const LAST: &str = "last-event-id";

pub(super) fn routes() -> Vec<Route> {
    vec![events::<OfTask, Happened>(
        "/events",
        "listen",
        "What happens, as Server-Sent Events; `Last-Event-ID` or `after` resumes",
        |call, _: Body| async move { listen(&call) }.boxed(),
    )]
}

/// What to listen to.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OfTask {
    /// Only events of this task, and `stale`.
    #[schemars(regex(pattern = r"^task_.+$"))]
    task_id: Option<String>,
    /// Id of the last event that is known, for clients that cannot send `Last-Event-ID`, which wins.
    after: Option<String>,
}

/// A stream in progress.
struct Stream {
    call: Call,
    listener: Listener,
    check: Interval,
    begun: bool,
    _place: OwnedSemaphorePermit,
}

fn listen(call: &Call) -> Result<Response, Failure> {
    let query: OfTask = body::query(call.query())?;
    let task: Option<TaskId> = optional_id("task_id", query.task_id.as_deref())?;
    let place = Arc::clone(&call.api.streams).try_acquire_owned().map_err(|_| {
        let message = "too many streams of events are open";
        Failure::new(StatusCode::SERVICE_UNAVAILABLE, ErrorCode::Unavailable, message)
            .header(header::RETRY_AFTER, HeaderValue::from_static("30"))
    })?;
    let last = call.headers().get(LAST).map(|last| last.to_str().unwrap_or_default());
    let last = last.or(query.after.as_deref());
    let listener = call.app().events(last, task);
    let mut check = tokio::time::interval_at(Instant::now() + CHECK, CHECK);
    check.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let begun = last.is_some();
    let stream = Stream { call: call.clone(), listener, check, begun, _place: place };
    let events = stream::unfold(stream, |mut stream| async move {
        let event = stream.next().await?;
        Some((Ok::<_, Infallible>(event), stream))
    });
    let alive = KeepAlive::new().interval(HEARTBEAT).text("alive");
    let mut response = Sse::new(events).keep_alive(alive).into_response();
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // A proxy that buffers would hold events back.
    response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    Ok(response)
}

impl Stream {
    /// The next event; `None` when the stream ends: the server stops, or the caller may no longer listen.
    async fn next(&mut self) -> Option<Event> {
        if !std::mem::replace(&mut self.begun, true) {
            return Some(Event::default().event("ready").id(self.listener.position()).data("{}"));
        }
        loop {
            tokio::select! {
                biased;
                () = self.call.api.stop.cancelled() => return None,
                _ = self.check.tick() => {
                    let standing = self.call.standing.clone();
                    if let Some(standing) = standing && !standing.holds().await {
                        return None;
                    }
                }
                heard = self.listener.next() => return Some(written(heard)),
            }
        }
    }
}

fn written(heard: Heard) -> Event {
    match heard {
        Heard::Reset(id) => Event::default().event("reset").id(id).data("{}"),
        Heard::Event(id, event) => {
            let data = serde_json::to_string(&*event).unwrap_or_else(|_| "{}".to_owned());
            Event::default().event(event.name()).id(id).data(data)
        }
    }
}
