//! The proxy for Chromium: one per page, on loopback.
//!
//! It accepts `CONNECT` and requests with an absolute address, checks scheme, port and every resolved address as the
//! HTTP layer does, connects to the checked address, and counts bytes. Refused requests get no answer at all: our error
//! page would look like the site's.

use crate::http::{HttpClient, Policy, shown};
use crate::{Error, Result};
use bytes::Bytes;
use futures::TryStreamExt;
use http::{HeaderName, Method, Request, Response, header};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Empty, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use url::Url;

/// Parallel connections of one page.
const CONNECTIONS: usize = 48;
/// Refusals remembered; a page can cause any number.
const REFUSALS: usize = 64;
/// Headers that belong to one connection (RFC 9110, section 7.6.1).
const HOP_BY_HOP: [HeaderName; 6] = [
    header::CONNECTION,
    header::PROXY_AUTHENTICATE,
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRAILER,
    header::UPGRADE,
];

/// A proxy for one page. Dropping it ends it and its connections.
pub(super) struct Gate {
    pub(super) address: SocketAddr,
    shared: Arc<Shared>,
    end: CancellationToken,
}

struct Shared {
    http: HttpClient,
    policy: Policy,
    slots: Arc<Semaphore>,
    /// Remaining bytes of the allowance.
    left: AtomicUsize,
    over: AtomicBool,
    /// What could not be reached, by host, and why.
    refused: Mutex<Vec<(String, Error)>>,
}

impl Gate {
    /// Opens a gate that lets `bytes` through.
    pub(super) async fn open(http: HttpClient, policy: Policy, bytes: usize) -> std::io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            http,
            policy,
            slots: Arc::new(Semaphore::new(CONNECTIONS)),
            left: AtomicUsize::new(bytes),
            over: AtomicBool::new(false),
            refused: Mutex::default(),
        });
        let end = CancellationToken::new();
        tokio::spawn(end.clone().run_until_cancelled_owned(accept(listener, shared.clone(), end.clone())));
        Ok(Self { address, shared, end })
    }

    /// Whether the page exceeded its allowance.
    pub(super) fn is_over(&self) -> bool {
        self.shared.over.load(Ordering::Relaxed)
    }

    /// Why this address's host was last not reached.
    pub(super) fn refusal(&self, url: &Url) -> Option<Error> {
        let mut refused = self.shared.refused.lock().unwrap_or_else(PoisonError::into_inner);
        let place = refused.iter().rposition(|(host, _)| url.host_str() == Some(host))?;
        Some(refused.swap_remove(place).1)
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.end.cancel();
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>, end: CancellationToken) {
    loop {
        let Ok(slot) = shared.slots.clone().acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else { continue };
        let (shared, end) = (shared.clone(), end.clone());
        tokio::spawn(async move {
            let answer = |request| {
                let (shared, end) = (shared.clone(), end.clone());
                async move { shared.answer(request, &end).await }
            };
            let connection = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service_fn(answer))
                .with_upgrades();
            // Refused or cut connections end with an error, as intended.
            let _ = end.run_until_cancelled(connection).await;
            drop(slot);
        });
    }
}

type Body = BoxBody<Bytes, Cut>;

/// Why a connection ends without an answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum Cut {
    #[error("it must not be reached")]
    Refused,
    #[error("the page's bytes are used up")]
    Over,
    #[error(transparent)]
    Broken(#[from] hyper::Error),
}

impl Shared {
    async fn answer(
        self: Arc<Self>,
        request: Request<Incoming>,
        end: &CancellationToken,
    ) -> Result<Response<Body>, Cut> {
        let tunnel = *request.method() == Method::CONNECT;
        let target = match request.uri().authority() {
            Some(authority) if tunnel => format!("https://{authority}/"),
            Some(_) => request.uri().to_string(),
            None => return Err(Cut::Refused),
        };
        let Ok(url) = target.parse::<Url>() else { return Err(Cut::Refused) };
        let stream = match self.http.connect(&self.policy, &url).await {
            Ok(stream) => stream,
            Err(error) => {
                self.refuse(&url, error);
                return Err(Cut::Refused);
            }
        };
        if tunnel {
            let end = end.clone();
            tokio::spawn(end.run_until_cancelled_owned(self.tunnel(request, stream)));
            return Ok(Response::new(Empty::new().map_err(|never| match never {}).boxed()));
        }
        self.forward(request, &url, stream).await
    }

    fn refuse(&self, url: &Url, error: Error) {
        tracing::debug!(%error, "blocked for the browser");
        let host = url.host_str().unwrap_or_default().to_owned();
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        if refused.len() == REFUSALS {
            refused.remove(0);
        }
        refused.push((host, error));
    }

    /// Counts received bytes; an error when the allowance is used up.
    fn take(&self, bytes: usize) -> Result<(), Cut> {
        let taken = |left: usize| left.checked_sub(bytes);
        if self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, taken).is_ok() {
            return Ok(());
        }
        self.over.store(true, Ordering::Relaxed);
        Err(Cut::Over)
    }

    async fn tunnel(self: Arc<Self>, request: Request<Incoming>, stream: TcpStream) {
        let Ok(client) = hyper::upgrade::on(request).await else { return };
        let (mut from_client, mut to_client) = tokio::io::split(TokioIo::new(client));
        let (mut from_server, mut to_server) = stream.into_split();
        let down = async {
            let mut buffer = vec![0; 16 << 10];
            loop {
                let count = from_server.read(&mut buffer).await.unwrap_or(0);
                if count == 0
                    || self.take(count).is_err()
                    || to_client.write_all(&buffer[..count]).await.is_err()
                {
                    return;
                }
            }
        };
        let up = tokio::io::copy(&mut from_client, &mut to_server);
        tokio::select! {
            () = down => {}
            // The other side may still answer; it has until the page ends.
            Err(_) = up => {}
        }
    }

    async fn forward(
        self: Arc<Self>,
        mut request: Request<Incoming>,
        url: &Url,
        stream: TcpStream,
    ) -> Result<Response<Body>, Cut> {
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        let path = &url[url::Position::BeforePath..url::Position::AfterQuery];
        *request.uri_mut() = path.parse().map_err(|_| Cut::Refused)?;
        without_hop_by_hop(request.headers_mut());
        let host = &url[url::Position::BeforeHost..url::Position::AfterPort];
        if let Ok(host) = host.parse() {
            request.headers_mut().insert(header::HOST, host);
        }
        let mut response = sender.send_request(request).await?;
        without_hop_by_hop(response.headers_mut());
        Ok(response.map(|body| {
            let counted = body.into_data_stream().map_err(Cut::from).and_then(move |data| {
                let taken = self.take(data.len());
                async move { taken.map(|()| Frame::data(data)) }
            });
            BodyExt::boxed(StreamBody::new(counted))
        }))
    }
}

fn without_hop_by_hop(headers: &mut http::HeaderMap) {
    for name in HOP_BY_HOP {
        headers.remove(name);
    }
    for name in ["proxy-connection", "keep-alive"] {
        headers.remove(name);
    }
}

/// The error of a gate that cannot be opened.
pub(super) fn unopened(url: &Url, error: &std::io::Error) -> Error {
    Error::Browser { url: shown(url), why: format!("its proxy cannot be opened: {error}") }
}
