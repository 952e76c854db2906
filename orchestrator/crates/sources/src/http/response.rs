//! A response.

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
    /// Addresses that redirected here, in order.
    pub redirects: Vec<Url>,
}

impl Response {
    /// Content type in lower case, without parameters; empty when missing.
    pub fn content_type(&self) -> String {
        let value = self.headers.get(http::header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        value.unwrap_or_default().split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
    }

    /// Whether its first bytes are those of a PDF, regardless of its type.
    pub fn is_pdf(&self) -> bool {
        super::kind::is_pdf(&self.body)
    }

    /// The name of an unsupported document type by its bytes, with an article (`a Word document (DOCX)`).
    pub fn unread_kind(&self) -> Option<&'static str> {
        super::kind::unread(&self.body)
    }

    /// The explanation of an error response: the `error` and `message` of a JSON body, else the name of its status. At
    /// most 200 characters.
    pub fn explanation(&self) -> String {
        let named = || self.status.canonical_reason().unwrap_or("no reason given").to_owned();
        let Ok(body) = serde_json::from_slice::<serde_json::Value>(&self.body) else { return named() };
        let said: Vec<&str> = ["error", "message"]
            .iter()
            .filter_map(|field| body.get(field)?.as_str())
            .map(str::trim)
            .filter(|text| !text.is_empty())
            .collect();
        if said.is_empty() { named() } else { said.join(": ").chars().take(200).collect() }
    }
}
