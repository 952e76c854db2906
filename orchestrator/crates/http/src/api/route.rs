//! A row of the table of routes: what a route takes and returns, and the function that answers it.

use super::body;
use super::call::{Call, Reply};
use crate::problem::Failure;
use axum::body::Body;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::Response;
use futures::FutureExt;
use futures::future::BoxFuture;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Who may call a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Needs {
    /// Everyone, even without a token.
    Nothing,
    /// Any caller; nothing changes.
    Reading,
    /// A caller with full access; nothing changes, but secrets or other callers are shown.
    Insight,
    /// Any caller, up to a number of times per hour if it may only read: a run is stored, which expires. The audit log
    /// records the call.
    Searching,
    /// A caller with full access; the audit log records the call.
    Writing,
}

impl Needs {
    /// Whether the audit log records the call.
    pub(super) fn is_recorded(self) -> bool {
        matches!(self, Self::Searching | Self::Writing)
    }
}

/// The body of a request.
pub(super) enum Takes {
    /// None.
    Nothing,
    /// A JSON object.
    Json(SchemaOf),
    /// The bytes of a file.
    File,
}

/// The body of an answer.
pub(super) enum Returns {
    /// JSON.
    Json(SchemaOf),
    /// None, with status 204.
    Nothing,
    /// Server-Sent Events, of which the data has this shape.
    Events(SchemaOf),
    /// A file of one of these media types.
    File(&'static [&'static str]),
}

/// Adds a type to a document's schemas.
pub(super) type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// Answers with JSON.
type Typed = Box<dyn Fn(Call, Vec<u8>) -> BoxFuture<'static, Result<Written, Failure>> + Send + Sync>;
/// Answers with something else, or reads the body itself.
type Raw = fn(Call, Body) -> BoxFuture<'static, Result<Response, Failure>>;

pub(super) enum Handler {
    Typed(Typed),
    Raw(Raw),
}

/// An answer as it was written.
pub(super) struct Written {
    pub(super) json: Vec<u8>,
    pub(super) headers: HeaderMap,
}

/// A route.
pub(super) struct Route {
    pub(super) method: Method,
    /// Below `/api/v1`, with the names of its parts in braces.
    pub(super) path: &'static str,
    /// Its name, for the audit log and for clients that are generated.
    pub(super) id: &'static str,
    pub(super) summary: &'static str,
    pub(super) needs: Needs,
    /// Of an answer without error.
    pub(super) status: StatusCode,
    pub(super) query: SchemaOf,
    pub(super) takes: Takes,
    pub(super) returns: Returns,
    /// Whether no cache may keep the answer, nor any log the arguments.
    pub(super) secret: bool,
    pub(super) handler: Handler,
}

/// No parameters, or an empty body.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Nothing {}

fn schema<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

/// A route that reads: its query is `Q`.
pub(super) fn get<Q, A, F, Fut>(
    path: &'static str,
    id: &'static str,
    summary: &'static str,
    handler: F,
) -> Route
where
    Q: DeserializeOwned + JsonSchema + Send,
    A: Serialize + JsonSchema,
    F: Fn(Call, Q) -> Fut + Copy + Send + Sync + 'static,
    Fut: Future<Output = Result<Reply<A>, Failure>> + Send,
{
    let typed: Typed = Box::new(move |call: Call, _| {
        async move {
            let query = body::query(call.query())?;
            written(handler(call, query).await?)
        }
        .boxed()
    });
    Route {
        method: Method::GET,
        path,
        id,
        summary,
        needs: Needs::Reading,
        status: StatusCode::OK,
        query: schema::<Q>,
        takes: Takes::Nothing,
        returns: Returns::Json(schema::<A>),
        secret: false,
        handler: Handler::Typed(typed),
    }
}

/// A route that writes: its body is `B`.
pub(super) fn write<B, A, F, Fut>(
    method: Method,
    path: &'static str,
    id: &'static str,
    summary: &'static str,
    handler: F,
) -> Route
where
    B: DeserializeOwned + JsonSchema + Send,
    A: Serialize + JsonSchema,
    F: Fn(Call, B) -> Fut + Copy + Send + Sync + 'static,
    Fut: Future<Output = Result<Reply<A>, Failure>> + Send,
{
    let typed: Typed = Box::new(move |call: Call, bytes: Vec<u8>| {
        async move {
            let Nothing {} = body::query(call.query())?;
            let body = body::json(call.headers(), &bytes)?;
            written(handler(call, body).await?)
        }
        .boxed()
    });
    let takes =
        if B::schema_name() == Nothing::schema_name() { Takes::Nothing } else { Takes::Json(schema::<B>) };
    Route {
        method,
        path,
        id,
        summary,
        needs: Needs::Writing,
        status: StatusCode::OK,
        query: schema::<Nothing>,
        takes,
        returns: Returns::Json(schema::<A>),
        secret: false,
        handler: Handler::Typed(typed),
    }
}

/// `POST` with a body of the shape `B`.
pub(super) fn post<B, A, F, Fut>(
    path: &'static str,
    id: &'static str,
    summary: &'static str,
    handler: F,
) -> Route
where
    B: DeserializeOwned + JsonSchema + Send,
    A: Serialize + JsonSchema,
    F: Fn(Call, B) -> Fut + Copy + Send + Sync + 'static,
    Fut: Future<Output = Result<Reply<A>, Failure>> + Send,
{
    write(Method::POST, path, id, summary, handler)
}

/// `DELETE` without a body.
pub(super) fn delete<A, F, Fut>(
    path: &'static str,
    id: &'static str,
    summary: &'static str,
    handler: F,
) -> Route
where
    A: Serialize + JsonSchema,
    F: Fn(Call, Nothing) -> Fut + Copy + Send + Sync + 'static,
    Fut: Future<Output = Result<Reply<A>, Failure>> + Send,
{
    write(Method::DELETE, path, id, summary, handler)
}

/// A route that answers for itself: its query is `Q`, and events have the shape `E`.
pub(super) fn events<Q: JsonSchema, E: JsonSchema>(
    path: &'static str,
    id: &'static str,
    summary: &'static str,
    handler: Raw,
) -> Route {
    raw::<Q>(path, id, summary, Returns::Events(schema::<E>), handler)
}

/// A route that reads and answers with a file: its query is `Q`.
pub(super) fn download<Q: JsonSchema>(
    path: &'static str,
    id: &'static str,
    summary: &'static str,
    media_types: &'static [&'static str],
    handler: Raw,
) -> Route {
    raw::<Q>(path, id, summary, Returns::File(media_types), handler)
}

/// `POST` of a file: its query is `Q`.
pub(super) fn file<Q: JsonSchema, A: JsonSchema>(
    path: &'static str,
    id: &'static str,
    summary: &'static str,
    handler: Raw,
) -> Route {
    Route {
        method: Method::POST,
        needs: Needs::Writing,
        status: StatusCode::ACCEPTED,
        takes: Takes::File,
        ..raw::<Q>(path, id, summary, Returns::Json(schema::<A>), handler)
    }
}

/// `GET` that answers for itself.
fn raw<Q: JsonSchema>(
    path: &'static str,
    id: &'static str,
    summary: &'static str,
    returns: Returns,
    handler: Raw,
) -> Route {
    Route {
        method: Method::GET,
        path,
        id,
        summary,
        needs: Needs::Reading,
        status: StatusCode::OK,
        query: schema::<Q>,
        takes: Takes::Nothing,
        returns,
        secret: false,
        handler: Handler::Raw(handler),
    }
}

impl Route {
    pub(super) fn needs(self, needs: Needs) -> Self {
        Self { needs, ..self }
    }

    pub(super) fn status(self, status: StatusCode) -> Self {
        Self { status, ..self }
    }

    /// No cache keeps the answer, and no log the arguments.
    pub(super) fn secret(self) -> Self {
        Self { secret: true, ..self }
    }

    /// The answer has no body.
    pub(super) fn no_content(self) -> Self {
        Self { status: StatusCode::NO_CONTENT, returns: Returns::Nothing, ..self }
    }

    /// The names of the parts of its path.
    pub(super) fn parts(&self) -> impl Iterator<Item = &'static str> {
        self.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
    }
}

fn written<A: Serialize>(reply: Reply<A>) -> Result<Written, Failure> {
    let json = serde_json::to_vec(&reply.body)
        .map_err(|error| Failure::internal(format!("the answer cannot be written: {error}")))?;
    Ok(Written { json, headers: reply.headers })
}
