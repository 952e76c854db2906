//! What lanes search: local corpora, or a backend on other machines.

use super::Secret;
use lyra_corpus::Analyzer;
use lyra_corpus::backend::{BackendKind, FeatureScope};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Backends on other machines. Each corpus is searched where it is.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BackendSettings {
    /// A cluster.
    pub opensearch: OpenSearchSettings,
    /// The vendor's API.
    pub patentfield: PatentfieldSettings,
}

/// A cluster of `OpenSearch`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OpenSearchSettings {
    /// Address of a node, or of several, separated by commas.
    pub url: Option<String>,
    /// User.
    pub user: Option<String>,
    /// The user's password, or without a user an API key.
    #[serde(skip_serializing)]
    pub password: Option<Secret>,
    /// Certificates of authorities to trust besides the system's, as PEM.
    pub ca_file: Option<PathBuf>,
    /// What the names of indices begin with that imports make.
    pub prefix: String,
    /// How texts of new indices are cut into words.
    pub analyzer: Analyzer,
    /// Primary shards of new indices.
    #[schemars(range(min = 1, max = 1024))]
    pub shards: u32,
    /// Index of each corpus that other programs maintain. Without any, and with `fusion.backend` as `opensearch`, every
    /// index that no import made is a corpus with the index's name.
    pub indices: BTreeMap<String, String>,
    /// Vector field of each feature scope.
    pub vectors: BTreeMap<FeatureScope, String>,
    /// Timeout of one request in seconds.
    pub timeout_seconds: u64,
}

impl Default for OpenSearchSettings {
    fn default() -> Self {
        Self {
            url: None,
            user: None,
            password: None,
            ca_file: None,
            prefix: "lyra-".to_owned(),
            analyzer: Analyzer::Mixed,
            shards: 1,
            indices: BTreeMap::new(),
            vectors: BTreeMap::new(),
            timeout_seconds: 30,
        }
    }
}

/// Patentfield.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PatentfieldSettings {
    /// Address, when it is not the vendor's.
    pub url: Option<String>,
    /// Key.
    #[serde(skip_serializing)]
    pub api_key: Option<Secret>,
    /// Name of its documents as a corpus.
    pub corpus: String,
    /// Most records per request.
    pub page: usize,
    /// Timeout of one request in seconds.
    pub timeout_seconds: u64,
}

impl Default for PatentfieldSettings {
    fn default() -> Self {
        Self { url: None, api_key: None, corpus: "patentfield".to_owned(), page: 1_000, timeout_seconds: 60 }
    }
}

/// The backend with this name.
pub(super) fn kind<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<BackendKind, D::Error> {
    let name = String::deserialize(deserializer)?;
    [BackendKind::Embedded, BackendKind::OpenSearch, BackendKind::Patentfield]
        .into_iter()
        .find(|kind| kind.name() == name.trim())
        .ok_or_else(|| {
            let why = format!("`{name}` is not a backend; use embedded, opensearch or patentfield");
            serde::de::Error::custom(why)
        })
}
