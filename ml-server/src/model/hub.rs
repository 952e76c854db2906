//! Models by hub id. Files go to the cache that Hugging Face's own tools use and are found there without network.

use std::path::PathBuf;

use hf_hub::{HFClient, HFError};

use super::spec::detect;
use crate::error::Error;

/// Files besides weights that a model may have.
const OPTIONAL: [&str; 6] = [
    "modules.json",
    "1_Pooling/config.json",
    "sentence_bert_config.json",
    "tokenizer_config.json",
    "config_sentence_transformers.json",
    "special_tokens_map.json",
];

/// A model on the hub.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HubModel {
    /// `organisation/name`.
    pub repo: String,
    /// Branch, tag or commit; the main branch when absent.
    pub revision: Option<String>,
    /// Use only what the cache holds.
    pub offline: bool,
}

impl HubModel {
    /// Makes sure that the model's files are in the cache and returns their folder and commit.
    ///
    /// The configuration comes first: a model that cannot run is refused before its weights are fetched. `HF_HOME`,
    /// `HF_ENDPOINT`, `HF_TOKEN` are honoured. Blocks; call it outside the async threads.
    ///
    /// # Errors
    /// [`Error::Hub`] when the hub cannot be reached or lacks a file, [`Error::UnsupportedArchitecture`].
    pub fn fetch(&self) -> Result<(PathBuf, Option<String>), Error> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| Error::Start(format!("hub client: {error}")))?;
        runtime.block_on(self.fetch_async())
    }

    async fn fetch_async(&self) -> Result<(PathBuf, Option<String>), Error> {
        let client = HFClient::new().map_err(|error| self.failed("", &error))?;
        let endpoint = client.endpoint().to_owned();
        let config =
            self.file(&client, "config.json").await.map_err(|error| self.failed(&endpoint, &error))?;
        let bytes = tokio::fs::read(&config).await.map_err(Error::io(&config))?;
        let value = serde_json::from_slice(&bytes).map_err(|error| Error::malformed(&config, error))?;
        detect(&self.repo, &value, &config)?;
        for name in OPTIONAL {
            match self.file(&client, name).await {
                Ok(_) | Err(HFError::EntryNotFound { .. } | HFError::LocalEntryNotFound { .. }) => {}
                Err(error) => return Err(self.failed(&endpoint, &error)),
            }
        }
        for name in ["tokenizer.json", "model.safetensors"] {
            tracing::info!(repo = self.repo, file = name, "fetching from the hub unless cached");
            self.file(&client, name).await.map_err(|error| self.failed(&endpoint, &error))?;
        }
        let folder = config.parent().map(PathBuf::from).unwrap_or_default();
        // A cached file lies in `snapshots/<commit>/`.
        let commit = folder.file_name().map(|name| name.to_string_lossy().into_owned());
        Ok((folder, commit))
    }

    async fn file(&self, client: &HFClient, name: &str) -> Result<PathBuf, HFError> {
        let (owner, repo) = hf_hub::split_id(&self.repo);
        client
            .model(owner, repo)
            .download_file()
            .filename(name)
            .maybe_revision(self.revision.clone())
            .local_files_only(self.offline)
            .send()
            .await
    }

    fn failed(&self, endpoint: &str, error: &HFError) -> Error {
        let reason = match error {
            HFError::LocalEntryNotFound { path } => {
                format!("{path} is not in the cache and the server is offline; run once without --offline")
            }
            HFError::Request { .. } => {
                format!("{error}; check the network, or give a local folder or GGUF file instead of a hub id")
            }
            HFError::EntryNotFound { path, .. } => format!("the repository has no {path}"),
            HFError::AuthRequired { .. } | HFError::Forbidden { .. } => format!("{error}; set HF_TOKEN"),
            _ => error.to_string(),
        };
        Error::Hub { repo: self.repo.clone(), endpoint: endpoint.to_owned(), reason }
    }
}
