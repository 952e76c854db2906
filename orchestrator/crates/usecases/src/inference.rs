//! The models, started when they are first needed: an ml-server at a configured address, or one inside this process
//! on a loopback port, over the same protocol.

mod calibrated;

pub(crate) use calibrated::CalibratedInference;

use crate::config::MlConfig;
use crate::metrics::Metrics;
use async_trait::async_trait;
use lyra_domain::NliJudgement;
use lyra_ml_client::MlClient;
use lyra_ml_server::{Profile, ServerConfig, ServerHandle};
use lyra_research::ports::{Inference, Models, TextRole, Verified, Verify};
use lyra_research::{PortError, Result};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::sync::{Mutex, OnceCell};

/// How long a server at a configured address may take to load its models.
const READY_WITHIN: Duration = Duration::from_mins(2);

/// The models behind [`Inference`].
pub(crate) struct LazyInference {
    config: MlConfig,
    metrics: Arc<Metrics>,
    client: OnceCell<MlClient>,
    inside: Mutex<Option<ServerHandle>>,
    /// Held while a request runs that is not awaited.
    asking: Arc<Mutex<()>>,
}

impl LazyInference {
    pub(crate) fn new(config: MlConfig, metrics: Arc<Metrics>) -> Self {
        let (client, inside, asking) = (OnceCell::new(), Mutex::new(None), Arc::default());
        Self { config, metrics, client, inside, asking }
    }

    /// Stops the server inside, if one was started.
    pub(crate) async fn close(&self) {
        if let Some(server) = self.inside.lock().await.take() {
            server.shutdown().await;
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
                let client = match &self.config.url {
                    Some(url) => MlClient::new(url)?,
                    None => MlClient::new(&self.start_inside().await?)?,
                };
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

    /// Starts the server inside and waits for its models. Returns its URL.
    async fn start_inside(&self) -> Result<String> {
        let failed = |why: String| PortError::Failed { what: "the ml-server inside".to_owned(), why };
        let profile = Profile::named(&self.config.profile).ok_or_else(|| PortError::Refused {
            what: "ml.profile".to_owned(),
            why: format!("`{}` is not one of lite, fast, standard, scholar, accurate", self.config.profile),
        })?;
        let mut server = ServerConfig::from_profile(profile, self.config.models_dir.as_deref(), false)
            .map_err(|error| failed(error.to_string()))?;
        if let Some(threads) = self.config.threads {
            server = server.with_threads(threads);
        }
        let listener =
            TcpListener::bind(("127.0.0.1", 0)).await.map_err(|error| failed(error.to_string()))?;
        let handle = lyra_ml_server::start(server, listener).map_err(|error| failed(error.to_string()))?;
        handle.ready().await.map_err(|error| failed(error.to_string()))?;
        let url = handle.url();
        *self.inside.lock().await = Some(handle);
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
