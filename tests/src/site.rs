//! A site with a test's pages, and a search engine that lists all of them.

use crate::serving::Serving;
use axum::Router;
use axum::extract::{Request, State};
use axum::http::header;
use axum::response::{Html, IntoResponse, Response};
use std::path::Path;
use std::sync::Arc;

/// One page, as it is sent.
#[derive(Debug, Clone)]
pub struct Page {
    /// Its type.
    pub content_type: &'static str,
    /// Its content encoding: `gzip`, or none.
    pub encoding: Option<&'static str>,
    /// The body.
    pub body: Vec<u8>,
}

impl Page {
    /// HTML, sent unchanged.
    pub fn html(body: impl Into<Vec<u8>>) -> Self {
        Self { content_type: "text/html; charset=utf-8", encoding: None, body: body.into() }
    }

    /// A PDF.
    pub fn pdf(body: Vec<u8>) -> Self {
        Self { content_type: "application/pdf", encoding: None, body }
    }
}

/// The site; stopped when dropped.
pub struct Site {
    serving: Serving,
}

impl Site {
    /// Starts on a free port. The pages are at `/0`, `/1`, …
    ///
    /// # Errors
    /// No free port is available.
    pub fn start(pages: Vec<Page>) -> anyhow::Result<Self> {
        let pages = Arc::new(pages);
        Ok(Self { serving: Serving::start(|_| Ok(Router::new().fallback(answer).with_state(pages)))? })
    }

    /// The address of a page.
    pub fn url(&self, page: usize) -> String {
        format!("{}/{page}", self.serving.address)
    }

    /// Writes rules for it into this folder and a configuration that names them, in which its engine is the only source that is
    /// asked on the web; answers with the text of the configuration.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn configuration(&self, folder: &Path) -> anyhow::Result<String> {
        let (engines, domains) = (folder.join("engines.yaml"), folder.join("domains.yaml"));
        // By another name, so that the pages are no pages of the engine's own.
        let engine = self.serving.address.replace("127.0.0.1", "localhost");
        std::fs::write(
            &engines,
            format!(
                "engines:\n  listing:\n    url: '{engine}/listing?q={{query}}'\n    category: general\n    result: .result\n    \
                 title: a\n    snippet: p\n    min_interval_ms: 0\n"
            ),
        )?;
        std::fs::write(&domains, "default: {category: unverified, qps: 1000}\n")?;
        Ok(format!(
            "[sources.web]\nengines = [\"listing\"]\npages_per_query = 50\nengines_file = \"{}\"\ndomains_file = \"{}\"\n\
             trusted_origins = [{:?}, {engine:?}]\n",
            engines.display(),
            domains.display(),
            self.serving.address,
        ))
    }
}

async fn answer(State(pages): State<Arc<Vec<Page>>>, request: Request) -> Response {
    let host = request.headers().get(header::HOST).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let path = request.uri().path().trim_start_matches('/');
    if path == "listing" {
        let site = host.replace("localhost", "127.0.0.1");
        let entry = |n: usize| {
            format!(
                "<div class=result><a href='http://{site}/{n}'>Naps and memory {n}</a><p>About naps.</p></div>"
            )
        };
        return Html((0..pages.len()).map(entry).collect::<String>()).into_response();
    }
    let Some(page) = path.parse::<usize>().ok().and_then(|n| pages.get(n)) else {
        return axum::http::StatusCode::NOT_FOUND.into_response();
    };
    let mut response = ([(header::CONTENT_TYPE, page.content_type)], page.body.clone()).into_response();
    if let Some(encoding) = page.encoding {
        response.headers_mut().insert(header::CONTENT_ENCODING, header::HeaderValue::from_static(encoding));
    }
    response
}
