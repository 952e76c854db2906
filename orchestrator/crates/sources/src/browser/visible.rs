//! A browser with a window, in which a person can resolve a page.

use super::BrowserConfig;
use super::gate::{Gate, unopened};
use super::page::{Caller, machine_time, text};
use super::process::{Face, Running};
use crate::cookies::{Session, session_domain};
use crate::http::{HttpClient, Policy};
use crate::{Error, Result};
use serde_json::json;
use std::time::Duration;
use url::Url;

/// How often the cookies are read: when the person closes the window, the last ones read are kept.
const LOOK: Duration = Duration::from_millis(500);
/// Bytes that a person's visit may load.
const BYTES: usize = 512 << 20;

/// A visible browser, behind the same guards as the headless one. Dropping it closes it.
pub struct Visible {
    running: Running,
    /// Closed after the browser.
    _gate: Gate,
    context: super::page::Context,
    url: Url,
    domain: String,
    agent: String,
}

impl Visible {
    /// Opens a window at this address.
    ///
    /// # Errors
    /// No browser, no display to show it on, an address that may not be fetched.
    pub async fn open(http: HttpClient, config: &BrowserConfig, policy: Policy, url: Url) -> Result<Self> {
        crate::http::check(&policy, &url)?;
        let executable = config.choice.find()?;
        let has_display = ["DISPLAY", "WAYLAND_DISPLAY"]
            .iter()
            .any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()));
        if !has_display && !cfg!(target_os = "macos") {
            return Err(Error::Browser {
                url: crate::http::shown(&url),
                why: "no display available (neither DISPLAY nor WAYLAND_DISPLAY is set)".to_owned(),
            });
        }
        let running = Running::start(&executable, Face::Visible).await?;
        let gate = Gate::open(http, policy, BYTES).await.map_err(|error| unopened(&url, &error))?;
        let agent = format!("{} {}", running.agent, config.agent);
        let caller = Caller { cdp: &running.cdp, url: &url };
        let context = caller.context(&gate, None).await?;
        let target = json!({"url": "about:blank", "browserContextId": context.id, "newWindow": true});
        let target = text(&caller.call("Target.createTarget", target, None).await?, "targetId");
        let attach = json!({"targetId": target, "flatten": true});
        let page = text(&caller.call("Target.attachToTarget", attach, None).await?, "sessionId");
        let agent_is = json!({"userAgent": agent});
        caller.call("Network.setUserAgentOverride", agent_is, Some(&page)).await?;
        caller.call("Page.navigate", json!({"url": url.as_str()}), Some(&page)).await?;
        let domain = session_domain(url.host_str().unwrap_or_default());
        Ok(Self { running, _gate: gate, context, url, domain, agent })
    }

    /// Waits until the person closes the window or `done` comes, and answers with the cookies of the address's domain.
    ///
    /// # Errors
    /// None in practice: when the browser ends, the person is done.
    pub async fn until_done(self, done: impl Future<Output = ()>) -> Result<Session> {
        let mut session = Session::from_browser(&self.domain, &json!([]), None, machine_time());
        let mut done = std::pin::pin!(done);
        loop {
            let ended = tokio::select! {
                () = &mut done => true,
                () = self.running.cdp.closed() => true,
                () = tokio::time::sleep(LOOK) => false,
            };
            if let Some(seen) = self.look().await? {
                session = seen;
            }
            if ended || !self.has_window().await? {
                break;
            }
        }
        let Self { running, context, .. } = self;
        drop(context);
        running.end().await;
        Ok(session)
    }

    /// The domain's cookies now; `None` when the browser has gone.
    async fn look(&self) -> Result<Option<Session>> {
        let params = json!({"browserContextId": self.context.id});
        let Ok(answer) = self.running.cdp.call("Storage.getCookies", params, None).await else {
            return Ok(None);
        };
        Ok(answer.map(|answer| {
            let agent = Some(self.agent.clone());
            Session::from_browser(&self.domain, &answer["cookies"], agent, machine_time())
        }))
    }

    async fn has_window(&self) -> Result<bool> {
        let Some(targets) = self.running.cdp.call("Target.getTargets", json!({}), None).await? else {
            return Ok(false);
        };
        let pages = targets["targetInfos"].as_array().into_iter().flatten();
        Ok(pages
            .into_iter()
            .any(|target| target["type"] == "page" && target["browserContextId"] == *self.context.id))
    }

    /// Where it was opened.
    pub fn url(&self) -> &Url {
        &self.url
    }
}
