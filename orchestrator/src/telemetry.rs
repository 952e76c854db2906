//! Logs and traces. Logs go to stderr, because stdout belongs to results and to MCP.

#[cfg(feature = "otlp")]
mod otlp;

use crate::config::{LogConfig, LogFormat};
use std::io::IsTerminal;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer};

/// What has to be written out before the process ends.
#[derive(Default)]
pub struct Telemetry {
    #[cfg(feature = "otlp")]
    traces: Option<otlp::Exporter>,
}

/// Starts logging for the process; `RUST_LOG` wins over the configured level. A second call changes nothing.
///
/// Built with the feature `otlp`, traces go to the collector that `OTEL_EXPORTER_OTLP_ENDPOINT` names.
pub fn start(config: &LogConfig) -> Telemetry {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(&config.level));
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal());
    let lines = match config.format {
        LogFormat::Text => lines.compact().boxed(),
        LogFormat::Json => lines.json().boxed(),
    };
    let registry = tracing_subscriber::registry().with(lines.with_filter(filter));
    #[cfg(feature = "otlp")]
    let (registry, traces) = {
        let traces = otlp::Exporter::from_environment();
        (registry.with(traces.as_ref().map(otlp::Exporter::layer)), traces)
    };
    if registry.try_init().is_err() {
        tracing::debug!("logging was already started");
        return Telemetry::default();
    }
    Telemetry {
        #[cfg(feature = "otlp")]
        traces,
    }
}
