//! Lanes, their runs, and what fusing them measures.

mod change;
mod file;
mod saved;
mod search;

use super::call::{Call, Reply, within};
use super::route::{Needs, Nothing, Route, delete, get, post};
use crate::problem::Failure;
use lyra_usecases::fusion::ProvenanceRequest;
use lyra_wire::fusion::{Comparison, LaneInfo, ProvenanceView, RunDocuments, RunInfo};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Most runs of a list, and how many without a limit.
const MOST_RUNS: u32 = 200;
const RUNS: u32 = 50;
/// Most codes of each system, and documents to skip.
const MOST_CODES: usize = 200;
const MOST_SKIPPED: usize = 1_000_000;
/// Documents of each run that are compared without a depth, and of a page without a limit.
const DEPTH: usize = 50;
const DOCUMENTS: usize = 20;

/// A search keeps its result for a while and changes nothing else, so callers who only read may search and blend, up to a
/// number of times per hour.
pub(super) fn routes() -> Vec<Route> {
    vec![
        get("/fusion/lanes", "list_lanes", "The lanes that a search may name", lanes),
        post("/fusion/check", "check_query", "Read a query without running it", search::check)
            .needs(Needs::Reading),
        post("/fusion/searches", "search_lane", "Search a lane; the run expires by itself", search::one)
            .needs(Needs::Searching),
        post("/fusion/multisearch", "search_lanes", "Search several lanes at once", search::several)
            .needs(Needs::Searching),
        get("/fusion/runs", "list_runs", "Runs of lanes and blends, the newest first", runs),
        get("/fusion/runs/{run_id}", "get_run", "Where a run comes from and what is in it", run),
        get(
            "/fusion/runs/{run_id}/documents",
            "list_run_documents",
            "Documents of a run with their hits",
            documents,
        ),
        get(
            "/fusion/runs/{run_id}/compared/{other_id}",
            "compare_runs",
            "What differs between two runs",
            compare,
        ),
        file::route(),
        post(
            "/fusion/blends",
            "blend_runs",
            "Fuse runs of lanes; the blend expires by itself",
            change::blend,
        )
        .needs(Needs::Searching),
        post(
            "/fusion/blends/{run_id}/change",
            "change_blend",
            "Fuse the same lanes with other parameters",
            change::change,
        )
        .needs(Needs::Searching),
        post(
            "/fusion/blends/{run_id}/representatives",
            "register_representatives",
            "Add a person's judgments of a blend's documents",
            change::register,
        ),
        get("/fusion/saved", "list_saved_searches", "Saved searches", saved::list),
        post("/fusion/saved", "save_search", "Save the search of a lane's run, to run it again", saved::save),
        post(
            "/fusion/saved/{name}/run",
            "run_saved_search",
            "Run a saved search again: what is new counts as known from now on",
            saved::again,
        ),
        delete("/fusion/saved/{name}", "forget_search", "Delete a saved search", saved::forget),
    ]
}

/// The lanes.
#[derive(Debug, Serialize, JsonSchema)]
struct Lanes {
    /// By name.
    lanes: Vec<LaneInfo>,
}

async fn lanes(call: Call, _: Nothing) -> Result<Reply<Lanes>, Failure> {
    Ok(Lanes { lanes: call.app().fusion().lanes() }.into())
}

/// Which runs.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WhichRuns {
    /// Most runs, 1 to 200, default 50.
    limit: Option<u32>,
}

/// The runs.
#[derive(Debug, Serialize, JsonSchema)]
struct Runs {
    /// The newest first.
    runs: Vec<RunInfo>,
}

async fn runs(call: Call, query: WhichRuns) -> Result<Reply<Runs>, Failure> {
    let limit = within("limit", query.limit.unwrap_or(RUNS), 1..=MOST_RUNS)?;
    Ok(Runs { runs: call.app().fusion().runs(limit).await? }.into())
}

/// What to report about a run.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OfRun {
    /// Documents to skip in `documents`, 0 to 1000000, default 0.
    offset: Option<usize>,
    /// Documents with each lane's contribution, 0 to 200, default 20.
    top_k_lane: Option<usize>,
    /// Codes of each system, 0 to 200, default 30.
    top_k_code: Option<usize>,
    /// Whether to propose documents to judge: a sample of 20, then those whose judgment tells most. Default false.
    sample: Option<bool>,
    /// Width of the interval of recall, above 0, at most 1, at which nothing more is proposed.
    recall_width: Option<f64>,
}

async fn run(call: Call, query: OfRun) -> Result<Reply<ProvenanceView>, Failure> {
    let usual = ProvenanceRequest::default();
    let request = ProvenanceRequest {
        run_id: call.part("run_id").to_owned(),
        offset: within("offset", query.offset.unwrap_or(0), 0..=MOST_SKIPPED)?,
        top_k_lane: within("top_k_lane", query.top_k_lane.unwrap_or(usual.top_k_lane), 0..=MOST_CODES)?,
        top_k_code: within("top_k_code", query.top_k_code.unwrap_or(usual.top_k_code), 0..=MOST_CODES)?,
        sample: query.sample.unwrap_or(usual.sample),
        recall_width: query.recall_width,
    };
    Ok(call.app().fusion().provenance(&request).await?.into())
}

/// Which documents of a run.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WhichDocuments {
    /// Documents to skip, default 0; continue with `next_offset`.
    offset: Option<usize>,
    /// Most documents, 1 to 100, default 20.
    limit: Option<usize>,
}

async fn documents(call: Call, query: WhichDocuments) -> Result<Reply<RunDocuments>, Failure> {
    let offset = within("offset", query.offset.unwrap_or(0), 0..=MOST_SKIPPED)?;
    let limit = query.limit.unwrap_or(DOCUMENTS);
    Ok(call.app().fusion().run_documents(call.part("run_id"), offset, limit).await?.into())
}

/// How two runs are compared.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Depth {
    /// Documents of each run that are compared, 1 to 500, default 50.
    depth: Option<usize>,
}

async fn compare(call: Call, query: Depth) -> Result<Reply<Comparison>, Failure> {
    let depth = query.depth.unwrap_or(DEPTH);
    Ok(call.app().fusion().compare(call.part("run_id"), call.part("other_id"), depth).await?.into())
}
