//! A stand-in server, and the dependencies of a client.

#[path = "../../src/http/testing/rates.rs"]
mod rates;

pub(crate) use rates::MemoryRates;

use axum::Router;
use axum::body::Body;
use axum::extract::Request as Asked;
use axum::response::Response as Reply;
use futures::FutureExt;
use futures::future::BoxFuture;
use jiff::Timestamp;
use lyra_research::ports::Clock;
use lyra_sources::http::{HttpClient, HttpConfig, Origin, Policy, Resolver};
use std::net::IpAddr;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::task::JoinHandle;
use url::Url;

/// The requests to a stand-in.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) query: String,
    pub(crate) headers: axum::http::HeaderMap,
    pub(crate) body: Vec<u8>,
}

/// A server on loopback that answers with a function and records its requests. Stopped when dropped.
pub(crate) struct StandIn {
    pub(crate) url: Url,
    seen: Arc<Mutex<Vec<Seen>>>,
    task: JoinHandle<()>,
}

impl StandIn {
    /// `answer` gets the request and the number of earlier ones.
    pub(crate) async fn start(answer: impl Fn(&Seen, usize) -> Reply + Send + Sync + 'static) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap()).parse().unwrap();
        let seen: Arc<Mutex<Vec<Seen>>> = Arc::default();
        let (log, answer) = (seen.clone(), Arc::new(answer));
        let app = Router::new().fallback(move |asked: Asked| {
            let (log, answer) = (log.clone(), answer.clone());
            async move {
                let (head, body) = asked.into_parts();
                let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
                let now = Seen {
                    method: head.method.to_string(),
                    path: head.uri.path().to_owned(),
                    query: head.uri.query().unwrap_or_default().to_owned(),
                    headers: head.headers,
                    body: body.to_vec(),
                };
                let before = {
                    let mut log = log.lock().unwrap();
                    log.push(now.clone());
                    log.len() - 1
                };
                answer(&now, before)
            }
        });
        let task = tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        Self { url, seen, task }
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    pub(crate) fn at(&self, path: &str) -> Url {
        self.url.join(path).unwrap()
    }

    /// Fast and patient toward this server, which it trusts.
    pub(crate) fn policy(&self) -> Policy {
        Policy {
            min_interval: Duration::ZERO,
            max_concurrent: 4,
            backoff: Duration::from_millis(1),
            timeout: Duration::from_secs(20),
            breaker_after: 100,
            explained: true,
            trusted: Origin::of(&self.url).into_iter().collect(),
            ..Policy::new("stand-in")
        }
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        self.task.abort();
    }
}

pub(crate) fn reply(status: u16, headers: &[(&str, &str)], body: impl Into<Body>) -> Reply {
    let mut reply = Reply::builder().status(status);
    for (name, value) in headers {
        reply = reply.header(*name, *value);
    }
    reply.body(body.into()).unwrap()
}

pub(crate) fn html(body: impl Into<String>) -> Reply {
    reply(200, &[("content-type", "text/html; charset=utf-8")], body.into())
}

pub(crate) fn json(status: u16, body: &str) -> Reply {
    reply(status, &[("content-type", "application/json")], body.to_owned())
}

pub(crate) struct Now;

impl Clock for Now {
    #[expect(clippy::disallowed_methods, reason = "it is a clock")]
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
}

/// Answers from a list, the last entry again and again.
pub(crate) struct Names(pub(crate) Mutex<Vec<IpAddr>>);

impl Names {
    pub(crate) fn of(addresses: &[&str]) -> Self {
        Self(Mutex::new(addresses.iter().map(|a| a.parse().unwrap()).collect()))
    }
}

impl Resolver for Names {
    fn resolve(&self, _: &str) -> BoxFuture<'static, std::io::Result<Vec<IpAddr>>> {
        let mut left = self.0.lock().unwrap();
        let address = if left.len() > 1 { left.remove(0) } else { left[0] };
        async move { Ok(vec![address]) }.boxed()
    }
}

pub(crate) fn config(cache: Option<&Path>) -> HttpConfig {
    HttpConfig {
        user_agent: "Lyra/0.1 (tests; mailto:test@example.org)".to_owned(),
        cache_dir: cache.map(Path::to_owned),
        cache_bytes: 1 << 20,
        proxies: lyra_sources::http::Proxies::default(),
        events: lyra_research::ports::Events::default(),
    }
}

pub(crate) fn client(cache: Option<&Path>) -> HttpClient {
    HttpClient::new(config(cache), Arc::new(MemoryRates::default()), Arc::new(Now)).unwrap()
}
