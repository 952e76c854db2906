//! Puts the application together: the use cases, and the models that run inside this process.

use async_trait::async_trait;
use lyra_ml_server::{Profile, ServerConfig, ServerHandle};
use lyra_research::{PortError, Result};
use lyra_store::StoreError;
use lyra_usecases::config::{Config, MlConfig, PROFILES};
use lyra_usecases::{App, Finding, LocalModels, StartedModels};
use std::sync::Arc;
use tokio::net::TcpListener;

/// Opens the application; without addresses of ml-servers, its models run inside this process when they are first needed.
///
/// # Errors
/// As [`App::open`].
pub async fn open(config: Config) -> anyhow::Result<App> {
    App::open(config, Arc::new(BuiltIn)).await.map_err(explained)
}

/// A folder that cannot be written stops commands that only read, too.
fn explained(error: anyhow::Error) -> anyhow::Error {
    match error.downcast_ref() {
        Some(StoreError::NotWritable { .. } | StoreError::ReadOnlyDisk) => error.context(
            "Lyra must be able to write to its data folder, even to read from it; correct the permissions, or copy the \
             folder and name the copy with --data-dir",
        ),
        _ => error,
    }
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
            why: format!("`{}` is not one of {}", config.profile, PROFILES.join(", ")),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_profile_of_the_configuration_is_one_of_the_server() {
        for name in PROFILES {
            assert!(Profile::named(name).is_some(), "{name}");
        }
    }

    #[test]
    fn it_is_said_that_reading_needs_a_folder_that_can_be_written() {
        let error = StoreError::NotWritable { path: "/data/workers".into(), why: "denied".to_owned() };
        let said = format!("{:#}", explained(error.into()));
        assert!(said.starts_with("Lyra must be able to write to its data folder"), "{said}");
        assert!(said.ends_with("cannot write to /data/workers: denied"), "{said}");
        let other = explained(anyhow::anyhow!("another"));
        assert_eq!(format!("{other:#}"), "another");
    }
}
