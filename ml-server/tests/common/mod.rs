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
use lyra_ml_server::model::device::Device;
use lyra_ml_server::{ServerConfig, ServerHandle, start};
use lyra_proto::Backend;

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

/// The CPU with every backend of this build.
pub fn devices() -> Vec<Device> {
    vec![
        Device::Cpu,
        #[cfg(feature = "candle")]
        Device::Candle(lyra_ml_server::model::candle::Device::cpu()),
    ]
}

/// Answers that do not depend on the batch: bit for bit from native kernels, within rounding from candle.
pub fn assert_same(backend: Backend, alone: &[Vec<f32>], together: &[Vec<f32>]) {
    let off = |(a, b): (&f32, &f32)| (a - b).abs() / b.abs().max(1.0);
    let values = |rows| <[Vec<f32>]>::iter(rows).flatten();
    let worst = values(alone).zip(values(together)).map(off).fold(0.0, f32::max);
    let same = match backend {
        Backend::Native => alone == together,
        Backend::Candle => worst < 1e-5,
    };
    assert!(same, "answers of {backend} depend on the batch: {worst}");
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
