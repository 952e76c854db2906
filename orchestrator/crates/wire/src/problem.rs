//! An error, as a program and its user read it.

use crate::schema;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// Why a call failed.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Problem {
    /// Kind of the error, by who can fix it: `invalid_argument`, `not_found`, `unavailable`, `forbidden`,
    /// `sql_refused`, `sql_timeout`, `internal`.
    pub error_code: String,
    /// What was wrong.
    pub error: String,
    /// What would be right.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Facts about the error for a program.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::any_object")]
    pub details: Option<Value>,
    /// Identifies the error in the server's log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_id: Option<String>,
}

/// Why a request failed, as RFC 9457 has it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ProblemDocument {
    /// Names the kind of the problem: `urn:lyra:problem:CODE`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The kind in words.
    pub title: String,
    /// The status of the answer.
    pub status: u16,
    /// What was wrong with this request.
    pub detail: String,
    /// The kind for a program, such as `invalid_argument` or `not_found`.
    pub code: String,
    /// What would be right.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Facts about the problem for a program.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::any_object")]
    pub details: Option<Value>,
    /// Identifies the problem in the server's log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_id: Option<String>,
}

impl Problem {
    /// A problem without advice and details.
    pub fn new(code: impl Into<String>, error: impl Into<String>) -> Self {
        Self { error_code: code.into(), error: error.into(), hint: None, details: None, error_id: None }
    }
}
