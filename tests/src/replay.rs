//! Stand-ins of Semantic Scholar, OpenAlex, Europe PMC, search engines and a site with articles, on loopback.
//!
//! They know the invented passages of the example corpus, each API three quarters of them and so half of them both,
//! and, where the shared data is there, every work in the recorded answers of the real APIs, record by record as it was
//! sent. Search ranks by shared words; lookups, batches, filters, references and citations answer as the APIs do. Search
//! engines answer with recorded result pages whose links lead to the articles.

mod europe_pmc;
mod openalex;
mod semantic_scholar;
mod web;
mod works;

use crate::serving::Serving;
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use web::Web;
use works::Catalogue;

/// The stand-ins on one address; stopped when dropped.
pub struct Replay {
    serving: Serving,
    engines: Vec<&'static str>,
}

struct Catalogues {
    semantic_scholar: Catalogue,
    openalex: Catalogue,
    europe_pmc: Catalogue,
    web: Web,
}

impl Replay {
    /// Starts them on a free port.
    ///
    /// # Errors
    /// No free port is available, or the example corpus or a recording cannot be read.
    pub fn start() -> anyhow::Result<Self> {
        let mut engines = Vec::new();
        let serving = Serving::start(|address| {
            let web = Web::new(address)?;
            engines = web.engines();
            let catalogues = Arc::new(Catalogues {
                semantic_scholar: semantic_scholar::catalogue(address)?,
                openalex: openalex::catalogue()?,
                europe_pmc: europe_pmc::catalogue()?,
                web,
            });
            Ok(Router::new().fallback(answer).with_state(catalogues))
        })?;
        Ok(Self { serving, engines })
    }

    /// Writes a configuration into `folder` that leads to them instead of the real APIs and engines, without waiting
    /// between requests, and answers with its file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn configure(&self, folder: &Path) -> anyhow::Result<PathBuf> {
        let address = self.address();
        let (engines, domains) = (folder.join("engines.yaml"), folder.join("domains.yaml"));
        std::fs::write(&engines, web::engines_file(address))?;
        std::fs::write(&domains, web::domains_file())?;
        let names: Vec<String> = self.engines.iter().map(|name| format!("\"{name}\"")).collect();
        let file = folder.join("replay.toml");
        std::fs::write(
            &file,
            format!(
                "[sources.semantic_scholar]\nbase_url = \"{address}/graph/v1\"\nmin_interval_ms = 0\n\n\
                 [sources.openalex]\nbase_url = \"{address}\"\nmin_interval_ms = 0\n\n\
                 [sources.europe_pmc]\nbase_url = \"{address}{}\"\nmin_interval_ms = 0\n\n\
                 [sources.web]\nengines = [{}]\npages_per_query = {}\nengines_file = '{}'\n\
                 domains_file = '{}'\ntrusted_origins = [\"{address}\", \"{}\"]\n",
                europe_pmc::PATH,
                names.join(", "),
                web::SHOWN,
                engines.display(),
                domains.display(),
                web::site(address),
            ),
        )?;
        Ok(file)
    }

    /// Base URL of all of them.
    pub fn address(&self) -> &str {
        &self.serving.address
    }

    /// Search engines whose result pages it has.
    pub fn engines(&self) -> &[&'static str] {
        &self.engines
    }
}

/// The requests.
struct Question {
    path: String,
    parameters: HashMap<String, String>,
    body: Option<Value>,
}

impl Question {
    fn parameter(&self, name: &str) -> &str {
        self.parameters.get(name).map_or("", String::as_str)
    }

    fn number(&self, name: &str, default: usize) -> usize {
        self.parameter(name).parse().unwrap_or(default)
    }
}

async fn answer(
    State(catalogues): State<Arc<Catalogues>>,
    method: Method,
    uri: Uri,
    body: Bytes,
) -> Response {
    let query = uri.query().unwrap_or_default().as_bytes();
    let path = percent_decoded(uri.path());
    let question = Question {
        parameters: url::form_urlencoded::parse(query).into_owned().collect(),
        body: (method == Method::POST).then(|| serde_json::from_slice(&body).ok()).flatten(),
        path,
    };
    if let Some(page) = catalogues.web.answer(&question) {
        return page;
    }
    let after = |prefix| question.path.strip_prefix(prefix);
    let found = match (after("/graph/v1/paper/"), after(europe_pmc::PATH)) {
        (Some(rest), _) => semantic_scholar::answer(&catalogues.semantic_scholar, rest, &question),
        (None, Some(rest)) => europe_pmc::answer(&catalogues.europe_pmc, rest, &question),
        (None, None) => openalex::answer(&catalogues.openalex, &question),
    };
    match found {
        Some(value) => {
            ([(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))], value.to_string())
                .into_response()
        }
        None if question.path.starts_with("/graph/") => {
            let body = json!({"error": format!("Paper with id {} not found", question.path)});
            (StatusCode::NOT_FOUND, axum::Json(body)).into_response()
        }
        // OpenAlex says it with a page.
        None => (StatusCode::NOT_FOUND, axum::response::Html("<!doctype html><title>404 Not Found</title>"))
            .into_response(),
    }
}

fn percent_decoded(path: &str) -> String {
    let pairs = format!("p={}", path.replace('+', "%2B"));
    url::form_urlencoded::parse(pairs.as_bytes())
        .next()
        .map(|(_, value)| value.into_owned())
        .unwrap_or_default()
}
