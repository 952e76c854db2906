#![allow(
    dead_code,
    clippy::allow_attributes,
    reason = "the tests and the fuzz targets use a part of it each"
)]
//! The real router over tiny models, for generated bodies.

#[path = "tiny.rs"]
mod tiny;

use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::Request;
use lyra_ml_server::engine::Engine;
use lyra_ml_server::{AppState, router};
use lyra_proto::{Limits, ModelKind};
use serde_json::Value;
use tokio::runtime::Runtime;
use tower::ServiceExt;

/// Routes that read a body, with the folder of valid bodies for them.
pub(crate) const ROUTES: [(&str, &str); 7] = [
    ("/embed", "embed"),
    ("/nli", "nli"),
    ("/verify", "verify"),
    ("/predict", "predict"),
    ("/similarity", "similarity"),
    ("/tokenize", "tokenize"),
    ("/v1/embeddings", "embeddings"),
];

/// A router with an embedder, a classifier and a verifier behind it.
pub(crate) struct Border {
    runtime: Runtime,
    router: Router,
}

impl Border {
    /// Models of the first family, one computing thread.
    pub(crate) fn new() -> Self {
        let load = |classifier| {
            let (_parent, path) = tiny::folder(tiny::FAMILIES[0], classifier);
            Arc::new(tiny::load(&path).unwrap())
        };
        let (_parent, path) = tiny::verifier(tiny::VERIFIERS[1]);
        let verifier = Arc::new(tiny::load(&path).unwrap());
        let models = vec![
            (ModelKind::Embed, load(false)),
            (ModelKind::Nli, load(true)),
            (ModelKind::Verify, verifier),
        ];
        let limits = Limits { max_client_batch_size: 32, max_body_bytes: 64 * 1_024, ..Limits::default() };
        let state = AppState::new(limits.clone(), Vec::new());
        let engine = Engine::start(models, 1, &limits, 4_096, Arc::clone(state.metrics())).unwrap();
        state.serve_with(engine);
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        Self { runtime, router: router(state) }
    }

    /// Sends a body. Whatever it is, the answer is one that the API describes, and no code panicked on the way. Returns its
    /// status.
    pub(crate) fn check(&self, path: &str, body: &[u8]) -> u16 {
        let request = Request::post(path).header("content-type", "application/json");
        let request = request.body(Body::from(body.to_vec())).unwrap();
        let (status, bytes) = self.runtime.block_on(async {
            let response = self.router.clone().oneshot(request).await.unwrap();
            (response.status().as_u16(), to_bytes(response.into_body(), usize::MAX).await.unwrap())
        });
        let answer: Value = serde_json::from_slice(&bytes).expect("every answer is JSON");
        let text = format!("{answer} to {}", String::from_utf8_lossy(body));
        assert!([200, 400, 413, 422].contains(&status), "{status} {text}");
        assert_eq!(status != 200, answer.get("error").is_some(), "{status} {text}");
        assert!(!text.contains("panick"), "{text}");
        status
    }
}

/// Valid bodies of a route.
pub(crate) fn seeds(name: &str) -> Vec<Vec<u8>> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds").join(name);
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.into_iter().map(|file| std::fs::read(file).unwrap()).collect()
}
