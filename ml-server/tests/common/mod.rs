#![allow(
    dead_code,
    unreachable_pub,
    clippy::allow_attributes,
    reason = "every test file compiles this and uses a part of it"
)]
//! What several test files need: where models and golden files are, and a running server.

pub mod server;

use std::path::PathBuf;

use lyra_ml_server::model::ModelSource;
use lyra_ml_server::{ServerConfig, ServerHandle, start};

/// Root of the repository.
pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A model of the repository.
pub fn lite(name: &str) -> ModelSource {
    ModelSource::Gguf(root().join("models").join(format!("{name}.gguf")))
}

/// A folder of the shared data, or `None` with the reason printed. `LYRA_SHARED` names its location; by default it is
/// beside the repository.
pub fn shared(path: &str) -> Option<PathBuf> {
    let base = std::env::var_os("LYRA_SHARED").map_or_else(|| root().join("../shared"), PathBuf::from);
    let folder = base.join(path);
    if folder.exists() {
        Some(folder)
    } else {
        println!("skipped: {} is not there; set LYRA_SHARED", folder.display());
        None
    }
}

/// A server of the repository's models on a free port, ready.
pub async fn lite_server(change: impl FnOnce(&mut ServerConfig)) -> ServerHandle {
    let mut config = ServerConfig::new(Some(lite("lite-embed")), Some(lite("lite-nli"))).with_threads(2);
    change(&mut config);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let server = start(config, listener).unwrap();
    server.ready().await.unwrap();
    server
}
