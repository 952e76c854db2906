//! Telemetry of both processes: logs on stderr, because stdout is for results and MCP, and with the feature `otlp`,
//! spans to the OpenTelemetry collector at `OTEL_EXPORTER_OTLP_ENDPOINT`.

#[cfg(feature = "otlp")]
mod otlp;
mod parent;

pub use parent::{Step, TraceParent, adopt, kind, step};

use std::io::IsTerminal;
use std::num::NonZeroU128;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer};

/// How log lines look, and which there are.
#[derive(Debug, Clone, Copy)]
pub struct Logs<'a> {
    /// A level, or a filter such as `warn,lyra_store=debug`.
    pub level: &'a str,
    /// One JSON object a line, else lines for people.
    pub json: bool,
}

/// Flushes telemetry when dropped, which must happen before the process exits.
#[derive(Default)]
#[must_use = "spans that are still buffered are lost without it"]
pub struct Telemetry {
    #[cfg(feature = "otlp")]
    _spans: Option<otlp::Exporter>,
}

/// Starts logging for the process, and sends spans under the name `service` if a collector is configured
/// (`OTEL_SERVICE_NAME` takes precedence). A second call has no effect.
///
/// `trace` returns the trace of the current work, for root spans.
pub fn start(service: &'static str, logs: Logs<'_>, trace: fn() -> Option<NonZeroU128>) -> Telemetry {
    let filter = EnvFilter::new(logs.level);
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal());
    let lines = if logs.json { lines.json().boxed() } else { lines.compact().boxed() };
    let registry = tracing_subscriber::registry().with(lines.with_filter(filter));
    #[cfg(feature = "otlp")]
    let (registry, spans) = {
        let spans = otlp::Exporter::from_environment(service, trace);
        (registry.with(spans.as_ref().map(otlp::Exporter::layer)), spans)
    };
    #[cfg(not(feature = "otlp"))]
    let _ = (service, trace);
    if registry.try_init().is_err() {
        tracing::debug!("logging was already started");
        return Telemetry::default();
    }
    Telemetry {
        #[cfg(feature = "otlp")]
        _spans: spans,
    }
}
