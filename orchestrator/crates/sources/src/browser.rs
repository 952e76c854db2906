//! Headless Chromium for JavaScript-rendered pages.
//!
//! Chromium is found, never downloaded, and driven over its debugging protocol (CDP) on a socket pair: no debugging
//! port that others could use. It only connects to our own proxy (`gate`), which resolves names and checks addresses as
//! the HTTP layer does. One process with one temporary profile serves pages while there are any; every page has its own
//! context, so that sites share no state. The process, its children and its profile are removed when this handle is
//! dropped or its process dies (`process`).

mod cdp;
mod find;
mod gate;
mod page;
mod process;
mod visible;

pub use find::Choice;
pub use visible::Visible;

use crate::cookies::Session;
use crate::http::{HttpClient, Policy, Response};
use crate::{Error, Result};
use process::Running;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::{Mutex, Semaphore};
use url::Url;

/// How the browser is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrowserConfig {
    /// Which one.
    pub choice: Choice,
    /// Most parallel pages.
    pub pages: usize,
    /// How long an idle process is kept.
    pub idle: Duration,
    /// The operator, appended to Chromium's own `User-Agent`.
    pub agent: String,
}

/// Loads pages with a headless Chromium. Cheap to clone; clones share the process.
#[derive(Clone)]
pub struct Browser {
    inner: Arc<Inner>,
}

struct Inner {
    config: BrowserConfig,
    http: HttpClient,
    slots: Semaphore,
    running: Mutex<Option<Arc<Running>>>,
    /// Pages requested so far: a process is idle while the number does not change.
    asked: AtomicU64,
}

impl Browser {
    /// Loads pages through this client's resolver and guard. Nothing is started before the first page.
    pub fn new(http: HttpClient, config: BrowserConfig) -> Self {
        let slots = Semaphore::new(config.pages.max(1));
        Self {
            inner: Arc::new(Inner {
                config,
                http,
                slots,
                running: Mutex::default(),
                asked: AtomicU64::new(0),
            }),
        }
    }

    /// How it is used.
    pub fn config(&self) -> &BrowserConfig {
        &self.inner.config
    }

    /// The executable that would be started.
    ///
    /// # Errors
    /// [`Error::NoBrowser`] when none is installed, with the places searched.
    pub fn executable(&self) -> Result<PathBuf> {
        self.inner.config.choice.find()
    }

    /// Loads one page and returns the rendered document as HTML in UTF-8. The policy's time, size, ports and trusted
    /// origins apply; the caller enforces its request limits.
    ///
    /// # Errors
    /// No browser, a forbidden address (redirects included), a timeout, too many bytes, a document other than HTML, a
    /// browser that ended.
    pub async fn load(&self, policy: &Policy, url: &Url, session: Option<&Session>) -> Result<Response> {
        crate::http::check(policy, url)?;
        let work = async {
            let Ok(_slot) = self.inner.slots.acquire().await else { return Err(ended(url)) };
            self.inner.asked.fetch_add(1, Ordering::Relaxed);
            let _busy = Busy(&self.inner);
            let running = self.running().await?;
            page::load(&running, &self.inner.http, &self.inner.config, policy, url, session).await
        };
        // Starting the browser and waiting for a slot are not the page's fault, so they get the same time in addition.
        tokio::time::timeout(policy.timeout * 2, work).await.unwrap_or_else(|_| {
            Err(Error::Timeout { provider: policy.provider.clone(), after: policy.timeout * 2 })
        })
    }

    /// Stops the process and waits until it is gone. The next page starts another.
    pub async fn close(&self) {
        let running = self.inner.running.lock().await.take();
        if let Some(running) = running.and_then(Arc::into_inner) {
            running.end().await;
        }
    }

    async fn running(&self) -> Result<Arc<Running>> {
        let mut slot = self.inner.running.lock().await;
        if let Some(running) = slot.as_ref().filter(|running| !running.cdp.is_closed()) {
            return Ok(running.clone());
        }
        let executable = self.executable()?;
        let running = Arc::new(Running::start(&executable, process::Face::Headless).await?);
        *slot = Some(running.clone());
        Ok(running)
    }
}

/// While a page is loaded. When it goes, the process has some time left for the next page.
struct Busy<'a>(&'a Arc<Inner>);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        let (inner, idle) = (Arc::downgrade(self.0), self.0.config.idle);
        let asked = self.0.asked.load(Ordering::Relaxed);
        // Outside a runtime this process is ending, and the browser with it.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        runtime.spawn(async move {
            tokio::time::sleep(idle).await;
            let Some(inner) = inner.upgrade() else { return };
            if inner.asked.load(Ordering::Relaxed) == asked {
                inner.running.lock().await.take();
            }
        });
    }
}

fn ended(url: &Url) -> Error {
    Error::Browser {
        url: crate::http::shown(url),
        why: "the browser ended while it loaded the page; the next page starts another".to_owned(),
    }
}
