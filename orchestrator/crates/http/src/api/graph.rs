//! A task's graph for a drawing.

use super::call::{Call, Reply};
use super::route::{Route, get};
use crate::problem::Failure;
use lyra_usecases::GraphFilter;
use lyra_wire::GraphView;
use schemars::JsonSchema;
use serde::Deserialize;

pub(super) fn routes() -> Vec<Route> {
    vec![get(
        "/tasks/{task_id}/graph",
        "get_graph",
        "Claims, passages, and works of a task with their relations, laid out for a drawing",
        graph,
    )]
}

/// Which part of the graph.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct OfGraph {
    /// Kinds of nodes, with commas between them: `claim`, `passage`, `work`. Default: `claim,work`. Where passages are not
    /// shown, their works stand for them.
    kinds: String,
    /// Relations, with commas between them: `supports`, `refutes`, `neutral`, `origin`, `cites`, `part_of`. Default: all
    /// but `neutral`.
    relations: String,
    /// Words, at most 200 characters: only nodes that contain all of them, and their neighbors.
    text: String,
    /// Ids of nodes, with commas between them, at most 50: only what is near them.
    around: String,
    /// How many relations away from `around`, 1 to 4. Default: 1.
    steps: Option<usize>,
    /// Ids of nodes, with commas between them, at most 50, whose neighbors are shown too.
    expand: String,
    /// Most nodes, 1 to 5000. Default: 300.
    limit: Option<usize>,
}

async fn graph(call: Call, query: OfGraph) -> Result<Reply<GraphView>, Failure> {
    let OfGraph { kinds, relations, text, around, steps, expand, limit } = query;
    let filter = GraphFilter { kinds, relations, text, around, steps, expand, limit };
    let view = call.app().graph_view(&call.id("task_id")?, &filter).await?;
    Ok(GraphView::clone(&view).into())
}
