//! Calibration, tokens, the audit log, and the doctor.

use super::call::{Call, Reply, optional_id, within};
use super::route::{Needs, Nothing, Route, delete, get, post};
use crate::problem::Failure;
use crate::remedy;
use axum::http::StatusCode;
use lyra_domain::TaskId;
use lyra_store::{AuditEntry, AuditFilter, Scope, Token};
use lyra_usecases::{CalibrationChange, Finding, shapes};
use lyra_wire::json::millionths;
use lyra_wire::{AccessToken, AuditRecord, CalibrationRolledBack, CalibrationStats, JobInfo, NewAccessToken};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Most entries of the audit log or jobs on a page, and how many without a limit.
const MOST_ENTRIES: u32 = 200;
const ENTRIES: u32 = 50;

pub(super) fn routes() -> Vec<Route> {
    vec![
        get("/calibration", "get_calibration", "How reliable the NLI models' probabilities are", calibration),
        post("/calibration/rollback", "calibration_rollback", "Return to an earlier calibration", rollback),
        get("/tokens", "list_tokens", "Every token, newest first, without secrets", tokens)
            .needs(Needs::Insight)
            .secret(),
        post("/tokens", "create_token", "Create a token; its secret is shown once", create_token)
            .status(StatusCode::CREATED)
            .secret(),
        delete("/tokens/{id}", "revoke_token", "Revoke a token at once, by its id or name", revoke).secret(),
        get("/audit-log", "get_audit_log", "Calls that changed something, newest first", audit_log)
            .needs(Needs::Insight)
            .secret(),
        get("/jobs", "list_jobs", "Jobs that wait, run, or failed, newest first", jobs),
        get("/doctor", "examine", "What works and what does not, with remedies", doctor)
            .needs(Needs::Insight),
    ]
}

/// Which calibration.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OfSource {
    /// Only that of this NLI model.
    source: Option<String>,
}

/// The calibrations.
#[derive(Debug, Serialize, JsonSchema)]
struct Calibrations {
    /// One entry for each NLI model with corrected or reviewed judgments.
    sources: Vec<CalibrationStats>,
}

async fn calibration(call: Call, query: OfSource) -> Result<Reply<Calibrations>, Failure> {
    let stats = call.app().calibration_stats(query.source.as_deref()).await?;
    Ok(Calibrations { sources: stats.iter().map(CalibrationStats::from).collect() }.into())
}

/// A version to return to.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Rollback {
    /// The NLI model. Default: the only one that there is.
    source: Option<String>,
    /// An earlier version; 0 is the model's own probabilities. Default: the one that was active before.
    version: Option<u32>,
    /// The reason, 1 to 1000 characters.
    #[schemars(length(min = 1, max = 1000), regex(pattern = r"\S"))]
    reason: String,
}

async fn rollback(call: Call, body: Rollback) -> Result<Reply<CalibrationRolledBack>, Failure> {
    let CalibrationChange { source, version, previous_version, brier, brier_previous, warnings } =
        call.app().rollback_calibration(body.source.as_deref(), body.version, &body.reason).await?;
    let (brier, brier_previous) = (brier.map(millionths), brier_previous.map(millionths));
    Ok(CalibrationRolledBack { source, version, previous_version, brier, brier_previous, warnings }.into())
}

/// The tokens.
#[derive(Debug, Serialize, JsonSchema)]
struct Tokens {
    /// Newest first.
    tokens: Vec<AccessToken>,
}

async fn tokens(call: Call, _: Nothing) -> Result<Reply<Tokens>, Failure> {
    let tokens = call.app().tokens().await?.into_iter().map(token).collect();
    Ok(Tokens { tokens }.into())
}

fn token(token: Token) -> AccessToken {
    AccessToken {
        id: token.id,
        name: token.name,
        scope: token.scope.to_string(),
        created_at: token.created_at,
        expires_at: token.expires_at,
        last_used_at: token.last_used_at,
        revoked_at: token.revoked_at,
    }
}

/// A token to create.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CreateToken {
    /// What it is for: 1 to 64 letters, digits, `.`, `_`, `-` or `@`.
    #[schemars(regex(pattern = "^[A-Za-z0-9._@-]{1,64}$"))]
    name: String,
    /// What it allows. Default: `read`.
    #[serde(default)]
    scope: ScopeName,
    /// When it expires, RFC 3339. Default: never.
    #[schemars(extend("format" = "date-time"))]
    expires_at: Option<String>,
}

/// What a token allows.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ScopeName {
    /// Everything that changes nothing.
    #[default]
    Read,
    /// Everything.
    Full,
}

async fn create_token(call: Call, body: CreateToken) -> Result<Reply<NewAccessToken>, Failure> {
    let scope = match body.scope {
        ScopeName::Read => Scope::Read,
        ScopeName::Full => Scope::Full,
    };
    let expires = body.expires_at.as_deref().map(str::parse::<jiff::Timestamp>).transpose();
    let expires = expires.map_err(|error| {
        Failure::unprocessable(format!("body.expires_at: {error}")).hint("write it as 2027-01-31T00:00:00Z")
    })?;
    let made = call.app().create_token(&body.name, scope, expires).await?;
    Ok(NewAccessToken { token: made.text, about: token(made.token) }.into())
}

async fn revoke(call: Call, _: Nothing) -> Result<Reply<AccessToken>, Failure> {
    Ok(token(call.app().revoke_token(call.part("id")).await?).into())
}

/// Which entries of the audit log.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OfLog {
    /// Most entries, 1 to 200, default 50.
    #[schemars(range(min = 1, max = 200))]
    limit: Option<u32>,
    /// Where the page begins: `next_cursor` of the page before.
    cursor: Option<String>,
    /// Only calls of this actor, such as `token:NAME`.
    actor: Option<String>,
    /// Only calls about this task.
    #[schemars(regex(pattern = r"^task_.+$"))]
    task_id: Option<String>,
}

/// A page of the audit log.
#[derive(Debug, Serialize, JsonSchema)]
struct AuditLog {
    /// Newest first.
    entries: Vec<AuditRecord>,
    /// The cursor of the next page; `null` at the end.
    next_cursor: Option<String>,
}

async fn audit_log(call: Call, query: OfLog) -> Result<Reply<AuditLog>, Failure> {
    let limit = within("limit", query.limit.unwrap_or(ENTRIES), 1..=MOST_ENTRIES)?;
    let before = query.cursor.as_deref().map(str::parse::<i64>).transpose();
    let before = before.map_err(|_| Failure::invalid("`cursor` is not one of this list"))?;
    let task: Option<TaskId> = optional_id("task_id", query.task_id.as_deref())?;
    let filter = AuditFilter { actor: query.actor, task: task.map(Into::into), before };
    let found = call.app().audit_log(&filter, limit).await?;
    let full = found.len() as u64 == u64::from(limit);
    let next_cursor = found.last().filter(|_| full).map(|entry| entry.seq.to_string());
    Ok(AuditLog { entries: found.into_iter().map(record).collect(), next_cursor }.into())
}

fn record(entry: AuditEntry) -> AuditRecord {
    AuditRecord {
        seq: entry.seq,
        at: entry.at,
        actor: entry.actor,
        via: entry.via.to_string(),
        action: entry.action,
        arguments: entry.arguments,
        task_id: entry.task_id,
        cause_id: entry.cause_id,
        outcome: entry.outcome.to_string(),
        detail: entry.detail,
    }
}

/// How many jobs.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OfJobs {
    /// Most jobs, 1 to 200, default 50.
    #[schemars(range(min = 1, max = 200))]
    limit: Option<u32>,
}

/// The jobs.
#[derive(Debug, Serialize, JsonSchema)]
struct Jobs {
    /// Newest first.
    jobs: Vec<JobInfo>,
}

async fn jobs(call: Call, query: OfJobs) -> Result<Reply<Jobs>, Failure> {
    let limit = within("limit", query.limit.unwrap_or(ENTRIES), 1..=MOST_ENTRIES)?;
    Ok(Jobs { jobs: call.app().jobs(limit).await?.iter().map(shapes::job_info).collect() }.into())
}

/// The findings of the doctor.
#[derive(Debug, Serialize, JsonSchema)]
struct Findings {
    /// One for each part.
    findings: Vec<lyra_wire::Finding>,
}

async fn doctor(call: Call, _: Nothing) -> Result<Reply<Findings>, Failure> {
    let finding = |found: Finding| lyra_wire::Finding {
        part: found.part.to_owned(),
        health: found.health.to_string(),
        seen: found.seen,
        remedy: found.remedy.as_ref().map(remedy::words),
    };
    let findings = call.app().examine_open().await.into_iter().map(finding).collect();
    Ok(Findings { findings }.into())
}
