//! External sources: the academic APIs, search engines and pages.

use super::{Secret, WebApisSettings};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// External sources, and how to query them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SourcesConfig {
    /// Sources of a task that names none: `corpora`, `semantic_scholar`, `openalex`, `europe_pmc`, `crossref`, `pubmed`,
    /// `arxiv`, `clinicaltrials`, `wikipedia`, `datacite`, `doaj`, `core`, `unpaywall`, `web`, names of corpora.
    pub default: Vec<String>,
    /// Contact details of the operator (email address or web page), sent in the `User-Agent`.
    pub contact: Option<String>,
    /// Proxy for all outside traffic: `auto` (from `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`), `off`, or the address
    /// of one (`http://proxy.example.org:3128`), with exceptions in `NO_PROXY`.
    pub proxy: String,
    /// Most megabytes of cached responses on disk; 0 disables the cache.
    pub cache_mb: u64,
    /// Semantic Scholar.
    pub semantic_scholar: ApiSettings,
    /// OpenAlex.
    pub openalex: ApiSettings,
    /// Europe PMC.
    pub europe_pmc: ApiSettings,
    /// Crossref.
    pub crossref: ApiSettings,
    /// PubMed.
    pub pubmed: ApiSettings,
    /// arXiv.
    pub arxiv: ApiSettings,
    /// ClinicalTrials.gov.
    pub clinicaltrials: ApiSettings,
    /// Wikipedia.
    pub wikipedia: ApiSettings,
    /// DataCite.
    pub datacite: ApiSettings,
    /// The Directory of Open Access Journals.
    pub doaj: ApiSettings,
    /// CORE.
    pub core: ApiSettings,
    /// Unpaywall.
    pub unpaywall: ApiSettings,
    /// Search engines and pages.
    pub web: WebSettings,
}

impl SourcesConfig {
    /// The settings `[sources.NAME]` of an academic API.
    pub fn api(&self, name: &str) -> Option<&ApiSettings> {
        match name {
            "semantic_scholar" => Some(&self.semantic_scholar),
            "openalex" => Some(&self.openalex),
            "europe_pmc" => Some(&self.europe_pmc),
            "crossref" => Some(&self.crossref),
            "pubmed" => Some(&self.pubmed),
            "arxiv" => Some(&self.arxiv),
            "clinicaltrials" => Some(&self.clinicaltrials),
            "wikipedia" => Some(&self.wikipedia),
            "datacite" => Some(&self.datacite),
            "doaj" => Some(&self.doaj),
            "core" => Some(&self.core),
            "unpaywall" => Some(&self.unpaywall),
            _ => None,
        }
    }
}

impl Default for SourcesConfig {
    fn default() -> Self {
        Self {
            default: vec!["corpora".to_owned()],
            contact: None,
            proxy: "auto".to_owned(),
            cache_mb: 512,
            semantic_scholar: ApiSettings::default(),
            openalex: ApiSettings::default(),
            europe_pmc: ApiSettings::default(),
            crossref: ApiSettings::default(),
            pubmed: ApiSettings::default(),
            arxiv: ApiSettings::default(),
            clinicaltrials: ApiSettings::default(),
            wikipedia: ApiSettings::default(),
            datacite: ApiSettings::default(),
            doaj: ApiSettings::default(),
            core: ApiSettings::default(),
            unpaywall: ApiSettings::default(),
            web: WebSettings::default(),
        }
    }
}

/// Search engines and pages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WebSettings {
    /// Engines to query; when empty, the configured APIs, else those of the category `general`.
    pub engines: Vec<String>,
    /// APIs of web search.
    pub apis: WebApisSettings,
    /// Most pages fetched for one query.
    pub pages_per_query: usize,
    /// Seconds for engines and pages of one query together.
    pub seconds_per_query: u64,
    /// Seconds for one page.
    pub timeout_seconds: u64,
    /// Most megabytes of one page.
    pub max_page_mb: usize,
    /// File that replaces the built-in engines.
    pub engines_file: Option<PathBuf>,
    /// File that replaces the built-in categories of domains.
    pub domains_file: Option<PathBuf>,
    /// File that replaces the built-in dangerous patterns.
    pub dangerous_patterns_file: Option<PathBuf>,
    /// Non-public origins that may be fetched anyway (test servers): `http://127.0.0.1:8000`.
    pub trusted_origins: Vec<String>,
    /// Chromium for JavaScript-rendered pages: `auto`, `off`, or a path.
    pub browser: String,
    /// Pages that it loads in parallel.
    pub browser_pages: usize,
    /// Seconds of idleness after which it is stopped.
    pub browser_idle_seconds: u64,
    /// Hours for which a page that requires a person waits in the auth queue.
    pub auth_hours: u64,
}

impl Default for WebSettings {
    fn default() -> Self {
        Self {
            engines: Vec::new(),
            apis: WebApisSettings::default(),
            pages_per_query: 10,
            seconds_per_query: 60,
            timeout_seconds: 20,
            max_page_mb: 12,
            engines_file: None,
            domains_file: None,
            dangerous_patterns_file: None,
            trusted_origins: Vec::new(),
            browser: "auto".to_owned(),
            browser_pages: 2,
            browser_idle_seconds: 30,
            auth_hours: 72,
        }
    }
}

/// One academic API.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ApiSettings {
    /// Address, when it is not the API's own: a proxy, or a stand-in of tests.
    pub base_url: Option<String>,
    /// API key, if any.
    #[serde(skip_serializing)]
    pub api_key: Option<Secret>,
    /// Email address of the operator, for an API that asks for one: OpenAlex, Europe PMC, Crossref, PubMed, DataCite,
    /// Unpaywall.
    pub mailto: Option<String>,
    /// Shortest time between two requests in milliseconds, when it is not the API's own limit.
    pub min_interval_ms: Option<u64>,
    /// Hours for which responses are reused.
    pub cache_hours: u64,
}

impl Default for ApiSettings {
    fn default() -> Self {
        Self { base_url: None, api_key: None, mailto: None, min_interval_ms: None, cache_hours: 24 }
    }
}
