//! Connections: how many may be open, and how long each may take to send a request head.

mod slots;

use std::convert::Infallible;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::ConnectInfo;
use axum::http::header::CONNECTION;
use axum::http::{HeaderValue, Request, StatusCode};
use axum::response::IntoResponse;
use hyper::body::{Frame, Incoming, SizeHint};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use slots::{Answering, Slot, Slots};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

/// Longest time for the head of a request, idle time before it included; longer than clients keep a connection for reuse.
const HEAD: Duration = Duration::from_mins(2);
/// Largest head of a request in bytes; a larger one is answered with 431.
const HEAD_BYTES: usize = 64 * 1_024;
/// Pause after a failure to accept. The usual cause is running out of file handles: some connections must close first.
const PAUSE: Duration = Duration::from_millis(100);

/// Serves `app` on at most `most` connections at a time. After `stop`, no connection is accepted; returns when the
/// requests in progress are answered. Every request has the address of its client as [`ConnectInfo`].
///
/// When all slots are taken, a new connection gets the slot of the connection that has been idle longest; a connection
/// with a request in progress keeps its slot. Further connections wait in the kernel.
pub async fn serve(listener: TcpListener, app: Router, most: usize, stop: CancellationToken) {
    let slots = Slots::new(most);
    let open = GracefulShutdown::new();
    while let Some(accepted) = stop.run_until_cancelled(listener.accept()).await {
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                if !gone(error.kind()) {
                    tracing::warn!(%error, "cannot accept a connection");
                    slots.close_one();
                    tokio::time::sleep(PAUSE).await;
                }
                continue;
            }
        };
        let Some(slot) = stop.run_until_cancelled(slots.take()).await else { break };
        // Answers are small and waited for.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "cannot set TCP_NODELAY");
        }
        tokio::spawn(converse(stream, peer, slot, app.clone(), open.watcher()));
    }
    drop(listener);
    open.shutdown().await;
}

/// How many of the `wanted` connections a process may serve: at most a third of its open files limit, which leaves
/// enough for the database, the index and outgoing requests.
pub fn within_file_limit(wanted: usize) -> usize {
    #[cfg(unix)]
    let files = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    #[cfg(not(unix))]
    let files: Option<u64> = None;
    let third = files.map_or(usize::MAX, |files| usize::try_from(files / 3).unwrap_or(usize::MAX));
    wanted.min(third).max(1)
}

/// One connection from its first byte to its last.
async fn converse(
    stream: TcpStream,
    peer: SocketAddr,
    slot: Slot,
    app: Router,
    watcher: hyper_util::server::graceful::Watcher,
) {
    let slot = Arc::new(slot);
    let asked = Arc::clone(&slot);
    let service = service_fn(move |mut request: Request<Incoming>| {
        let answering = Slot::answering(&asked);
        request.extensions_mut().insert(ConnectInfo(peer));
        // hyper may read up to twice its limit before it checks.
        let too_large = head_bytes(&request) > HEAD_BYTES;
        let answer = app.clone().oneshot(request.map(Body::new));
        async move {
            let mut response = if too_large {
                StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE.into_response()
            } else {
                answer.await?
            };
            // When no slot is left, none stays reserved for a client's next request: others are waiting.
            if answering.is_full() {
                response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            }
            Ok::<_, Infallible>(response.map(|body| Answer { body, _answering: answering }))
        }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD).max_buf_size(HEAD_BYTES);
    let connection = watcher.watch(http.serve_connection(TokioIo::new(stream), service));
    tokio::select! {
        ended = connection => {
            if let Err(error) = ended {
                tracing::debug!(%error, "connection failed");
            }
        }
        () = slot.closed() => tracing::debug!(%peer, "a silent connection made room for another"),
    }
}

/// Size of a request's head, about as it was sent.
fn head_bytes(request: &Request<Incoming>) -> usize {
    let headers = request.headers().iter().map(|(name, value)| name.as_str().len() + value.len() + 4);
    request.uri().to_string().len() + headers.sum::<usize>()
}

/// The body of an answer; the connection counts as answering until it is written.
struct Answer {
    body: Body,
    _answering: Answering,
}

impl HttpBody for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// The client gave up before it was accepted.
fn gone(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset | ErrorKind::ConnectionRefused)
}
