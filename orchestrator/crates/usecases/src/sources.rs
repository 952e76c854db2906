//! Sources: those of a task, the available ones, and whether they answer.

use super::corpora::EXAMPLE;
use super::fusion::RunSource;
use super::web::Web;
use super::{App, AppError, ErrorCode, Remedy};
use crate::config::{Config, LlmProvider, SourcesConfig};
use crate::worker::PageParser;
use anyhow::Context;
use lyra_corpus::{CorpusSource, Narrow};
use lyra_domain::TaskConfig;
use lyra_research::ports::{Events, EvidenceSource};
use lyra_sources::http::{HttpClient, HttpConfig, Proxies};
use lyra_sources::registry::Opened;
use lyra_sources::web::WebApi;
use lyra_sources::{ApiConfig, PROVIDERS, Probe, Provider, Sources};
use lyra_store::{Store, SystemClock};
use secrecy::SecretString;
use serde::Serialize;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use url::Url;

/// Stands for every imported corpus, else the example corpus.
pub(super) const CORPORA: &str = "corpora";

/// The sources outside.
pub(super) struct Outside {
    pub(super) sources: Sources,
    web: Web,
}

/// A source, as `lyra sources list` shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SourceInfo {
    /// Name that `--sources` takes; of an API of web search, its name as an engine.
    pub name: String,
    /// `api`, `web`, `web_api` or `corpus`.
    pub kind: &'static str,
    /// Whether it is a default source.
    pub by_default: bool,
    /// Address of an API.
    pub base_url: Option<String>,
    /// Whether an API key is configured; `None` if none is needed.
    pub key: Option<bool>,
    /// The setting without which it cannot be queried, if it is missing.
    pub missing: Option<String>,
    /// Seconds left of its cool-down, and the reason.
    pub left_alone: Option<(u64, String)>,
}

/// How a source answered a small question.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SourceTest {
    /// The source.
    #[serde(flatten)]
    pub source: SourceInfo,
    /// Whether it answered.
    pub answers: bool,
    /// Milliseconds from asking to the last byte, when it answered.
    pub milliseconds: Option<u64>,
    /// Works that match the question, documents of a corpus, or hits of an API of web search.
    pub matches: Option<u64>,
    /// Why it did not answer.
    pub error: Option<String>,
}

impl Outside {
    /// # Errors
    /// An invalid base URL, a contact that is not a valid header value.
    pub(super) fn new(
        config: &Config,
        data_dir: &Path,
        store: &Arc<Store>,
        events: Events,
    ) -> anyhow::Result<Self> {
        let sources = &config.sources;
        let contact = sources.contact.as_deref().filter(|contact| !contact.trim().is_empty());
        let contact = contact.map_or_else(String::new, |contact| format!("; {contact}"));
        let agent =
            format!("Lyra/{} (+{}{contact})", env!("CARGO_PKG_VERSION"), env!("CARGO_PKG_REPOSITORY"));
        let http = HttpConfig {
            user_agent: agent.clone(),
            cache_dir: (sources.cache_mb > 0).then(|| data_dir.join("http-cache")),
            cache_bytes: sources.cache_mb.saturating_mul(1_000_000),
            proxies: proxies(&sources.proxy)?,
            events,
        };
        let http = HttpClient::new(http, store.clone(), Arc::new(SystemClock))?;
        let web =
            Web::new(&sources.web, &http, store, agent, PageParser::new(config.worker_program.clone()))?;
        // Only a language model reads links.
        let links = if config.llm.provider == LlmProvider::None {
            0
        } else {
            config.search.web_citation_links_per_page
        };
        let web_source: Arc<dyn EvidenceSource> = Arc::new(web.source(links));
        let settings = |provider: &Provider, address| api(provider.name, sources, address);
        Ok(Self { sources: Sources::open(PROVIDERS, &http, settings, &web_source)?, web })
    }

    pub(super) fn web(&self) -> &Web {
        &self.web
    }

    fn source(&self, name: &str) -> Option<Arc<dyn EvidenceSource>> {
        self.sources.get(name).map(|opened| Arc::clone(&opened.source))
    }
}

impl SourceInfo {
    /// An external source with its settings and its current cool-down.
    async fn of(opened: &Opened, defaults: &[String]) -> Self {
        let Opened { provider, api, .. } = opened;
        let is_named = |name: &String| provider.is_named(name.trim());
        let pause = match api {
            Some((api, _)) => api.pause().await,
            None => None,
        };
        Self {
            name: provider.name.to_owned(),
            kind: provider.kind().as_str(),
            by_default: defaults.iter().any(is_named),
            base_url: api.as_ref().map(|(_, config)| config.base_url.to_string()),
            key: api.as_ref().map(|(_, config)| config.api_key.is_some()),
            missing: None,
            left_alone: pause.map(|(left, why)| (left.as_secs().max(1), why)),
        }
    }
}

impl SourceTest {
    /// The source as it answered a probe.
    pub(super) fn of(source: SourceInfo, answer: &lyra_sources::Result<Probe>) -> Self {
        let probe = answer.as_ref().ok();
        Self {
            source,
            answers: probe.is_some(),
            milliseconds: probe.map(|probe| probe.took.as_millis() as u64),
            matches: probe.map(|probe| probe.matches),
            error: answer.as_ref().err().map(ToString::to_string),
        }
    }
}

/// The configured proxies: those of the environment, none, or one.
fn proxies(setting: &str) -> lyra_sources::Result<Proxies> {
    let variable = |name: &str| std::env::var(name).ok();
    match setting.trim() {
        "auto" => Proxies::of_environment(variable),
        "" | "off" => Ok(Proxies::default()),
        address => {
            let except = variable("NO_PROXY").or_else(|| variable("no_proxy")).unwrap_or_default();
            Proxies::one("sources.proxy", address, &except)
        }
    }
}

/// The API of this name with its settings, at `address` unless they name another one.
fn api(name: &str, sources: &SourcesConfig, address: &str) -> anyhow::Result<ApiConfig> {
    let settings = sources.api(name).with_context(|| format!("there are no settings [sources.{name}]"))?;
    let trusted = settings.base_url.is_some();
    let base_url = settings.base_url.as_deref().unwrap_or(address);
    let base_url: Url = base_url.parse().with_context(|| {
        format!("sources.{name}.base_url: `{base_url}` is not an address such as https://example.org")
    })?;
    anyhow::ensure!(
        matches!(base_url.scheme(), "http" | "https"),
        "sources.{name}.base_url: `{base_url}` is neither http nor https"
    );
    Ok(ApiConfig {
        base_url,
        trusted,
        api_key: settings.api_key.as_ref().and_then(|key| key.reveal()).map(SecretString::from),
        mailto: settings.mailto.clone(),
        min_interval: settings.min_interval_ms.map(Duration::from_millis),
        cache_ttl: Duration::from_secs(settings.cache_hours.saturating_mul(3600)),
    })
}

impl App {
    pub(super) fn web(&self) -> &Web {
        self.inner.outside.web()
    }

    /// Resolves the corpora and external sources of a task: the given ones, else the configured ones.
    pub(super) async fn choose_sources(&self, config: &mut TaskConfig) -> Result<(), AppError> {
        let defaults = &self.inner.config.sources.default;
        let named = if config.sources.is_empty() { defaults.clone() } else { config.sources.clone() };
        // Corpora of the task replace the configured ones.
        let narrowed = config.sources.is_empty() && !config.corpora.is_empty();
        let mut outside: Vec<String> = Vec::new();
        let mut corpora = config.corpora.clone();
        let mut every_corpus = false;
        for name in named {
            match self.inner.outside.sources.get(name.trim()).map(|opened| opened.provider.name) {
                Some(known) if outside.iter().any(|chosen| chosen == known) => {}
                Some(known) => outside.push(known.to_owned()),
                None if name == CORPORA => every_corpus |= !narrowed,
                None if narrowed => {}
                None => {
                    let exists = name == EXAMPLE || self.list_corpora().await?.iter().any(|c| c.name == name);
                    if !exists {
                        return Err(self.unknown_source(&name).await?);
                    }
                    corpora.push(name);
                }
            }
        }
        config.corpora = if every_corpus && corpora.is_empty() {
            self.corpora_for(&[]).await?
        } else if every_corpus {
            let mut all = self.corpora_for(&[]).await?;
            all.extend(self.corpora_for(&corpora).await?);
            all.sort();
            all.dedup();
            all
        } else if corpora.is_empty() {
            Vec::new()
        } else {
            self.corpora_for(&corpora).await?
        };
        self.check_narrowed(config).await?;
        config.sources = outside;
        if config.corpora.is_empty() && config.sources.is_empty() {
            return Err(AppError::invalid("no source is selected", Remedy::SelectSources));
        }
        Ok(())
    }

    async fn unknown_source(&self, name: &str) -> Result<AppError, AppError> {
        let outside = self.inner.outside.sources.iter().map(|opened| opened.provider.name);
        let mut known: Vec<String> = outside.chain([CORPORA]).map(str::to_owned).collect();
        known.extend(self.list_corpora().await?.into_iter().map(|corpus| corpus.name));
        if !known.iter().any(|name| name == EXAMPLE) {
            known.push(EXAMPLE.to_owned());
        }
        Ok(AppError::invalid(
            format!("unknown source `{name}`"),
            format!("the sources are: {}", known.join(", ")),
        ))
    }

    /// Names by which a task's queries can select single sources.
    pub(super) fn source_names(config: &TaskConfig) -> Vec<String> {
        let corpora = config.corpora.iter().map(|name| format!("corpus:{name}"));
        corpora.chain(config.sources.iter().cloned()).collect()
    }

    /// Every source there is.
    ///
    /// # Errors
    /// When the folder of corpora cannot be read.
    pub async fn list_sources(&self) -> Result<Vec<SourceInfo>, AppError> {
        let defaults = &self.inner.config.sources.default;
        let mut sources = Vec::new();
        for opened in self.inner.outside.sources.iter() {
            sources.push(SourceInfo::of(opened, defaults).await);
        }
        sources.extend(self.web_apis().await);
        for corpus in self.list_corpora().await? {
            let every = defaults.iter().any(|name| name == CORPORA) && corpus.name != EXAMPLE;
            sources.push(SourceInfo {
                by_default: every || defaults.contains(&corpus.name),
                name: corpus.name,
                kind: "corpus",
                base_url: None,
                key: None,
                missing: None,
                left_alone: None,
            });
        }
        Ok(sources)
    }

    /// Sends a small query to external sources, bypassing the cache. When none is given, to those that hints suggest and
    /// to those that the settings name.
    ///
    /// # Errors
    /// A name of no external source. A source that does not answer is not an error here.
    pub async fn test_sources(&self, names: &[String]) -> Result<Vec<SourceTest>, AppError> {
        let sources = &self.inner.outside.sources;
        let mut chosen = Vec::new();
        for name in names {
            let api = sources.get(name).filter(|opened| opened.api.is_some());
            let known = match api {
                Some(opened) => Some(opened.provider.name),
                None => self.web_api_named(name)?,
            };
            chosen.push(known.ok_or_else(|| {
                let mut known = sources.api_names();
                known.extend(self.web().search.apis().iter().map(WebApi::name));
                AppError::invalid(
                    format!("`{name}` is not an external source with an API"),
                    format!("those are {}", known.join(", ")),
                )
            })?);
        }
        let defaults = &self.inner.config.sources.default;
        let asked = |opened: &&Opened| {
            let provider = &opened.provider;
            let usual = || provider.by_default || defaults.iter().any(|name| provider.is_named(name.trim()));
            if chosen.is_empty() { usual() } else { chosen.contains(&provider.name) }
        };
        let tests = sources.iter().filter(asked).filter_map(|opened| {
            let (api, _) = opened.api.as_ref()?;
            Some(async move {
                let answer = api.probe().await;
                // How it is doing now, after the probe.
                SourceTest::of(SourceInfo::of(opened, defaults).await, &answer)
            })
        });
        let chosen_apis = (!chosen.is_empty()).then_some(chosen.as_slice());
        let (mut done, web) = tokio::join!(futures::future::join_all(tests), self.test_web_apis(chosen_apis));
        done.extend(web);
        Ok(done)
    }
}

/// The sources of a task. A corpus removed meanwhile returns an error, which the task then shows.
pub(super) fn sources_of(app: &App, config: &TaskConfig) -> Vec<Arc<dyn EvidenceSource>> {
    let corpora = config.corpora.iter().map(|name| {
        let source = CorpusSource::new(app.inner.corpora.clone(), name, app.inner.inference.clone());
        // The names were checked when the task was created.
        let narrow = Narrow::of(&config.tags, &config.collections).unwrap_or_default();
        Arc::new(source.with_filters(narrow.filters)) as Arc<dyn EvidenceSource>
    });
    let others = config.sources.iter().filter_map(|name| {
        let run = RunSource::of(name, app.fusion()).map(|run| Arc::new(run) as Arc<dyn EvidenceSource>);
        run.or_else(|| app.inner.outside.source(name))
    });
    corpora.chain(others).collect()
}

impl From<lyra_sources::Error> for AppError {
    fn from(error: lyra_sources::Error) -> Self {
        let code = if error.is_transient() { ErrorCode::Unavailable } else { ErrorCode::Internal };
        Self::new(code, error.to_string())
    }
}
