//! One call of a route, and its answer.

use super::Api;
use crate::access::Standing;
use crate::problem::Failure;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Uri};
use lyra_domain::IdError;
use lyra_usecases::{App, Caller};
use std::collections::HashMap;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::sync::Arc;

/// A call.
#[derive(Clone)]
pub(super) struct Call {
    pub(super) api: Arc<Api>,
    pub(super) caller: Caller,
    /// How to find out whether the caller may go on; `None` without a gate.
    pub(super) standing: Option<Standing>,
    pub(super) path: HashMap<String, String>,
    pub(super) uri: Uri,
    pub(super) headers: HeaderMap,
}

impl Call {
    pub(super) fn app(&self) -> &App {
        &self.api.app
    }

    pub(super) fn query(&self) -> &Uri {
        &self.uri
    }

    pub(super) fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// A part of the path.
    pub(super) fn part(&self, name: &str) -> &str {
        self.path.get(name).map_or("", String::as_str)
    }

    /// An id in the path.
    pub(super) fn id<T: FromStr<Err = IdError>>(&self, name: &str) -> Result<T, Failure> {
        id(name, self.part(name))
    }
}

/// Reads an id; the error names the argument.
pub(super) fn id<T: FromStr<Err = IdError>>(name: &str, text: &str) -> Result<T, Failure> {
    text.parse().map_err(|error| Failure::invalid(format!("`{name}`: {error}")))
}

/// Reads an id that may be absent; the error names the argument.
pub(super) fn optional_id<T: FromStr<Err = IdError>>(
    name: &str,
    text: Option<&str>,
) -> Result<Option<T>, Failure> {
    text.map(|text| id(name, text)).transpose()
}

/// The number, if it is within its range.
pub(super) fn within<N: PartialOrd + Display>(
    name: &str,
    number: N,
    range: RangeInclusive<N>,
) -> Result<N, Failure> {
    if range.contains(&number) {
        return Ok(number);
    }
    let (least, most) = range.into_inner();
    Err(Failure::invalid(format!("`{name}` is {number}; it must be {least} to {most}")))
}

/// An answer, with the headers that only it has.
#[derive(Debug)]
pub(super) struct Reply<A> {
    pub(super) body: A,
    pub(super) headers: HeaderMap,
}

impl<A> From<A> for Reply<A> {
    fn from(body: A) -> Self {
        Self { body, headers: HeaderMap::new() }
    }
}

impl<A> Reply<A> {
    pub(super) fn with(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }
}
