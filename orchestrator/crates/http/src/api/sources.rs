//! Sources, decisions about domains, and pages that require a person.

use super::call::{Call, Reply, optional_id};
use super::route::{Nothing, Route, delete, get, post, write};
use crate::problem::Failure;
use axum::http::Method;
use lyra_domain::domains::OverrideDecision;
use lyra_domain::{AuthId, TaskId};
use lyra_store::{AuthTarget, RuleChange};
use lyra_usecases::{Resolution, SourceInfo, SourceTest, shapes};
use lyra_wire::{DomainChanged, DomainDecision, PagesResolved, Source, WaitingPage, schema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(super) fn routes() -> Vec<Route> {
    vec![
        get("/sources", "list_sources", "Every source, with its cool-down", list),
        post("/sources/test", "test_sources", "Send sources a small query", test),
        get("/domains", "list_domains", "The active decisions about domains, the latest last", domains),
        write(
            Method::PUT,
            "/domains/{pattern}",
            "decide_domain",
            "Block or unblock the domains of a pattern",
            decide,
        ),
        delete("/domains/{pattern}", "clear_domain", "Withdraw the decision about a pattern", clear),
        get("/auth-queue", "get_auth_queue", "Pages that require a person, highest priority first", queue),
        post("/auth-queue/{queue_id}/skip", "skip_auth", "Drop the searches that wait for a page", skip),
    ]
}

/// The sources.
#[derive(Debug, Serialize, JsonSchema)]
struct Sources {
    /// External sources, then corpora.
    sources: Vec<Source>,
}

async fn list(call: Call, _: Nothing) -> Result<Reply<Sources>, Failure> {
    let sources = call.app().list_sources().await?.into_iter().map(source).collect();
    Ok(Sources { sources }.into())
}

fn source(info: SourceInfo) -> Source {
    let (cooldown_seconds, cooldown_reason) = info.left_alone.unzip();
    Source {
        name: info.name,
        kind: info.kind.to_owned(),
        by_default: info.by_default,
        base_url: info.base_url,
        key: info.key,
        missing: info.missing,
        cooldown_seconds,
        cooldown_reason,
    }
}

/// The sources to test.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TestSources {
    /// Their names. Default: those that the configuration names.
    #[serde(default)]
    sources: Vec<String>,
}

/// How sources answered.
#[derive(Debug, Serialize, JsonSchema)]
struct Tested {
    /// In the order of their names in the request.
    sources: Vec<lyra_wire::SourceTest>,
}

async fn test(call: Call, body: TestSources) -> Result<Reply<Tested>, Failure> {
    let tested = |test: SourceTest| lyra_wire::SourceTest {
        source: source(test.source),
        answers: test.answers,
        milliseconds: test.milliseconds,
        matches: test.matches,
        error: test.error,
    };
    let sources = call.app().test_sources(&body.sources).await?.into_iter().map(tested).collect();
    Ok(Tested { sources }.into())
}

/// The decisions about domains.
#[derive(Debug, Serialize, JsonSchema)]
struct Domains {
    /// The latest last.
    decisions: Vec<DomainDecision>,
}

async fn domains(call: Call, _: Nothing) -> Result<Reply<Domains>, Failure> {
    let decisions = call.app().override_rules().await?.iter().map(shapes::domain_decision).collect();
    Ok(Domains { decisions }.into())
}

/// A decision about domains.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct DecideDomain {
    /// `block`: never fetched or used again. `unblock`: used despite other blocks.
    #[schemars(schema_with = "schema::decision")]
    decision: OverrideDecision,
    /// The reason, 1 to 1000 characters.
    #[schemars(length(min = 1, max = 1000), regex(pattern = r"\S"))]
    reason: String,
}

async fn decide(call: Call, body: DecideDomain) -> Result<Reply<DomainChanged>, Failure> {
    let pattern = call.part("pattern");
    let change = call.app().override_domain(pattern, body.decision, &body.reason).await?;
    Ok(changed(pattern, change).into())
}

async fn clear(call: Call, _: Nothing) -> Result<Reply<DomainChanged>, Failure> {
    let pattern = call.part("pattern");
    let change = call.app().clear_override(pattern, None).await?;
    Ok(changed(pattern, change).into())
}

fn changed(pattern: &str, change: RuleChange) -> DomainChanged {
    DomainChanged {
        domain_pattern: pattern.to_owned(),
        rule_id: change.rule.into(),
        event_id: change.event.into(),
        previous_decision: change.previous,
        decision: change.decision,
    }
}

/// Which waiting pages.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OfTask {
    /// Only those of this task.
    #[schemars(regex(pattern = r"^task_.+$"))]
    task_id: Option<String>,
}

/// The auth queue.
#[derive(Debug, Serialize, JsonSchema)]
struct Waiting {
    /// Highest priority first.
    pages: Vec<WaitingPage>,
}

async fn queue(call: Call, query: OfTask) -> Result<Reply<Waiting>, Failure> {
    let task: Option<TaskId> = optional_id("task_id", query.task_id.as_deref())?;
    let pages = call.app().auth_queue(task.as_ref()).await?.into_iter().map(WaitingPage::from).collect();
    Ok(Waiting { pages }.into())
}

async fn skip(call: Call, _: Nothing) -> Result<Reply<PagesResolved>, Failure> {
    let item: AuthId = call.id("queue_id")?;
    let resolved = call.app().resolve_auth(AuthTarget::Item(item), Resolution::Skipped).await?;
    let pages = PagesResolved {
        resolved_count: resolved.items,
        requeued_count: resolved.requeued,
        task_ids: resolved.tasks.into_iter().map(Into::into).collect(),
    };
    Ok(pages.into())
}
