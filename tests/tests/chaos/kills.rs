//! `kill -9` of either process at random moments, and processes that are halted.

use super::{begin, connect, content, finish, tell, undisturbed};
use anyhow::Context;
use lyra_tests::TestApp;
use lyra_tests::mcp_client::StdioClient;
use lyra_tests::ml_server::MlServer;
use lyra_tests::proxy::{Proxy, Weather};
use serde_json::json;
use sqlx::Connection;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Delay of the models, so that a task lasts.
const SLOWED: Duration = Duration::from_millis(150);

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[tokio::test]
#[ignore = "takes minutes: cargo make chaos"]
async fn processes_killed_at_random() -> anyhow::Result<()> {
    #[expect(clippy::disallowed_methods, reason = "it only seeds the random numbers")]
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?.subsec_nanos();
    let seed = number("LYRA_CHAOS_SEED").unwrap_or(u64::from(now));
    let kills = number("LYRA_CHAOS_KILLS").unwrap_or(50);
    tell(&format!("seed {seed}: LYRA_CHAOS_SEED={seed} repeats this"));
    let (mut rng, started) = (fastrand::Rng::with_seed(seed), Instant::now());
    let mut models = MlServer::start().await?;
    let network = Proxy::start(models.address()).await?;
    let url = network.url();
    let flags = ["--ml-url", url.as_str()];
    let expected = undisturbed(&flags).await?;
    network.set(Weather::Slow(SLOWED));

    let (mut orchestrators, mut servers, mut tasks) = (0, 0, 0);
    while orchestrators + servers < kills {
        let app = TestApp::new();
        let mut lyra = StdioClient::start_with(&app, &flags).await?;
        let task = begin(&mut lyra).await?;
        tasks += 1;
        while orchestrators + servers < kills {
            tokio::time::sleep(Duration::from_millis(rng.u64(50..2_000))).await;
            if lyra.call("get_status", json!({"task_id": task})).await?["status"] == "completed" {
                break;
            }
            // The orchestrator is gone for no longer than a supervisor takes, the models for up to a second and a half.
            if rng.bool() {
                drop(lyra);
                orchestrators += 1;
                lyra = StdioClient::start_with(&app, &flags).await?;
            } else {
                models.kill().await?;
                servers += 1;
                tokio::time::sleep(Duration::from_millis(rng.u64(0..1_500))).await;
                models = MlServer::start_at(models.address()).await?;
            }
        }
        finish(&mut lyra, &task).await?;
        lyra.close().await?;
        let found = content(&app, &task).await?;
        assert_eq!(found, expected, "task {tasks} of seed {seed}");
    }
    tell(&format!(
        "killed lyra {orchestrators} times and lyra-ml-server {servers} times in {tasks} tasks: all as undisturbed, after {:.0} s",
        started.elapsed().as_secs_f64()
    ));
    Ok(())
}

/// The models answer slowly, so that jobs are halted in their middle; leases of three seconds run out meanwhile.
#[tokio::test]
#[ignore = "takes minutes: cargo make chaos"]
async fn a_process_halted_beyond_its_leases() -> anyhow::Result<()> {
    let models = MlServer::start().await?;
    let network = Proxy::start(models.address()).await?;
    let (app, url) = (TestApp::new(), network.url());
    let file = app.data_dir().join("short-leases.toml");
    std::fs::write(&file, "[workers]\nlease_seconds = 3\n")?;
    let flags = ["--ml-url", url.as_str(), "--config", file.to_str().context("a path")?];
    let expected = undisturbed(&flags).await?;
    network.set(Weather::Slow(SLOWED));

    let mut halted = StdioClient::start_with(&app, &flags).await?;
    let task = begin(&mut halted).await?;
    tokio::time::sleep(Duration::from_secs(1)).await;
    halted.signal("STOP")?;
    let mut other = StdioClient::start_with(&app, &flags).await?;
    finish(&mut other, &task).await?;
    halted.signal("CONT")?;
    // It notices that its leases are gone, and writes nothing more.
    halted.call("get_status", json!({"task_id": task})).await?;
    tokio::time::sleep(Duration::from_secs(5)).await;
    for lyra in [halted, other] {
        lyra.close().await?;
    }
    assert_eq!(content(&app, &task).await?, expected);
    let mut connection = connect(&app.data_dir().join("lyra.db")).await?;
    let again: i64 =
        sqlx::query_scalar("SELECT count(*) FROM jobs WHERE fence > 1").fetch_one(&mut connection).await?;
    assert!(again > 0, "no lease ran out while its process was halted");
    connection.close().await?;
    Ok(())
}
