//! Everything outside: one careful HTTP layer, and the sources that answer over it.
//!
//! [`http::HttpClient`] is the only part of Lyra that opens outside sockets. Every provider's base URL is configurable,
//! so that tests and proxies can replace it. [`registry`] lists the sources.

mod api;
mod arxiv;
pub mod browser;
mod clinical_trials;
pub mod cookies;
mod core_ac_uk;
mod crossref;
mod datacite;
mod doaj;
mod error;
mod europe_pmc;
pub mod http;
mod markup;
mod openalex;
mod paper;
mod pubmed;
mod records;
pub mod registry;
mod semantic_scholar;
mod unpaywall;
pub mod web;
mod wikipedia;

pub use api::{ApiConfig, Probe};
pub use arxiv::Arxiv;
pub use clinical_trials::ClinicalTrials;
pub use core_ac_uk::Core;
pub use crossref::Crossref;
pub use datacite::DataCite;
pub use doaj::Doaj;
pub use error::{Error, Result};
pub use europe_pmc::EuropePmc;
pub use openalex::OpenAlex;
pub use paper::Paper;
pub use pubmed::PubMed;
pub use registry::{ApiSource, PROVIDERS, Provider, Sources};
pub use semantic_scholar::SemanticScholar;
pub use unpaywall::Unpaywall;
pub use wikipedia::Wikipedia;
