//! The client: one request under one policy.

use super::{Policy, Request, Response};
use crate::Result;
use lyra_research::ports::{Clock, RateStore};
use std::path::PathBuf;
use std::sync::Arc;

/// What every request has in common.
#[derive(Debug, Clone, PartialEq)]
pub struct HttpConfig {
    /// `User-Agent`; should hold a way to reach whoever runs this.
    pub user_agent: String,
    /// Folder of the response cache; none means no cache.
    pub cache_dir: Option<PathBuf>,
    /// Most bytes of the response cache.
    pub cache_bytes: u64,
}

/// Sends requests. Cheap to clone; clones share limits, connections and cache.
#[derive(Clone)]
pub struct HttpClient {
    #[expect(dead_code, reason = "used once sending is in")]
    inner: Arc<Inner>,
}

#[expect(dead_code, reason = "used once sending is in")]
struct Inner {
    config: HttpConfig,
    rates: Arc<dyn RateStore>,
    clock: Arc<dyn Clock>,
}

impl HttpClient {
    /// A client; limiter states are read from and written to `rates`.
    ///
    /// # Errors
    /// A `User-Agent` that is no header value, TLS that cannot be set up.
    pub fn new(config: HttpConfig, rates: Arc<dyn RateStore>, clock: Arc<dyn Clock>) -> Result<Self> {
        Ok(Self { inner: Arc::new(Inner { config, rates, clock }) })
    }

    /// Sends the request under the policy and answers with the last response, whatever its status, but for 429 and
    /// 5xx, which are errors that carry it.
    ///
    /// # Errors
    /// See [`Error`](crate::Error).
    #[expect(clippy::unused_async, reason = "sending comes next")]
    pub async fn send(&self, policy: &Policy, request: Request) -> Result<Response> {
        let _ = request;
        Err(crate::Error::Unreachable { provider: policy.provider.clone(), why: "not built yet".to_owned() })
    }
}
