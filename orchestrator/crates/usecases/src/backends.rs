//! The backends that lanes search, by the configuration: each corpus where it is.

use crate::config::FusionSettings;
use anyhow::Context;
use lyra_corpus::backend::{BackendKind, SearchBackend};
use lyra_corpus::{
    Backends, Cluster, Corpora, EmbeddedBackend, OpenSearchBackend, OpenSearchConfig, PatentfieldBackend,
    PatentfieldConfig,
};
use lyra_research::ports::Inference;
use secrecy::SecretString;
use std::sync::Arc;
use std::time::Duration;

/// The cluster that the configuration names, if it names one. Does not connect yet.
///
/// # Errors
/// A setting that is missing or cannot be used, named.
pub(super) fn cluster(settings: &FusionSettings) -> anyhow::Result<Option<Cluster>> {
    let cluster = settings.backends.opensearch.clone();
    let Some(url) = cluster.url.filter(|url| !url.trim().is_empty()) else {
        anyhow::ensure!(
            settings.backend != BackendKind::OpenSearch,
            "fusion.backends.opensearch.url: the cluster's address is missing"
        );
        return Ok(None);
    };
    let config = OpenSearchConfig {
        urls: url.split(',').map(|url| url.trim().to_owned()).filter(|url| !url.is_empty()).collect(),
        user: cluster.user,
        password: cluster.password.and_then(|key| key.reveal().map(SecretString::from)),
        ca_file: cluster.ca_file,
        every_index: cluster.indices.is_empty() && settings.backend == BackendKind::OpenSearch,
        indices: cluster.indices,
        vectors: cluster.vectors,
        prefix: cluster.prefix,
        analyzer: cluster.analyzer,
        shards: cluster.shards.max(1),
        timeout: Duration::from_secs(cluster.timeout_seconds.max(1)),
    };
    Ok(Some(Cluster::new(config).context("fusion.backends.opensearch")?))
}

/// Does not connect yet.
///
/// # Errors
/// A setting that is missing or cannot be used, named.
pub(super) fn open(
    settings: &FusionSettings,
    corpora: &Corpora,
    cluster: Option<Cluster>,
    inference: Arc<dyn Inference>,
) -> anyhow::Result<Arc<dyn SearchBackend>> {
    let own = EmbeddedBackend::new(corpora.clone(), inference.clone());
    let mut backends: Vec<Arc<dyn SearchBackend>> = vec![Arc::new(own)];
    let vendor = settings.backends.patentfield.clone();
    let key = vendor.api_key.and_then(|key| key.reveal().map(SecretString::from));
    if let Some(api_key) = key {
        let config = PatentfieldConfig {
            url: vendor.url,
            api_key,
            corpus: vendor.corpus,
            page: vendor.page,
            timeout: Duration::from_secs(vendor.timeout_seconds.max(1)),
        };
        backends.push(Arc::new(PatentfieldBackend::new(config).context("fusion.backends.patentfield")?));
    } else {
        anyhow::ensure!(
            settings.backend != BackendKind::Patentfield,
            "fusion.backends.patentfield.api_key: the key is missing; set LYRA__FUSION__BACKENDS__PATENTFIELD__API_KEY"
        );
    }
    // Last: it may take every name.
    if let Some(cluster) = cluster {
        backends.push(Arc::new(OpenSearchBackend::new(cluster, inference)));
    }
    Ok(Arc::new(Backends::new(backends, settings.backend)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::inference::LazyInference;
    use crate::testing::NoModels;

    /// The names that lanes may search besides the corpora of the data folder.
    fn opened(text: &str) -> anyhow::Result<Vec<BackendKind>> {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("lyra.toml");
        std::fs::write(&file, text)?;
        let config = Config::load(Some(&file))?;
        let shown = serde_json::to_string(&config)?;
        assert!(!shown.contains("hidden") && !format!("{config:?}").contains("hidden"), "{shown}");
        let inference = Arc::new(LazyInference::new(config.ml.clone(), Arc::new(NoModels), Arc::default()));
        let cluster = cluster(&config.fusion)?;
        let backends = open(&config.fusion, &Corpora::open(folder.path()), cluster, inference)?;
        let known = ["patents", "patentfield"].into_iter().filter(|name| backends.claims(name));
        Ok(known.map(|name| backends.kind(name)).collect())
    }

    #[test]
    fn the_configuration_chooses() {
        assert_eq!(opened("").unwrap(), []);
        let cluster = "[fusion]\nbackend = \"opensearch\"\n[fusion.backends.opensearch]\nurl = \
            \"https://host:9200\"\nuser = \"u\"\npassword = \
            \"hidden\"\n[fusion.backends.opensearch.vectors]\ntitle_abst_claims = \
            \"v\"\n[fusion.backends.opensearch.indices]\npatents = \"p-1\"\n";
        assert_eq!(opened(cluster).unwrap(), [BackendKind::OpenSearch]);
        let vendor =
            "[fusion]\nbackend = \"patentfield\"\n[fusion.backends.patentfield]\napi_key = \"hidden\"\n";
        assert_eq!(opened(vendor).unwrap(), [BackendKind::Patentfield]);
        let both = "[fusion.backends.opensearch]\nurl = \"https://a:9200, https://b:9200\"\nindices = { patents = \"p\" }\n\
            [fusion.backends.patentfield]\napi_key = \"hidden\"\n";
        assert_eq!(opened(both).unwrap(), [BackendKind::OpenSearch, BackendKind::Patentfield]);
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
