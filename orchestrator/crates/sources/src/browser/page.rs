//! One page: its own context, its own proxy, and the rendered document.

use super::cdp::{Cdp, Event};
use super::gate::{Gate, unopened};
use super::process::Running;
use super::{BrowserConfig, ended};
use crate::cookies::Session;
use crate::http::{HttpClient, Policy, Response, shown, shown_type};
use crate::{Error, Result};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use jiff::Timestamp;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::Instant;
use url::Url;

/// A page with a document but endless requests is accepted in its present state after this time.
const PATIENCE: Duration = Duration::from_secs(8);
/// A page may load this multiple of its document's bytes: scripts, styles, data.
const BYTES_BESIDE: usize = 4;
/// Reads the document in an isolated world, which the page's scripts cannot modify.
const READ: &str = "(() => { const html = document.documentElement ? document.documentElement.outerHTML : '';
    return { url: document.location.href, kind: document.contentType, length: html.length,
             html: html.length > LIMIT ? '' : '<!DOCTYPE html>' + html }; })()";

/// A context that is closed with everything in it when it is dropped.
pub(super) struct Context {
    cdp: Cdp,
    pub(super) id: String,
}

impl Drop for Context {
    fn drop(&mut self) {
        self.cdp.tell("Target.disposeBrowserContext", json!({"browserContextId": self.id}), None);
    }
}

/// Calls methods of one page; a missing browser is an error here.
pub(super) struct Caller<'a> {
    pub(super) cdp: &'a Cdp,
    pub(super) url: &'a Url,
}

impl Caller<'_> {
    pub(super) async fn call(&self, method: &str, params: Value, session: Option<&str>) -> Result<Value> {
        match self.cdp.call(method, params, session).await {
            Ok(Some(answer)) => Ok(answer),
            Ok(None) => Err(ended(self.url)),
            Err(Error::Browser { why, .. }) => {
                Err(Error::Browser { url: shown(self.url), why: format!("{method}: {why}") })
            }
            Err(other) => Err(other),
        }
    }

    /// Makes a context behind this gate, with the cookies that a person's session has for it.
    pub(super) async fn context(&self, gate: &Gate, session: Option<&Session>) -> Result<Context> {
        let made = self
            .call(
                "Target.createBrowserContext",
                json!({
                    "disposeOnDetach": true,
                    "proxyServer": format!("http://{}", gate.address),
                    "proxyBypassList": "<-loopback>",
                }),
                None,
            )
            .await?;
        let context = Context { cdp: self.cdp.clone(), id: text(&made, "browserContextId") };
        let deny = json!({"behavior": "deny", "browserContextId": context.id});
        self.call("Browser.setDownloadBehavior", deny, None).await?;
        let cookies = session.map(|session| session.for_browser(machine_time())).unwrap_or_default();
        if !cookies.is_empty() {
            let cookies = json!({"cookies": cookies, "browserContextId": context.id});
            self.call("Storage.setCookies", cookies, None).await?;
        }
        Ok(context)
    }
}

pub(super) async fn load(
    running: &Running,
    http: &HttpClient,
    config: &BrowserConfig,
    policy: &Policy,
    url: &Url,
    session: Option<&Session>,
) -> Result<Response> {
    let bytes = policy.max_bytes.saturating_mul(BYTES_BESIDE);
    let gate =
        Gate::open(http.clone(), policy.clone(), bytes).await.map_err(|error| unopened(url, &error))?;
    let caller = Caller { cdp: &running.cdp, url };
    let context = caller.context(&gate, session).await?;
    let loading = async {
        let target = json!({"url": "about:blank", "browserContextId": context.id});
        let target = text(&caller.call("Target.createTarget", target, None).await?, "targetId");
        let attach = json!({"targetId": target, "flatten": true});
        let target = text(&caller.call("Target.attachToTarget", attach, None).await?, "sessionId");
        let mut page =
            Page { events: running.cdp.listen(&target), target, caller: &caller, seen: Seen::default() };
        let agent = session.and_then(|session| session.user_agent.clone());
        let agent = agent.unwrap_or_else(|| format!("{} {}", running.agent, config.agent));
        page.prepare(&agent).await?;
        page.navigate().await?;
        page.settle(Instant::now() + policy.timeout).await?;
        page.read(policy).await
    };
    let loaded = tokio::time::timeout(policy.timeout + PATIENCE, loading).await.unwrap_or_else(|_| {
        Err(Error::Timeout { provider: policy.provider.clone(), after: policy.timeout }.into())
    });
    if gate.is_over() {
        return Err(Error::TooLarge { provider: policy.provider.clone(), limit: bytes });
    }
    match loaded {
        // The browser only knows that it could not connect; the gate knows why.
        Err(Stopped::NoDocument { at, why }) => {
            let refused = at.and_then(|at| gate.refusal(&at));
            Err(refused.unwrap_or_else(|| Error::Unreachable { provider: policy.provider.clone(), why }))
        }
        Err(Stopped::Error(error)) => Err(error),
        Ok(response) => Ok(response),
    }
}

/// Why there is no document.
enum Stopped {
    /// The browser shows its own error page.
    NoDocument {
        at: Option<Url>,
        why: String,
    },
    Error(Error),
}

impl From<Error> for Stopped {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

struct Page<'a> {
    events: UnboundedReceiver<Event>,
    target: String,
    caller: &'a Caller<'a>,
    seen: Seen,
}

/// The state of the current document, from events.
#[derive(Default)]
struct Seen {
    frame: String,
    loader: String,
    /// Events of the first document begin when it does.
    begun: bool,
    document_at: Option<Instant>,
    loaded: bool,
    quiet: bool,
    /// Of documents by their loaders: status and type.
    answers: Vec<(String, u16)>,
}

impl Drop for Page<'_> {
    fn drop(&mut self) {
        self.caller.cdp.unlisten(&self.target);
    }
}

impl Page<'_> {
    async fn call(&self, method: &str, params: Value) -> Result<Value> {
        self.caller.call(method, params, Some(&self.target)).await
    }

    async fn prepare(&self, agent: &str) -> Result<()> {
        self.call("Page.enable", json!({})).await?;
        self.call("Page.setLifecycleEventsEnabled", json!({"enabled": true})).await?;
        self.call("Network.enable", json!({})).await?;
        self.call("Network.setUserAgentOverride", json!({"userAgent": agent})).await?;
        // In addition to the process's flags: nothing bypasses the proxy.
        let no_rtc =
            json!({"source": "delete window.RTCPeerConnection; delete window.webkitRTCPeerConnection;"});
        self.call("Page.addScriptToEvaluateOnNewDocument", no_rtc).await?;
        Ok(())
    }

    async fn navigate(&mut self) -> Result<(), Stopped> {
        let url = self.caller.url;
        let answer = self.call("Page.navigate", json!({"url": url.as_str()})).await?;
        if let Some(why) = answer["errorText"].as_str() {
            return Err(self.stopped(in_words(why)).await);
        }
        self.seen.frame = text(&answer, "frameId");
        self.seen.loader = text(&answer, "loaderId");
        Ok(())
    }

    /// Waits until the document is loaded and no requests are pending, or until a timeout.
    async fn settle(&mut self, until: Instant) -> Result<()> {
        loop {
            if self.seen.loaded && self.seen.quiet {
                return Ok(());
            }
            let until = self.seen.document_at.map_or(until, |at| (at + PATIENCE).min(until));
            match tokio::time::timeout_at(until, self.events.recv()).await {
                Ok(Some(event)) => self.take(&event).await?,
                Ok(None) => return Err(ended(self.caller.url)),
                Err(_) if self.seen.document_at.is_some() => return Ok(()),
                Err(_) => {
                    let why = "no document in time".to_owned();
                    return Err(Error::Browser { url: shown(self.caller.url), why });
                }
            }
        }
    }

    async fn take(&mut self, event: &Event) -> Result<()> {
        let (params, seen) = (&event.params, &mut self.seen);
        match event.method.as_str() {
            "Inspector.targetCrashed" => {
                let why = "the page crashed the browser's renderer".to_owned();
                return Err(Error::Browser { url: shown(self.caller.url), why });
            }
            // A dialog would hold the page up.
            "Page.javascriptDialogOpening" => {
                self.call("Page.handleJavaScriptDialog", json!({"accept": false})).await?;
            }
            "Network.responseReceived"
                if params["type"] == "Document" && params["frameId"] == *seen.frame =>
            {
                let status = params["response"]["status"].as_u64().unwrap_or_default() as u16;
                seen.answers.push((text(params, "loaderId"), status));
            }
            "Page.lifecycleEvent" if params["frameId"] == *seen.frame => {
                seen.begun |= params["loaderId"] == *seen.loader;
                if !seen.begun {
                    return Ok(());
                }
                match params["name"].as_str().unwrap_or_default() {
                    "init" => {
                        seen.loader = text(params, "loaderId");
                        (seen.document_at, seen.loaded, seen.quiet) = (None, false, false);
                    }
                    "DOMContentLoaded" => seen.document_at = Some(Instant::now()),
                    "load" => seen.loaded = true,
                    "networkIdle" => seen.quiet = true,
                    _ => {}
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The browser shows its own error page; it knows what it could not reach.
    async fn stopped(&self, why: String) -> Stopped {
        let frame = self.call("Page.getFrameTree", json!({})).await.unwrap_or_default();
        let at = frame["frameTree"]["frame"]["unreachableUrl"].as_str().and_then(|url| url.parse().ok());
        Stopped::NoDocument { at, why }
    }

    async fn read(&self, policy: &Policy) -> Result<Response, Stopped> {
        let world = json!({"frameId": self.seen.frame, "worldName": "lyra"});
        let world = self.call("Page.createIsolatedWorld", world).await?["executionContextId"].take();
        let expression = READ.replace("LIMIT", &policy.max_bytes.to_string());
        let read = json!({"expression": expression, "contextId": world, "returnByValue": true});
        let mut document = self.call("Runtime.evaluate", read).await?["result"]["value"].take();
        let Ok(url) = text(&document, "url").parse::<Url>() else {
            return Err(self.stopped("the browser shows no page".to_owned()).await);
        };
        if !matches!(url.scheme(), "http" | "https") {
            return Err(self.stopped(format!("the browser shows a `{}` address", url.scheme())).await);
        }
        if document["length"].as_u64().unwrap_or(0) > policy.max_bytes as u64 {
            return Err(Error::TooLarge { provider: policy.provider.clone(), limit: policy.max_bytes }.into());
        }
        let kind = text(&document, "kind");
        if !matches!(kind.as_str(), "text/html" | "application/xhtml+xml") {
            let why = format!("{} instead of text/html", shown_type(&kind));
            return Err(Error::Unexpected { provider: policy.provider.clone(), why }.into());
        }
        let status = self.seen.answers.iter().rfind(|(loader, _)| *loader == self.seen.loader);
        let status = status.and_then(|(_, status)| StatusCode::from_u16(*status).ok());
        let html = match document["html"].take() {
            Value::String(html) => html,
            _ => String::new(),
        };
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
        let redirects = if url == *self.caller.url { Vec::new() } else { vec![self.caller.url.clone()] };
        Ok(Response {
            status: status.unwrap_or(StatusCode::OK),
            url,
            headers,
            body: html.into(),
            received_at: machine_time(),
            from_cache: false,
            redirects,
        })
    }
}

/// A field that is text; empty when it is not there.
pub(super) fn text(value: &Value, field: &str) -> String {
    value[field].as_str().unwrap_or_default().to_owned()
}

/// Chromium's name of a network error, as words.
fn in_words(error: &str) -> String {
    error.trim_start_matches("net::ERR_").to_lowercase().replace('_', " ")
}

/// The time that Chromium goes by.
#[expect(
    clippy::disallowed_methods,
    reason = "the browser, which ends its cookies by it, reads the machine's clock"
)]
pub(super) fn machine_time() -> Timestamp {
    Timestamp::now()
}
