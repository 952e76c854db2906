//! Traces to an OpenTelemetry collector, over HTTP. The collector and its headers are named by the variables of
//! OpenTelemetry: `OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_EXPORTER_OTLP_HEADERS`, `OTEL_SERVICE_NAME`.

use lyra_research::trace;
use opentelemetry::trace::{SpanId, TraceId, TracerProvider};
use opentelemetry_otlp::SpanExporter;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{IdGenerator, RandomIdGenerator, SdkTracerProvider};
use tracing::Subscriber;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::{EnvFilter, Layer};

/// Sends spans in the background; the last of them when it is dropped.
pub(super) struct Exporter {
    provider: SdkTracerProvider,
}

impl Exporter {
    /// `None` when no collector is named, or when it cannot be sent to as named, which is said on stderr.
    pub(super) fn from_environment() -> Option<Self> {
        let named = ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"];
        named.iter().find_map(std::env::var_os)?;
        let exporter = match SpanExporter::builder().with_http().build() {
            Ok(exporter) => exporter,
            Err(error) => {
                // Logging has not begun yet.
                use std::io::Write;
                let _ = writeln!(std::io::stderr(), "traces cannot be sent to the collector: {error}");
                return None;
            }
        };
        let mut resource = Resource::builder();
        if std::env::var_os("OTEL_SERVICE_NAME").is_none() {
            resource = resource.with_service_name("lyra");
        }
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(exporter)
            .with_id_generator(OurTrace::default())
            .with_resource(resource.build())
            .build();
        Some(Self { provider })
    }

    /// Spans of Lyra itself from `info` on; those of libraries would say little and cost much.
    pub(super) fn layer<S>(&self) -> impl Layer<S> + use<S>
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

/// New traces carry the id that the work has everywhere else.
#[derive(Debug, Default)]
struct OurTrace(RandomIdGenerator);

impl IdGenerator for OurTrace {
    fn new_trace_id(&self) -> TraceId {
        trace::current().map_or_else(|| self.0.new_trace_id(), |trace| TraceId::from(trace.to_u128()))
    }

    fn new_span_id(&self) -> SpanId {
        self.0.new_span_id()
    }
}
