//! APIs of web search: as they are configured, and how they are doing.

use crate::config::{WebApiSettings, WebApisSettings, shown_address};
use crate::sources::{SourceInfo, SourceTest};
use crate::{App, AppError};
use futures::future::join_all;
use lyra_sources::web::{WebApi, WebApiConfig};
use lyra_web::serp::{SEARCH_APIS, SearchApi};
use secrecy::SecretString;
use std::time::Duration;
use url::Url;

/// What [`SourceInfo::kind`] says about an API of web search.
pub(crate) const KIND: &str = "web_api";

/// The APIs that are configured, in the order in which they are asked.
///
/// # Errors
/// An address that cannot be used.
pub(crate) fn open(settings: &WebApisSettings) -> anyhow::Result<Vec<WebApi>> {
    let open = |api: &'static SearchApi| {
        let config = config(api, settings.api(api.name)?);
        config.map(|config| WebApi::open(api, config)).transpose()
    };
    SEARCH_APIS.iter().filter_map(open).collect()
}

fn config(api: &SearchApi, settings: &WebApiSettings) -> anyhow::Result<WebApiConfig> {
    let base_url = settings.base_url.as_deref().map(|address| {
        let url = Url::parse(address.trim()).ok().filter(is_plain);
        url.ok_or_else(|| {
            anyhow::anyhow!(
                "sources.web.apis.{}.base_url: `{}` is not an address such as http://127.0.0.1:8888, without user, \
                 password and query",
                api.name,
                shown_address(address)
            )
        })
    });
    Ok(WebApiConfig {
        base_url: base_url.transpose()?,
        api_key: settings.api_key.as_ref().and_then(|key| key.reveal()).map(SecretString::from),
        min_interval: settings.min_interval_ms.map(Duration::from_millis),
        daily_budget: settings.daily_budget,
    })
}

/// Whether paths can be appended, and nothing in it is secret.
fn is_plain(url: &Url) -> bool {
    let user = !url.username().is_empty() || url.password().is_some();
    matches!(url.scheme(), "http" | "https") && url.query().is_none() && url.fragment().is_none() && !user
}

impl App {
    /// Every API of web search, configured or not.
    pub(crate) async fn web_apis(&self) -> Vec<SourceInfo> {
        join_all(SEARCH_APIS.iter().map(|api| self.web_api(api))).await
    }

    async fn web_api(&self, api: &SearchApi) -> SourceInfo {
        let search = &self.web().search;
        let found = search.apis().iter().find(|found| found.name() == api.name);
        let pause = match found {
            Some(found) => search.pause(found).await,
            None => None,
        };
        SourceInfo {
            name: api.name.to_owned(),
            kind: KIND,
            by_default: false,
            base_url: found.map(|found| found.base_url().to_string()),
            key: found.map(WebApi::has_key),
            missing: found.is_none().then(|| api.setting()),
            left_alone: pause.map(|(left, why)| (left.as_secs().max(1), why)),
        }
    }

    /// Sends a small query to the configured APIs with these names, or to all of them. Each costs what a search costs.
    pub(crate) async fn test_web_apis(&self, names: Option<&[&str]>) -> Vec<SourceTest> {
        let search = &self.web().search;
        let chosen = search.apis().iter().filter(|api| names.is_none_or(|names| names.contains(&api.name())));
        let tests = chosen.filter_map(|api| {
            let row = SearchApi::named(api.name())?;
            Some(async move {
                let answer = search.probe(api).await;
                // How it is doing now, after the probe.
                SourceTest::of(self.web_api(row).await, &answer)
            })
        });
        join_all(tests).await
    }

    /// The name of a configured API of web search that people call so.
    ///
    /// # Errors
    /// An API that is not configured.
    pub(crate) fn web_api_named(&self, name: &str) -> Result<Option<&'static str>, AppError> {
        let Some(api) = SearchApi::named(name) else { return Ok(None) };
        if self.web().search.apis().iter().any(|found| found.name() == name) {
            return Ok(Some(api.name));
        }
        Err(AppError::invalid(format!("{} is not configured", api.title), format!("set {}", api.setting())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_api_has_settings_and_is_opened_when_they_suffice() {
        let mut settings = WebApisSettings::default();
        for api in SEARCH_APIS {
            assert!(settings.api(api.name).is_some(), "{}", api.name);
        }
        assert!(open(&settings).unwrap().is_empty());
        settings.searxng.base_url = Some("http://127.0.0.1:8888/searx".to_owned());
        settings.tavily.api_key = Some(serde_json::from_value("KEY".into()).unwrap());
        // A blank one does not count.
        settings.kagi.api_key = Some(serde_json::from_value(" ".into()).unwrap());
        let names: Vec<&str> = open(&settings).unwrap().iter().map(WebApi::name).collect();
        assert_eq!(names, ["searxng", "tavily"]);
    }

    #[test]
    fn addresses_with_secrets_are_refused_without_them() {
        for address in [
            "http://user:hunter2@a.example",
            "https://a.example/?key=hunter2",
            "a.example",
            "ftp://a.example",
        ] {
            let mut settings = WebApisSettings::default();
            settings.searxng.base_url = Some(address.to_owned());
            let why = open(&settings).unwrap_err().to_string();
            assert!(
                why.starts_with("sources.web.apis.searxng.base_url: ") && !why.contains("hunter2"),
                "{why}"
            );
        }
    }
}
