//! A stand-in for search engines that require a person until a cookie is sent or someone opens the gate, and for a site
//! that they list, one of whose pages is JavaScript-rendered.

use crate::serving::Serving;
use axum::Router;
use axum::extract::{Request, State};
use axum::http::header;
use axum::response::{Html, IntoResponse, Response};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The cookie that the engines require.
pub const COOKIE: (&str, &str) = ("pass", "a-person-was-here");

/// Engines `walled` and `barred`, and the site; stopped when dropped.
pub struct Walled {
    serving: Serving,
    site: Arc<Site>,
}

#[derive(Default)]
struct Site {
    open: AtomicBool,
    /// Path and cookies of every request.
    seen: Mutex<Vec<(String, String)>>,
}

impl Walled {
    /// Starts on a free port.
    ///
    /// # Errors
    /// No free port is available.
    pub fn start() -> anyhow::Result<Self> {
        let site = Arc::new(Site::default());
        let state = Arc::clone(&site);
        let serving = Serving::start(|_| Ok(Router::new().fallback(answer).with_state(state)))?;
        Ok(Self { serving, site })
    }

    /// Writes rules for it into this folder and answers with the configuration that names them. `engines` are those
    /// that a search asks.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn configuration(&self, folder: &Path, engines: &[&str]) -> anyhow::Result<String> {
        let engine = |name: &str| {
            format!(
                "  {name}:\n    url: '{}/{name}?q={{query}}'\n    category: general\n    result: .result\n    title: a\n    \
                 snippet: p\n    min_interval_ms: 0\n",
                self.address().replace("127.0.0.1", "localhost")
            )
        };
        let engines: String = engines.iter().map(|name| engine(name)).collect();
        let (engines_file, domains_file) = (folder.join("engines.yaml"), folder.join("domains.yaml"));
        let challenges = "challenges:\n  - { kind: captcha, selector: .g-recaptcha }\n";
        std::fs::write(&engines_file, format!("{challenges}engines:\n{engines}"))?;
        std::fs::write(&domains_file, "default: {category: unverified, qps: 1000}\n")?;
        Ok(format!(
            "[sources.web]\nengines_file = \"{}\"\ndomains_file = \"{}\"\ntrusted_origins = [{:?}, {:?}]\n",
            engines_file.display(),
            domains_file.display(),
            self.address(),
            self.address().replace("127.0.0.1", "localhost")
        ))
    }

    /// `http://127.0.0.1:PORT`.
    pub fn address(&self) -> &str {
        &self.serving.address
    }

    /// Admits all requests, as after a person's visit from the same address.
    pub fn open(&self) {
        self.site.open.store(true, Ordering::Relaxed);
    }

    /// Path and cookies of every request so far.
    pub fn seen(&self) -> Vec<(String, String)> {
        self.site.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

async fn answer(State(site): State<Arc<Site>>, request: Request) -> Response {
    let path = request.uri().path().to_owned();
    let cookies = request.headers().get(header::COOKIE).and_then(|value| value.to_str().ok());
    let cookies = cookies.unwrap_or_default().to_owned();
    let known = cookies.split("; ").any(|pair| pair == format!("{}={}", COOKIE.0, COOKIE.1));
    site.seen.lock().unwrap_or_else(PoisonError::into_inner).push((path.clone(), cookies));
    let host = request.headers().get(header::HOST).and_then(|value| value.to_str().ok()).unwrap_or_default();
    match path.as_str() {
        "/walled" | "/barred" if known || site.open.load(Ordering::Relaxed) => {
            // The pages are at another host, so that they are no pages of the engine's own.
            let site = host.replace("localhost", "127.0.0.1");
            let entry = |page: &str| {
                format!("<div class=result><a href='http://{site}/{page}'>{page}</a><p>About naps.</p></div>")
            };
            Html(["naps", "app"].map(entry).concat()).into_response()
        }
        "/walled" | "/barred" => Html(format!(
            "<title>Are you human?</title><div class='g-recaptcha'></div>
             <script>setTimeout(() => {{ document.cookie = '{}={}; path=/; max-age=3600'; fetch('/visited'); }}, 300);</script>",
            COOKIE.0, COOKIE.1
        ))
        .into_response(),
        "/naps" => Html(article("Naps at work", "A short daytime nap improves memory in adults who slept well.")).into_response(),
        "/app" => Html(
            "<html><head><title>App</title></head><body><div id=app></div><script>
               fetch('/app-text').then(r => r.text()).then(t => { document.body.innerHTML = t; });</script></body></html>",
        )
        .into_response(),
        "/app-text" => article("Naps by script", "A daytime nap of an hour did not improve memory in older adults.").into_response(),
        _ => (axum::http::StatusCode::NOT_FOUND, "").into_response(),
    }
}

fn article(title: &str, finding: &str) -> String {
    let methods = "Forty adults learned sixty pairs of words, and half of them slept for an hour. ".repeat(4);
    format!(
        "<html lang=en><head><title>{title}</title></head><body><article><h1>{title}</h1><h2>Methods</h2><p>{methods}</p>\
         <h2>Results</h2><p>{finding} The difference was still seen after one week, and it did not depend on age.</p>\
         </article></body></html>"
    )
}
