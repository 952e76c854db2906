//! The body of every answer that is not a success.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Body of an error answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorBody {
    /// What went wrong and what to do about it, for a person.
    pub error: String,
    /// What went wrong, for a program.
    pub error_type: ErrorType,
    /// Identifies this failure in the server's log.
    pub error_id: String,
}

/// Kinds of failure; each belongs to one status code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ErrorType {
    /// 400: the batch is empty.
    Empty,
    /// 400: the body is not what the route expects.
    Malformed,
    /// 403: the request is addressed to another host, or comes from a page of another site.
    Forbidden,
    /// 404 and 405: no such route, or not with this method.
    NotFound,
    /// 413: the body or the batch is larger than the server accepts.
    TooLarge,
    /// 415: the body is not JSON.
    UnsupportedMediaType,
    /// 422: an input is longer than the model reads and `truncate` is false.
    Validation,
    /// 424: the model failed on this input, or the server hosts no such model.
    Backend,
    /// 429: the queue is full; `Retry-After` says when to retry.
    Overloaded,
    /// 503: loading, failed to load, or draining.
    Unavailable,
}

impl ErrorType {
    /// The name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::Malformed => "malformed",
            Self::Forbidden => "forbidden",
            Self::NotFound => "not_found",
            Self::TooLarge => "too_large",
            Self::UnsupportedMediaType => "unsupported_media_type",
            Self::Validation => "validation",
            Self::Backend => "backend",
            Self::Overloaded => "overloaded",
            Self::Unavailable => "unavailable",
        }
    }
}

impl fmt::Display for ErrorBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (error id {})", self.error, self.error_id)
    }
}
