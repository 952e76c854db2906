//! What helps where a plain request does not do.

use super::parser::{InProcess, Parser};
use crate::browser::Browser;
use crate::cookies::{Session, Sessions};
use crate::http::{HttpClient, Policy, Response};
use crate::{Error, Result};
use std::sync::Arc;
use url::Url;

/// Aids for pages that a plain request cannot load; without them, such pages are reported.
#[derive(Clone)]
pub struct Aids {
    /// Runs scripts.
    pub browser: Option<Browser>,
    /// Knows what people's visits left.
    pub sessions: Option<Sessions>,
    /// Parses what arrives.
    pub parser: Arc<dyn Parser>,
}

impl Default for Aids {
    fn default() -> Self {
        Self { browser: None, sessions: None, parser: Arc::new(InProcess::default()) }
    }
}

impl Aids {
    /// The session of a person's visit for this address.
    pub(super) async fn session(&self, url: &Url) -> Option<Session> {
        match &self.sessions {
            Some(sessions) => sessions.of(url).await,
            None => None,
        }
    }

    /// The page as the browser shows it, within the provider's limits and where robots may be.
    pub(super) async fn rendered(
        &self,
        http: &HttpClient,
        policy: &Policy,
        url: &Url,
        session: Option<&Session>,
    ) -> Result<Response> {
        let Some(browser) = &self.browser else {
            return Err(Error::NoBrowser { why: "none is configured".to_owned() });
        };
        // A missing browser is not a failure of the provider, so it is checked first.
        browser.executable()?;
        http.allowed(policy, url).await?;
        let response = http.paced(policy, browser.load(policy, url, session)).await?;
        // Scripts may have led elsewhere.
        http.allowed(policy, &response.url).await?;
        Ok(response)
    }
}
