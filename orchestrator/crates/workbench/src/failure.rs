//! A page that says what went wrong, and what would be right.

use crate::shell::Page;
use crate::visit::Visit;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use lyra_domain::IdError;
use lyra_usecases::{AppError, ErrorCode, SearchRefusal};
use maud::html;
use std::str::FromStr;

/// Why a page cannot be shown, for its visitor.
pub(crate) struct Failure(Box<Told>);

struct Told {
    visit: Visit,
    error: AppError,
    /// Seconds after which to try again, if the visitor asked too often.
    wait: Option<u64>,
}

impl Failure {
    fn new(visit: &Visit, error: AppError, wait: Option<u64>) -> Self {
        Self(Box::new(Told { visit: visit.clone(), error, wait }))
    }

    /// The visitor may not search, or not now.
    pub(crate) fn of_search(visit: &Visit, refusal: SearchRefusal) -> Self {
        let (code, wait) = match refusal {
            SearchRefusal::Never => (ErrorCode::Forbidden, None),
            SearchRefusal::Later { seconds } => (ErrorCode::Unavailable, Some(seconds)),
        };
        Self::new(visit, AppError::new(code, refusal.to_string()), wait)
    }
}

/// Says which visit an error belongs to, so that its page has the visitor's language.
pub(crate) trait Failed<T> {
    fn shown_to(self, visit: &Visit) -> Result<T, Failure>;
}

impl<T, E: Into<AppError>> Failed<T> for Result<T, E> {
    fn shown_to(self, visit: &Visit) -> Result<T, Failure> {
        self.map_err(|error| Failure::new(visit, error.into(), None))
    }
}

/// An id of the address.
pub(crate) fn id<T>(text: &str, visit: &Visit) -> Result<T, Failure>
where
    T: FromStr<Err = IdError>,
{
    let unknown = |error: IdError| AppError::new(ErrorCode::NotFound, error.to_string());
    text.parse().map_err(unknown).shown_to(visit)
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let Told { visit, error, wait } = *self.0;
        let words = visit.words;
        let (status, title) = match error.code {
            ErrorCode::NotFound => (StatusCode::NOT_FOUND, words.t("common.not_found")),
            ErrorCode::InvalidArgument
            | ErrorCode::Conflict
            | ErrorCode::SqlRefused
            | ErrorCode::SqlTimeout => (StatusCode::BAD_REQUEST, words.t("common.invalid_request")),
            ErrorCode::Forbidden => (StatusCode::FORBIDDEN, words.t("common.forbidden")),
            ErrorCode::Unavailable if wait.is_some() => {
                (StatusCode::TOO_MANY_REQUESTS, words.t("common.unavailable"))
            }
            ErrorCode::Unavailable => (StatusCode::SERVICE_UNAVAILABLE, words.t("common.unavailable")),
            ErrorCode::Internal => {
                tracing::error!(%error, path = visit.path(), "a page could not be shown");
                (StatusCode::INTERNAL_SERVER_ERROR, words.t("common.internal_error"))
            }
        };
        let content = html! {
            div.empty {
                h1 { (title) }
                p { (error.message) }
                p { a.button href="/" { (words.t("common.to_home")) } }
            }
        };
        let mut response = (status, Page { title, here: "", content }.answer(&visit)).into_response();
        if let Some(seconds) = wait {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}
