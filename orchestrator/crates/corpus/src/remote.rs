//! Backends on other machines: `OpenSearch`, and Patentfield's REST API.

mod http;
mod opensearch;
mod patentfield;

pub use opensearch::{OpenSearchBackend, OpenSearchConfig};
pub use patentfield::{PatentfieldBackend, PatentfieldConfig};
