//! Views of a task's evidence: in time, and as claims by works.

use super::call::{Call, Reply, optional_id, within};
use super::route::{Route, get};
use super::tasks::{sides, sorts};
use crate::problem::Failure;
use lyra_domain::ClaimId;
use lyra_store::{ClaimFilter, ClaimSort, Side};
use lyra_usecases::{MatrixColumns, shapes};
use lyra_wire::{EvidenceMatrix, TaskTimeline};
use schemars::JsonSchema;
use serde::Deserialize;

/// Most claims of a matrix, and how many without a limit.
const MOST_CLAIMS: u32 = 200;
const CLAIMS: u32 = 25;
/// The same for works.
const MOST_WORKS: u32 = 500;
const WORKS: u32 = 50;

pub(super) fn routes() -> Vec<Route> {
    vec![
        get(
            "/tasks/{task_id}/timeline",
            "get_task_timeline",
            "The evidence by year and side, retracted works, and how the confidence of a claim moved",
            timeline,
        ),
        get(
            "/tasks/{task_id}/matrix",
            "get_matrix",
            "Claims by works: which works carry which claims, and what connects the works",
            matrix,
        ),
    ]
}

/// Which evidence.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OfClaim {
    /// A claim of the task. Default: all adopted claims.
    claim_id: Option<String>,
}

async fn timeline(call: Call, query: OfClaim) -> Result<Reply<TaskTimeline>, Failure> {
    let claim: Option<ClaimId> = optional_id("claim_id", query.claim_id.as_deref())?;
    let timeline = call.app().task_timeline(&call.id("task_id")?, claim.as_ref()).await?;
    Ok(shapes::task_timeline(&timeline).into())
}

/// Which claims and works.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OfMatrix {
    /// Only claims of which the passages say this. Default: all.
    #[serde(default)]
    #[schemars(schema_with = "sides")]
    side: Option<Side>,
    /// Words that the claim contains as they are, in upper or lower case.
    text: Option<String>,
    /// The order of the claims. Default: `contested`.
    #[serde(default)]
    #[schemars(schema_with = "sorts")]
    sort: Option<ClaimSort>,
    /// Most claims, 1 to 200, default 25.
    #[schemars(range(min = 1, max = 200))]
    limit: Option<u32>,
    /// Where the page begins: `next_cursor` of the page before.
    cursor: Option<String>,
    /// Works to pass over. Default: 0.
    works_from: Option<u32>,
    /// Most works, 1 to 500, default 50.
    #[schemars(range(min = 1, max = 500))]
    works_limit: Option<u32>,
    /// Whether works that take a side on none of the claims are left out. Default: false.
    #[serde(default)]
    sided: bool,
}

async fn matrix(call: Call, query: OfMatrix) -> Result<Reply<EvidenceMatrix>, Failure> {
    let limit = within("limit", query.limit.unwrap_or(CLAIMS), 1..=MOST_CLAIMS)?;
    let most = within("works_limit", query.works_limit.unwrap_or(WORKS), 1..=MOST_WORKS)?;
    let columns = MatrixColumns {
        skip: query.works_from.unwrap_or(0) as usize,
        most: most as usize,
        sided: query.sided,
    };
    let filter = ClaimFilter { side: query.side, text: query.text, ..ClaimFilter::default() };
    let (task, sort) = (call.id("task_id")?, query.sort.unwrap_or(ClaimSort::Contested));
    let cursor = query.cursor.as_deref();
    let matrix = call.app().task_matrix(&task, &filter, sort, limit, cursor, columns).await?;
    Ok(shapes::task_matrix(&matrix).into())
}
