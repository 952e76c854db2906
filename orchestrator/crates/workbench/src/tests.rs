//! Pages over a real application, without models.

mod fusion;
mod graph;
mod library;
mod screening;
mod sources;

use crate::router;
use async_trait::async_trait;
use axum::Extension;
use axum::body::Body;
use axum::http::{Request, StatusCode};
use http_body_util::BodyExt;
use lyra_corpus::ImportOptions;
use lyra_research::PortError;
use lyra_store::{AuditVia, Scope};
use lyra_usecases::config::{Config, MlConfig};
use lyra_usecases::{App, Caller, LocalModels, StartedModels};
use std::path::PathBuf;
use std::sync::Arc;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

/// Stands in for models; each request for them fails.
struct NoModels;

#[async_trait]
impl LocalModels for NoModels {
    async fn start(&self, _config: &MlConfig) -> lyra_research::Result<Box<dyn StartedModels>> {
        Err(PortError::Unavailable { what: "models".to_owned(), why: "a test has none".to_owned() })
    }
}

/// An application over an empty folder.
struct Site {
    app: App,
    folder: TempDir,
    scope: Scope,
}

impl Site {
    async fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let config = Config { data_dir: Some(folder.path().to_owned()), ..Config::default() };
        let app = App::open(config, Arc::new(NoModels)).await.expect("the application opens");
        Self { app, folder, scope: Scope::Full }
    }

    /// Imports these files without embeddings.
    async fn import(&self, corpus: &str, files: &[PathBuf]) {
        let options = ImportOptions { scopes: Some(Vec::new()), ..ImportOptions::default() };
        let cancel = CancellationToken::new();
        let report =
            self.app.import_corpus(corpus, files, &options, &|_| {}, &cancel).await.expect("an import");
        assert_eq!(report.rejected, [], "{corpus}");
    }

    /// Imports these lines of JSON.
    async fn import_lines(&self, corpus: &str, lines: &[serde_json::Value]) {
        let path = self.folder.path().join(format!("{corpus}.jsonl"));
        let text = lines.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
        std::fs::write(&path, text).expect("a file");
        self.import(corpus, &[path]).await;
    }

    async fn get(&self, address: &str) -> (StatusCode, String) {
        self.get_in("en", address).await
    }

    async fn get_in(&self, language: &str, address: &str) -> (StatusCode, String) {
        let caller = Caller { scope: self.scope, ..Caller::local(AuditVia::Http) };
        let request =
            Request::get(address).header("accept-language", language).body(Body::empty()).expect("a request");
        let answer =
            router(self.app.clone()).layer(Extension(caller)).oneshot(request).await.expect("an answer");
        let status = answer.status();
        let bytes = answer.into_body().collect().await.expect("a body").to_bytes();
        (status, String::from_utf8(bytes.to_vec()).expect("text"))
    }

    /// A page that is there, whose headings are in order and whose ids are there once.
    async fn page(&self, address: &str) -> String {
        let (status, page) = self.get(address).await;
        assert_eq!(status, StatusCode::OK, "{address}: {page}");
        check_headings(address, &page);
        check_ids(address, &page);
        page
    }
}

/// One first heading, and none that skips a level.
fn check_headings(address: &str, page: &str) {
    let levels: Vec<u32> =
        page.split("<h").skip(1).filter_map(|rest| rest.chars().next()?.to_digit(10)).collect();
    assert_eq!(levels.iter().filter(|level| **level == 1).count(), 1, "{address}: {levels:?}");
    assert!(levels.windows(2).all(|pair| pair[1] <= pair[0] + 1), "{address}: {levels:?}");
}

fn check_ids(address: &str, page: &str) {
    let mut ids: Vec<&str> = page.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all, "{address} has an id twice");
}

fn contains(page: &str, parts: &[&str]) {
    for part in parts {
        assert!(page.contains(part), "`{part}` is not in {page}");
    }
}

#[test]
fn other_sites_frame_nothing_unless_they_are_named() {
    let policy = |own: Option<&'static str>, named: &[&str]| {
        let mut response = axum::response::Response::new(Body::empty());
        if let Some(own) = own {
            response.headers_mut().insert("content-security-policy", own.parse().expect("a policy"));
        }
        let named: Vec<String> = named.iter().map(ToString::to_string).collect();
        let secured = crate::secured(response, &crate::framing(&named));
        secured.headers()["content-security-policy"].to_str().expect("text").to_owned()
    };
    assert!(policy(None, &[]).ends_with("trusted-types 'none'; frame-ancestors 'none'"));
    // The policy of a report says nothing about frames.
    assert_eq!(policy(Some("default-src 'none'"), &[]), "default-src 'none'; frame-ancestors 'none'");
    let named = policy(None, &["https://intranet.example/", "http://127.0.0.1:3000"]);
    assert!(named.ends_with("; frame-ancestors https://intranet.example http://127.0.0.1:3000"), "{named}");
}
