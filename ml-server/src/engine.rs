//! Between HTTP and the models: admission, tokenizing, queues, batches, replies.
//!
//! A request is tokenized on a worker thread, its inputs join their model's queue, and one runner thread takes batches
//! from the queues. There is no batching delay: a batch is whatever is queued when the device becomes free.

pub mod batch;
pub mod metrics;
pub mod queue;
mod runner;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use lyra_proto::{Limits, ModelKind, TruncationDirection};
use tokio::sync::mpsc::unbounded_channel;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tracing::Span;

use self::metrics::{InputTimes, Metrics};
use self::queue::{Item, Queue, Reply};
use crate::error::{Error, RequestError};
use crate::model::Model;
use crate::model::tokenizer::{TextTokenizer, TokenizeError, Tokens, Truncation};

/// No inference has succeeded yet.
const NEVER: u64 = u64::MAX;

/// Hosts the models.
pub struct Engine {
    shared: Arc<Shared>,
    requests: Arc<Semaphore>,
    max_requests: usize,
    tokenisers: Semaphore,
    max_queued_tokens: usize,
    abandoned: CancellationToken,
    runner: Mutex<Option<JoinHandle<()>>>,
}

struct Shared {
    models: Vec<(ModelKind, Arc<Model>)>,
    state: Mutex<State>,
    wake: Condvar,
    max_batch_tokens: usize,
    started: Instant,
    /// Milliseconds from `started` to the last successful inference; [`NEVER`] before the first.
    last_success: AtomicU64,
    /// Bits of an `f64`: tokens per second, 0 before the first batch.
    rate: AtomicU64,
    /// Why the device computes no more.
    lost: OnceLock<String>,
    metrics: Arc<Metrics>,
}

/// Queues in the order of the models.
struct State {
    queues: Vec<Queue>,
    /// Place of the model that ran last.
    last: usize,
    closed: bool,
}

/// The rows of one request with their cost.
#[derive(Debug, Clone)]
pub struct Answer {
    /// One per input, in order.
    pub rows: Vec<Vec<f32>>,
    /// Cost.
    pub cost: Cost,
}

/// The cost of a request.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cost {
    /// Tokens run, special tokens included.
    pub tokens: usize,
    /// Longest wait of one of its inputs.
    pub queued: Duration,
    /// Time of all batches that held one of its inputs.
    pub inference: Duration,
}

/// A permit for one request in progress.
pub struct Permit(#[expect(dead_code, reason = "held for its drop")] OwnedSemaphorePermit);

impl Engine {
    /// Starts the runner over `models`, at most one per kind, with `threads` computing threads.
    ///
    /// # Errors
    /// When the system refuses threads.
    pub fn start(
        models: Vec<(ModelKind, Arc<Model>)>,
        threads: usize,
        limits: &Limits,
        max_batch_tokens: usize,
        metrics: Arc<Metrics>,
    ) -> Result<Self, Error> {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(|index| format!("ml-{index}"))
            .build()
            .map_err(|error| Error::Start(format!("compute threads: {error}")))?;
        let queues = models.iter().map(|_| Queue::default()).collect();
        let shared = Arc::new(Shared {
            models,
            state: Mutex::new(State { queues, last: 0, closed: false }),
            wake: Condvar::new(),
            max_batch_tokens,
            started: Instant::now(),
            last_success: AtomicU64::new(NEVER),
            rate: AtomicU64::new(0),
            lost: OnceLock::new(),
            metrics,
        });
        let runner = std::thread::Builder::new().name("ml-runner".to_owned()).spawn({
            let shared = Arc::clone(&shared);
            move || runner::run(&shared, &pool)
        });
        let runner = runner.map_err(|error| Error::Start(format!("runner thread: {error}")))?;
        Ok(Self {
            shared,
            requests: Arc::new(Semaphore::new(limits.max_concurrent_requests)),
            max_requests: limits.max_concurrent_requests,
            tokenisers: Semaphore::new(threads),
            max_queued_tokens: limits.max_queued_tokens,
            abandoned: CancellationToken::new(),
            runner: Mutex::new(Some(runner)),
        })
    }

    /// The hosted models.
    pub fn models(&self) -> &[(ModelKind, Arc<Model>)] {
        &self.shared.models
    }

    /// The model of a kind.
    ///
    /// # Errors
    /// [`RequestError::NotHosted`].
    pub fn model(&self, kind: ModelKind) -> Result<&Arc<Model>, RequestError> {
        Ok(&self.shared.models[self.place(kind)?].1)
    }

    /// The model that judges pairs: the NLI model, or the verifier if no NLI model is loaded.
    ///
    /// # Errors
    /// [`RequestError::NotHosted`].
    pub fn classifier(&self) -> Result<(ModelKind, &Arc<Model>), RequestError> {
        let nli = self.model(ModelKind::Nli);
        let verifier = || self.model(ModelKind::Verify).map(|model| (ModelKind::Verify, model));
        nli.map(|model| (ModelKind::Nli, model)).or_else(|missing| verifier().map_err(|_| missing))
    }

    /// Whether another request would be admitted now. Checked before a body is read: refused requests should cost
    /// nothing.
    ///
    /// # Errors
    /// [`RequestError::Overloaded`] at the limit.
    pub fn room(&self) -> Result<(), RequestError> {
        if self.requests.available_permits() == 0 { Err(self.full()) } else { Ok(()) }
    }

    /// Counts a request for a model in.
    ///
    /// # Errors
    /// [`RequestError::Overloaded`] at the limit of requests, or when the model's queue is already full; immediately.
    pub fn admit(&self, kind: ModelKind) -> Result<Permit, RequestError> {
        let permit = Arc::clone(&self.requests).try_acquire_owned().map_err(|_| self.full())?;
        let place = self.place(kind)?;
        let waiting = self.shared.lock().queues[place].tokens();
        if waiting >= self.max_queued_tokens.max(1) {
            return Err(self.overloaded(waiting, "too many tokens queued"));
        }
        Ok(Permit(permit))
    }

    /// Waits until no request is in progress, and admits no further one.
    pub async fn idle(&self) {
        let all = u32::try_from(self.max_requests).unwrap_or(u32::MAX);
        if let Ok(permits) = self.requests.acquire_many(all).await {
            permits.forget();
        }
    }

    /// Tokenizes on a worker thread; in parallel for at most as many requests as there are compute threads.
    ///
    /// # Errors
    /// What `job` returns; [`RequestError::NotHosted`].
    pub async fn tokenise<T, F>(&self, kind: ModelKind, job: F) -> Result<T, RequestError>
    where
        T: Send + 'static,
        F: FnOnce(&TextTokenizer) -> Result<T, RequestError> + Send + 'static,
    {
        let started = Instant::now();
        let model = Arc::clone(self.model(kind)?);
        let _turn = self.tokenisers.acquire().await.map_err(|_| RequestError::Draining)?;
        let span = Span::current();
        let tokens = tokio::task::spawn_blocking(move || span.in_scope(|| job(&model.tokenizer))).await;
        self.shared.metrics.tokenised(started.elapsed());
        tokens.unwrap_or_else(|error| Err(RequestError::Inference(format!("tokenizer: {error}"))))
    }

    /// Counts a request in, tokenizes it with `job` and runs its inputs.
    ///
    /// # Errors
    /// Those of [`admit`](Self::admit) and [`tokenise`](Self::tokenise); [`RequestError::Overloaded`] when too many
    /// tokens wait, [`RequestError::Inference`] when an input failed, [`RequestError::Draining`] when it was
    /// [abandoned](Self::abandon).
    pub async fn infer<F>(&self, kind: ModelKind, job: F) -> Result<Answer, RequestError>
    where
        F: FnOnce(&TextTokenizer) -> Result<Vec<Tokens>, RequestError> + Send + 'static,
    {
        let _permit = self.admit(kind)?;
        // A running batch cannot be stopped, but no one needs to wait for it.
        let answer = self.abandoned.run_until_cancelled(self.infer_admitted(kind, job)).await;
        answer.unwrap_or(Err(RequestError::Draining))
    }

    async fn infer_admitted<F>(&self, kind: ModelKind, job: F) -> Result<Answer, RequestError>
    where
        F: FnOnce(&TextTokenizer) -> Result<Vec<Tokens>, RequestError> + Send + 'static,
    {
        let started = Instant::now();
        let inputs = self.tokenise(kind, job).await?;
        let tokenised = started.elapsed();
        let count = inputs.len();
        let mut cost = Cost { tokens: inputs.iter().map(Tokens::len).sum(), ..Cost::default() };
        let (reply, mut replies) = unbounded_channel();
        self.push(kind, inputs, &reply, cost.tokens)?;
        drop(reply);

        let mut rows = vec![Vec::new(); count];
        let mut last_batch = 0;
        for _ in 0..count {
            let Some(Reply { index, row, waited, batch, ran }) = replies.recv().await else {
                return Err(self.unanswered());
            };
            if row.is_ok() {
                let total = started.elapsed();
                self.shared
                    .metrics
                    .input(kind, &InputTimes { total, tokenised, queued: waited, inference: ran });
            }
            rows[index] = row.map_err(|error| RequestError::Inference(format!("input {index}: {error}")))?;
            cost.queued = cost.queued.max(waited);
            // Replies of one batch arrive together, so a new number is a new batch.
            if batch != last_batch {
                cost.inference += ran;
                last_batch = batch;
            }
        }
        self.shared.metrics.ran(cost.queued, cost.inference);
        Ok(Answer { rows, cost })
    }

    /// Runs a real inference of one token when there was no success yet, or the last one is older than `stale`.
    ///
    /// # Errors
    /// [`RequestError::Unhealthy`] when that inference fails or takes longer than `patience`, [`RequestError::DeviceLost`] when
    /// the device was lost at any time before.
    pub async fn probe(&self, stale: Duration, patience: Duration) -> Result<(), RequestError> {
        self.check_device()?;
        let Some((kind, _)) = self.shared.models.first() else { return Ok(()) };
        let last = self.shared.last_success.load(Ordering::Relaxed);
        if last != NEVER && u128::from(self.shared.now().saturating_sub(last)) < stale.as_millis() {
            return Ok(());
        }
        let inference = async {
            let empty = |tokenizer: &TextTokenizer| {
                let cut = Truncation::Cut(TruncationDirection::Right);
                tokenizer.text("", cut).map(|tokens| vec![tokens]).map_err(|error| refused(0, error))
            };
            // Not counted in: a full server is not a sick one.
            self.infer_admitted(*kind, empty).await
        };
        match tokio::time::timeout(patience, inference).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => self.check_device().and(Err(RequestError::Unhealthy(error.to_string()))),
            Err(_) => Err(RequestError::Unhealthy(format!("no answer within {} s", patience.as_secs()))),
        }
    }

    fn check_device(&self) -> Result<(), RequestError> {
        self.shared.lost.get().map_or(Ok(()), |reason| Err(RequestError::DeviceLost(reason.clone())))
    }

    /// Drops queued inputs and tells all waiting requests, including those in a running batch, that the server is
    /// shutting down.
    pub fn abandon(&self) {
        self.abandoned.cancel();
        let mut state = self.shared.lock();
        state.closed = true;
        let dropped = state.queues.iter_mut().map(Queue::clear).sum();
        self.shared.note_waiting(&state);
        drop(state);
        self.shared.metrics.dropped(dropped);
        self.shared.wake.notify_all();
    }

    /// Refuses new inputs, finishes the queued ones and waits for them. Blocks.
    pub fn close(&self) {
        self.shared.lock().closed = true;
        self.shared.wake.notify_all();
        let runner = self.runner.lock().unwrap_or_else(PoisonError::into_inner).take();
        if runner.is_some_and(|runner| runner.join().is_err()) {
            tracing::error!("the runner thread panicked");
        }
    }

    fn push(
        &self,
        kind: ModelKind,
        inputs: Vec<Tokens>,
        reply: &tokio::sync::mpsc::UnboundedSender<Reply>,
        tokens: usize,
    ) -> Result<(), RequestError> {
        let place = self.place(kind)?;
        let mut state = self.shared.lock();
        if state.closed {
            return Err(RequestError::Draining);
        }
        let queue = &mut state.queues[place];
        // An empty queue accepts any request within the batch limit: otherwise it could never be accepted.
        let waiting = queue.tokens();
        if waiting > 0 && waiting + tokens > self.max_queued_tokens {
            return Err(self.overloaded(waiting, "too many tokens queued"));
        }
        let lengths: Vec<_> = inputs.iter().map(Tokens::len).collect();
        let (queued, span) = (Instant::now(), Span::current());
        for (index, tokens) in inputs.into_iter().enumerate() {
            queue.push(Item { tokens, index, queued, reply: reply.clone(), span: span.clone() });
        }
        self.shared.note_waiting(&state);
        drop(state);
        self.shared.wake.notify_one();
        self.shared.metrics.queued(kind, &lengths);
        Ok(())
    }

    fn place(&self, kind: ModelKind) -> Result<usize, RequestError> {
        let place = self.shared.models.iter().position(|(hosted, _)| *hosted == kind);
        place.ok_or(match kind {
            ModelKind::Embed => RequestError::NotHosted("embedding", "--embed-model"),
            ModelKind::Nli => RequestError::NotHosted("NLI", "--nli-model"),
            ModelKind::Verify => RequestError::NotHosted("verifier", "--verify-model"),
        })
    }

    /// The error for a client whose inputs were dropped.
    fn unanswered(&self) -> RequestError {
        if self.shared.lock().closed {
            RequestError::Draining
        } else {
            RequestError::Inference("the batch was lost".to_owned())
        }
    }

    fn full(&self) -> RequestError {
        let waiting = self.shared.lock().queues.iter().map(Queue::tokens).sum();
        self.overloaded(waiting, "too many requests in work")
    }

    /// `Retry-After`: how long the waiting tokens take at the rate seen so far, 1 to 60 s.
    fn overloaded(&self, waiting: usize, reason: &'static str) -> RequestError {
        self.shared.metrics.rejected(reason);
        let rate = f64::from_bits(self.shared.rate.load(Ordering::Relaxed)).max(1.0);
        let seconds = (waiting as f64 / rate).ceil().clamp(1.0, 60.0);
        RequestError::Overloaded { reason, retry_after: Duration::from_secs(seconds as u64) }
    }
}

impl Shared {
    fn now(&self) -> u64 {
        self.started.elapsed().as_millis() as u64
    }

    fn note_waiting(&self, state: &State) {
        let sum = |of: fn(&Queue) -> usize| state.queues.iter().map(of).sum();
        self.metrics.waiting(sum(Queue::len), sum(Queue::tokens));
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing panics while it holds the lock, and the queues would be consistent if it did.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        self.wake.wait(state).unwrap_or_else(PoisonError::into_inner)
    }
}

/// The error for a request whose input `index` could not be tokenized.
pub fn refused(index: usize, error: TokenizeError) -> RequestError {
    match error {
        TokenizeError::TooLong { length, limit } => RequestError::TooLong { index, length, limit },
        TokenizeError::TooManyCharacters { length, limit } => {
            RequestError::TooManyCharacters { index, length, limit }
        }
        TokenizeError::LongClaim { length, limit } => RequestError::LongClaim { index, length, limit },
        TokenizeError::UnknownId { id, last } => RequestError::UnknownToken { index, id, last },
        TokenizeError::Failed(reason) => {
            RequestError::Inference(format!("input {index}: tokenizer: {reason}"))
        }
    }
}
