//! What helps where a plain request does not do.

use super::parser::{InProcess, Parser};
use crate::browser::Browser;
use crate::cookies::{Session, Sessions};
use crate::http::{HttpClient, Policy, Response};
use crate::{Error, Result};
use std::sync::Arc;
use url::Url;

/// What helps where a plain request does not do; without them, pages that need them say so.
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
    /// What a person's visit left for this address.
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
        // One that cannot be started is no failure of the provider, so it is looked for first.
        browser.executable()?;
        http.allowed(policy, url).await?;
        let response = http.paced(policy, browser.load(policy, url, session)).await?;
        // Scripts may have led elsewhere.
        http.allowed(policy, &response.url).await?;
        Ok(response)
    }
}
