//! Claims with their evidence, and what people say about them.

use super::call::{Call, Reply, id};
use super::route::{Needs, Nothing, Route, delete, get, post};
use crate::problem::Failure;
use lyra_domain::{ClaimId, EdgeId, Relation};
use lyra_store::{ClaimChange, EdgeCorrection};
use lyra_usecases::{App, shapes};
use lyra_wire::json::thousandths;
use lyra_wire::{Claim, ClaimAdoption, ClaimEvent, Correction, ReadPage, WhatIf, schema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Most passages to leave out at once.
const MOST_EDGES: usize = 1_000;

pub(super) fn routes() -> Vec<Route> {
    vec![
        get("/claims/{claim_id}", "get_claim", "A claim with its evidence, adopted or not", claim),
        get("/claims/{claim_id}/timeline", "get_claim_timeline", "The history of a claim", timeline),
        post(
            "/claims/{claim_id}/reject",
            "reject_claim",
            "Take a claim out of its task; its evidence stays",
            reject,
        ),
        post(
            "/tasks/{task_id}/claims/reject",
            "reject_claims",
            "Take several claims out of their task, all or none of them",
            reject_all,
        ),
        post(
            "/tasks/{task_id}/claims/restore",
            "restore_claims",
            "Put several rejected claims of a task back, all or none of them",
            restore_all,
        ),
        post("/claims/{claim_id}/restore", "restore_claim", "Put a rejected claim back", restore),
        post(
            "/edges/{edge_id}/correction",
            "correct_edge",
            "Set the relation between a passage and a claim, or confirm it",
            correct,
        ),
        delete(
            "/edges/{edge_id}/correction",
            "undo_correction",
            "Take a correction back: the model's own judgment counts again",
            undo,
        ),
        post(
            "/claims/{claim_id}/without",
            "leave_out",
            "The numbers of a claim without some passages; nothing is stored",
            without,
        )
        .needs(Needs::Reading),
        get("/pages/{page_id}", "read_page", "A page with the judgments of its passages", page),
    ]
}

async fn claim(call: Call, _: Nothing) -> Result<Reply<Claim>, Failure> {
    Ok(Claim::from(&call.app().claim_report(&call.id("claim_id")?).await?).into())
}

/// The history of a claim.
#[derive(Debug, Serialize, JsonSchema)]
struct Timeline {
    /// What happened, in order.
    events: Vec<ClaimEvent>,
}

async fn timeline(call: Call, _: Nothing) -> Result<Reply<Timeline>, Failure> {
    let events = call.app().claim_timeline(&call.id("claim_id")?).await?;
    Ok(Timeline { events }.into())
}

/// Why a claim is rejected.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RejectClaim {
    /// The reason, 1 to 1000 characters, for later readers.
    #[schemars(length(min = 1, max = 1000), regex(pattern = r"\S"))]
    reason: String,
}

async fn reject(call: Call, body: RejectClaim) -> Result<Reply<ClaimAdoption>, Failure> {
    let change = call.app().reject_claim(&call.id("claim_id")?, &body.reason).await?;
    Ok(adoption(change).into())
}

/// Why a claim is restored.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RestoreClaim {
    /// The reason, at most 1000 characters.
    reason: Option<String>,
}

async fn restore(call: Call, body: RestoreClaim) -> Result<Reply<ClaimAdoption>, Failure> {
    let change = call.app().restore_claim(&call.id("claim_id")?, body.reason.as_deref()).await?;
    Ok(adoption(change).into())
}

/// Claims of a task, and why they are rejected.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RejectClaims {
    /// Ids of claims of the task, 1 to 200.
    #[schemars(length(min = 1, max = 200))]
    claims: Vec<String>,
    /// The reason, 1 to 1000 characters, for later readers.
    #[schemars(length(min = 1, max = 1000), regex(pattern = r"\S"))]
    reason: String,
}

/// Rejected claims of a task, and why they are restored.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RestoreClaims {
    /// Ids of claims of the task, 1 to 200.
    #[schemars(length(min = 1, max = 200))]
    claims: Vec<String>,
    /// The reason, at most 1000 characters.
    reason: Option<String>,
}

/// Claims that were rejected or restored.
#[derive(Debug, Serialize, JsonSchema)]
struct Adoptions {
    /// In the order given.
    claims: Vec<ClaimAdoption>,
}

async fn reject_all(call: Call, body: RejectClaims) -> Result<Reply<Adoptions>, Failure> {
    let (task, claims) = (call.id("task_id")?, ids(&body.claims)?);
    Ok(adoptions(call.app().reject_claims(&task, &claims, &body.reason).await?))
}

async fn restore_all(call: Call, body: RestoreClaims) -> Result<Reply<Adoptions>, Failure> {
    let (task, claims) = (call.id("task_id")?, ids(&body.claims)?);
    Ok(adoptions(call.app().restore_claims(&task, &claims, body.reason.as_deref()).await?))
}

fn ids(claims: &[String]) -> Result<Vec<ClaimId>, Failure> {
    claims.iter().map(|claim| id("claims", claim)).collect()
}

fn adoptions(changes: Vec<ClaimChange>) -> Reply<Adoptions> {
    Adoptions { claims: changes.into_iter().map(adoption).collect() }.into()
}

fn adoption(change: ClaimChange) -> ClaimAdoption {
    ClaimAdoption {
        claim_id: change.claim.into(),
        task_id: change.task.into(),
        previous_status: change.previous,
        status: change.status,
    }
}

/// What a passage does to a claim, by a person's judgment.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CorrectEdge {
    /// The right relation; the one that it has confirms it.
    #[schemars(schema_with = "schema::judged")]
    relation: Relation,
    /// The reason, at most 1000 characters.
    reason: Option<String>,
}

async fn correct(call: Call, body: CorrectEdge) -> Result<Reply<Correction>, Failure> {
    if !matches!(body.relation, Relation::Supports | Relation::Refutes | Relation::Neutral) {
        let message = format!("body.relation: `{}` is no judgment", body.relation);
        return Err(Failure::unprocessable(message).hint("use supports, refutes, or neutral"));
    }
    let edge: EdgeId = call.id("edge_id")?;
    let change = call.app().correct_edge(&edge, body.relation, body.reason.as_deref()).await?;
    Ok(corrected(call.app(), &edge, change).await?.into())
}

async fn undo(call: Call, _: Nothing) -> Result<Reply<Correction>, Failure> {
    let edge: EdgeId = call.id("edge_id")?;
    let change = call.app().undo_correction(&edge, None).await?;
    Ok(corrected(call.app(), &edge, change).await?.into())
}

/// Passages to leave out.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Without {
    /// Ids of judgments of the claim, at most 1000.
    edge_ids: Vec<String>,
}

async fn without(call: Call, body: Without) -> Result<Reply<WhatIf>, Failure> {
    if body.edge_ids.len() > MOST_EDGES {
        let count = body.edge_ids.len();
        return Err(Failure::invalid(format!("`edge_ids` has {count} entries; give at most {MOST_EDGES}")));
    }
    let claim: ClaimId = call.id("claim_id")?;
    let edges: Vec<EdgeId> =
        body.edge_ids.iter().map(|edge| id("edge_ids", edge)).collect::<Result<_, _>>()?;
    Ok(WhatIf::from(&call.app().claim_without(&claim, &edges).await?).into())
}

/// What to show of a page.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OfPage {
    /// Whether passages in quarantine are shown too. They address the AI that reads them. Default: false.
    #[serde(default)]
    quarantined: bool,
}

async fn page(call: Call, query: OfPage) -> Result<Reply<ReadPage>, Failure> {
    let read = call.app().read_page(&call.id("page_id")?, query.quarantined).await?;
    Ok(shapes::read_page(&read).into())
}

/// A correction with what it makes of the claim.
async fn corrected(app: &App, edge: &EdgeId, change: EdgeCorrection) -> Result<Correction, Failure> {
    let posterior = app.claim_report(&change.claim).await?.posterior;
    Ok(Correction {
        edge_id: edge.to_string(),
        claim_id: change.claim.into(),
        task_id: change.task.into(),
        previous_relation: change.previous,
        relation: change.relation,
        confidence: thousandths(posterior.confidence()),
        uncertainty: thousandths(posterior.uncertainty()),
        controversy: thousandths(posterior.controversy()),
    })
}
