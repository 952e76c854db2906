//! Access that bypasses [`HttpClient::send`] but must follow its rules: the browser.

use super::{CONNECT_TIMEOUT, HttpClient, cache_key, named};
use crate::http::guard::{self, LeadsInside, Trust, shown};
use crate::http::limiter::Outcome;
use crate::http::{Policy, Request, Response, proxy, retry};
use crate::{Error, Result};
use http::StatusCode;
use tokio::net::TcpStream;
use url::Url;

impl HttpClient {
    /// Removes the cached response to this request: it turned out to be invalid.
    pub(crate) async fn forget(&self, request: &Request) {
        if let Some(cache) = &self.inner.cache {
            cache.remove(&cache_key(request, self.inner.clock.now())).await;
        }
    }

    /// Runs one request by other means within the provider's limits; its result counts for the provider like an HTTP
    /// response.
    ///
    /// # Errors
    /// A provider that is cooling down, the errors of `work`, and statuses 429 and 5xx.
    pub(crate) async fn paced(
        &self,
        policy: &Policy,
        work: impl Future<Output = Result<Response>>,
    ) -> Result<Response> {
        let inner = &*self.inner;
        let gate = inner.limiter.gate(policy);
        let _permit = inner.limiter.enter(&gate, policy).await?;
        let answer = work.await.and_then(|response| {
            if !retry::passing(response.status) {
                return Ok(response);
            }
            let message = policy.message_of(&response);
            let response = Box::new(response);
            Err(Error::Status { provider: policy.provider.clone(), message, retry_after: None, response })
        });
        let outcome = match &answer {
            Ok(_) => Outcome::Answered,
            Err(Error::Status { response, message, .. })
                if response.status == StatusCode::TOO_MANY_REQUESTS =>
            {
                Outcome::Refused { retry_after: None, why: named(response.status, message) }
            }
            Err(error) if error.is_transient() => {
                Outcome::Failed { retry_after: None, why: error.to_string() }
            }
            // Nothing was sent, so it does not count for the provider's health.
            Err(_) => return answer,
        };
        inner.limiter.leave(&gate, policy, outcome).await;
        answer
    }

    /// Checks robots.txt for this address, if the policy requires it.
    ///
    /// # Errors
    /// [`Error::Robots`] when disallowed, or the error of reading robots.txt.
    pub(crate) async fn allowed(&self, policy: &Policy, url: &Url) -> Result<()> {
        if policy.robots { self.inner.ask_robots(policy, url).await.map(|_| ()) } else { Ok(()) }
    }

    /// Connects to the host of an address that may be fetched, at an address that was checked.
    ///
    /// # Errors
    /// An address that may not be fetched, a name that leads to a reserved address, no connection.
    pub(crate) async fn connect(&self, policy: &Policy, url: &Url) -> Result<TcpStream> {
        let trust = guard::check(policy, url)?;
        let unreachable = |why: String| Error::Unreachable { provider: policy.provider.clone(), why };
        let late = |_| Error::Timeout { provider: policy.provider.clone(), after: CONNECT_TIMEOUT };
        if let Some(proxy) = self.inner.proxies.of(url) {
            if trust == Trust::Public {
                guard::check_proxied(&*self.inner.resolver, url).await?;
            }
            let port = proxy.port_or_known_default().unwrap_or_default();
            let through = async {
                let stream = TcpStream::connect((proxy.host_str().unwrap_or_default(), port)).await?;
                proxy::tunnel(stream, proxy, url).await
            };
            let why = |error| unreachable(format!("{error} (through the proxy {})", proxy::named(proxy)));
            return tokio::time::timeout(CONNECT_TIMEOUT, through).await.map_err(late)?.map_err(why);
        }
        let found = guard::addresses_of(&*self.inner.resolver, trust, url).await.map_err(|error| {
            if error.is::<LeadsInside>() {
                return Error::Forbidden { url: shown(url), why: error.to_string() };
            }
            unreachable(error.to_string())
        })?;
        let connected = tokio::time::timeout(CONNECT_TIMEOUT, TcpStream::connect(&found[..])).await;
        connected.map_err(late)?.map_err(|error| unreachable(error.to_string()))
    }
}
