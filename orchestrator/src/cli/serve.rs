//! `lyra serve` and `lyra mcp`, and the server of `lyra open`.

use super::tell;
use anyhow::Context;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use lyra_serve::connections;
use lyra_usecases::App;
use lyra_usecases::config::{ANY_HOST, AuthMode, LogFormat, Toolset};
use serde_json::json;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::process::ExitCode;
use tokio_util::sync::CancellationToken;

#[derive(Debug, Args)]
pub(super) struct McpArgs {
    #[command(flatten)]
    pub(super) tools: ToolArgs,
}

#[derive(Debug, Args)]
pub(super) struct ToolArgs {
    /// Tools that clients get: evidence, fusion or all [default: evidence]
    #[arg(long, value_parser = toolsets(), value_name = "SET", hide_possible_values = true)]
    pub(super) toolset: Option<Toolset>,
}

#[derive(Debug, Args)]
pub(super) struct ServeArgs {
    #[command(flatten)]
    pub(super) tools: ToolArgs,
    /// Address to listen on [default: 127.0.0.1]
    #[arg(long, value_name = "IP")]
    host: Option<IpAddr>,
    /// Port; 0 for any free one [default: 8420]
    #[arg(long, short)]
    port: Option<u16>,
}

fn toolsets() -> impl TypedValueParser<Value = Toolset> {
    PossibleValuesParser::new(["evidence", "fusion", "all"]).map(|name| match name.as_str() {
        "evidence" => Toolset::Evidence,
        "fusion" => Toolset::Fusion,
        _ => Toolset::All,
    })
}

pub(super) async fn http(app: &App, args: &ServeArgs, cancel: CancellationToken) -> anyhow::Result<ExitCode> {
    let server = &app.config().server;
    let address = SocketAddr::new(args.host.unwrap_or(server.host), args.port.unwrap_or(server.port));
    serve(app, address, None, cancel).await
}

/// Serves on loopback, on another port where the configured one is taken, and opens `path` in the browser.
pub(super) async fn and_open(app: &App, path: String, cancel: CancellationToken) -> anyhow::Result<ExitCode> {
    let usual = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), app.config().server.port);
    let free = std::net::TcpListener::bind(usual).is_ok();
    let address = if free { usual } else { SocketAddr::new(usual.ip(), 0) };
    serve(app, address, Some(path), cancel).await
}

async fn serve(
    app: &App,
    address: SocketAddr,
    open: Option<String>,
    cancel: CancellationToken,
) -> anyhow::Result<ExitCode> {
    let server = &app.config().server;
    let token_required = !address.ip().is_loopback() || server.auth == AuthMode::Required;
    if !token_required && server.allowed_hosts.iter().any(|host| host == ANY_HOST) {
        anyhow::bail!(
            "server.allowed_hosts = [\"*\"] lets any web page reach {address} without a token; \
             set server.auth = \"required\", or list the hosts"
        );
    }
    let listener = tokio::net::TcpListener::bind(address)
        .await
        .with_context(|| format!("cannot listen on {address}; choose another --port"))?;
    let address = listener.local_addr()?;
    let noted = app.note_server(&format!("http://{}", reachable(address)));
    if let Err(error) = &noted {
        tracing::warn!(%error, "the data folder cannot hold the server's address; links to it are left out");
    }
    let workers = app.start_workers(None, &cancel);
    prepare(app);
    say(app, &format!("workbench at http://{}/", reachable(address)));
    say(app, &format!("MCP at http://{address}/mcp   (Ctrl-C stops)"));
    if token_required {
        advise(app, address).await?;
    }
    let mcp = lyra_mcp::http_route(app.clone(), cancel.clone());
    let router = lyra_http::router(app.clone(), mcp, address.ip(), token_required, cancel.clone());
    let most = app.config().server.max_connections;
    let (keeper, stop) = (app.clone(), cancel.clone());
    tokio::spawn(async move { keeper.keep_retention(stop).await });
    if let Some(path) = open {
        super::open::browse(&format!("http://{}{path}", reachable(address)));
    }
    let stop = cancel.clone();
    connections::serve(listener, router, connections::within_file_limit(most), stop).await;
    drop(noted);
    cancel.cancel();
    workers.wait().await;
    Ok(ExitCode::SUCCESS)
}

/// Where this machine reaches a server that listens at `address`.
fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

pub(super) async fn stdio(app: &App, cancel: CancellationToken) -> anyhow::Result<ExitCode> {
    let workers = app.start_workers(None, &cancel);
    prepare(app);
    let served = lyra_mcp::serve_stdio(app.clone(), cancel.clone()).await;
    cancel.cancel();
    workers.wait().await;
    served.map(|()| ExitCode::SUCCESS)
}

/// Prints to the terminal that started the server, whatever the log level; as a JSON line in a JSON log.
fn say(app: &App, text: &str) {
    match app.config().log.format {
        LogFormat::Text => tell(text),
        LogFormat::Json => {
            let at = app.now().to_string();
            tell(&json!({ "timestamp": at, "level": "INFO", "fields": { "message": text } }).to_string());
        }
    }
}

/// Warnings for the operator at startup.
async fn advise(app: &App, address: SocketAddr) -> anyhow::Result<()> {
    if app.tokens().await?.iter().all(|token| token.revoked_at.is_some()) {
        say(
            app,
            "every request needs a token, and none exists yet; create one with: lyra token create NAME --scope full",
        );
    }
    if !address.ip().is_loopback() {
        say(
            app,
            "this is plain HTTP: tokens can be intercepted; put a reverse proxy with TLS in front (docs/operations.md)",
        );
    }
    Ok(())
}

/// Loads the models and the example corpus in the background; failures surface when they are needed.
fn prepare(app: &App) {
    let app = app.clone();
    tokio::spawn(async move {
        if let Err(error) = app.prepare().await {
            tracing::warn!(%error, "the example corpus is not ready");
        }
    });
}
