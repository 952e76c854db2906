//! Everything outside: one careful HTTP layer, and the sources that answer over it.
//!
//! [`http::HttpClient`] is the only part of Lyra that opens outside sockets. Every provider's base URL is configurable,
//! so that tests and proxies can replace it.

mod api;
pub mod browser;
pub mod cookies;
mod error;
pub mod http;
mod openalex;
mod paper;
mod records;
mod semantic_scholar;
pub mod web;

pub use api::{ApiConfig, Probe};
pub use error::{Error, Result};
pub use openalex::{OPENALEX, OpenAlex};
pub use paper::Paper;
pub use semantic_scholar::{SEMANTIC_SCHOLAR, SemanticScholar};
