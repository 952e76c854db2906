//! A request.

use crate::cookies::Session;
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use secrecy::{ExposeSecret, SecretString};
use std::sync::Arc;
use url::Url;

/// One request. GET unless a body is given.
#[derive(Debug, Clone)]
pub struct Request {
    pub(super) method: Method,
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    pub(super) secret_headers: Vec<(HeaderName, SecretString)>,
    pub(super) secret_query: Vec<(&'static str, SecretString)>,
    pub(super) session: Option<Arc<Session>>,
}

impl Request {
    /// A GET.
    pub fn get(url: Url) -> Self {
        Self {
            method: Method::GET,
            url,
            headers: HeaderMap::new(),
            body: Bytes::new(),
            secret_headers: Vec::new(),
            secret_query: Vec::new(),
            session: None,
        }
    }

    /// A POST without side effects: it is retried and cached like a GET.
    pub fn post(url: Url, content_type: &'static str, body: impl Into<Bytes>) -> Self {
        let mut request = Self::get(url);
        request.method = Method::POST;
        request.body = body.into();
        request.headers.insert(http::header::CONTENT_TYPE, HeaderValue::from_static(content_type));
        request
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.append(name, value);
        self
    }

    /// Adds a header that is a secret (a key, a cookie): sent to the request's own origin only, never logged.
    /// In cache keys it appears as a hash.
    #[must_use]
    pub fn secret_header(mut self, name: HeaderName, value: SecretString) -> Self {
        self.secret_headers.push((name, value));
        self
    }

    /// Adds a query parameter that is a secret: appended when the request is sent, absent from errors, logs, cache
    /// keys and [`Response::url`](super::Response::url).
    #[must_use]
    pub fn secret_query(mut self, name: &'static str, value: SecretString) -> Self {
        self.secret_query.push((name, value));
        self
    }

    /// Sends the cookies that a person's visit left, on every hop that they are for.
    #[must_use]
    pub fn session(mut self, session: Option<Session>) -> Self {
        self.session = session.map(Arc::new);
        self
    }

    /// The text with every secret of this request blotted out.
    pub(crate) fn without_secrets(&self, text: String) -> String {
        let headers = self.secret_headers.iter().map(|(_, value)| value);
        let secrets = headers.chain(self.secret_query.iter().map(|(_, value)| value));
        secrets
            .map(ExposeSecret::expose_secret)
            // In a header, a scheme (`Bearer`) may precede the secret itself.
            .flat_map(|secret| [secret, secret.rsplit(' ').next().unwrap_or_default()])
            .filter(|secret| !secret.is_empty())
            .fold(text, |text, secret| text.replace(secret, "…"))
    }

    /// The address, without secrets.
    pub fn url(&self) -> &Url {
        &self.url
    }
}
