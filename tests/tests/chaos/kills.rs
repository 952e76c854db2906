//! `kill -9` of either process at random moments.

use super::{begin, content, finish, tell, undisturbed};
use lyra_tests::TestApp;
use lyra_tests::mcp_client::StdioClient;
use lyra_tests::ml_server::MlServer;
use lyra_tests::proxy::{Proxy, Weather};
use serde_json::json;
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
