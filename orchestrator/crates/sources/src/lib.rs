//! Everything outside: one careful HTTP layer, and the sources that answer over it.
//!
//! [`http::HttpClient`] is the only part of Lyra that opens outside sockets. Every provider's base URL is configurable,
//! so that tests and proxies can replace it. [`registry`] lists the sources.

mod api;
pub mod browser;
pub mod cookies;
mod error;
pub mod http;
mod openalex;
mod paper;
mod records;
pub mod registry;
mod semantic_scholar;
pub mod web;

pub use api::{ApiConfig, Probe};
pub use error::{Error, Result};
pub use openalex::OpenAlex;
pub use paper::Paper;
pub use registry::{ApiSource, PROVIDERS, Provider, Sources};
pub use semantic_scholar::SemanticScholar;
