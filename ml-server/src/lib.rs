//! Embeddings and NLI over HTTP: all tensor code of Lyra is here.
//!
//! [`start`] runs a whole server inside any tokio program; the binary of the same name is that plus a command line.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use lyra_ml_server::{Profile, ServerConfig, start};
//!
//! let config = ServerConfig::from_profile(Profile::Lite, None, false)?;
//! let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
//! let server = start(config, listener)?;
//! server.ready().await?;
//! println!("serving on {}", server.url());
//! server.shutdown().await;
//! # Ok(())
//! # }
//! ```

mod config;
pub mod engine;
pub mod error;
mod http;
mod load;
pub mod measure;
pub mod model;
mod server;
pub mod shutdown;

pub use config::{MODELS_DIR_ENV, Profile, ServerConfig, default_threads, find_models_dir};
pub use http::{AppState, Phase, router};
pub use server::{ServerHandle, start};
