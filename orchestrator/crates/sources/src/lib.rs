//! Everything outside: one careful HTTP layer, and the sources that answer over it.
//!
//! [`http::HttpClient`] is the only part of Lyra that opens outside sockets. Every provider's base URL is configurable,
//! so that tests and proxies can replace it. [`registry`] lists the sources.

mod api;
mod arxiv;
pub mod browser;
pub mod cookies;
mod crossref;
mod error;
mod europe_pmc;
pub mod http;
mod openalex;
mod paper;
mod pubmed;
mod records;
pub mod registry;
mod semantic_scholar;
pub mod web;

pub use api::{ApiConfig, Probe};
pub use arxiv::Arxiv;
pub use crossref::Crossref;
pub use error::{Error, Result};
pub use europe_pmc::EuropePmc;
pub use openalex::OpenAlex;
pub use paper::Paper;
pub use pubmed::PubMed;
pub use registry::{ApiSource, PROVIDERS, Provider, Sources};
pub use semantic_scholar::SemanticScholar;
