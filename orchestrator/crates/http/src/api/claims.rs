//! Claims with their evidence, and what people say about them.

use super::call::{Call, Reply};
use super::route::{Nothing, Route, get, post};
use crate::problem::Failure;
use lyra_domain::{EdgeId, Relation};
use lyra_store::{ClaimChange, EdgeCorrection};
use lyra_usecases::App;
use lyra_wire::json::thousandths;
use lyra_wire::{Claim, ClaimAdoption, ClaimEvent, Correction, schema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
        post("/claims/{claim_id}/restore", "restore_claim", "Put a rejected claim back", restore),
        post(
            "/edges/{edge_id}/correction",
            "correct_edge",
            "Set the relation between a passage and a claim, or confirm it",
            correct,
        ),
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
