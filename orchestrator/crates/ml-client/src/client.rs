//! The client: one method per route, in batches over the servers of a pool.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use futures::future::BoxFuture;
use futures::{StreamExt, TryStreamExt, stream};
use lyra_proto::{
    EmbedPrompts, InfoResponse, ModelKind, NliPair, NliRequest, NliResult, ReadyResponse, VerifyItem,
    VerifyRequest, VerifyResult,
};

use crate::error::Error;
use crate::load::{Job, Work};
use crate::pool::Pool;
use crate::server::Server;

/// How the client behaves; the defaults suit a server on the same machine or network.
#[derive(Debug, Clone)]
pub struct ClientConfig {
    /// Most texts or pairs in one request. Smaller requests share the server's queue more fairly.
    pub batch_size: usize,
    /// Most items for a verifier in one request. An item is a whole passage, so a few items fill a batch of the server.
    pub verify_batch_size: usize,
    /// Most bytes of text in one request (a single longer text gets a request of its own).
    pub batch_bytes: usize,
    /// Requests of one call in flight at the same time, per server; more than one keeps a server busy between answers.
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
    /// Of several servers: least time after which a second one is asked as well. It is four times what the request should
    /// take, if that is longer.
    pub second_after: Duration,
    /// Of several servers: for how long one that answered as the others do is used before it is examined again.
    pub examined_for: Duration,
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
            second_after: Duration::from_secs(3),
            examined_for: Duration::from_mins(1),
        }
    }
}

/// Client of one ml-server, or of several that host the same models. Clones share connections and what is known about the
/// servers.
///
/// With several servers, each request goes to the one that should answer soonest, by what it has to do and how fast it has
/// been. If it fails, or takes four times as long as expected, another one is asked. Before a server answers in the place of
/// others, after it was unreachable, and once a minute, it must host the same models as they do, and answer the same to the
/// same texts.
#[derive(Debug, Clone)]
pub struct MlClient {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    pool: Pool,
    config: ClientConfig,
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
        Self::of_servers(&[base_url.into()], config)
    }

    /// A client of several servers.
    ///
    /// # Errors
    /// When the HTTP client cannot be built.
    pub fn of_servers(base_urls: &[String], config: ClientConfig) -> Result<Self, Error> {
        let servers = base_urls.iter().map(|url| Server::new(url, &config)).collect::<Result<_, _>>()?;
        let pool = Pool::new(servers, config.clone());
        Ok(Self { inner: Arc::new(Inner { pool, config, prompts: RwLock::default() }) })
    }

    /// Base URLs of the servers.
    pub fn urls(&self) -> impl Iterator<Item = &str> {
        self.inner.pool.servers().iter().map(Server::base)
    }

    /// The same as messages name them: with commas, without passwords.
    pub(crate) fn shown(&self) -> String {
        self.inner.pool.shown()
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

    /// The models that the servers host.
    ///
    /// # Errors
    /// [`Error`], once retries are over.
    pub async fn info(&self) -> Result<InfoResponse, Error> {
        let job = Job { work: Work::Info, bytes: 0 };
        let info = self.inner.pool.ask(job, |server| Box::pin(server.info())).await?;
        // Without an embedder it is still loading, and the prompts are unknown.
        if let Some(embedder) = info.model(ModelKind::Embed) {
            let prompts = embedder.prompts.clone().unwrap_or_default();
            *self.inner.prompts.write().unwrap_or_else(PoisonError::into_inner) = Some(prompts);
        }
        Ok(info)
    }

    /// The state of each server, in the order of their addresses, without retries.
    ///
    /// # Errors
    /// [`Error::Unreachable`] or [`Error::Protocol`] in the place of a server.
    pub async fn states(&self) -> Vec<Result<ReadyResponse, Error>> {
        self.inner.pool.states().await
    }

    /// What is wrong with each server, in the order of their addresses: it does not answer requests now, or does not answer
    /// as most of the others do.
    pub async fn examine(&self) -> Vec<Option<Error>> {
        self.inner.pool.examine().await
    }

    /// Waits until a server answers requests.
    ///
    /// # Errors
    /// [`Error::NotReady`] after `timeout`, or at once when a model failed to load on each server.
    pub async fn wait_ready(&self, timeout: Duration) -> Result<(), Error> {
        self.inner.pool.wait_ready(timeout).await
    }

    async fn embed_batch(&self, texts: &[String], prompt: Option<&str>) -> Result<Vec<Vec<f32>>, Error> {
        let job = Job { work: Work::Embed, bytes: texts.iter().map(String::len).sum() };
        let pool = &self.inner.pool;
        let embed = async |server: &Server| {
            let vectors = server.embed(texts, prompt).await?;
            let unfit = |length: usize| pool.dimension().is_some_and(|dimension| dimension != length);
            match vectors.iter().map(Vec::len).find(|&length| unfit(length)) {
                Some(length) => Err(Error::Protocol {
                    url: server.shown().to_owned(),
                    reason: format!(
                        "vectors of {length} numbers; those of the other servers have another length"
                    ),
                }),
                None => Ok(vectors),
            }
        };
        pool.ask(job, |server| Box::pin(embed(server))).await
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
        let bytes = pairs.iter().map(|(premise, hypothesis)| premise.len() + hypothesis.len()).sum();
        self.inner.pool.ask(Job { work: Work::Nli, bytes }, |server| Box::pin(server.nli(&request))).await
    }

    async fn verify_batch(&self, items: &[VerifyItem]) -> Result<Vec<VerifyResult>, Error> {
        let request = VerifyRequest { items: items.to_vec() };
        let bytes = items.iter().map(bytes).sum();
        self.inner
            .pool
            .ask(Job { work: Work::Verify, bytes }, |server| Box::pin(server.verify(&request)))
            .await
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
        self.inner.config.concurrency.max(1) * self.inner.pool.servers().len().max(1)
    }
}

/// Bytes of text in an item.
fn bytes(item: &VerifyItem) -> usize {
    let title = item.title.as_ref().map_or(0, String::len);
    item.claim.len() + title + item.sentences.iter().map(String::len).sum::<usize>()
}
