//! No network to the sources for a while.

use super::{content, finish, tell};
use anyhow::Context;
use lyra_tests::TestApp;
use lyra_tests::mcp_client::StdioClient;
use lyra_tests::proxy::{Proxy, Weather};
use lyra_tests::replay::Replay;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::time::Duration;

const AWAY: Duration = Duration::from_secs(20);

/// Runs the task over both APIs; with a network that is away when the searches begin, or not.
async fn run(cut: bool) -> anyhow::Result<Value> {
    let (app, replay) = (TestApp::new(), Replay::start()?);
    let file = replay.configure(app.data_dir())?;
    let address: SocketAddr = replay.address().trim_start_matches("http://").parse()?;
    let network = Proxy::start(address).await?;
    // The APIs are behind the network; the addresses of articles in their answers stay as they are.
    let base_urls =
        |line: &str| line.starts_with("base_url").then(|| line.replace(replay.address(), &network.url()));
    let text = std::fs::read_to_string(&file)?;
    let lines: Vec<String> =
        text.lines().map(|line| base_urls(line).unwrap_or_else(|| line.to_owned())).collect();
    std::fs::write(&file, lines.join("\n"))?;

    let config = file.to_str().context("a path")?;
    let mut lyra = StdioClient::start_with(&app, &["--config", config]).await?;
    if cut {
        network.set(Weather::Cut);
    }
    let sources = json!(["semantic_scholar", "openalex"]);
    let new = json!({"query": "Does a nap improve memory?", "config": {"sources": sources}});
    let task = lyra.call("create_task", new).await?;
    let id = task["task_id"].as_str().with_context(|| format!("a task id in {task}"))?.to_owned();
    lyra.call("queue_searches", json!({"task_id": id, "queries": ["daytime nap memory in adults"]})).await?;
    if cut {
        tokio::time::sleep(AWAY).await;
        network.set(Weather::Fair);
    }
    finish(&mut lyra, &id).await?;
    lyra.close().await?;
    content(&app, &id).await
}

#[tokio::test]
#[ignore = "takes minutes: cargo make chaos"]
async fn the_network_of_the_sources_is_cut() -> anyhow::Result<()> {
    let expected = run(false).await?;
    assert_eq!(run(true).await?, expected);
    tell(&format!("sources out of reach for {} s: as undisturbed", AWAY.as_secs()));
    Ok(())
}
