//! What was answered.

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use jiff::Timestamp;
use url::Url;

/// A complete answer, unpacked.
#[derive(Debug, Clone, PartialEq)]
pub struct Response {
    /// Status code.
    pub status: StatusCode,
    /// Address that answered, after redirects; without secret parameters.
    pub url: Url,
    /// Headers, those of the transfer (`Content-Encoding`, `Content-Length`) as they came.
    pub headers: HeaderMap,
    /// Body, unpacked.
    pub body: Bytes,
    /// When it was received, or last confirmed by the other side.
    pub received_at: Timestamp,
    /// Whether the body came from the cache.
    pub from_cache: bool,
    /// Addresses that redirected here, first one first.
    pub redirects: Vec<Url>,
}

impl Response {
    /// Content type in lower case, without parameters; empty when there is none.
    pub fn content_type(&self) -> String {
        let value = self.headers.get(http::header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        value.unwrap_or_default().split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
    }
}
