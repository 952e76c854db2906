//! The models, started when they are first needed: ml-servers at configured addresses, or one that the composition
//! root starts inside this process, over the same protocol.

mod calibrated;

pub(crate) use calibrated::CalibratedInference;

use crate::App;
use crate::config::{MlConfig, shown_address};
use crate::metrics::Metrics;
use async_trait::async_trait;
use lyra_domain::NliJudgement;
use lyra_ml_client::{ClientConfig, MlClient};
use lyra_research::ports::{Inference, Models, TextRole, Verified, Verify};
use lyra_research::{PortError, Result};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use tokio::sync::{Mutex, OnceCell, watch};
use tokio_util::sync::CancellationToken;

/// How long servers at configured addresses may take to load their models, once one of them answers.
const READY_WITHIN: Duration = Duration::from_mins(2);
/// How long they are waited for while none answers, from the first look. Later calls look once: the pauses between a job's
/// attempts are its time to wait.
const REACHED_WITHIN: Duration = Duration::from_secs(30);
/// After how long it is said that they are waited for.
const SAID_AFTER: Duration = Duration::from_secs(2);
/// Pause between two looks.
const PAUSE: Duration = Duration::from_millis(250);
/// How long one look may take. A server that takes longer has accepted the connection.
const LOOK: Duration = Duration::from_secs(10);

/// Models that run inside this process, for a configuration that names no ml-server.
#[async_trait]
pub trait LocalModels: Send + Sync {
    /// Starts them as configured, and waits until they are loaded.
    ///
    /// # Errors
    /// An unknown profile, models that cannot be loaded.
    async fn start(&self, config: &MlConfig) -> Result<Box<dyn StartedModels>>;
}

/// Models that were started inside this process.
#[async_trait]
pub trait StartedModels: Send + Sync {
    /// Where they speak the protocol of the ml-server.
    fn url(&self) -> String;

    /// Finishes the requests in progress, and stops.
    async fn stop(self: Box<Self>);
}

/// The models behind [`Inference`].
pub(crate) struct LazyInference {
    config: MlConfig,
    metrics: Arc<Metrics>,
    client: OnceCell<MlClient>,
    local: Arc<dyn LocalModels>,
    inside: Mutex<Option<Box<dyn StartedModels>>>,
    /// Held while a request runs that is not awaited.
    asking: Arc<Mutex<()>>,
    /// When the configured servers were first looked for.
    looked: OnceLock<Instant>,
    /// Why the configured servers are waited for, while they are.
    awaited: watch::Sender<Option<String>>,
    /// Canceled when no caller waits for them any longer.
    unwanted: CancellationToken,
}

impl LazyInference {
    pub(crate) fn new(config: MlConfig, local: Arc<dyn LocalModels>, metrics: Arc<Metrics>) -> Self {
        Self {
            config,
            metrics,
            client: OnceCell::new(),
            local,
            inside: Mutex::new(None),
            asking: Arc::default(),
            looked: OnceLock::new(),
            awaited: watch::Sender::new(None),
            unwanted: CancellationToken::new(),
        }
    }

    /// Stops the models of this process, if they were started.
    pub(crate) async fn close(&self) {
        if let Some(models) = self.inside.lock().await.take() {
            models.stop().await;
        }
    }

    /// The models' names, if available within this time. Loading continues afterward.
    pub(crate) async fn models_within(self: &Arc<Self>, patience: Duration) -> Option<Models> {
        let turn = Arc::clone(&self.asking).try_lock_owned().ok()?;
        let this = Arc::clone(self);
        let asked = tokio::spawn(async move {
            let _turn = turn;
            this.models().await
        });
        tokio::time::timeout(patience, asked).await.ok()?.ok()?.ok()
    }

    async fn client(&self) -> Result<&MlClient> {
        self.client
            .get_or_try_init(|| async {
                let servers = self.config.servers();
                if servers.is_empty() {
                    let inside = [self.start_inside().await?];
                    let client = MlClient::of_servers(&inside, ClientConfig::default())?;
                    client.wait_ready(READY_WITHIN).await?;
                    return Ok(client);
                }
                let client = MlClient::of_servers(&servers, ClientConfig::default())?;
                let shown = servers.iter().map(|url| shown_address(url)).collect::<Vec<_>>().join(", ");
                let ready = self.unwanted.run_until_cancelled(self.ready(&client, &shown)).await;
                self.awaited.send_replace(None);
                match ready {
                    Some(ready) => ready.map(|()| client),
                    None => Err(unavailable(format!("interrupted while waiting for {shown}"))),
                }
            })
            .await
    }

    /// Waits until one of the configured servers is ready.
    async fn ready(&self, client: &MlClient, shown: &str) -> Result<()> {
        self.reached(client, shown).await?;
        let ready = client.wait_ready(READY_WITHIN);
        tokio::pin!(ready);
        if let Ok(ready) = tokio::time::timeout(SAID_AFTER, &mut ready).await {
            return Ok(ready?);
        }
        let most = READY_WITHIN.as_secs();
        let why = format!("the ml-server at {shown} is not ready yet; waiting up to {most} s for its models");
        self.awaited.send_replace(Some(why));
        Ok(ready.await?)
    }

    /// Waits until one of the configured servers answers, ready or not.
    async fn reached(&self, client: &MlClient, shown: &str) -> Result<()> {
        let begun = Instant::now();
        let until = *self.looked.get_or_init(|| begun) + REACHED_WITHIN;
        while let Some(why) = unanswered(client).await {
            if Instant::now() >= until {
                return Err(unavailable(why));
            }
            if begun.elapsed() >= SAID_AFTER {
                let most = REACHED_WITHIN.as_secs();
                let why = format!(
                    "cannot reach the ml-server at {shown}; waiting for it, up to {most} s (a task: about 2 minutes)"
                );
                self.awaited.send_if_modified(|said| said.replace(why.clone()).as_ref() != Some(&why));
            }
            tokio::time::sleep(PAUSE).await;
        }
        Ok(())
    }

    async fn measured<T>(
        &self,
        call: &'static str,
        inputs: usize,
        work: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let started = Instant::now();
        let answer = work.await;
        self.metrics.inference(call, inputs, answer.is_ok(), started.elapsed());
        answer
    }

    /// Starts the models of this process. Returns their URL.
    async fn start_inside(&self) -> Result<String> {
        let started = self.local.start(&self.config).await?;
        let url = started.url();
        *self.inside.lock().await = Some(started);
        Ok(url)
    }
}

impl App {
    /// Why the configured ml-servers are waited for, as a sentence; `None` while they are not.
    pub fn models_awaited(&self) -> watch::Receiver<Option<String>> {
        self.inner.inference.awaited.subscribe()
    }

    /// Ends the wait for ml-servers that are not ready, now and later: the process stops.
    pub fn stop_awaiting_models(&self) {
        self.inner.inference.unwanted.cancel();
    }
}

/// Why no server answers; `None` if one does.
async fn unanswered(client: &MlClient) -> Option<String> {
    let states = tokio::time::timeout(LOOK, client.states()).await.ok()?;
    if states.iter().any(std::result::Result::is_ok) {
        return None;
    }
    let errors = states.into_iter().filter_map(std::result::Result::err);
    Some(errors.map(|error| error.to_string()).collect::<Vec<_>>().join("; "))
}

fn unavailable(why: String) -> PortError {
    PortError::Unavailable { what: "ml-server".to_owned(), why }
}

#[async_trait]
impl Inference for LazyInference {
    async fn models(&self) -> Result<Models> {
        self.client().await?.models().await
    }

    async fn embed(&self, role: TextRole, texts: &[String]) -> Result<Vec<Vec<f32>>> {
        let client = self.client().await?;
        self.measured("embed", texts.len(), Inference::embed(client, role, texts)).await
    }

    async fn judge(&self, pairs: &[(String, String)]) -> Result<Vec<Option<NliJudgement>>> {
        let client = self.client().await?;
        self.measured("nli", pairs.len(), client.judge(pairs)).await
    }

    async fn verify(&self, items: &[Verify]) -> Result<Vec<Verified>> {
        let client = self.client().await?;
        self.measured("verify", items.len(), Inference::verify(client, items)).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    async fn app(folder: &std::path::Path, url: &str) -> App {
        let ml = MlConfig { url: Some(url.to_owned()), ..MlConfig::default() };
        let config = Config { data_dir: Some(folder.to_owned()), ml, ..Config::default() };
        crate::testing::open(config).await
    }

    /// An address where nothing listens.
    fn nowhere() -> String {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}", listener.local_addr().unwrap())
    }

    #[tokio::test]
    async fn a_wait_for_a_server_is_said_and_ends_when_nobody_wants_it() {
        let folder = tempfile::tempdir().unwrap();
        let url = nowhere();
        let app = app(folder.path(), &url).await;
        let mut awaited = app.models_awaited();
        let inference = app.inner.inference.clone();
        let asked = tokio::spawn(async move { inference.models().await });
        tokio::time::timeout(Duration::from_secs(20), awaited.changed()).await.unwrap().unwrap();
        let said = awaited.borrow_and_update().clone().unwrap();
        assert!(said.contains(&url) && said.contains("up to 30 s"), "{said}");

        app.stop_awaiting_models();
        let error = tokio::time::timeout(Duration::from_secs(5), asked).await.unwrap().unwrap().unwrap_err();
        assert!(error.to_string().contains("interrupted"), "{error}");
        assert_eq!(*app.models_awaited().borrow(), None);
        app.close().await;
    }

    #[tokio::test]
    async fn a_server_that_was_waited_for_is_looked_for_once() {
        let folder = tempfile::tempdir().unwrap();
        let app = app(folder.path(), &nowhere()).await;
        let inference = app.inner.inference.clone();
        let earlier = Instant::now().checked_sub(REACHED_WITHIN).unwrap();
        inference.looked.set(earlier).unwrap();
        let asked = tokio::time::timeout(Duration::from_secs(10), inference.models()).await.unwrap();
        let error = asked.unwrap_err().to_string();
        assert!(error.contains("cannot reach the ml-server"), "{error}");
        app.close().await;
    }
}
