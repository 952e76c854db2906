//! Spans to an OpenTelemetry collector, over HTTP. The collector and its headers are named by the variables of
//! OpenTelemetry: `OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_EXPORTER_OTLP_HEADERS`, `OTEL_SERVICE_NAME`.

use crate::parent::{Step, TraceParent};
use opentelemetry::Context;
use opentelemetry::trace::{
    SpanContext, SpanId, TraceContextExt, TraceFlags, TraceId, TraceState, TracerProvider,
};
use opentelemetry_otlp::SpanExporter;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{IdGenerator, RandomIdGenerator, SdkTracerProvider};
use std::io::Write;
use std::num::NonZeroU128;
use std::sync::atomic::{AtomicBool, Ordering};
use tracing::{Span, Subscriber};
use tracing_opentelemetry::OpenTelemetrySpanExt;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::{EnvFilter, Layer};

/// Any of these configures a collector.
const ENDPOINTS: [&str; 2] = ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"];

/// Whether this process sends spans.
static SENDS: AtomicBool = AtomicBool::new(false);

/// Sends spans in the background, and the last of them when dropped.
pub(crate) struct Exporter {
    provider: SdkTracerProvider,
}

impl Exporter {
    /// `None` when no collector is configured, or when its configuration is invalid, which is reported on stderr.
    pub(crate) fn from_environment(
        service: &'static str,
        trace: fn() -> Option<NonZeroU128>,
    ) -> Option<Self> {
        ENDPOINTS.iter().find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()))?;
        lyra_tls::install();
        let exporter = match SpanExporter::builder().with_http().build() {
            Ok(exporter) => exporter,
            Err(error) => {
                // Logging has not begun yet.
                let _ = writeln!(std::io::stderr(), "traces cannot be sent to the collector: {error}");
                return None;
            }
        };
        let mut resource = Resource::builder();
        if std::env::var_os("OTEL_SERVICE_NAME").is_none() {
            resource = resource.with_service_name(service);
        }
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(exporter)
            .with_id_generator(OurTrace { trace, random: RandomIdGenerator::default() })
            .with_resource(resource.build())
            .build();
        SENDS.store(true, Ordering::Relaxed);
        Some(Self { provider })
    }

    /// Spans of Lyra itself from `info` on; those of libraries cost much and tell little.
    pub(crate) fn layer<S>(&self) -> impl Layer<S> + use<S>
    where
        S: Subscriber + for<'a> LookupSpan<'a>,
    {
        let ours =
            ["lyra", "lyra_research", "lyra_ml_client", "lyra_ml_server"].map(|name| format!("{name}=info"));
        let filter =
            EnvFilter::builder().with_default_directive(LevelFilter::OFF.into()).parse_lossy(ours.join(","));
        tracing_opentelemetry::layer().with_tracer(self.provider.tracer("lyra")).with_filter(filter)
    }
}

impl Drop for Exporter {
    fn drop(&mut self) {
        if let Err(error) = self.provider.shutdown() {
            tracing::warn!(%error, "the last traces were not sent");
        }
    }
}

pub(crate) fn sends() -> bool {
    SENDS.load(Ordering::Relaxed)
}

pub(crate) fn adopt(span: &Span, parent: TraceParent) {
    let flags = if parent.sampled { TraceFlags::SAMPLED } else { TraceFlags::NOT_SAMPLED };
    let context = SpanContext::new(
        TraceId::from(parent.trace.get()),
        SpanId::from(parent.step.get()),
        flags,
        true,
        TraceState::NONE,
    );
    if let Err(error) = span.set_parent(Context::new().with_remote_span_context(context))
        && sends()
    {
        tracing::debug!(%error, "a span stays without its parent");
    }
}

pub(crate) fn step(span: &Span) -> Option<(Step, bool)> {
    let context = span.context();
    let span = context.span();
    let (id, sampled) = (span.span_context().span_id(), span.span_context().is_sampled());
    Step::new(u64::from_be_bytes(id.to_bytes())).map(|step| (step, sampled))
}

/// New traces carry the id that the work has everywhere else.
#[derive(Debug)]
struct OurTrace {
    trace: fn() -> Option<NonZeroU128>,
    random: RandomIdGenerator,
}

impl IdGenerator for OurTrace {
    fn new_trace_id(&self) -> TraceId {
        (self.trace)().map_or_else(|| self.random.new_trace_id(), |trace| TraceId::from(trace.get()))
    }

    fn new_span_id(&self) -> SpanId {
        self.random.new_span_id()
    }
}
