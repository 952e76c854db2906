//! The models, started when they are first needed: ml-servers at configured addresses, or one that the composition
//! root starts inside this process, over the same protocol.

mod calibrated;

pub(crate) use calibrated::CalibratedInference;

use crate::config::MlConfig;
use crate::metrics::Metrics;
use async_trait::async_trait;
use lyra_domain::NliJudgement;
use lyra_ml_client::{ClientConfig, MlClient};
use lyra_research::Result;
use lyra_research::ports::{Inference, Models, TextRole, Verified, Verify};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{Mutex, OnceCell};

/// How long servers at configured addresses may take to load its models.
const READY_WITHIN: Duration = Duration::from_mins(2);

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
}

impl LazyInference {
    pub(crate) fn new(config: MlConfig, local: Arc<dyn LocalModels>, metrics: Arc<Metrics>) -> Self {
        let (client, inside, asking) = (OnceCell::new(), Mutex::new(None), Arc::default());
        Self { config, metrics, client, local, inside, asking }
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
                let mut servers = self.config.servers();
                if servers.is_empty() {
                    servers.push(self.start_inside().await?);
                }
                let client = MlClient::of_servers(&servers, ClientConfig::default())?;
                client.wait_ready(READY_WITHIN).await?;
                Ok(client)
            })
            .await
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
