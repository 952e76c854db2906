//! How both processes say what they do: logs on stderr, because stdout belongs to results and to MCP, and, built with the
//! feature `otlp`, spans to the OpenTelemetry collector that `OTEL_EXPORTER_OTLP_ENDPOINT` names.

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

/// What has to be written out before the process ends: it is when this is dropped.
#[derive(Default)]
#[must_use = "spans that were not sent yet are lost without it"]
pub struct Telemetry {
    #[cfg(feature = "otlp")]
    _spans: Option<otlp::Exporter>,
}

/// Starts logging for the process, and sends spans under the name `service` when a collector is named (`OTEL_SERVICE_NAME` wins). A
/// second call changes nothing.
///
/// `trace` says which trace the running work belongs to, for spans that begin one.
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
