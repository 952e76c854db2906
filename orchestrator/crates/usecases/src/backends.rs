//! The backend that lanes search, by the configuration.

use crate::config::FusionSettings;
use anyhow::Context;
use lyra_corpus::backend::{BackendKind, SearchBackend};
use lyra_corpus::{
    Corpora, EmbeddedBackend, OpenSearchBackend, OpenSearchConfig, PatentfieldBackend, PatentfieldConfig,
};
use lyra_research::ports::Inference;
use secrecy::SecretString;
use std::sync::Arc;
use std::time::Duration;

/// Does not connect yet.
///
/// # Errors
/// A setting that is missing or cannot be used, named.
pub(super) fn open(
    settings: &FusionSettings,
    corpora: &Corpora,
    inference: Arc<dyn Inference>,
) -> anyhow::Result<Arc<dyn SearchBackend>> {
    Ok(match settings.backend {
        BackendKind::Embedded => Arc::new(EmbeddedBackend::new(corpora.clone(), inference)),
        BackendKind::OpenSearch => {
            let cluster = settings.backends.opensearch.clone();
            let config = OpenSearchConfig {
                url: cluster
                    .url
                    .context("fusion.backends.opensearch.url: the cluster's address is missing")?,
                user: cluster.user,
                password: cluster.password.and_then(|key| key.reveal().map(SecretString::from)),
                indices: cluster.indices,
                vectors: cluster.vectors,
                timeout: Duration::from_secs(cluster.timeout_seconds.max(1)),
            };
            Arc::new(OpenSearchBackend::new(config, inference).context("fusion.backends.opensearch")?)
        }
        BackendKind::Patentfield => {
            let vendor = settings.backends.patentfield.clone();
            let key = vendor.api_key.and_then(|key| key.reveal().map(SecretString::from));
            let config = PatentfieldConfig {
                url: vendor.url,
                api_key: key.context(
                    "fusion.backends.patentfield.api_key: the key is missing; set \
                     LYRA__FUSION__BACKENDS__PATENTFIELD__API_KEY",
                )?,
                corpus: vendor.corpus,
                page: vendor.page,
                timeout: Duration::from_secs(vendor.timeout_seconds.max(1)),
            };
            Arc::new(PatentfieldBackend::new(config).context("fusion.backends.patentfield")?)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::inference::LazyInference;
    use crate::testing::NoModels;

    fn opened(text: &str) -> anyhow::Result<BackendKind> {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("lyra.toml");
        std::fs::write(&file, text)?;
        let config = Config::load(Some(&file))?;
        let shown = serde_json::to_string(&config)?;
        assert!(!shown.contains("hidden") && !format!("{config:?}").contains("hidden"), "{shown}");
        let inference = Arc::new(LazyInference::new(config.ml.clone(), Arc::new(NoModels), Arc::default()));
        Ok(open(&config.fusion, &Corpora::open(folder.path()), inference)?.kind())
    }

    #[test]
    fn the_configuration_chooses() {
        assert_eq!(opened("").unwrap(), BackendKind::Embedded);
        let cluster = "[fusion]\nbackend = \"opensearch\"\n[fusion.backends.opensearch]\nurl = \
            \"https://host:9200\"\nuser = \"u\"\npassword = \
            \"hidden\"\n[fusion.backends.opensearch.vectors]\ntitle_abst_claims = \
            \"v\"\n[fusion.backends.opensearch.indices]\npatents = \"p-1\"\n";
        assert_eq!(opened(cluster).unwrap(), BackendKind::OpenSearch);
        let vendor =
            "[fusion]\nbackend = \"patentfield\"\n[fusion.backends.patentfield]\napi_key = \"hidden\"\n";
        assert_eq!(opened(vendor).unwrap(), BackendKind::Patentfield);
        for (text, expect) in [
            (
                "[fusion]\nbackend = \"solr\"\n",
                "`solr` is not a backend; use embedded, opensearch or patentfield",
            ),
            (
                "[fusion]\nbackend = \"opensearch\"\n",
                "fusion.backends.opensearch.url: the cluster's address is missing",
            ),
            (
                "[fusion]\nbackend = \"patentfield\"\n",
                "fusion.backends.patentfield.api_key: the key is missing",
            ),
            (
                "[fusion]\nbackend = \"opensearch\"\n[fusion.backends.opensearch]\nurl = \"host\"\n",
                "opensearch: `host` is not a valid URL",
            ),
        ] {
            let error = format!("{:#}", opened(text).unwrap_err());
            assert!(error.contains(expect), "{error}");
        }
    }
}
