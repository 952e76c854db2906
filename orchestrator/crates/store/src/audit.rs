//! The audit log: every call that changes something, its caller and its outcome. It is append-only.

use crate::rows::RowExt;
use crate::{Result, Store};
use lyra_domain::named_enum;
use serde::Serialize;
use serde_json::Value;

/// Longest stored arguments, in characters of their JSON.
const MOST_ARGUMENTS: usize = 4_000;

named_enum! {
    /// Which way a call came in.
    pub enum AuditVia {
        /// The command line.
        Cli = "cli",
        /// MCP over stdin and stdout.
        McpStdio = "mcp_stdio",
        /// MCP over HTTP.
        McpHttp = "mcp_http",
        /// HTTP.
        Http = "http",
        /// The server itself.
        Server = "server",
    }
}

named_enum! {
    /// The outcome of a call.
    pub enum AuditOutcome {
        /// It succeeded.
        Ok = "ok",
        /// It failed.
        Error = "error",
        /// It was not allowed.
        Refused = "refused",
        /// The caller disconnected before it was done; completed changes stay.
        Cancelled = "cancelled",
    }
}

/// A call to note.
#[derive(Debug, Clone, PartialEq)]
pub struct NewAudit {
    /// `token:NAME`, `user:NAME` of this machine, `local` for a caller without a token, `server`.
    pub actor: String,
    /// Which way it came in.
    pub via: AuditVia,
    /// A tool, a command, or a method and a path.
    pub action: String,
    /// Its arguments.
    pub arguments: Value,
    /// The task it was about.
    pub task: Option<String>,
    /// The trace id of the call, as in the logs.
    pub cause_id: String,
    /// Its outcome.
    pub outcome: AuditOutcome,
    /// Its error, or what it created.
    pub detail: Option<String>,
}

/// A call that was noted.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AuditEntry {
    /// Its place in the log.
    pub seq: i64,
    /// When it ended, RFC 3339.
    pub at: String,
    /// Who.
    pub actor: String,
    /// Which way it came in.
    pub via: AuditVia,
    /// The action.
    pub action: String,
    /// Its arguments.
    pub arguments: Value,
    /// The task it was about.
    pub task_id: Option<String>,
    /// The call.
    pub cause_id: String,
    /// Its outcome.
    pub outcome: AuditOutcome,
    /// Its error, or what it created.
    pub detail: Option<String>,
}

/// Which entries to list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// Only of this actor.
    pub actor: Option<String>,
    /// Only about this task.
    pub task: Option<String>,
    /// Only before this place in the log.
    pub before: Option<i64>,
}

impl Store {
    /// Notes a call.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub async fn audit(&self, call: &NewAudit) -> Result<()> {
        let arguments = call.arguments.to_string();
        let length = arguments.chars().count();
        let arguments = if length > MOST_ARGUMENTS {
            let start: String = arguments.chars().take(MOST_ARGUMENTS).collect();
            serde_json::json!({ "cut_after": MOST_ARGUMENTS, "of": length, "start": start }).to_string()
        } else {
            arguments
        };
        let mut tx = self.write().await?;
        sqlx::query(
            "INSERT INTO private.audit_log (at, actor, via, action, arguments, task_id, cause_id, outcome, detail)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        )
        .bind(self.stamp())
        .bind(&call.actor)
        .bind(call.via.as_str())
        .bind(&call.action)
        .bind(arguments)
        .bind(&call.task)
        .bind(&call.cause_id)
        .bind(call.outcome.as_str())
        .bind(&call.detail)
        .execute(&mut *tx)
        .await?;
        Ok(tx.commit().await?)
    }

    /// At most `limit` entries, the newest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn audit_log(&self, filter: &AuditFilter, limit: u32) -> Result<Vec<AuditEntry>> {
        let found = sqlx::query(
            "SELECT * FROM private.audit_log
             WHERE (?1 IS NULL OR actor = ?1) AND (?2 IS NULL OR task_id = ?2) AND (?3 IS NULL OR seq < ?3)
             ORDER BY seq DESC LIMIT ?4",
        )
        .bind(&filter.actor)
        .bind(&filter.task)
        .bind(filter.before)
        .bind(limit)
        .fetch_all(self.reader())
        .await?;
        found
            .iter()
            .map(|row| {
                Ok(AuditEntry {
                    seq: row.value("seq")?,
                    at: row.value("at")?,
                    actor: row.value("actor")?,
                    via: row.parsed("via")?,
                    action: row.value("action")?,
                    arguments: row.json_or_default("arguments")?,
                    task_id: row.value("task_id")?,
                    cause_id: row.value("cause_id")?,
                    outcome: row.parsed("outcome")?,
                    detail: row.value("detail")?,
                })
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Bench;
    use serde_json::json;

    fn call(actor: &str, task: Option<&str>, arguments: Value) -> NewAudit {
        NewAudit {
            actor: actor.to_owned(),
            via: AuditVia::McpHttp,
            action: "stop_task".to_owned(),
            arguments,
            task: task.map(str::to_owned),
            cause_id: "call_1".to_owned(),
            outcome: AuditOutcome::Ok,
            detail: None,
        }
    }

    #[tokio::test]
    async fn the_log_is_read_by_who_and_what_and_only_grows() {
        let bench = Bench::new().await;
        bench.store.audit(&call("token:a", Some("task_1"), json!({ "mode": "graceful" }))).await.unwrap();
        bench.store.audit(&call("local", None, json!({ "text": "長".repeat(5_000) }))).await.unwrap();
        let all = bench.store.audit_log(&AuditFilter::default(), 10).await.unwrap();
        assert_eq!(all.len(), 2);
        assert_eq!(all[0].arguments["cut_after"], MOST_ARGUMENTS);
        assert_eq!(all[1].arguments["mode"], "graceful");
        let of = async |filter| bench.store.audit_log(&filter, 10).await.unwrap().len();
        assert_eq!(of(AuditFilter { actor: Some("token:a".into()), ..AuditFilter::default() }).await, 1);
        assert_eq!(of(AuditFilter { task: Some("task_1".into()), ..AuditFilter::default() }).await, 1);
        assert_eq!(of(AuditFilter { before: Some(all[1].seq), ..AuditFilter::default() }).await, 0);
        for sql in ["DELETE FROM private.audit_log", "UPDATE private.audit_log SET actor = 'someone'"] {
            let mut tx = bench.store.write().await.unwrap();
            let error = sqlx::raw_sql(sql).execute(&mut *tx).await.unwrap_err();
            assert!(error.to_string().contains("append-only"), "{error}");
        }
    }
}
