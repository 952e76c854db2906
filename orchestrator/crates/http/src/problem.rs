//! Why a request fails, as a problem document of RFC 9457.

use crate::remedy;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use lyra_usecases::{AppError, ErrorCode};
use lyra_wire::ProblemDocument;
use serde_json::Value;
use uuid::Uuid;

/// The media type of problem documents.
pub(crate) const PROBLEM: &str = "application/problem+json";

/// Why a request fails.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) status: StatusCode,
    pub(crate) code: &'static str,
    pub(crate) message: String,
    hint: Option<String>,
    details: Option<Value>,
    header: Option<Box<(HeaderName, HeaderValue)>>,
}

impl Failure {
    pub(crate) fn new(status: StatusCode, code: ErrorCode, message: impl Into<String>) -> Self {
        Self::named(status, code.as_str(), message)
    }

    /// A failure with a code that use cases do not have.
    pub(crate) fn named(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into(), hint: None, details: None, header: None }
    }

    /// The caller must change the request.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, ErrorCode::InvalidArgument, message)
    }

    /// The request was read, and asks for something that is not possible.
    pub(crate) fn unprocessable(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, ErrorCode::InvalidArgument, message)
    }

    pub(crate) fn forbidden(message: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, ErrorCode::Forbidden, message)
    }

    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, ErrorCode::Internal, message)
    }

    /// The same failure with what would be right.
    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// The same failure with this header in its answer.
    pub(crate) fn header(self, name: HeaderName, value: HeaderValue) -> Self {
        Self { header: Some(Box::new((name, value))), ..self }
    }
}

impl From<AppError> for Failure {
    fn from(error: AppError) -> Self {
        let status = match error.code {
            ErrorCode::InvalidArgument => StatusCode::BAD_REQUEST,
            ErrorCode::NotFound => StatusCode::NOT_FOUND,
            ErrorCode::Conflict => StatusCode::CONFLICT,
            ErrorCode::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            ErrorCode::Forbidden => StatusCode::FORBIDDEN,
            ErrorCode::SqlRefused | ErrorCode::SqlTimeout => StatusCode::UNPROCESSABLE_ENTITY,
            ErrorCode::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self {
            hint: error.remedy.as_ref().map(remedy::words),
            details: error.details.and_then(|details| serde_json::to_value(details).ok()),
            ..Self::new(status, error.code, error.message)
        }
    }
}

/// The code in words.
fn title(code: &str) -> &'static str {
    match code {
        "invalid_argument" => "The request is invalid",
        "not_found" => "There is no such thing",
        "conflict" => "It changed in between",
        "unavailable" => "Not available now",
        "unauthorized" => "A valid token is required",
        "forbidden" => "Not allowed",
        "sql_refused" => "The statement was refused",
        "sql_timeout" => "The statement took too long",
        _ => "Internal error",
    }
}

impl IntoResponse for Failure {
    /// Writes the problem document. The log gets the same error id, once.
    fn into_response(self) -> Response {
        let Self { status, code, message, hint, details, header } = self;
        let error_id = format!("err_{}", Uuid::now_v7().simple());
        if code == ErrorCode::Internal.as_str() {
            tracing::error!(error_id, code, message, "request failed");
        } else {
            tracing::debug!(error_id, code, message, "request refused");
        }
        let document = ProblemDocument {
            kind: format!("urn:lyra:problem:{code}"),
            title: title(code).to_owned(),
            status: status.as_u16(),
            detail: message,
            code: code.to_owned(),
            hint,
            details,
            error_id: Some(error_id),
        };
        let body = serde_json::to_vec(&document).unwrap_or_default();
        let mut response = (status, [(header::CONTENT_TYPE, PROBLEM)], body).into_response();
        response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some(header) = header {
            let (name, value) = *header;
            response.headers_mut().insert(name, value);
        }
        response
    }
}
