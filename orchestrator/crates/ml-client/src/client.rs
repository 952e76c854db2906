//! The client: one method per route, with retries below them.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use backon::{ExponentialBuilder, Retryable};
use futures::future::BoxFuture;
use futures::{StreamExt, TryStreamExt, stream};
use lyra_proto::{
    EMBEDDING_SHAPE_HEADER, EmbedPrompts, EmbedRequest, ErrorBody, ErrorType, InfoResponse, ModelKind,
    NliPair, NliRequest, NliResponse, NliResult, ReadyResponse, ReadyState, VerifyItem, VerifyRequest,
    VerifyResponse, VerifyResult,
};
use lyra_research::trace;
use reqwest::header::{ACCEPT, CONTENT_TYPE, RETRY_AFTER};
use reqwest::{Client, RequestBuilder, Response, StatusCode, Url};
use tracing::Instrument;

use crate::breaker::Breaker;
use crate::error::Error;

/// Names the trace that a request belongs to (W3C Trace Context).
const TRACEPARENT: &str = "traceparent";

/// How the client behaves; the defaults suit a server on the same machine or network.
#[derive(Debug, Clone)]
pub struct ClientConfig {
    /// Most texts or pairs in one request. Smaller requests share the server's queue more fairly.
    pub batch_size: usize,
    /// Most items for a verifier in one request. An item is a whole passage, so a few items fill a batch of the server.
    pub verify_batch_size: usize,
    /// Most bytes of text in one request (a single longer text gets a request of its own).
    pub batch_bytes: usize,
    /// Requests of one call in flight at the same time; more than one keeps the server busy between answers.
    pub concurrency: usize,
    /// For one request, until its answer is complete.
    pub timeout: Duration,
    /// Timeout for connecting.
    pub connect_timeout: Duration,
    /// Tries after the first one.
    pub retries: usize,
    /// Pause before the first retry; doubles, with jitter, unless the server sends `Retry-After`.
    pub first_pause: Duration,
    /// Failures in a row after which calls fail at once.
    pub failures_to_open: u32,
    /// For how long they do.
    pub open_for: Duration,
}

impl Default for ClientConfig {
    fn default() -> Self {
        Self {
            batch_size: 64,
            verify_batch_size: 8,
            batch_bytes: 1024 * 1024,
            concurrency: 4,
            timeout: Duration::from_mins(2),
            connect_timeout: Duration::from_secs(5),
            retries: 5,
            first_pause: Duration::from_millis(100),
            failures_to_open: 8,
            open_for: Duration::from_secs(10),
        }
    }
}

/// Client of one ml-server. Clones share connections and circuit breaker.
#[derive(Debug, Clone)]
pub struct MlClient {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    base: String,
    /// The same as errors name it, without a password.
    shown: String,
    http: Client,
    config: ClientConfig,
    breaker: Breaker,
    prompts: RwLock<Option<EmbedPrompts>>,
}

impl MlClient {
    /// A client with default behavior. `base_url` is like `http://127.0.0.1:8421`.
    ///
    /// # Errors
    /// When the HTTP client cannot be built.
    pub fn new(base_url: impl Into<String>) -> Result<Self, Error> {
        Self::with_config(base_url, ClientConfig::default())
    }

    /// A client with the given behavior.
    ///
    /// # Errors
    /// When the HTTP client cannot be built.
    pub fn with_config(base_url: impl Into<String>, config: ClientConfig) -> Result<Self, Error> {
        let base = base_url.into().trim_end_matches('/').to_owned();
        let http = Client::builder().timeout(config.timeout).connect_timeout(config.connect_timeout).build();
        let shown = without_password(&base);
        let http = http.map_err(|error| Error::Protocol { url: shown.clone(), reason: chain(&error) })?;
        let breaker = Breaker::new(config.failures_to_open, config.open_for);
        Ok(Self { inner: Arc::new(Inner { base, shown, http, config, breaker, prompts: RwLock::default() }) })
    }

    /// Base URL of the server.
    pub fn url(&self) -> &str {
        &self.inner.base
    }

    /// One L2-normalized vector per text, in order. Any number of texts: they are sent in batches. `prompt` is the name
    /// of one of the model's prompts.
    ///
    /// # Errors
    /// [`Error`], once retries are over.
    pub async fn embed(&self, texts: &[String], prompt: Option<&str>) -> Result<Vec<Vec<f32>>, Error> {
        let batches = self.batches(texts, self.inner.config.batch_size, String::len);
        let requests: Vec<_> = batches.into_iter().map(|batch| self.embed_batch(batch, prompt)).collect();
        let answers = stream::iter(requests).buffered(self.concurrency());
        Ok(answers.try_collect::<Vec<_>>().await?.into_iter().flatten().collect())
    }

    /// One judgment per pair of premise and hypothesis, in order. Any number of pairs. `None` for a pair that exceeds
    /// the model's limit: nothing is truncated.
    ///
    /// # Errors
    /// [`Error`], once retries are over.
    pub async fn nli(&self, pairs: &[(String, String)]) -> Result<Vec<Option<NliResult>>, Error> {
        let most = self.inner.config.batch_size;
        let batches = self.batches(pairs, most, |(premise, hypothesis)| premise.len() + hypothesis.len());
        let requests: Vec<_> = batches.into_iter().map(|batch| self.nli_batch(batch)).collect();
        let answers = stream::iter(requests).buffered(self.concurrency());
        Ok(answers.try_collect::<Vec<_>>().await?.into_iter().flatten().collect())
    }

    /// One verdict per claim with its passage, in order. Any number of items. A passage that exceeds the model's limit
    /// is read up to the last sentence that fits; the length of the rationale shows which.
    ///
    /// # Errors
    /// [`Error`], once retries are over; [`Error::Refused`] for a claim or a passage that is empty, and where the server hosts no
    /// verifier.
    pub async fn verify(&self, items: &[VerifyItem]) -> Result<Vec<VerifyResult>, Error> {
        let bytes = |item: &VerifyItem| {
            let title = item.title.as_ref().map_or(0, String::len);
            item.claim.len() + title + item.sentences.iter().map(String::len).sum::<usize>()
        };
        let batches = self.batches(items, self.inner.config.verify_batch_size, bytes);
        let requests: Vec<_> = batches.into_iter().map(|batch| self.verify_batch(batch)).collect();
        let answers = stream::iter(requests).buffered(self.concurrency());
        Ok(answers.try_collect::<Vec<_>>().await?.into_iter().flatten().collect())
    }

    /// The prompts of the embedder, as the server last reported them; requested if unknown.
    ///
    /// # Errors
    /// [`Error`], once retries are over.
    pub async fn prompts(&self) -> Result<EmbedPrompts, Error> {
        let known = || self.inner.prompts.read().unwrap_or_else(PoisonError::into_inner).clone();
        match known() {
            Some(prompts) => Ok(prompts),
            None => self.info().await.map(|_| known().unwrap_or_default()),
        }
    }

    /// The models that the server hosts.
    ///
    /// # Errors
    /// [`Error`], once retries are over.
    pub async fn info(&self) -> Result<InfoResponse, Error> {
        let info: InfoResponse = self
            .retried(|| async {
                let response = self.send(self.inner.http.get(self.at("/info"))).await?;
                response.json().await.map_err(|error| self.protocol(&error))
            })
            .await?;
        // Without an embedder it is still loading, and the prompts are unknown.
        if let Some(embedder) = info.model(ModelKind::Embed) {
            let prompts = embedder.prompts.clone().unwrap_or_default();
            *self.inner.prompts.write().unwrap_or_else(PoisonError::into_inner) = Some(prompts);
        }
        Ok(info)
    }

    /// The server's state, without retries.
    ///
    /// # Errors
    /// [`Error::Unreachable`] or [`Error::Protocol`].
    pub async fn ready(&self) -> Result<ReadyResponse, Error> {
        let response =
            self.inner.http.get(self.at("/ready")).send().await.map_err(|error| self.unreachable(&error))?;
        response.json().await.map_err(|error| self.protocol(&error))
    }

    /// Waits until the server answers requests.
    ///
    /// # Errors
    /// [`Error::NotReady`] after `timeout`, or at once when a model failed to load.
    pub async fn wait_ready(&self, timeout: Duration) -> Result<(), Error> {
        const PAUSE: Duration = Duration::from_millis(50);
        let started = Instant::now();
        loop {
            let (reason, hopeless) = match self.ready().await {
                Ok(ReadyResponse { status: ReadyState::Ready, .. }) => return Ok(()),
                Ok(ReadyResponse { status: ReadyState::Failed, error, .. }) => {
                    (error.unwrap_or_default(), true)
                }
                Ok(ReadyResponse { status: ReadyState::Draining, .. }) => {
                    ("it is shutting down".to_owned(), false)
                }
                Ok(ReadyResponse { loading, .. }) => (format!("loading {}", loading.join(" and ")), false),
                Err(error) => (error.to_string(), false),
            };
            let waited = started.elapsed();
            if hopeless || waited + PAUSE > timeout {
                return Err(Error::NotReady { url: self.inner.shown.clone(), waited, reason });
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    async fn embed_batch(&self, texts: &[String], prompt: Option<&str>) -> Result<Vec<Vec<f32>>, Error> {
        let request =
            EmbedRequest { prompt_name: prompt.map(str::to_owned), ..EmbedRequest::new(texts.to_vec()) };
        let rows = self.retried(|| async {
            let post = self.inner.http.post(self.at("/embed")).header(ACCEPT, "application/octet-stream");
            let response = self.send(post.json(&request)).await?;
            let shape = response.headers().get(EMBEDDING_SHAPE_HEADER).and_then(|shape| shape.to_str().ok());
            let shape = shape.unwrap_or_default().to_owned();
            let bytes = response.bytes().await.map_err(|error| self.unreachable(&error))?;
            rows(&bytes, &shape, texts.len()).ok_or_else(|| Error::Protocol {
                url: self.inner.shown.clone(),
                reason: format!("{} texts gave {} bytes of shape `{shape}`", texts.len(), bytes.len()),
            })
        });
        rows.await
    }

    /// A batch with a pair that is too long is rejected as a whole, so it is split in halves until that pair is
    /// isolated.
    fn nli_batch<'a>(
        &'a self,
        pairs: &'a [(String, String)],
    ) -> BoxFuture<'a, Result<Vec<Option<NliResult>>, Error>> {
        Box::pin(async move {
            match (self.nli_request(pairs).await, pairs) {
                (Ok(results), _) => Ok(results.into_iter().map(Some).collect()),
                (Err(error), [_]) if error.is_too_long() => Ok(vec![None]),
                (Err(error), _) if error.is_too_long() => {
                    let (first, second) = pairs.split_at(pairs.len() / 2);
                    let mut results = self.nli_batch(first).await?;
                    results.extend(self.nli_batch(second).await?);
                    Ok(results)
                }
                (Err(error), _) => Err(error),
            }
        })
    }

    async fn nli_request(&self, pairs: &[(String, String)]) -> Result<Vec<NliResult>, Error> {
        let pair = |(premise, hypothesis): &(String, String)| NliPair {
            premise: premise.clone(),
            hypothesis: hypothesis.clone(),
        };
        let request = NliRequest { pairs: pairs.iter().map(pair).collect(), truncate: false };
        let results = self.retried(|| async {
            let response = self.send(self.inner.http.post(self.at("/nli")).json(&request)).await?;
            let answer: NliResponse = response.json().await.map_err(|error| self.protocol(&error))?;
            if answer.results.len() == pairs.len() {
                Ok(answer.results)
            } else {
                let reason = format!("{} pairs gave {} results", pairs.len(), answer.results.len());
                Err(Error::Protocol { url: self.inner.shown.clone(), reason })
            }
        });
        results.await
    }

    async fn verify_batch(&self, items: &[VerifyItem]) -> Result<Vec<VerifyResult>, Error> {
        let request = VerifyRequest { items: items.to_vec() };
        let results = self.retried(|| async {
            let response = self.send(self.inner.http.post(self.at("/verify")).json(&request)).await?;
            let answer: VerifyResponse = response.json().await.map_err(|error| self.protocol(&error))?;
            let unfit = |reason: String| Error::Protocol { url: self.inner.shown.clone(), reason };
            if answer.results.len() != items.len() {
                return Err(unfit(format!("{} items gave {} results", items.len(), answer.results.len())));
            }
            for (item, result) in items.iter().zip(&answer.results) {
                let (sentences, scores) = (item.sentences.len(), result.rationale.len());
                if scores == 0 || scores > sentences {
                    return Err(unfit(format!("{sentences} sentences gave {scores} scores")));
                }
            }
            Ok(answer.results)
        });
        results.await
    }

    /// Repeats a call while it fails in a way that may pass, and keeps the circuit breaker informed.
    async fn retried<T, F>(&self, call: impl Fn() -> F) -> Result<T, Error>
    where
        F: Future<Output = Result<T, Error>>,
    {
        let Inner { config, breaker, .. } = &*self.inner;
        let attempt = || async {
            breaker
                .check(Instant::now())
                .map_err(|retry_in| Error::CircuitOpen { url: self.inner.shown.clone(), retry_in })?;
            let result = call().await;
            match &result {
                Err(error) if error.counts_against_server() => breaker.failed(Instant::now()),
                _ => breaker.succeeded(),
            }
            result
        };
        let backoff = ExponentialBuilder::default()
            .with_min_delay(config.first_pause)
            .with_max_delay(Duration::from_secs(10))
            .with_max_times(config.retries)
            .with_jitter();
        attempt
            .retry(backoff)
            .when(Error::is_transient)
            // The server's `Retry-After` applies, with jitter so that clients do not all return at once.
            .adjust(|error, pause| {
                pause.map(|pause| error.retry_after().map_or(pause, |after| after.max(pause)))
            })
            .notify(|error, pause| tracing::debug!(%error, ?pause, "retrying the request to the ml-server"))
            .await
    }

    /// Sends a request; an answer that is not a success becomes an error.
    async fn send(&self, request: RequestBuilder) -> Result<Response, Error> {
        let (client, request) = request.build_split();
        let mut request = request.map_err(|error| self.protocol(&error))?;
        let kind = lyra_telemetry::kind("client");
        let span = tracing::info_span!("ml_request", path = request.url().path(), otel.kind = kind);
        let sent = async {
            if let Some(value) = trace::traceparent().and_then(|parent| parent.to_string().parse().ok()) {
                request.headers_mut().insert(TRACEPARENT, value);
            }
            client.execute(request).await
        };
        let response = sent.instrument(span).await.map_err(|error| self.unreachable(&error))?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let retry_after =
            response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
        let retry_after = retry_after.map(Duration::from_secs);
        let body = error_body(response).await;
        let code = status.as_u16();
        Err(match status {
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
                Error::Busy { status: code, body, retry_after }
            }
            StatusCode::FAILED_DEPENDENCY => Error::Failed { status: code, body },
            status if status.is_client_error() => Error::Refused { status: code, body },
            _ => Error::Failed { status: code, body },
        })
    }

    /// Consecutive runs of at most `most` items, within the limit of bytes.
    fn batches<'a, T>(&self, items: &'a [T], most: usize, size: impl Fn(&T) -> usize) -> Vec<&'a [T]> {
        let batch_bytes = self.inner.config.batch_bytes;
        let mut rest = items;
        let mut batches = Vec::new();
        while !rest.is_empty() {
            let mut bytes = 0;
            let fitting = rest.iter().take(most).take_while(|item| {
                bytes += size(item);
                bytes <= batch_bytes
            });
            let (batch, tail) = rest.split_at(fitting.count().max(1));
            batches.push(batch);
            rest = tail;
        }
        batches
    }

    fn concurrency(&self) -> usize {
        self.inner.config.concurrency.max(1)
    }

    fn at(&self, path: &str) -> String {
        format!("{}{path}", self.inner.base)
    }

    fn unreachable(&self, error: &reqwest::Error) -> Error {
        Error::Unreachable { url: self.inner.shown.clone(), reason: chain(error) }
    }

    fn protocol(&self, error: &reqwest::Error) -> Error {
        Error::Protocol { url: self.inner.shown.clone(), reason: chain(error) }
    }
}

/// A base URL as others may see it.
fn without_password(base: &str) -> String {
    let Ok(mut url) = Url::parse(base) else { return base.to_owned() };
    if url.username().is_empty() && url.password().is_none() {
        return base.to_owned();
    }
    // Addresses that cannot have a user have none.
    let _ = url.set_password(None);
    let _ = url.set_username("…");
    url.as_str().trim_end_matches('/').replace("%E2%80%A6", "…")
}

/// Rows of little-endian f32, if `bytes` holds as many as `shape` (`rows,columns`) says and `expected` rows.
fn rows(bytes: &[u8], shape: &str, expected: usize) -> Option<Vec<Vec<f32>>> {
    let (rows, columns) = shape.split_once(',')?;
    let (rows, columns): (usize, usize) = (rows.trim().parse().ok()?, columns.trim().parse().ok()?);
    if rows != expected || columns == 0 || bytes.len() != rows.checked_mul(columns)?.checked_mul(4)? {
        return None;
    }
    let value = |bytes: &[u8]| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    Some(bytes.chunks_exact(4 * columns).map(|row| row.chunks_exact(4).map(value).collect()).collect())
}

/// The server's explanation, or that of a proxy in between.
async fn error_body(response: Response) -> ErrorBody {
    let is_json = response
        .headers()
        .get(CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
    let explain =
        |error: String| ErrorBody { error, error_type: ErrorType::Backend, error_id: "none".to_owned() };
    if is_json {
        return response.json().await.unwrap_or_else(|error| explain(chain(&error)));
    }
    let text = response.text().await.unwrap_or_default();
    explain(text.chars().take(200).collect())
}

/// An error with its causes: reqwest's own message omits them.
fn chain(error: &reqwest::Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}
