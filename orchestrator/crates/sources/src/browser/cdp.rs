//! Chromium's debugging protocol (CDP): JSON messages, each ended by a zero byte, on one socket.

use crate::{Error, Result};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

/// Most bytes of one message; a browser that sends more is no longer trusted.
const MAX_MESSAGE: u64 = 64 << 20;
/// The events to receive. All others are dropped at once: a page can cause any number of events.
const EVENTS: [&str; 4] = [
    "Page.lifecycleEvent",
    "Page.javascriptDialogOpening",
    "Network.responseReceived",
    "Inspector.targetCrashed",
];

/// A connection. Cheap to clone.
#[derive(Clone)]
pub(super) struct Cdp {
    shared: Arc<Shared>,
}

struct Shared {
    writer: tokio::sync::Mutex<Box<dyn AsyncWrite + Send + Unpin>>,
    next: AtomicU64,
    waiting: Mutex<HashMap<u64, oneshot::Sender<Result<Value, String>>>>,
    listeners: Mutex<HashMap<String, mpsc::UnboundedSender<Event>>>,
    closed: CancellationToken,
}

/// Something that happened in a target.
#[derive(Debug)]
pub(super) struct Event {
    pub(super) method: String,
    pub(super) params: Value,
}

impl Cdp {
    pub(super) fn new(stream: impl AsyncRead + AsyncWrite + Send + 'static) -> Self {
        let (reader, writer) = tokio::io::split(stream);
        let shared = Arc::new(Shared {
            writer: tokio::sync::Mutex::new(Box::new(writer)),
            next: AtomicU64::new(1),
            waiting: Mutex::default(),
            listeners: Mutex::default(),
            closed: CancellationToken::new(),
        });
        tokio::spawn(read(reader, shared.clone()));
        Self { shared }
    }

    /// Whether the browser has gone.
    pub(super) fn is_closed(&self) -> bool {
        self.shared.closed.is_cancelled()
    }

    /// Returns when the browser has gone.
    pub(super) async fn closed(&self) {
        self.shared.closed.cancelled().await;
    }

    /// Calls a method of the browser, or with a session, of one target. `None` when the browser has gone.
    ///
    /// # Errors
    /// The browser's error.
    pub(super) async fn call(
        &self,
        method: &str,
        params: Value,
        session: Option<&str>,
    ) -> Result<Option<Value>> {
        let id = self.shared.next.fetch_add(1, Ordering::Relaxed);
        let (answer, answered) = oneshot::channel();
        locked(&self.shared.waiting).insert(id, answer);
        let _forget = Forget { shared: &self.shared, id };
        if self.is_closed() || !self.send(id, method, &params, session).await {
            return Ok(None);
        }
        match answered.await {
            Ok(Ok(result)) => Ok(Some(result)),
            Ok(Err(why)) => Err(Error::Browser { url: method.to_owned(), why }),
            Err(_) => Ok(None),
        }
    }

    /// The events of a target's session from now on; the channel closes when the browser goes.
    pub(super) fn listen(&self, session: &str) -> mpsc::UnboundedReceiver<Event> {
        let (sender, receiver) = mpsc::unbounded_channel();
        locked(&self.shared.listeners).insert(session.to_owned(), sender);
        if self.is_closed() {
            locked(&self.shared.listeners).clear();
        }
        receiver
    }

    /// Lets a session's events go.
    pub(super) fn unlisten(&self, session: &str) {
        locked(&self.shared.listeners).remove(session);
    }

    /// Calls a method without waiting for its result.
    pub(super) fn tell(&self, method: &'static str, params: Value, session: Option<String>) {
        let cdp = self.clone();
        // Outside a runtime the process is ending, and the browser with it.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                if let Err(error) = cdp.call(method, params, session.as_deref()).await {
                    tracing::debug!(%error, "the browser rejected a command");
                }
            });
        }
    }

    async fn send(&self, id: u64, method: &str, params: &Value, session: Option<&str>) -> bool {
        let mut message = json!({"id": id, "method": method, "params": params});
        if let Some(session) = session {
            message["sessionId"] = session.into();
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.shared.writer.lock().await.write_all(&bytes).await.is_ok()
    }
}

/// An abandoned call has no waiter.
struct Forget<'a> {
    shared: &'a Shared,
    id: u64,
}

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        locked(&self.shared.waiting).remove(&self.id);
    }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn read(reader: impl AsyncRead + Send + Unpin, shared: Arc<Shared>) {
    let mut reader = BufReader::new(reader);
    let mut message = Vec::new();
    loop {
        message.clear();
        match (&mut reader).take(MAX_MESSAGE).read_until(0, &mut message).await {
            Ok(_) if message.last() == Some(&0) => {}
            // The end, or a message that is too large.
            _ => break,
        }
        message.pop();
        if let Ok(value) = serde_json::from_slice::<Value>(&message) {
            dispatch(&shared, value);
        }
    }
    shared.closed.cancel();
    locked(&shared.waiting).clear();
    locked(&shared.listeners).clear();
}

fn dispatch(shared: &Shared, mut message: Value) {
    if let Some(id) = message["id"].as_u64() {
        let Some(waiting) = locked(&shared.waiting).remove(&id) else { return };
        let answer = match message["error"]["message"].as_str() {
            Some(why) => Err(why.to_owned()),
            None => Ok(message["result"].take()),
        };
        // The caller may have given up.
        let _ = waiting.send(answer);
        return;
    }
    let Some(method) = message["method"].as_str().filter(|method| EVENTS.contains(method)).map(str::to_owned)
    else {
        return;
    };
    let session = message["sessionId"].as_str().unwrap_or_default();
    let mut listeners = locked(&shared.listeners);
    if let Some(listener) = listeners.get(session)
        && listener.send(Event { method, params: message["params"].clone() }).is_err()
    {
        listeners.remove(session);
    }
}
