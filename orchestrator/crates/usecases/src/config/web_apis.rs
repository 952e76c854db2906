//! APIs of web search.

use super::Secret;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// APIs of web search. Those that are configured are asked in this order, before any result page is read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WebApisSettings {
    /// Your own metasearch engine; needs `base_url`.
    pub searxng: WebApiSettings,
    /// Brave Search API; needs `api_key`, like the following.
    pub brave: WebApiSettings,
    /// Tavily.
    pub tavily: WebApiSettings,
    /// Serper.
    pub serper: WebApiSettings,
    /// Exa.
    pub exa: WebApiSettings,
    /// Kagi Search API.
    pub kagi: WebApiSettings,
}

impl WebApisSettings {
    /// The settings `[sources.web.apis.NAME]`.
    pub fn api(&self, name: &str) -> Option<&WebApiSettings> {
        match name {
            "searxng" => Some(&self.searxng),
            "brave" => Some(&self.brave),
            "tavily" => Some(&self.tavily),
            "serper" => Some(&self.serper),
            "exa" => Some(&self.exa),
            "kagi" => Some(&self.kagi),
            _ => None,
        }
    }
}

/// One API of web search.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WebApiSettings {
    /// Address, when it is not the API's own: an instance, a proxy, or a stand-in of tests.
    pub base_url: Option<String>,
    /// API key.
    #[serde(skip_serializing)]
    pub api_key: Option<Secret>,
    /// Shortest time between two requests in milliseconds, when it is not the API's own limit.
    pub min_interval_ms: Option<u64>,
    /// Most requests in one day, in UTC; no limit when absent.
    pub daily_budget: Option<u32>,
}
