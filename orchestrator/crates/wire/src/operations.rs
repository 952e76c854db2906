//! What an operator looks at: tokens, the audit log, and what the doctor finds.

use crate::schema;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// An access token, without its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AccessToken {
    /// Public part, by which logs name it.
    pub id: String,
    /// What it is for.
    pub name: String,
    /// What it allows: `read` or `full`.
    pub scope: String,
    /// When it was created, RFC 3339, UTC.
    pub created_at: String,
    /// When it expires.
    pub expires_at: Option<String>,
    /// When it was last used, to the minute.
    pub last_used_at: Option<String>,
    /// When it was revoked.
    pub revoked_at: Option<String>,
}

/// A new token with its secret, which is shown only once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NewAccessToken {
    /// The token itself, to be sent as `Authorization: Bearer TOKEN`.
    pub token: String,
    /// What it is.
    pub about: AccessToken,
}

/// An entry of the audit log.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct AuditRecord {
    /// Its place in the log.
    pub seq: i64,
    /// When the call ended, RFC 3339, UTC.
    pub at: String,
    /// The caller: `token:NAME`, `user:NAME`, `local`, or `server`.
    pub actor: String,
    /// The way it came in: `cli`, `mcp_stdio`, `mcp_http`, `http`, or `server`.
    pub via: String,
    /// What was called.
    pub action: String,
    /// With which arguments.
    #[schemars(schema_with = "schema::any_object")]
    pub arguments: Value,
    /// The task that it was about.
    pub task_id: Option<String>,
    /// The trace of the call, which the log and the jobs that it caused name too.
    pub cause_id: String,
    /// How it ended: `ok`, `error`, `refused`, or `cancelled`.
    pub outcome: String,
    /// Its error, or the ids that it returned.
    pub detail: Option<String>,
}

/// What the doctor finds about one part of the installation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Finding {
    /// The part.
    pub part: String,
    /// `ok`, `note`, or `broken`.
    pub health: String,
    /// What was observed.
    pub seen: String,
    /// What to do about it.
    pub remedy: Option<String>,
}
