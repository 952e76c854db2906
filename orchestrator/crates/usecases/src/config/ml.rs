//! Which models are used, and where they run.

use super::shown_address;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Names of the built-in model profiles.
pub const PROFILES: [&str; 5] = ["lite", "fast", "standard", "scholar", "accurate"];

/// Which models to use, and where they run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MlConfig {
    /// Address of an ml-server; without it one runs inside this process.
    pub url: Option<String>,
    /// Addresses of several ml-servers that host the same models, in place of `url`.
    pub urls: Vec<String>,
    /// Models of the built-in one: `lite`, `fast`, `standard`, `scholar` or `accurate`.
    pub profile: String,
    /// Folder of the lite models for the built-in one.
    pub models_dir: Option<PathBuf>,
    /// CPU threads of the built-in one; physical cores when absent.
    pub threads: Option<usize>,
}

impl Default for MlConfig {
    fn default() -> Self {
        Self { url: None, urls: Vec::new(), profile: "lite".to_owned(), models_dir: None, threads: None }
    }
}

impl MlConfig {
    /// Addresses of the ml-servers; none if the models run inside this process.
    pub fn servers(&self) -> Vec<String> {
        if self.urls.is_empty() { self.url.iter().cloned().collect() } else { self.urls.clone() }
    }

    /// What is wrong with the addresses of the ml-servers.
    pub fn address_problems(&self) -> Vec<String> {
        let url = self.url.iter().filter_map(|address| address_problem("`ml.url`", address));
        url.chain(self.urls.iter().filter_map(|address| address_problem("`ml.urls`", address))).collect()
    }
}

/// What is wrong with the address of an ml-server in this setting; `None` for a valid one.
pub fn address_problem(setting: &str, address: &str) -> Option<String> {
    // Before the last `@` may be a password.
    let shown = shown_address(address.rsplit('@').next().unwrap_or_default());
    (!is_address(address))
        .then(|| format!("{setting}: `{shown}` should be an address such as http://127.0.0.1:8421"))
}

/// Whether a text is the address of a server.
pub(super) fn is_address(text: &str) -> bool {
    url::Url::parse(text).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
}
