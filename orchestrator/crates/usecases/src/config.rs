//! Configuration: defaults < file < `LYRA__…` environment < flags.

mod backends;
mod layers;
mod ml;
mod shown;
mod sources;
mod web_apis;

pub use backends::{BackendSettings, OpenSearchSettings, PatentfieldSettings};
pub use layers::{Layers, Origin, Setting, schema, written};
pub use ml::{MlConfig, PROFILES, address_problem};
pub(crate) use shown::address as shown_address;
pub use sources::{ApiSettings, SourcesConfig, WebSettings};
pub use web_apis::{WebApiSettings, WebApisSettings};

use crate::sources::CORPORA;
use anyhow::Context;
use lyra_corpus::backend::BackendKind;
use lyra_research::{ResearchConfig, SearchConfig};
use lyra_sources::PROVIDERS;
use ml::is_address;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::net::IpAddr;
use std::path::{Path, PathBuf};

/// Stands for every host name in `server.allowed_hosts`.
pub const ANY_HOST: &str = "*";

/// The whole configuration. Every key is documented in `config/lyra.toml`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Where state lives; the platform's data folder when absent.
    pub data_dir: Option<PathBuf>,
    /// The ml-server.
    pub ml: MlConfig,
    /// The HTTP server.
    pub server: ServerConfig,
    /// The pipeline.
    pub research: ResearchConfig,
    /// How a search expands its results.
    pub search: SearchConfig,
    /// External sources.
    pub sources: SourcesConfig,
    /// Lanes, runs and their fusion.
    pub fusion: FusionSettings,
    /// A language model, for what rules do less well.
    pub llm: LlmSettings,
    /// Background work.
    pub workers: WorkersConfig,
    /// How long data is kept.
    pub retention: RetentionConfig,
    /// Logs.
    pub log: LogConfig,
    /// The program that is started to do work of outsiders in a separate process (`lyra` itself); without one, the work
    /// runs in this process. Not a key of the file.
    #[serde(skip)]
    pub worker_program: Option<PathBuf>,
}

/// Whether a text is scheme, host, and port of web pages, and nothing that means more in a policy.
fn is_web_origin(text: &str) -> bool {
    let origin = text.strip_suffix('/').unwrap_or(text);
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, ':' | '/' | '.' | '-' | '[' | ']');
    let named = |url: url::Url| url.has_host() && url.path() == "/" && url.username().is_empty();
    origin.chars().all(plain) && is_address(origin) && url::Url::parse(origin).is_ok_and(named)
}

/// Lanes, runs and their fusion. Settings of the operator: no tool call changes them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FusionSettings {
    /// Whose corpora are meant by a search that names none.
    #[serde(deserialize_with = "backends::kind")]
    pub backend: BackendKind,
    /// Backends on other machines.
    pub backends: BackendSettings,
    /// Audience of the prompt `prior_art_search`.
    pub mode: FusionMode,
    /// Whether `run_multilane_search` may be called.
    pub enable_multi_run: bool,
    /// Whether lanes of the kind `original_dense` may be searched.
    pub enable_original_dense: bool,
    /// Hours for which texts from Patentfield are reused; 0 disables it.
    pub snippet_ttl_hours: u64,
    /// Hours for which a run is reused for the same search.
    pub run_ttl_hours: u64,
    /// Country filter of a search without one, two letters.
    pub default_country: Option<String>,
    /// File that replaces the built-in lanes.
    pub lanes_file: Option<PathBuf>,
}

impl Default for FusionSettings {
    fn default() -> Self {
        Self {
            backend: BackendKind::Embedded,
            backends: BackendSettings::default(),
            mode: FusionMode::Production,
            enable_multi_run: true,
            enable_original_dense: false,
            snippet_ttl_hours: 24,
            run_ttl_hours: 24,
            default_country: None,
            lanes_file: None,
        }
    }
}

/// Audience of the prompt `prior_art_search`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FusionMode {
    /// Researchers: findings, not the machinery.
    Production,
    /// Search professionals: queries, filters, results of each lane.
    InternalPro,
    /// Developers of prompts: every call with its parameters.
    Debug,
}

/// A language model, for what rules do less well.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LlmSettings {
    /// Which API the server has; `none` leaves everything to rules.
    pub provider: LlmProvider,
    /// Address, when it is not the provider's own.
    pub base_url: Option<String>,
    /// Name of the model.
    pub model: Option<String>,
    /// API key, if the server requires one.
    #[serde(skip_serializing)]
    pub api_key: Option<Secret>,
    /// Timeout of one request in seconds.
    pub timeout_seconds: u64,
    /// Parallel requests.
    pub max_concurrent: usize,
    /// Largest share of a task's seconds for the language model, 0 to 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub time_share: f64,
    /// Folder with files that replace the built-in prompts.
    pub prompts_dir: Option<PathBuf>,
}

impl Default for LlmSettings {
    fn default() -> Self {
        Self {
            provider: LlmProvider::None,
            base_url: None,
            model: None,
            api_key: None,
            timeout_seconds: 60,
            max_concurrent: 2,
            time_share: 0.3,
            prompts_dir: None,
        }
    }
}

/// The API of a language model's server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase", try_from = "String")]
pub enum LlmProvider {
    /// No language model.
    None,
    /// Ollama.
    Ollama,
    /// OpenAI, or any server with its chat completions API.
    OpenAi,
}

impl TryFrom<String> for LlmProvider {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match text.trim() {
            "none" => Ok(Self::None),
            "ollama" => Ok(Self::Ollama),
            "openai" | "openai-compatible" => Ok(Self::OpenAi),
            other => Err(format!("`{other}` is not a provider; use none, ollama or openai")),
        }
    }
}

/// Text that is never shown.
#[derive(Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(extend("writeOnly" = true))]
pub struct Secret(String);

impl Secret {
    /// The plain text, for sending; `None` when it is empty.
    pub fn reveal(&self) -> Option<&str> {
        (!self.0.trim().is_empty()).then(|| self.0.trim())
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// Where `lyra serve` listens, and which requests it accepts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ServerConfig {
    /// Address; on anything but loopback a token is required.
    pub host: IpAddr,
    /// Port.
    pub port: u16,
    /// When a token is required.
    pub auth: AuthMode,
    /// Host names, besides loopback, that requests may be addressed to; `*` is every name.
    pub allowed_hosts: Vec<String>,
    /// Origins of web pages, besides those of allowed hosts, that may send requests and read the answers:
    /// `https://app.example`.
    pub allowed_origins: Vec<String>,
    /// Origins of web pages that may show the workbench in a frame: `https://intranet.example`.
    pub frame_ancestors: Vec<String>,
    /// Requests per minute of one client (a token, or an address without one); 0 sets no limit.
    pub requests_per_minute: u32,
    /// Searches and fusions per hour of a read-only token; each stores a run. 0 allows none.
    pub reader_searches_per_hour: u32,
    /// Largest request body in kilobytes.
    pub max_body_kb: usize,
    /// Connections open at the same time, at most a third of the files that the process may open (`ulimit -n`). When
    /// all are in use, a new connection replaces the one that has been idle longest.
    pub max_connections: usize,
    /// Tools for MCP clients, over HTTP and stdio. A client pays for every listed tool in every session.
    pub toolset: Toolset,
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self {
            host: IpAddr::from([127, 0, 0, 1]),
            port: 8420,
            auth: AuthMode::Auto,
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            frame_ancestors: Vec::new(),
            requests_per_minute: 3000,
            reader_searches_per_hour: 120,
            max_body_kb: 1024,
            max_connections: 256,
            toolset: Toolset::Evidence,
        }
    }
}

/// When a token is required.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AuthMode {
    /// On every address but loopback.
    Auto,
    /// Always: behind a reverse proxy on the same machine, where every request comes from loopback.
    Required,
}

/// Tools for MCP clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Toolset {
    /// Claims and the passages for and against them.
    Evidence,
    /// Lanes, runs and their fusion.
    Fusion,
    /// Both.
    All,
}

/// Background work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WorkersConfig {
    /// Jobs that run in parallel.
    pub count: usize,
    /// Seconds after which the job of an unresponsive worker is given to another.
    pub lease_seconds: u64,
}

impl Default for WorkersConfig {
    fn default() -> Self {
        Self { count: 2, lease_seconds: 60 }
    }
}

/// How long data is kept.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RetentionConfig {
    /// Days after which a server deletes a task that has ended, with everything only it used; 0 keeps tasks.
    pub task_days: u64,
    /// Days after which cached responses are deleted; 0 keeps them until `sources.cache_mb` is reached.
    pub cache_days: u64,
}

/// Logs, on stderr.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LogConfig {
    /// `error`, `warn`, `info`, `debug`, `trace`, or a filter such as `warn,lyra_store=debug`.
    pub level: String,
    /// Format of log lines.
    pub format: LogFormat,
}

impl Default for LogConfig {
    fn default() -> Self {
        Self { level: "warn,rmcp=error".to_owned(), format: LogFormat::Text }
    }
}

/// Format of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object per line.
    Json,
}

impl Config {
    /// Reads the file, if one is given or found, and the environment over it.
    ///
    /// # Errors
    /// A missing file that was given, an unknown key or variable, a value of the wrong type: the message names each,
    /// with what was probably meant.
    pub fn load(file: Option<&Path>) -> anyhow::Result<Self> {
        Layers::read(file, environment())?.config()
    }

    /// Problems of values that are well-formed: missing files, invalid addresses, settings that conflict.
    pub fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        let web = &self.sources.web;
        let files = [
            ("ml.models_dir", &self.ml.models_dir),
            ("sources.web.engines_file", &web.engines_file),
            ("sources.web.domains_file", &web.domains_file),
            ("sources.web.dangerous_patterns_file", &web.dangerous_patterns_file),
            ("fusion.lanes_file", &self.fusion.lanes_file),
            ("llm.prompts_dir", &self.llm.prompts_dir),
        ];
        for (key, path) in files.iter().filter_map(|(key, path)| Some((key, path.as_ref()?))) {
            if !path.exists() {
                problems.push(format!("`{key}`: {} does not exist", path.display()));
            }
        }
        let addresses = [
            ("sources.semantic_scholar.base_url", &self.sources.semantic_scholar.base_url),
            ("sources.openalex.base_url", &self.sources.openalex.base_url),
            ("sources.europe_pmc.base_url", &self.sources.europe_pmc.base_url),
            ("sources.crossref.base_url", &self.sources.crossref.base_url),
            ("sources.pubmed.base_url", &self.sources.pubmed.base_url),
            ("sources.arxiv.base_url", &self.sources.arxiv.base_url),
            ("sources.clinicaltrials.base_url", &self.sources.clinicaltrials.base_url),
            ("sources.wikipedia.base_url", &self.sources.wikipedia.base_url),
            ("sources.datacite.base_url", &self.sources.datacite.base_url),
            ("sources.doaj.base_url", &self.sources.doaj.base_url),
            ("sources.core.base_url", &self.sources.core.base_url),
            ("sources.unpaywall.base_url", &self.sources.unpaywall.base_url),
            ("llm.base_url", &self.llm.base_url),
        ];
        for (key, address) in addresses.iter().filter_map(|(key, address)| Some((key, address.as_ref()?))) {
            if !is_address(address) {
                problems.push(format!("`{key}` should be an address such as http://127.0.0.1:8000"));
            }
        }
        if self.ml.url.is_some() && !self.ml.urls.is_empty() {
            problems.push("`ml.url` and `ml.urls` are both set: list all addresses in `ml.urls`".to_owned());
        }
        problems.extend(self.ml.address_problems());
        let profile = &self.ml.profile;
        if !PROFILES.iter().any(|name| name.eq_ignore_ascii_case(profile)) {
            problems.push(format!("`ml.profile`: `{profile}` is not one of {}", PROFILES.join(", ")));
        }
        problems.extend(self.sources.default.iter().filter_map(|name| self.source_problem(name.trim())));
        problems.extend(crate::web::apis::open(&web.apis).err().map(|error| error.to_string()));
        if self.llm.provider != LlmProvider::None && self.llm.model.is_none() {
            problems.push("`llm.model` is missing: name the model that the provider has".to_owned());
        }
        for origin in &self.server.allowed_origins {
            let whole = url::Url::parse(origin)
                .is_ok_and(|url| url.has_host() && matches!(url.path(), "" | "/") && url.query().is_none());
            if !whole {
                problems.push(format!(
                    "`server.allowed_origins`: `{origin}` is not an origin; write scheme, host and port: \
                     https://app.example:8443"
                ));
            }
        }
        for origin in self.server.frame_ancestors.iter().filter(|origin| !is_web_origin(origin)) {
            problems.push(format!(
                "`server.frame_ancestors`: `{origin}` is not an origin of web pages; write scheme, host and port: \
                 https://intranet.example:8443"
            ));
        }
        let open = self.server.host.is_loopback() && self.server.auth == AuthMode::Auto;
        if open && self.server.allowed_hosts.iter().any(|host| host == ANY_HOST) {
            problems.push(
                "`server.allowed_hosts` lets any web page in: set server.auth = \"required\", or name hosts"
                    .to_owned(),
            );
        }
        problems
    }

    /// What is wrong with a source of tasks that name none, if it is neither a source outside nor a corpus.
    fn source_problem(&self, name: &str) -> Option<String> {
        // Corpora of a cluster are known only to the cluster.
        let imported = || {
            self.fusion.backends.opensearch.url.is_some()
                || self.data_dir().is_ok_and(|folder| folder.join("corpora").join(name).is_dir())
        };
        let outside = || PROVIDERS.iter().any(|provider| provider.is_named(name));
        if [CORPORA, crate::EXAMPLE].contains(&name) || outside() || (!name.is_empty() && imported()) {
            return None;
        }
        let mut known = vec![CORPORA.to_owned()];
        known.extend(PROVIDERS.iter().map(|provider| provider.name.to_owned()));
        let near = layers::nearest(name, &known).map(|near| format!(", did you mean `{near}`?"));
        let near = near.unwrap_or_else(|| format!("; the sources are: {}", known.join(", ")));
        Some(format!("`sources.default`: `{name}` is neither a source nor an imported corpus{near}"))
    }

    /// The folder that holds the database and the corpora.
    ///
    /// # Errors
    /// The platform has no data folder and none is configured.
    pub fn data_dir(&self) -> anyhow::Result<PathBuf> {
        if let Some(dir) = &self.data_dir {
            return Ok(dir.clone());
        }
        let dirs = project_dirs().context("this user has no data folder; set `data_dir`")?;
        Ok(dirs.data_dir().to_owned())
    }
}

/// The variables of this process whose names and values are text.
pub fn environment() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}

/// The default path of the configuration file.
pub fn default_file() -> Option<PathBuf> {
    project_dirs().map(|dirs| dirs.config_dir().join("lyra.toml"))
}

fn project_dirs() -> Option<directories::ProjectDirs> {
    directories::ProjectDirs::from("", "", "lyra")
}

#[cfg(test)]
mod tests;
