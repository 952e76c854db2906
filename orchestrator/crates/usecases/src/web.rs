//! The open web: pages and search engines.

pub(crate) mod apis;

use super::{App, AppError, ErrorCode};
use crate::config::WebSettings;
use crate::worker::PageParser;
use futures::future::join_all;
use lyra_sources::browser::{Browser, BrowserConfig, Choice};
use lyra_sources::cookies::Sessions;
use lyra_sources::http::{HttpClient, Origin, Policy};
use lyra_sources::registry::WEB;
use lyra_sources::web::{
    Aids, FetchLimits, FetchedPage, Pages, RuleFiles, Rules, WebBudget, WebSearch, WebSource,
};
use lyra_store::Store;
use lyra_web::serp::{Category, SerpPage};
use serde::{Serialize, Serializer};
use std::sync::Arc;
use std::time::Duration;

/// The engines' client and the page fetcher.
pub(super) struct Web {
    rules: Rules,
    pub(super) search: WebSearch,
    pages: Pages,
    budget: WebBudget,
    /// Loads pages that need scripts.
    pub(super) browser: Browser,
    /// How a person's visit is treated.
    pub(super) visit: Policy,
    pub(super) http: HttpClient,
    /// Parses what arrives.
    pub(super) parser: Arc<PageParser>,
}

/// One engine's answer.
#[derive(Debug, Serialize)]
pub struct EngineAnswer {
    /// Its name.
    pub engine: String,
    /// Its page, or why it failed.
    #[serde(flatten, serialize_with = "page_or_error")]
    pub page: Result<SerpPage, String>,
}

impl EngineAnswer {
    /// Whether the engine answered: with results, or with none found.
    pub fn answered(&self) -> bool {
        matches!(self.page, Ok(SerpPage::Results { .. } | SerpPage::NoResults))
    }
}

/// What stands in the place of a page.
#[derive(Serialize)]
struct NoPage<'a> {
    outcome: &'static str,
    why: &'a str,
}

fn page_or_error<S: Serializer>(page: &Result<SerpPage, String>, serializer: S) -> Result<S::Ok, S::Error> {
    match page {
        Ok(page) => page.serialize(serializer),
        Err(why) => NoPage { outcome: "error", why }.serialize(serializer),
    }
}

impl Web {
    /// # Errors
    /// An invalid rules file, an origin that is not an http(s) URL.
    pub(super) fn new(
        settings: &WebSettings,
        http: &HttpClient,
        store: &Arc<Store>,
        agent: String,
        parser: PageParser,
    ) -> anyhow::Result<Self> {
        let parser = Arc::new(parser);
        let sessions = Sessions::new(store.clone());
        let rules = Rules::open(&RuleFiles {
            engines: settings.engines_file.clone(),
            domains: settings.domains_file.clone(),
            dangerous_patterns: settings.dangerous_patterns_file.clone(),
        })?
        .with_stored(store.clone());
        let trusted: Vec<Origin> = settings
            .trusted_origins
            .iter()
            .map(|text| {
                let origin = text.parse().ok().and_then(|url| Origin::of(&url));
                origin.ok_or_else(|| {
                    anyhow::anyhow!(
                        "sources.web.trusted_origins: `{text}` is not an origin; write http://host:port"
                    )
                })
            })
            .collect::<anyhow::Result<_>>()?;
        let limits = FetchLimits {
            timeout: Duration::from_secs(settings.timeout_seconds.max(1)),
            max_bytes: settings.max_page_mb.max(1).saturating_mul(1 << 20),
            trusted: trusted.clone(),
            ..FetchLimits::default()
        };
        let config = BrowserConfig {
            choice: Choice::from_setting(&settings.browser),
            pages: settings.browser_pages,
            idle: Duration::from_secs(settings.browser_idle_seconds),
            agent,
        };
        let browser = Browser::new(http.clone(), config);
        let aids = Aids { browser: Some(browser.clone()), sessions: Some(sessions), parser: parser.clone() };
        Ok(Self {
            search: WebSearch::new(http.clone(), rules.clone(), trusted.clone())
                .with_aids(aids.clone())
                .with_apis(apis::open(&settings.apis)?),
            pages: Pages::new(http.clone(), rules.clone(), limits).with_aids(aids),
            browser,
            visit: Policy { trusted, ..Policy::new("auth") },
            http: http.clone(),
            parser,
            budget: WebBudget {
                engines: settings.engines.clone(),
                pages: settings.pages_per_query,
                time: Duration::from_secs(settings.seconds_per_query.max(1)),
            },
            rules,
        })
    }

    /// Filters the sources' results by the rules.
    pub(super) fn rules(&self) -> Rules {
        self.rules.clone()
    }

    /// Fetches pages.
    pub(super) fn pages(&self) -> Pages {
        self.pages.clone()
    }

    /// A source for one query, with at most `links` links of each page.
    pub(super) fn source(&self, links: usize) -> WebSource {
        WebSource::new(self.search.clone(), self.pages.clone(), self.rules.clone(), self.budget.clone())
            .with_links(links)
    }
}

impl App {
    /// Fetches a page and reads it. Its text is untrusted data.
    ///
    /// # Errors
    /// The page must not be fetched, is unreachable, requires a person, or has no text.
    pub async fn fetch_page(&self, url: &str) -> Result<FetchedPage, AppError> {
        self.web().pages.fetch(url).await.map_err(|error| match &error {
            lyra_sources::Error::Forbidden { .. } | lyra_sources::Error::Robots { .. } => {
                AppError::new(ErrorCode::InvalidArgument, error.to_string())
            }
            error if error.is_transient() => AppError::new(ErrorCode::Unavailable, error.to_string()),
            _ => AppError::new(ErrorCode::NotFound, error.to_string()),
        })
    }

    /// Checks that a task with the sources `known` can query web search engines with these names.
    pub(super) fn check_engines(&self, names: &[String], known: &[String]) -> Result<(), AppError> {
        if !known.iter().any(|source| source == WEB.name) {
            return Err(AppError::invalid(
                "`engines` names web search engines, but this task does not search the web",
                format!("its sources are: {}", known.join(", ")),
            ));
        }
        let search = &self.web().search;
        let Some(unknown) = names.iter().find(|name| !search.knows(name)) else { return Ok(()) };
        // An API without its key is known, too.
        self.web_api_named(unknown)?;
        Err(AppError::invalid(
            format!("`{unknown}` is not a web search engine"),
            format!("the engines are: {}", search.names().join(", ")),
        ))
    }

    /// Queries search engines in parallel; when none is given, the configured APIs, else the general ones.
    pub async fn ask_engines(
        &self,
        engines: &[String],
        query: &str,
        language: Option<&str>,
    ) -> Vec<EngineAnswer> {
        let web = self.web();
        let names: Vec<String> = match (engines, web.search.apis()) {
            ([], []) => web.search.readable(Category::General),
            ([], apis) => apis.iter().map(|api| api.name().to_owned()).collect(),
            (named, _) => named.to_vec(),
        };
        let language = language.or_else(|| lyra_text::language(query));
        join_all(names.into_iter().map(|engine| async move {
            let page = web.search.ask(&engine, query, language).await;
            EngineAnswer { engine, page: page.map(|answer| answer.page).map_err(|error| error.to_string()) }
        }))
        .await
    }
}
