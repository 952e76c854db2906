//! `lyra serve` and `lyra mcp`.

use super::tell;
use crate::app::App;
use crate::config::Toolset;
use crate::{http, mcp};
use anyhow::Context;
use clap::Args;
use std::net::{IpAddr, SocketAddr};
use std::process::ExitCode;
use tokio_util::sync::CancellationToken;

#[derive(Debug, Args)]
pub(super) struct McpArgs {
    #[command(flatten)]
    pub(super) tools: ToolArgs,
}

#[derive(Debug, Args)]
pub(super) struct ToolArgs {
    /// Tools that clients get: evidence, fusion or all [default: all]
    #[arg(long, value_enum, value_name = "SET", hide_possible_values = true)]
    pub(super) toolset: Option<Toolset>,
}

#[derive(Debug, Args)]
pub(super) struct ServeArgs {
    #[command(flatten)]
    pub(super) tools: ToolArgs,
    /// Address to listen on [default: 127.0.0.1]
    #[arg(long, value_name = "IP")]
    host: Option<IpAddr>,
    /// Port; 0 takes any free one [default: 8420]
    #[arg(long, short)]
    port: Option<u16>,
}

pub(super) async fn http(app: &App, args: &ServeArgs, cancel: CancellationToken) -> anyhow::Result<ExitCode> {
    let server = &app.config().server;
    let address = SocketAddr::new(args.host.unwrap_or(server.host), args.port.unwrap_or(server.port));
    if !address.ip().is_loopback() {
        anyhow::bail!(
            "{address} is not a loopback address, and there is no access control yet; \
             listen on 127.0.0.1 and put an authenticating proxy in front"
        );
    }
    let listener = tokio::net::TcpListener::bind(address)
        .await
        .with_context(|| format!("{address} cannot be listened on; take another --port"))?;
    let address = listener.local_addr()?;
    let workers = app.start_workers(None, &cancel);
    prepare(app);
    tell(&format!("MCP at http://{address}/mcp   (Ctrl-C stops)"));
    let router = http::router(app.clone(), cancel.clone());
    let stop = cancel.clone();
    axum::serve(listener, router).with_graceful_shutdown(async move { stop.cancelled().await }).await?;
    cancel.cancel();
    workers.wait().await;
    Ok(ExitCode::SUCCESS)
}

pub(super) async fn stdio(app: &App, cancel: CancellationToken) -> anyhow::Result<ExitCode> {
    let workers = app.start_workers(None, &cancel);
    prepare(app);
    let served = mcp::serve_stdio(app.clone(), cancel.clone()).await;
    cancel.cancel();
    workers.wait().await;
    served.map(|()| ExitCode::SUCCESS)
}

/// Loads the models and the example corpus in the background; a failure shows when they are needed.
fn prepare(app: &App) {
    let app = app.clone();
    tokio::spawn(async move {
        if let Err(error) = app.prepare().await {
            tracing::warn!(%error, "the example corpus is not ready");
        }
    });
}
