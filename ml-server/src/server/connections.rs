//! Connections: how many there may be, and how long one may take to say what it wants.

use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::HeaderValue;
use axum::http::header::CONNECTION;
use axum::middleware::map_response;
use axum::response::Response;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// Longest time for the head of a request, idle time before it included; longer than clients keep a connection for reuse.
const HEAD: Duration = Duration::from_mins(2);
/// Pause after a failure to accept, of which running out of file handles is the usual one: connections must end first.
const PAUSE: Duration = Duration::from_millis(100);

/// Serves `app` on at most `most` connections at a time, further ones wait in the kernel. After `stop` nothing is accepted;
/// returns when the requests in work are answered.
pub(super) async fn serve(listener: TcpListener, app: Router, most: usize, stop: CancellationToken) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD);
    let slots = Arc::new(Semaphore::new(most.clamp(1, Semaphore::MAX_PERMITS)));
    // When there is no slot left, none is kept for a client's next request: others wait for it.
    let full = Arc::clone(&slots);
    let service = TowerToHyperService::new(app.layer(map_response(move |mut response: Response| {
        let full = full.available_permits() == 0;
        async move {
            if full {
                response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            }
            response
        }
    })));
    let open = GracefulShutdown::new();
    let next = async || {
        // The semaphore is never closed.
        let slot = Arc::clone(&slots).acquire_owned().await.ok();
        listener.accept().await.map(|(stream, _)| (slot, stream))
    };
    while let Some(accepted) = stop.run_until_cancelled(next()).await {
        let (slot, stream) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                if !gone(error.kind()) {
                    tracing::warn!(%error, "cannot accept a connection");
                    tokio::time::sleep(PAUSE).await;
                }
                continue;
            }
        };
        // Answers are small and waited for.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "cannot set TCP_NODELAY");
        }
        let connection = open.watch(http.serve_connection(TokioIo::new(stream), service.clone()));
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "connection failed");
            }
            drop(slot);
        });
    }
    drop(listener);
    open.shutdown().await;
}

/// The client gave up before it was accepted.
fn gone(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset | ErrorKind::ConnectionRefused)
}
