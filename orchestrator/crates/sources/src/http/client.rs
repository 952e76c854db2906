//! The client: one request under one policy.

mod beside;

use super::body;
use super::cache::{self, DiskCache, Entry};
use super::freshness;
use super::guard::{self, Guarded, LeadsInside, Resolver, SystemResolver, Trust, Unguarded, shown};
use super::limiter::{Limiter, Outcome};
use super::retry;
use super::robots::{RobotsMemory, Site};
use super::{Cache, Origin, Policy, Proxies, Request, Response, proxy, shown_type};
use crate::{Error, Result};
use async_trait::async_trait;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use lyra_research::ports::{CacheLookup, Clock, Event, Events, RateStore, RequestEnd};
use secrecy::ExposeSecret;
use std::error::Error as StdError;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use url::Url;

/// Longest time for name, TCP and TLS together; the policy's limit covers the rest.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Shorter waits for a turn do not count as waits.
const NOTED_WAIT: Duration = Duration::from_millis(5);
/// The type of a PDF.
const PDF: &str = "application/pdf";
/// Types that are believed: documents are not labeled so.
const MEDIA: [&str; 4] = ["image/", "audio/", "video/", "font/"];
/// Most bytes of a robots.txt.
const ROBOTS_BYTES: usize = 1 << 20;

/// Settings common to all requests.
#[derive(Debug, Clone)]
pub struct HttpConfig {
    /// `User-Agent`: `name/version`, and contact details of the operator. The name also selects the rules in
    /// robots.txt.
    pub user_agent: String,
    /// Folder of the response cache; `None` disables it.
    pub cache_dir: Option<PathBuf>,
    /// Most bytes of the response cache.
    pub cache_bytes: u64,
    /// Proxies that lead outside.
    pub proxies: Proxies,
    /// Where requests, waits and look-ups of the cache are published.
    pub events: Events,
}

/// Sends requests. Cheap to clone; clones share limits, connections and cache.
#[derive(Clone)]
pub struct HttpClient {
    inner: Arc<Inner>,
}

struct Inner {
    agent: String,
    /// For anyone: its resolver refuses reserved addresses.
    public: reqwest::Client,
    /// For origins that configuration names.
    configured: reqwest::Client,
    /// Only for requests through a proxy.
    proxied: reqwest::Client,
    proxies: Proxies,
    /// What all resolve with.
    resolver: Arc<dyn Resolver>,
    limiter: Limiter,
    cache: Option<DiskCache>,
    robots: RobotsMemory,
    clock: Arc<dyn Clock>,
    events: Events,
}

/// The result of one attempt.
enum Answer {
    Whole(Response),
    /// The cached response is still valid; headers may renew it.
    NotModified(HeaderMap),
}

/// Decides which 429 and 5xx responses are regular answers, because a retry would return the same.
#[async_trait]
pub trait Settles: Send + Sync {
    /// Whether this is one.
    async fn settles(&self, response: &Response) -> bool;
}

struct Never;

#[async_trait]
impl Settles for Never {
    async fn settles(&self, _: &Response) -> bool {
        false
    }
}

impl HttpClient {
    /// A client that resolves names as the system does; limiter states are read from and written to `rates`.
    ///
    /// # Errors
    /// A `User-Agent` that is not a valid header value, TLS that cannot be set up.
    pub fn new(config: HttpConfig, rates: Arc<dyn RateStore>, clock: Arc<dyn Clock>) -> Result<Self> {
        Self::with_resolver(config, rates, clock, Arc::new(SystemResolver))
    }

    /// The same with another resolver. Its results are checked like those of the system.
    ///
    /// # Errors
    /// As [`HttpClient::new`].
    pub fn with_resolver(
        config: HttpConfig,
        rates: Arc<dyn RateStore>,
        clock: Arc<dyn Clock>,
        resolver: Arc<dyn Resolver>,
    ) -> Result<Self> {
        let setting = |why: String| Error::Setting { setting: "sources.contact".to_owned(), why };
        let user_agent = HeaderValue::try_from(&config.user_agent).map_err(|error| {
            setting(format!("`{}` is not a valid header value: {error}", config.user_agent))
        })?;
        let base = || {
            // Redirects are followed by hand, so that every hop is checked. A proxy resolves names outside the guard:
            // requests through one are checked by another rule, and have their own client.
            lyra_tls::client()
                .redirect(reqwest::redirect::Policy::none())
                .referer(false)
                .connect_timeout(CONNECT_TIMEOUT)
                .user_agent(user_agent.clone())
        };
        let built = |builder: reqwest::ClientBuilder| {
            builder.build().map_err(|error| setting(format!("no HTTP client: {}", root_cause(&error))))
        };
        let proxies = config.proxies.clone();
        let proxy = move |url: &Url| proxies.of(url).cloned();
        let agent = config.user_agent.split(['/', ' ']).next().unwrap_or_default().to_owned();
        Ok(Self {
            inner: Arc::new(Inner {
                agent,
                public: built(base().no_proxy().dns_resolver(Arc::new(Guarded(resolver.clone()))))?,
                configured: built(base().no_proxy().dns_resolver(Arc::new(Unguarded(resolver.clone()))))?,
                proxied: built(
                    base()
                        .proxy(reqwest::Proxy::custom(proxy))
                        .dns_resolver(Arc::new(Unguarded(resolver.clone()))),
                )?,
                proxies: config.proxies,
                resolver,
                limiter: Limiter::new(rates, clock.clone()),
                cache: config.cache_dir.map(|folder| DiskCache::new(folder, config.cache_bytes)),
                robots: RobotsMemory::default(),
                clock,
                events: config.events,
            }),
        })
    }

    /// Sends the request under the policy and returns the last response with any status except 429 and 5xx, which are
    /// errors that contain it.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn send(&self, policy: &Policy, request: Request) -> Result<Response> {
        self.send_until(policy, request, &Never).await
    }

    /// The same, but a 429 or 5xx that `settles` accepts is a regular response. Its `Retry-After` still applies.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn send_until(
        &self,
        policy: &Policy,
        request: Request,
        settles: &dyn Settles,
    ) -> Result<Response> {
        let inner = &*self.inner;
        guard::check(policy, &request.url)?;
        let cache = inner.cache.as_ref().filter(|_| policy.cache != Cache::Off);
        let key = cache_key(&request, inner.clock.now());
        let kept = match cache {
            Some(cache) => cache.get(&key).await,
            None => None,
        };
        let fresh = kept.as_ref().filter(|entry| {
            freshness::is_fresh(entry.response.received_at, entry.lifetime, inner.clock.now())
        });
        if cache.is_some() {
            let found = match (fresh, &kept) {
                (Some(_), _) => CacheLookup::Hit,
                (None, Some(_)) => CacheLookup::Stale,
                (None, None) => CacheLookup::Miss,
            };
            let provider = policy.provider.clone();
            inner.events.publish(&Event::CacheLookedUp { provider, found });
        }
        if let Some(entry) = fresh {
            return Ok(entry.response.clone());
        }
        let mut policy = policy.clone();
        if policy.robots {
            let site = inner.ask_robots(&policy, &request.url).await?;
            policy.min_interval = policy.min_interval.max(site.delay());
        }
        let (response, lifetime) = match inner.attempts(&policy, &request, kept.as_ref(), settles).await? {
            Answer::Whole(response) => {
                let lifetime = freshness::lifetime(policy.cache, response.status, &response.headers);
                (response, lifetime)
            }
            Answer::NotModified(headers) => {
                let Some(Entry { mut response, .. }) = kept else {
                    let why = "304 to a request without validators".to_owned();
                    return Err(Error::Unexpected { provider: policy.provider, why });
                };
                response.headers.extend(headers);
                response.received_at = inner.clock.now();
                let lifetime = freshness::lifetime(policy.cache, response.status, &response.headers);
                (response, lifetime)
            }
        };
        if let (Some(cache), Some(lifetime)) = (cache, lifetime) {
            cache.put(&key, Entry { response: response.clone(), lifetime }).await;
        }
        Ok(response)
    }

    /// How long the provider is still cooling down, and why.
    pub async fn pause(&self, provider: &str) -> Option<(Duration, String)> {
        self.inner.limiter.pause(provider).await
    }
}

impl Inner {
    /// Retries until an attempt settles it. Only responses that a retry cannot change are returned.
    async fn attempts(
        &self,
        policy: &Policy,
        request: &Request,
        kept: Option<&Entry>,
        settles: &dyn Settles,
    ) -> Result<Answer> {
        let gate = self.limiter.gate(policy);
        let mut attempt = 0;
        loop {
            attempt += 1;
            let asked = Instant::now();
            let permit = self.limiter.enter(&gate, policy).await?;
            if asked.elapsed() >= NOTED_WAIT {
                let provider = policy.provider.clone();
                self.events.publish(&Event::RateWaited { provider, waited: asked.elapsed() });
            }
            let started = Instant::now();
            let provider = || policy.provider.clone();
            let answer = tokio::time::timeout(policy.timeout, self.attempt(policy, request, kept))
                .await
                .unwrap_or_else(|_| Err(Error::Timeout { provider: provider(), after: policy.timeout }));
            let (end, took) = (ending(&answer), started.elapsed());
            self.events.publish(&Event::SourceRequested { provider: provider(), end, took });
            let (outcome, error) = match answer {
                Ok(Answer::Whole(response)) if retry::passing(response.status) => {
                    let retry_after = retry::retry_after(&response.headers, self.clock.now());
                    let message = request.without_secrets(policy.message_of(&response));
                    let why = named(response.status, &message);
                    let settled = settles.settles(&response).await;
                    let outcome = if settled && retry_after.is_none() {
                        Outcome::Answered
                    } else if response.status == StatusCode::TOO_MANY_REQUESTS {
                        Outcome::Refused { retry_after, why }
                    } else {
                        Outcome::Failed { retry_after, why }
                    };
                    if settled {
                        self.limiter.leave(&gate, policy, outcome).await;
                        return Ok(Answer::Whole(response));
                    }
                    let response = Box::new(response);
                    (outcome, Error::Status { provider: provider(), message, retry_after, response })
                }
                Ok(answer) => {
                    self.limiter.leave(&gate, policy, Outcome::Answered).await;
                    return Ok(answer);
                }
                Err(error) if error.is_transient() => {
                    (Outcome::Failed { retry_after: None, why: error.to_string() }, error)
                }
                Err(error) => {
                    // Nothing was sent, so it does not count for the provider's health.
                    return Err(error);
                }
            };
            let why = match &outcome {
                Outcome::Refused { why, .. } | Outcome::Failed { why, .. } => why.clone(),
                Outcome::Answered => String::new(),
            };
            let pause = self.limiter.leave(&gate, policy, outcome).await;
            drop(permit);
            if let Some(retry_after) = pause {
                return Err(Error::CoolingDown { provider: provider(), retry_after, why });
            }
            // One whole time-out is wait enough: a server that hangs rarely answers the second time.
            if attempt >= policy.max_attempts.max(1) || matches!(error, Error::Timeout { .. }) {
                return Err(error);
            }
            tracing::debug!(provider = policy.provider, attempt, %error, "trying again");
            tokio::time::sleep(retry::backoff(policy.backoff, attempt, fastrand::f64())).await;
        }
    }

    /// One attempt: the request and its redirects.
    async fn attempt(&self, policy: &Policy, request: &Request, kept: Option<&Entry>) -> Result<Answer> {
        let mut url = request.url.clone();
        let mut method = request.method.clone();
        let mut redirects = Vec::new();
        loop {
            let trust = guard::check(policy, &url)?;
            if policy.robots && !redirects.is_empty() {
                // Boxed because reading robots.txt is itself an attempt.
                Box::pin(self.ask_robots(policy, &url)).await?;
            }
            let proxy = self.proxies.of(&url);
            if proxy.is_some() && trust == Trust::Public {
                guard::check_proxied(&*self.resolver, &url).await?;
            }
            let client = match (proxy, trust) {
                (Some(_), _) => &self.proxied,
                (None, Trust::Configured) => &self.configured,
                (None, Trust::Public) => &self.public,
            };
            let own = Origin::of(&url) == Origin::of(&request.url);
            // Validators belong to the address that answered, which is this one only without redirects.
            let kept = kept.filter(|entry| redirects.is_empty() && entry.response.redirects.is_empty());
            let built = self.built(client, &method, &url, request, own, kept);
            let response = built.send().await.map_err(|error| network_error(policy, &url, proxy, &error))?;
            if let Some(next) = redirect_target(&response, &url, request)? {
                redirects.push(url);
                if redirects.len() > policy.max_redirects {
                    let why = format!("more than {} redirects", policy.max_redirects);
                    return Err(Error::Redirect { url: shown(&request.url), why });
                }
                let status = response.status().as_u16();
                if status == 303 || (matches!(status, 301 | 302) && method == Method::POST) {
                    method = Method::GET;
                }
                url = next;
                continue;
            }
            if response.status() == StatusCode::NOT_MODIFIED && kept.is_some() {
                return Ok(Answer::NotModified(response.headers().clone()));
            }
            return self.whole(policy, response, url, redirects).await.map(Answer::Whole);
        }
    }

    fn built(
        &self,
        client: &reqwest::Client,
        method: &Method,
        url: &Url,
        request: &Request,
        own: bool,
        kept: Option<&Entry>,
    ) -> reqwest::RequestBuilder {
        let mut full = url.clone();
        let mut headers = request.headers.clone();
        headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static(body::ACCEPT_ENCODING));
        if own {
            for (name, value) in &request.secret_query {
                full.query_pairs_mut().append_pair(name, value.expose_secret());
            }
            for (name, value) in &request.secret_headers {
                // A secret that is not a valid header value is omitted: the server then reports that it is missing.
                if let Ok(mut value) = HeaderValue::try_from(value.expose_secret()) {
                    value.set_sensitive(true);
                    headers.append(name.clone(), value);
                }
            }
        }
        if let Some(session) = &request.session
            && let Some(cookies) = session.header(url, self.clock.now())
            && let Ok(mut cookies) = HeaderValue::try_from(cookies.expose_secret())
        {
            cookies.set_sensitive(true);
            headers.insert(header::COOKIE, cookies);
            if let Some(Ok(agent)) = session.user_agent.as_deref().map(HeaderValue::try_from) {
                headers.insert(header::USER_AGENT, agent);
            }
        }
        if let Some(entry) = kept {
            for (from, to) in
                [(header::ETAG, header::IF_NONE_MATCH), (header::LAST_MODIFIED, header::IF_MODIFIED_SINCE)]
            {
                if let Some(value) = entry.response.headers.get(from) {
                    headers.insert(to, value.clone());
                }
            }
        }
        if *method == Method::GET {
            headers.remove(header::CONTENT_TYPE);
            client.request(Method::GET, full).headers(headers)
        } else {
            client.request(method.clone(), full).headers(headers).body(request.body.clone())
        }
    }

    /// Reads a whole response.
    async fn whole(
        &self,
        policy: &Policy,
        response: reqwest::Response,
        url: Url,
        redirects: Vec<Url>,
    ) -> Result<Response> {
        let (status, headers) = (response.status(), response.headers().clone());
        let mut answer = Response {
            status,
            url,
            headers,
            body: bytes::Bytes::new(),
            received_at: self.clock.now(),
            from_cache: false,
            redirects,
        };
        let kind = answer.content_type();
        let takes = |kind: &str| {
            policy.content_types.is_empty() || policy.content_types.iter().any(|one| one == kind)
        };
        let unexpected = |named: Option<&str>| {
            let taken: Vec<&str> =
                policy.content_types.iter().map(String::as_str).filter(|one| !one.is_empty()).collect();
            let named = named.map(|named| format!(", {named},")).unwrap_or_default();
            let why = format!("{}{named} instead of {}", shown_type(&kind), taken.join(" or "));
            Error::Unexpected { provider: policy.provider.clone(), why }
        };
        // Repositories send PDFs as anything: `application/octet-stream`, `application/force-download`, `text/x-pdf`.
        let may_be_pdf = takes(PDF) && !MEDIA.iter().any(|media| kind.starts_with(media));
        let taken = takes(&kind) || !status.is_success();
        if !taken && !may_be_pdf {
            return Err(unexpected(None));
        }
        let packed = body::read(response, &policy.provider, policy.max_bytes).await?;
        answer.body = body::unpack(packed, &answer.headers, &policy.provider, policy.max_bytes).await?;
        if taken || answer.is_pdf() { Ok(answer) } else { Err(unexpected(answer.unread_kind())) }
    }

    /// The rules of the address's site, when they allow it.
    async fn ask_robots(&self, policy: &Policy, url: &Url) -> Result<Arc<Site>> {
        let refused = |why: String| Error::Robots { url: shown(url), why };
        let origin = Origin::of(url).ok_or_else(|| refused("it has no robots.txt".to_owned()))?;
        let site = if let Some(site) = self.robots.get(&origin) {
            site
        } else {
            let mut place = url.clone();
            place.set_path("/robots.txt");
            place.set_query(None);
            place.set_fragment(None);
            let reading = Policy {
                robots: false,
                max_bytes: ROBOTS_BYTES,
                content_types: Vec::new(),
                max_redirects: 5,
                ..policy.clone()
            };
            let request = Request::get(place);
            let answer = tokio::time::timeout(policy.timeout, self.attempt(&reading, &request, None));
            let site = match answer.await {
                Ok(Ok(Answer::Whole(response))) => Site::read(response.status, &response.body, &self.agent),
                Ok(Ok(Answer::NotModified(_)) | Err(Error::TooLarge { .. } | Error::Unexpected { .. })) => {
                    Site::read(StatusCode::BAD_GATEWAY, &[], &self.agent)
                }
                Ok(Err(Error::Redirect { .. })) => Site::read(StatusCode::NOT_FOUND, &[], &self.agent),
                Ok(Err(error)) => return Err(error),
                Err(_) => {
                    return Err(Error::Timeout { provider: policy.provider.clone(), after: policy.timeout });
                }
            };
            self.robots.put(origin, site)
        };
        match site.refusal(url) {
            Some(why) => Err(refused(why)),
            None => Ok(site),
        }
    }
}

/// A status with the details of its response.
pub(crate) fn named(status: StatusCode, message: &str) -> String {
    if status.canonical_reason() == Some(message) {
        status.to_string()
    } else {
        format!("{status}: {message}")
    }
}

/// How an attempt ended, for the metrics.
fn ending(answer: &Result<Answer>) -> RequestEnd {
    match answer {
        Ok(Answer::NotModified(_)) => RequestEnd::Answered,
        Ok(Answer::Whole(response)) => match response.status.as_u16() {
            429 => RequestEnd::TooManyRequests,
            500.. => RequestEnd::ServerError,
            400.. => RequestEnd::ClientError,
            _ => RequestEnd::Answered,
        },
        Err(Error::Timeout { .. }) => RequestEnd::Timeout,
        Err(Error::Unreachable { .. }) => RequestEnd::Unreachable,
        Err(_) => RequestEnd::Refused,
    }
}

/// Method, address, body, the caller's headers, and a hash of the secrets: everything that may change the response.
fn cache_key(request: &Request, now: jiff::Timestamp) -> String {
    let mut url = request.url.clone();
    url.set_fragment(None);
    let mut parts: Vec<Vec<u8>> =
        vec![request.method.as_str().into(), url.as_str().into(), request.body.to_vec()];
    for (name, value) in &request.headers {
        parts.extend([name.as_str().into(), value.as_bytes().to_vec()]);
    }
    for (name, value) in &request.secret_headers {
        parts.extend([name.as_str().into(), value.expose_secret().into()]);
    }
    // A page for a logged-in user is another page.
    if let Some(cookies) = request.session.as_ref().and_then(|session| session.header(&request.url, now)) {
        parts.extend([b"cookie".to_vec(), cookies.expose_secret().into()]);
    }
    // Secret parameters are keys of an account, which change limits but no facts.
    cache::key(parts.iter().map(Vec::as_slice))
}

/// Where a redirect leads; `None` for any other answer.
fn redirect_target(response: &reqwest::Response, url: &Url, request: &Request) -> Result<Option<Url>> {
    if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let bad = |why: &str| Error::Redirect { url: shown(url), why: why.to_owned() };
    let target = response.headers().get(header::LOCATION).ok_or_else(|| bad("it names no target"))?;
    let target = std::str::from_utf8(target.as_bytes()).map_err(|_| bad("its target is not text"))?;
    let mut next =
        url.join(target).map_err(|error| bad(&format!("its target is not an address: {error}")))?;
    // A response that echoes a key in its target must not leak it into logs.
    let secret = |name: &str| request.secret_query.iter().any(|(secret, _)| *secret == name);
    if next.query_pairs().any(|(name, _)| secret(&name)) {
        let rest: Vec<(String, String)> = next
            .query_pairs()
            .filter(|(name, _)| !secret(name))
            .map(|(n, v)| (n.into_owned(), v.into_owned()))
            .collect();
        next.query_pairs_mut().clear().extend_pairs(rest);
    }
    Ok(Some(next))
}

fn network_error(policy: &Policy, url: &Url, proxy: Option<&Url>, error: &reqwest::Error) -> Error {
    let mut cause: Option<&(dyn StdError + 'static)> = Some(error);
    while let Some(this) = cause {
        if let Some(inside) = this.downcast_ref::<LeadsInside>() {
            return Error::Forbidden { url: shown(url), why: inside.to_string() };
        }
        cause = this.source();
    }
    if error.is_timeout() {
        return Error::Timeout { provider: policy.provider.clone(), after: CONNECT_TIMEOUT };
    }
    let by = proxy.map(|proxy| format!(" (through the proxy {})", proxy::named(proxy))).unwrap_or_default();
    Error::Unreachable { provider: policy.provider.clone(), why: format!("{}{by}", root_cause(error)) }
}

/// The innermost cause: it tells what happened, without an address and its query.
pub(super) fn root_cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn StdError = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    if std::ptr::eq(std::ptr::from_ref(cause).cast::<()>(), std::ptr::from_ref(error).cast::<()>()) {
        return "the request could not be sent".to_owned();
    }
    cause.to_string()
}
