//! The server's metrics, in Prometheus's text format.
//!
//! Names with `te_` are TEI's with the same meaning, so that its dashboards work; `lyra_ml_` is our own. `METRICS.md`
//! describes all of them.

use std::fmt;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use lyra_proto::{Backend, ErrorType, ModelKind, PassedOver};
use prometheus_client::encoding::{EncodeMetric, MetricEncoder, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::metrics::{MetricType, TypedMetric};
use prometheus_client::registry::{Metric, Registry};

use crate::model::Model;

/// Name and value of the one label that a family has.
type Label = [(&'static str, String); 1];
/// The labels of a model's backend.
type Place = [(&'static str, String); 4];

/// The metrics of one server.
pub struct Metrics {
    registry: Registry,
    requests: Family<Label, Count>,
    successes: Family<Label, Count>,
    failures: Family<Label, Count>,
    rejected: Family<Label, Count>,
    dropped: Count,
    request_duration: Histogram,
    tokenization_duration: Histogram,
    queue_duration: Histogram,
    inference_duration: Histogram,
    input_length: Histogram,
    embed: Inputs,
    predict: Inputs,
    verify: Inputs,
    tokens: Family<Label, Count>,
    backends: Family<Place, Gauge<u64, AtomicU64>>,
    queue_size: Gauge<u64, AtomicU64>,
    queue_tokens: Gauge<u64, AtomicU64>,
    batch_size: Histogram,
    batch_tokens: Histogram,
    batch_fill: Histogram,
    batch_duration: Histogram,
}

/// Inputs of one kind of model.
struct Inputs {
    received: Count,
    answered: Count,
    duration: Histogram,
    tokenization_duration: Histogram,
    queue_duration: Histogram,
    inference_duration: Histogram,
}

/// How long one input took.
pub(super) struct InputTimes {
    /// From its request's admission to its answer.
    pub(super) total: Duration,
    /// Until its request was tokenized.
    pub(super) tokenised: Duration,
    /// In the queue.
    pub(super) queued: Duration,
    /// Its batch.
    pub(super) inference: Duration,
}

impl Inputs {
    fn new(registry: &mut Registry, prefix: &str, what: &str, done: &str) -> Self {
        let mut histogram = |name: &str, help: &str| {
            add(registry, &format!("{prefix}{name}duration"), &format!("Seconds of {what} {help}"), seconds())
        };
        Self {
            duration: histogram("_", "from admission to answer"),
            tokenization_duration: histogram("_tokenization_", "until its request was tokenized"),
            queue_duration: histogram("_queue_", "waiting for a batch"),
            inference_duration: histogram("_inference_", "in its batch"),
            received: add(registry, &format!("{prefix}_count"), "Inputs queued", Count::default()),
            answered: add(
                registry,
                &format!("{prefix}_success"),
                &format!("Inputs {done}"),
                Count::default(),
            ),
        }
    }
}

impl Default for Metrics {
    fn default() -> Self {
        let registry = &mut Registry::default();
        Self {
            requests: add(
                registry,
                "te_request_count",
                "Requests for inference, by route",
                Family::default(),
            ),
            successes: add(registry, "te_request_success", "Requests answered, by route", Family::default()),
            failures: add(
                registry,
                "te_request_failure",
                "Requests refused or failed, by error_type of the answer",
                Family::default(),
            ),
            rejected: add(
                registry,
                "lyra_ml_rejected_total",
                "Requests refused because the server was full, by the limit reached",
                Family::default(),
            ),
            request_duration: add(
                registry,
                "te_request_duration",
                "Seconds from a request's head to its answer, when it succeeded",
                seconds(),
            ),
            tokenization_duration: add(
                registry,
                "te_request_tokenization_duration",
                "Seconds of a request in tokenization, including the wait for a thread",
                seconds(),
            ),
            queue_duration: add(
                registry,
                "te_request_queue_duration",
                "Seconds that a request's last input waited for a batch",
                seconds(),
            ),
            inference_duration: add(
                registry,
                "te_request_inference_duration",
                "Seconds of the batches that held a request's inputs",
                seconds(),
            ),
            input_length: add(registry, "te_request_input_length", "Tokens of an input", powers(14)),
            embed: Inputs::new(registry, "te_embed", "an input of the embedder", "embedded"),
            predict: Inputs::new(registry, "te_predict", "an input of the classifier", "classified"),
            verify: Inputs::new(registry, "lyra_ml_verify", "an item of the verifier", "judged"),
            dropped: add(
                registry,
                "lyra_ml_dropped_total",
                "Inputs not run because their client went away or the server shut down",
                Count::default(),
            ),
            tokens: add(
                registry,
                "lyra_ml_tokens_total",
                "Tokens run, by kind of model; its rate is tokens per second",
                Family::default(),
            ),
            backends: add(
                registry,
                "lyra_ml_backend",
                "1 for what computes a model (state serving), and for what was to compute it before that (state: the cause)",
                Family::default(),
            ),
            queue_size: add(registry, "te_queue_size", "Inputs waiting for a batch", Gauge::default()),
            queue_tokens: add(
                registry,
                "lyra_ml_queue_tokens",
                "Tokens waiting for a batch",
                Gauge::default(),
            ),
            batch_size: add(registry, "te_batch_next_size", "Inputs of a batch", powers(13)),
            batch_tokens: add(registry, "te_batch_next_tokens", "Tokens of a batch", powers(18)),
            batch_fill: add(
                registry,
                "lyra_ml_batch_fill_ratio",
                "Tokens of a batch as a share of the most that run together",
                Histogram::new((1..=10).map(|tenth| f64::from(tenth) / 10.0)),
            ),
            batch_duration: add(registry, "lyra_ml_batch_duration", "Seconds that a batch ran", seconds()),
            registry: std::mem::take(registry),
        }
    }
}

impl Metrics {
    /// Everything in the text format, version 0.0.4.
    pub fn render(&self) -> String {
        let mut out = String::new();
        if let Err(error) = text::encode(&mut out, &self.registry) {
            tracing::warn!(%error, "the metrics could not be written");
        }
        out
    }

    /// This computes a model.
    pub(crate) fn backend(&self, kind: ModelKind, model: &Model) {
        let note = |backend: Backend, device: &str, state: String| {
            // Without the vendor's name of a GPU.
            let device = device.split(' ').next().unwrap_or_default().to_owned();
            let labels = [
                ("kind", label(kind).to_owned()),
                ("backend", backend.to_string()),
                ("device", device),
                ("state", state),
            ];
            self.backends.get_or_create(&labels).set(1);
        };
        note(model.backend, &model.device, "serving".to_owned());
        for PassedOver { backend, device, cause, .. } in &model.passed_over {
            note(*backend, device, cause.to_string());
        }
    }

    /// A request for `route` came in.
    pub(crate) fn request(&self, route: &str) {
        self.requests.get_or_create(&[("route", route.to_owned())]).add(1);
    }

    /// It was answered after `took`, or refused or failed.
    pub(crate) fn answered(&self, route: &str, failure: Option<ErrorType>, took: Duration) {
        if let Some(kind) = failure {
            self.failures.get_or_create(&[("err", kind.as_str().to_owned())]).add(1);
        } else {
            self.successes.get_or_create(&[("route", route.to_owned())]).add(1);
            self.request_duration.observe(took.as_secs_f64());
        }
    }

    /// A request was refused because `limit` was reached.
    pub(super) fn rejected(&self, limit: &str) {
        self.rejected.get_or_create(&[("limit", limit.to_owned())]).add(1);
    }

    /// A request was tokenized.
    pub(super) fn tokenised(&self, took: Duration) {
        self.tokenization_duration.observe(took.as_secs_f64());
    }

    /// Inputs with these numbers of tokens joined a queue.
    pub(super) fn queued(&self, kind: ModelKind, lengths: &[usize]) {
        self.inputs(kind).received.add(lengths.len());
        for &length in lengths {
            self.input_length.observe(length as f64);
        }
    }

    /// An input was answered.
    pub(super) fn input(&self, kind: ModelKind, times: &InputTimes) {
        let inputs = self.inputs(kind);
        inputs.answered.add(1);
        inputs.duration.observe(times.total.as_secs_f64());
        inputs.tokenization_duration.observe(times.tokenised.as_secs_f64());
        inputs.queue_duration.observe(times.queued.as_secs_f64());
        inputs.inference_duration.observe(times.inference.as_secs_f64());
    }

    /// All inputs of a request were answered.
    pub(super) fn ran(&self, queued: Duration, inference: Duration) {
        self.queue_duration.observe(queued.as_secs_f64());
        self.inference_duration.observe(inference.as_secs_f64());
    }

    /// So many queued inputs will not run.
    pub(super) fn dropped(&self, inputs: usize) {
        self.dropped.add(inputs);
    }

    /// This much waits in all queues.
    pub(super) fn waiting(&self, inputs: usize, tokens: usize) {
        self.queue_size.set(inputs as u64);
        self.queue_tokens.set(tokens as u64);
    }

    /// A batch ran.
    pub(super) fn batch(&self, kind: ModelKind, inputs: usize, tokens: usize, budget: usize, ran: Duration) {
        self.tokens.get_or_create(&[("kind", label(kind).to_owned())]).add(tokens);
        self.batch_size.observe(inputs as f64);
        self.batch_tokens.observe(tokens as f64);
        self.batch_fill.observe(tokens as f64 / budget.max(1) as f64);
        self.batch_duration.observe(ran.as_secs_f64());
    }

    const fn inputs(&self, kind: ModelKind) -> &Inputs {
        match kind {
            ModelKind::Embed => &self.embed,
            ModelKind::Nli => &self.predict,
            ModelKind::Verify => &self.verify,
        }
    }
}

const fn label(kind: ModelKind) -> &'static str {
    match kind {
        ModelKind::Embed => "embed",
        ModelKind::Nli => "nli",
        ModelKind::Verify => "verify",
    }
}

/// A counter that is written under exactly its name; the library's own appends `_total`, which TEI's names lack.
#[derive(Debug, Clone, Default)]
struct Count(Counter);

impl Count {
    fn add(&self, more: usize) {
        self.0.inc_by(more as u64);
    }
}

impl TypedMetric for Count {
    const TYPE: MetricType = MetricType::Counter;
}

impl EncodeMetric for Count {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> Result<(), fmt::Error> {
        encoder.encode_gauge(&self.0.get())
    }

    fn metric_type(&self) -> MetricType {
        Self::TYPE
    }
}

fn add<M: Metric + Clone>(registry: &mut Registry, name: &str, help: &str, metric: M) -> M {
    registry.register(name, help, metric.clone());
    metric
}

/// From a millisecond to half a minute.
fn seconds() -> Histogram {
    Histogram::new(exponential_buckets(0.001, 2.0, 16))
}

/// 1, 2, 4, …
fn powers(length: u16) -> Histogram {
    Histogram::new(exponential_buckets(1.0, 2.0, length))
}
