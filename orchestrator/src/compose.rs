//! Puts the application together: the use cases, and the models that run inside this process.

use async_trait::async_trait;
use lyra_ml_server::{Profile, ServerConfig, ServerHandle};
use lyra_research::{PortError, Result};
use lyra_usecases::config::{Config, MlConfig};
use lyra_usecases::{App, Finding, LocalModels, StartedModels};
use std::sync::Arc;
use tokio::net::TcpListener;

/// Opens the application; without addresses of ml-servers, its models run inside this process when they are first needed.
///
/// # Errors
/// As [`App::open`].
pub async fn open(config: Config) -> anyhow::Result<App> {
    App::open(config, Arc::new(BuiltIn)).await
}

/// Checks the installation, as [`App::examine`].
pub async fn examine(config: Config) -> Vec<Finding> {
    Box::pin(App::examine(config, Arc::new(BuiltIn))).await
}

/// The ml-server's router on a loopback port of this process.
struct BuiltIn;

#[async_trait]
impl LocalModels for BuiltIn {
    async fn start(&self, config: &MlConfig) -> Result<Box<dyn StartedModels>> {
        let failed = |why: String| PortError::Failed { what: "the ml-server inside".to_owned(), why };
        let profile = Profile::named(&config.profile).ok_or_else(|| PortError::Refused {
            what: "ml.profile".to_owned(),
            why: format!("`{}` is not one of lite, fast, standard, scholar, accurate", config.profile),
        })?;
        let mut server = ServerConfig::from_profile(profile, config.models_dir.as_deref(), false)
            .map_err(|error| failed(error.to_string()))?;
        if let Some(threads) = config.threads {
            server = server.with_threads(threads);
        }
        let listener =
            TcpListener::bind(("127.0.0.1", 0)).await.map_err(|error| failed(error.to_string()))?;
        let handle = lyra_ml_server::start(server, listener).map_err(|error| failed(error.to_string()))?;
        handle.ready().await.map_err(|error| failed(error.to_string()))?;
        Ok(Box::new(Started(handle)))
    }
}

struct Started(ServerHandle);

#[async_trait]
impl StartedModels for Started {
    fn url(&self) -> String {
        self.0.url()
    }

    async fn stop(self: Box<Self>) {
        self.0.shutdown().await;
    }
}
