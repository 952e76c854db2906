//! Refusals before a request reaches its route: JSON, from the MCP endpoint a JSON-RPC error, from the API a problem
//! document.

use crate::api;
use crate::problem::Failure;
use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use lyra_wire::Problem;
use serde_json::json;

/// The MCP endpoint.
pub(super) const MCP: &str = "/mcp";
/// A code from JSON-RPC's range for servers.
const REFUSED: i32 = -32000;

/// The answer to a request for `path`, with the kind of the refusal for a program and the reason for a person.
pub(super) fn refusal(path: &str, status: StatusCode, code: &'static str, why: &str) -> Response {
    if api::is_below(path) {
        return Failure::named(status, code, why).into_response();
    }
    let body = if path == MCP {
        // The request was not read, so its id is not known.
        let error = json!({ "code": REFUSED, "message": why, "data": { "error_code": code } });
        json!({ "jsonrpc": "2.0", "id": null, "error": error })
    } else {
        json!(Problem::new(code, why))
    };
    (status, Json(body)).into_response()
}
