//! What every route has in common: scope, audit log, stored answers, `ETag`, caching.

use super::body;
use super::call::Call;
use super::once::{Stored, Turned};
use super::packed::packed;
use super::route::{Handler, Needs, Returns, Route, Written};
use super::{Api, BASE};
use crate::access::Standing;
use crate::problem::Failure;
use axum::body::Body;
use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use lyra_research::trace::{self, Cause, TraceId};
use lyra_store::{AuditOutcome, AuditVia, Scope};
use lyra_usecases::{Caller, ErrorCode, Mutation, SearchRefusal};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fmt::Write;
use std::sync::Arc;
use std::time::Instant;

/// Says that an answer was given before.
const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");
/// Most bytes of arguments that the audit log gets.
const MAX_ARGUMENTS: usize = 16 * 1024;
/// What a refused caller with a read-only token can do.
const FULL_ACCESS: &str =
    "an operator can create tokens with full access: lyra token create NAME --scope full";

/// Answers a request for a route.
pub(super) async fn answer(
    api: Arc<Api>,
    route: &'static Route,
    path: HashMap<String, String>,
    request: Request,
) -> Response {
    let (parts, sent) = request.into_parts();
    let caller = parts.extensions.get::<Caller>().cloned();
    let caller = match caller {
        Some(caller) => Caller { via: AuditVia::Http, ..caller },
        None if route.needs == Needs::Nothing => {
            Caller { actor: "unknown".to_owned(), via: AuditVia::Http, scope: Scope::Read }
        }
        None => return Failure::internal("the caller is not known").into_response(),
    };
    let cause = called_from(&parts.headers).unwrap_or_default();
    let span = |trace: TraceId| {
        let kind = lyra_telemetry::kind("server");
        tracing::error_span!("http_call", route = route.id, trace_id = %trace, otel.kind = kind)
    };
    let standing = parts.extensions.get::<Standing>().cloned();
    let Parts { uri, headers, .. } = parts;
    let call = Call { api, caller, standing, path, uri, headers };
    // On the heap: the future of a route is large.
    let work = Box::pin(trace::within(cause, span, async move {
        if route.needs.is_recorded() {
            change(route, call, sent).await
        } else {
            read(route, call, sent).await
        }
    }));
    if !route.needs.is_recorded() {
        return work.await;
    }
    // What was begun is finished and recorded, even if the client is gone.
    tokio::spawn(work)
        .await
        .unwrap_or_else(|error| Failure::internal(format!("the call failed: {error}")).into_response())
}

/// The cause of a call, if its headers name one.
fn called_from(headers: &HeaderMap) -> Option<Cause> {
    Cause::of_traceparent(headers.get("traceparent")?.to_str().ok()?)
}

/// Answers without a change.
async fn read(route: &Route, call: Call, sent: Body) -> Response {
    if route.needs == Needs::Insight && call.caller.scope != Scope::Full {
        return read_only("it shows what only full access may see").into_response();
    }
    let asked = call.headers.clone();
    let answer = match &route.handler {
        Handler::Raw(handler) => {
            return handler(call, sent).await.unwrap_or_else(IntoResponse::into_response);
        }
        Handler::Typed(handler) => match body::bytes(&asked, sent).await {
            Ok(bytes) => handler(call, bytes).await,
            Err(failure) => Err(failure),
        },
    };
    let mut written = match answer {
        Ok(written) => written,
        Err(failure) => return failure.into_response(),
    };
    let tag = (route.method == axum::http::Method::GET).then(|| tag(&written.json));
    let known = tag.as_ref().is_some_and(|tag| is_known(&asked, tag));
    if !known && !route.secret {
        written.json = packed(&asked, written.json, &mut written.headers);
    }
    let mut response = response(route, route.status, written);
    if known {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        *response.body_mut() = Body::empty();
        response.headers_mut().remove(header::CONTENT_TYPE);
        response.headers_mut().remove(header::CONTENT_LENGTH);
    }
    if let Some(Ok(tag)) = tag.map(|tag| HeaderValue::from_str(&tag)) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    response
}

/// Makes a change, once for each key, or a search, and records it.
async fn change(route: &Route, call: Call, sent: Body) -> Response {
    let app = call.api.app.clone();
    let refused = refusal(route, &call);
    let (bytes, unread) = match (&route.handler, &refused) {
        (Handler::Typed(_), None) => match body::bytes(&call.headers, sent).await {
            Ok(bytes) => (bytes, None),
            Err(failure) => return failure.into_response(),
        },
        (_, _) => (Vec::new(), Some(sent)),
    };
    let mut mutation = Mutation::begin(call.caller.clone(), route.id, arguments(route, &call, &bytes));
    if let Some(failure) = refused {
        let response = failure.into_response();
        app.audit(mutation, AuditOutcome::Refused, Some(response.status().to_string())).await;
        return response;
    }
    let turned = if route.needs == Needs::Searching {
        // Answers of searches are not kept: those of read-only callers would fill the memory.
        Ok(Turned::Unkeyed)
    } else {
        let target = format!("{BASE}{}", call.uri);
        let asked = [call.caller.actor.as_str(), route.method.as_str(), &target];
        call.api.once.turn(&call.headers, &asked, &bytes, Instant::now()).await
    };
    let headers = call.headers.clone();
    let first = match (&route.handler, turned) {
        (_, Err(failure)) => return failure.into_response(),
        (_, Ok(Turned::Again(stored))) => return again(stored),
        (Handler::Typed(_), Ok(Turned::First(first))) => Some(first),
        (_, Ok(_)) => None,
    };
    let answer = match &route.handler {
        Handler::Typed(handler) => handler(call, bytes).await,
        Handler::Raw(handler) => {
            let answer = handler(call, unread.unwrap_or_default()).await;
            let (outcome, response) = match answer {
                Ok(response) => (AuditOutcome::Ok, response),
                Err(failure) => (AuditOutcome::Error, failure.into_response()),
            };
            app.audit(mutation, outcome, Some(response.status().to_string())).await;
            return response;
        }
    };
    match answer {
        Ok(mut written) => {
            let detail = ids(&mut mutation, &written.json);
            app.audit(mutation, AuditOutcome::Ok, detail).await;
            if let Some(first) = first {
                let (headers, body) = (written.headers.clone(), written.json.clone());
                first.keep(Stored { status: route.status, headers: with_type(route, headers), body });
            }
            if route.needs == Needs::Searching {
                written.json = packed(&headers, written.json, &mut written.headers);
            }
            response(route, route.status, written)
        }
        Err(failure) => {
            let detail = format!("{} {}", failure.status.as_u16(), failure.code);
            app.audit(mutation, AuditOutcome::Error, Some(detail)).await;
            failure.into_response()
        }
    }
}

/// Why the caller may not make this change or search.
fn refusal(route: &Route, call: &Call) -> Option<Failure> {
    if route.needs != Needs::Searching {
        return (call.caller.scope != Scope::Full).then(|| read_only("the request changes something"));
    }
    let refusal = call.app().admit_search(&call.caller).err()?;
    Some(match refusal {
        SearchRefusal::Never => Failure::forbidden(refusal.to_string()).hint(FULL_ACCESS),
        SearchRefusal::Later { seconds } => {
            Failure::new(StatusCode::TOO_MANY_REQUESTS, ErrorCode::Unavailable, refusal.to_string())
                .hint("stored runs can still be read: GET /fusion/runs")
                .header(header::RETRY_AFTER, HeaderValue::from(seconds))
        }
    })
}

fn read_only(why: &str) -> Failure {
    Failure::forbidden(format!("this token is read-only; {why}")).hint(FULL_ACCESS)
}

/// The parts of the path, the query, and the fields of the body, as the audit log records them.
fn arguments(route: &Route, call: &Call, bytes: &[u8]) -> Value {
    let mut arguments: Map<String, Value> =
        call.path.iter().map(|(name, value)| (name.clone(), Value::from(value.as_str()))).collect();
    if let Some(query) = call.uri.query() {
        arguments.insert("query_string".to_owned(), query.into());
    }
    if route.secret || bytes.len() > MAX_ARGUMENTS {
        arguments.insert("omitted_bytes".to_owned(), bytes.len().into());
    } else if let Ok(Value::Object(fields)) = serde_json::from_slice(bytes) {
        arguments.extend(fields);
    }
    Value::Object(arguments)
}

/// The ids in an answer, as the audit log records them; its task becomes that of the entry.
fn ids(mutation: &mut Mutation, json: &[u8]) -> Option<String> {
    let Ok(Value::Object(mut fields)) = serde_json::from_slice(json) else { return None };
    if let Some(task) = fields.get("task_id").and_then(Value::as_str) {
        mutation.about(task);
    }
    fields.retain(|name, _| name.ends_with("_id") || name.ends_with("_ids"));
    (!fields.is_empty()).then(|| Value::Object(fields).to_string())
}

/// The headers of an answer, those of its type and of caching included.
fn with_type(route: &Route, mut headers: HeaderMap) -> HeaderMap {
    if !matches!(route.returns, Returns::Nothing) {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    }
    let reads = route.method == axum::http::Method::GET && !route.secret;
    let cache = if reads { "private, no-cache" } else { "no-store" };
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(cache));
    headers
}

fn response(route: &Route, status: StatusCode, Written { json, headers }: Written) -> Response {
    let body = if matches!(route.returns, Returns::Nothing) { Body::empty() } else { Body::from(json) };
    (status, with_type(route, headers), body).into_response()
}

fn again(Stored { status, headers, body }: Stored) -> Response {
    let body = if status == StatusCode::NO_CONTENT { Body::empty() } else { Body::from(body) };
    let mut response = (status, headers, body).into_response();
    response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
    response
}

/// A weak tag of a body.
fn tag(json: &[u8]) -> String {
    let mut tag = "W/\"".to_owned();
    for byte in &Sha256::digest(json)[..16] {
        // Text takes text.
        let _ = write!(tag, "{byte:02x}");
    }
    tag.push('"');
    tag
}

/// Whether the client has the answer with this tag, by `If-None-Match`.
fn is_known(asked: &HeaderMap, tag: &str) -> bool {
    let sent = asked.get_all(header::IF_NONE_MATCH).iter().filter_map(|tags| tags.to_str().ok());
    sent.flat_map(|tags| tags.split(',')).any(|one| matches(one.trim(), tag))
}

/// Whether a tag of `If-None-Match` is this one, compared weakly.
fn matches(sent: &str, tag: &str) -> bool {
    let opaque = |tag: &str| tag.strip_prefix("W/").unwrap_or(tag).to_owned();
    sent == "*" || opaque(sent) == opaque(tag)
}
