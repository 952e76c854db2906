//! An ml-server that disappears, is slow, or reports an overload for a minute.

use super::{begin, content, finish, tell, undisturbed};
use lyra_tests::TestApp;
use lyra_tests::mcp_client::StdioClient;
use lyra_tests::ml_server::MlServer;
use lyra_tests::proxy::{Proxy, Weather};
use std::time::{Duration, Instant};

/// Runs the task and changes the weather soon after its begin, for this long.
async fn under(weather: Weather, lasts: Duration) -> anyhow::Result<()> {
    let (models, app) = (MlServer::start().await?, TestApp::new());
    let network = Proxy::start(models.address()).await?;
    let url = network.url();
    let flags = ["--ml-url", url.as_str()];
    let expected = undisturbed(&flags).await?;
    let mut lyra = StdioClient::start_with(&app, &flags).await?;
    let task = begin(&mut lyra).await?;
    tokio::time::sleep(Duration::from_millis(400)).await;
    network.set(weather);
    let begun = Instant::now();
    tokio::time::sleep(lasts).await;
    network.set(Weather::Fair);
    finish(&mut lyra, &task).await?;
    let whole = begun.elapsed().as_secs_f64();
    lyra.close().await?;
    assert_eq!(content(&app, &task).await?, expected, "{weather:?}");
    tell(&format!("{weather:?} for {} s: as undisturbed, {whole:.0} s after it began", lasts.as_secs()));
    Ok(())
}

#[tokio::test]
#[ignore = "takes minutes: cargo make chaos"]
async fn the_ml_server_is_full_for_a_minute() -> anyhow::Result<()> {
    under(Weather::Busy, Duration::from_mins(1)).await
}

#[tokio::test]
#[ignore = "takes minutes: cargo make chaos"]
async fn the_ml_server_is_slow() -> anyhow::Result<()> {
    under(Weather::Slow(Duration::from_secs(2)), Duration::from_secs(20)).await
}

#[tokio::test]
#[ignore = "takes minutes: cargo make chaos"]
async fn the_ml_server_cannot_be_reached() -> anyhow::Result<()> {
    under(Weather::Cut, Duration::from_secs(30)).await
}

#[tokio::test]
#[ignore = "takes minutes: cargo make chaos"]
async fn the_ml_server_is_restarted() -> anyhow::Result<()> {
    let (mut models, app) = (MlServer::start().await?, TestApp::new());
    let network = Proxy::start(models.address()).await?;
    let url = network.url();
    let flags = ["--ml-url", url.as_str()];
    let expected = undisturbed(&flags).await?;
    network.set(Weather::Slow(Duration::from_millis(200)));
    let mut lyra = StdioClient::start_with(&app, &flags).await?;
    let task = begin(&mut lyra).await?;
    for _ in 0..3 {
        tokio::time::sleep(Duration::from_secs(1)).await;
        models.kill().await?;
        tokio::time::sleep(Duration::from_secs(3)).await;
        models = MlServer::start_at(models.address()).await?;
    }
    finish(&mut lyra, &task).await?;
    lyra.close().await?;
    assert_eq!(content(&app, &task).await?, expected);
    tell("lyra-ml-server restarted three times, away for 3 s each: as undisturbed");
    Ok(())
}
