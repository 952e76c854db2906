//! An application for tests, which needs no models.

use crate::config::{Config, MlConfig};
use crate::{App, LocalModels, StartedModels};
use async_trait::async_trait;
use lyra_research::{PortError, Result};
use std::sync::Arc;

/// Stands in for models; each request for them fails.
pub(crate) struct NoModels;

#[async_trait]
impl LocalModels for NoModels {
    async fn start(&self, _config: &MlConfig) -> Result<Box<dyn StartedModels>> {
        Err(PortError::Unavailable { what: "models".to_owned(), why: "a test has none".to_owned() })
    }
}

/// The application with this configuration.
pub(crate) async fn open(config: Config) -> App {
    App::open(config, Arc::new(NoModels)).await.expect("the application opens")
}
