//! The orchestrator's metrics, in Prometheus's text format. `METRICS.md` describes all of them.

mod process;

use lyra_research::ports::{Event, Subscriber};
use lyra_store::StoreCounts;
use prometheus_client::encoding::text;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::{Family, MetricConstructor};
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Metric, Registry, Unit};
use std::sync::atomic::AtomicU64;
use std::time::Duration;

type Label = [(&'static str, String); 1];
type Labels = [(&'static str, String); 2];
type Seconds = Counter<f64, AtomicU64>;
type Number = Gauge<f64, AtomicU64>;
type Timings = Family<Label, Histogram, Buckets>;

/// The metrics of one process.
pub struct Metrics {
    registry: Registry,
    requests: Family<Labels, Counter>,
    request_seconds: Timings,
    page_requests: Family<Label, Counter>,
    tool_calls: Family<Labels, Counter>,
    tool_seconds: Timings,
    jobs: Family<Labels, Number>,
    job_runs: Family<Labels, Counter>,
    job_seconds: Timings,
    tasks: Family<Label, Number>,
    queue_depth: Number,
    queue_oldest: Number,
    auth_pending: Number,
    source_requests: Family<Labels, Counter>,
    source_seconds: Timings,
    rate_waits: Family<Label, Counter>,
    rate_wait_seconds: Family<Label, Seconds>,
    cache: Family<Labels, Counter>,
    inference_calls: Family<Labels, Counter>,
    inference_inputs: Family<Label, Counter>,
    inference_seconds: Timings,
    store_bytes: Family<Label, Number>,
    free_bytes: Number,
    resident: Number,
    handles: Number,
}

/// From two milliseconds to two minutes.
#[derive(Clone, Default)]
struct Buckets;

impl MetricConstructor<Histogram> for Buckets {
    fn new_metric(&self) -> Histogram {
        Histogram::new(exponential_buckets(0.002, 2.0, 17))
    }
}

impl Default for Metrics {
    fn default() -> Self {
        let registry = &mut Registry::default();
        let build: Family<Label, Number> =
            add(registry, "lyra_build_info", "Version of Lyra; always 1", Family::default());
        build.get_or_create(&[("version", env!("CARGO_PKG_VERSION").to_owned())]).set(1.0);
        let help = "Start time of the process since the epoch";
        with_unit(registry, "process_start_time", help, Unit::Seconds, process::start_time());
        Self {
            requests: add(
                registry,
                "lyra_http_requests",
                "HTTP requests, by route and status",
                Family::default(),
            ),
            request_seconds: seconds(
                registry,
                "lyra_http_request_duration",
                "Until the answer's head, by route",
            ),
            page_requests: add(
                registry,
                "lyra_http_page_requests",
                "HTTP requests that web pages sent, by status",
                Family::default(),
            ),
            tool_calls: add(
                registry,
                "lyra_tool_calls",
                "MCP tool calls, by tool and outcome: ok, or the error_code of the answer",
                Family::default(),
            ),
            tool_seconds: seconds(registry, "lyra_tool_call_duration", "Time of an MCP tool call, by tool"),
            jobs: add(registry, "lyra_jobs", "Jobs in the store, by kind and state", Family::default()),
            job_runs: add(
                registry,
                "lyra_job_runs",
                "Jobs run by this process, by kind and outcome",
                Family::default(),
            ),
            job_seconds: seconds(registry, "lyra_job_duration", "Time spent on a job, by kind"),
            tasks: add(registry, "lyra_tasks", "Tasks in the store, by status", Family::default()),
            queue_depth: add(registry, "lyra_queue_depth", "Jobs that wait for a worker", Number::default()),
            queue_oldest: with_unit(
                registry,
                "lyra_queue_oldest",
                "Age of the job that has waited longest",
                Unit::Seconds,
                Number::default(),
            ),
            auth_pending: add(
                registry,
                "lyra_auth_pending",
                "Engines and pages that require a person",
                Number::default(),
            ),
            source_requests: add(
                registry,
                "lyra_source_requests",
                "Requests to sources, by provider and outcome; every attempt counts",
                Family::default(),
            ),
            source_seconds: seconds(
                registry,
                "lyra_source_request_duration",
                "Time of a request to a source, by provider",
            ),
            rate_waits: add(
                registry,
                "lyra_rate_limit_waits",
                "Requests that waited for their turn, by provider",
                Family::default(),
            ),
            rate_wait_seconds: with_unit(
                registry,
                "lyra_rate_limit_wait",
                "Time that requests waited for their turn, by provider",
                Unit::Seconds,
                Family::default(),
            ),
            cache: add(
                registry,
                "lyra_cache_lookups",
                "Lookups in the cache of answers, by provider and result: hit, stale or miss",
                Family::default(),
            ),
            inference_calls: add(
                registry,
                "lyra_inference_calls",
                "Calls of the ml-server, by call and outcome: ok or error",
                Family::default(),
            ),
            inference_inputs: add(
                registry,
                "lyra_inference_inputs",
                "Texts and pairs sent to the ml-server, by call",
                Family::default(),
            ),
            inference_seconds: seconds(
                registry,
                "lyra_inference_call_duration",
                "Time of a call of the ml-server, retries included, by call",
            ),
            store_bytes: with_unit(
                registry,
                "lyra_store_size",
                "Size of the evidence store, by part: database and its write-ahead log",
                Unit::Bytes,
                Family::default(),
            ),
            free_bytes: with_unit(
                registry,
                "lyra_data_free",
                "Free space on the disk of the data folder",
                Unit::Bytes,
                Number::default(),
            ),
            resident: with_unit(
                registry,
                "process_resident_memory",
                "Resident memory of the process",
                Unit::Bytes,
                Number::default(),
            ),
            handles: add(registry, "process_open_fds", "Open file handles of the process", Number::default()),
            registry: std::mem::take(registry),
        }
    }
}

impl Metrics {
    /// All metrics in the text format, with the current state of the store.
    pub fn render(&self, counts: &StoreCounts, free_bytes: Option<u64>) -> String {
        self.set(counts, free_bytes);
        let mut out = String::new();
        if let Err(error) = text::encode(&mut out, &self.registry) {
            tracing::warn!(%error, "the metrics could not be written");
        }
        out
    }

    fn set(&self, counts: &StoreCounts, free_bytes: Option<u64>) {
        // Series that are no longer in the store must not keep their last value.
        self.jobs.clear();
        self.tasks.clear();
        for job in &counts.jobs {
            let labels = [("kind", job.kind.clone()), ("state", job.state.as_str().to_owned())];
            self.jobs.get_or_create(&labels).set(job.count as f64);
        }
        for (status, count) in &counts.tasks {
            self.tasks.get_or_create(&[("status", status.as_str().to_owned())]).set(*count as f64);
        }
        self.queue_depth.set(counts.waiting as f64);
        self.queue_oldest.set(counts.oldest_seconds);
        self.auth_pending.set(counts.auth_pending as f64);
        for (part, bytes) in [("database", counts.database_bytes), ("log", counts.log_bytes)] {
            self.store_bytes.get_or_create(&[("part", part.to_owned())]).set(bytes as f64);
        }
        if let Some(free) = free_bytes {
            self.free_bytes.set(free as f64);
        }
        if let Some(process) = process::read() {
            self.resident.set(process.resident_bytes as f64);
            self.handles.set(process.open_handles as f64);
        }
    }

    /// An HTTP request to this route was answered.
    pub fn request(&self, route: &str, status: u16, took: Duration) {
        let labels = [("route", route.to_owned()), ("status", status.to_string())];
        self.requests.get_or_create(&labels).inc();
        time(&self.request_seconds, "route", route, took);
    }

    /// A request that a web page sent was answered.
    pub fn page_request(&self, status: u16) {
        self.page_requests.get_or_create(&[("status", status.to_string())]).inc();
    }

    /// A tool was called, with this outcome: `ok` or an error code.
    pub fn tool_call(&self, tool: &str, outcome: &str, took: Duration) {
        self.tool_calls.get_or_create(&[("tool", tool.to_owned()), ("outcome", outcome.to_owned())]).inc();
        time(&self.tool_seconds, "tool", tool, took);
    }

    /// Counts inputs sent to the ml-server.
    pub(crate) fn inference(&self, call: &'static str, inputs: usize, answered: bool, took: Duration) {
        let outcome = if answered { "ok" } else { "error" };
        let labels = [("call", call.to_owned()), ("outcome", outcome.to_owned())];
        self.inference_calls.get_or_create(&labels).inc();
        self.inference_inputs.get_or_create(&[("call", call.to_owned())]).inc_by(inputs as u64);
        time(&self.inference_seconds, "call", call, took);
    }
}

impl Subscriber for Metrics {
    fn receive(&self, event: &Event) {
        match event {
            // What a step leaves behind is counted from the store.
            Event::Stepped(_) => {}
            Event::JobEnded { kind, end, took } => {
                let labels = [("kind", (*kind).to_owned()), ("outcome", end.as_str().to_owned())];
                self.job_runs.get_or_create(&labels).inc();
                time(&self.job_seconds, "kind", kind, *took);
            }
            Event::SourceRequested { provider, end, took } => {
                let provider = family(provider);
                let labels = [("provider", provider.to_owned()), ("outcome", end.as_str().to_owned())];
                self.source_requests.get_or_create(&labels).inc();
                time(&self.source_seconds, "provider", provider, *took);
            }
            Event::RateWaited { provider, waited } => {
                let label = [("provider", family(provider).to_owned())];
                self.rate_waits.get_or_create(&label).inc();
                self.rate_wait_seconds.get_or_create(&label).inc_by(waited.as_secs_f64());
            }
            Event::CacheLookedUp { provider, found } => {
                let provider = ("provider", family(provider).to_owned());
                self.cache.get_or_create(&[provider, ("result", found.as_str().to_owned())]).inc();
            }
        }
    }
}

/// The number of sites is unbounded, so all of them are `web`.
fn family(provider: &str) -> &str {
    if provider.starts_with("web:") { "web" } else { provider }
}

fn time(timings: &Timings, label: &'static str, value: &str, took: Duration) {
    timings.get_or_create(&[(label, value.to_owned())]).observe(took.as_secs_f64());
}

fn add<M: Metric + Clone>(registry: &mut Registry, name: &str, help: &str, metric: M) -> M {
    registry.register(name, help, metric.clone());
    metric
}

/// The unit is appended to the name.
fn with_unit<M: Metric + Clone>(registry: &mut Registry, name: &str, help: &str, unit: Unit, metric: M) -> M {
    registry.register_with_unit(name, help, unit, metric.clone());
    metric
}

fn seconds(registry: &mut Registry, name: &str, help: &str) -> Timings {
    with_unit(registry, name, help, Unit::Seconds, Family::new_with_constructor(Buckets))
}

#[cfg(test)]
mod tests;
