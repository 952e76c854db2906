//! A task's graph for a drawing: the wanted part of it, laid out, with its clusters, hubs, and loops.

mod kept;
mod rows;
#[cfg(test)]
mod tests;

pub(crate) use kept::Graphs;

use super::graph::off_thread;
use super::{App, AppError, ErrorCode};
use lyra_domain::TaskId;
use lyra_graph::{Kind, LoopLimits, Network, Part, Tie, Wanted};
use lyra_wire::json::{millionths, thousandths};
use lyra_wire::{GraphCluster, GraphEdge, GraphHub, GraphNode, GraphView};
use rows::Drawn;
use std::collections::BTreeSet;
use std::str::FromStr;
use std::sync::Arc;

/// Most nodes of a view.
pub const MOST_NODES: usize = 5_000;
/// Nodes of a view without a limit.
pub const USUAL_NODES: usize = 300;
/// Most steps around a node.
pub const MOST_STEPS: usize = 4;
/// Most ids in `around` and in `expand`.
const MOST_IDS: usize = 50;
/// Longest text to look for, in characters.
const MOST_TEXT: usize = 200;
/// Hubs that are named.
const HUBS: usize = 12;
/// Loops that are listed, and edges that are examined for them.
const LOOPS: LoopLimits = LoopLimits { max_length: 6, max_loops: 50, max_steps: 500_000 };
/// Steps that are spent on the betweenness of hubs.
const BETWEENNESS_STEPS: u64 = 20_000_000;

/// Which part of a task's graph is wanted. Lists are words or ids with commas between them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GraphFilter {
    /// Of `claim`, `passage`, and `work`; empty for claims and works.
    pub kinds: String,
    /// Of `supports`, `refutes`, `neutral`, `origin`, `cites`, and `part_of`; empty for all but `neutral`.
    pub relations: String,
    /// Words that a node must contain, or a neighbor of it.
    pub text: String,
    /// Ids of nodes; only what is near them is wanted.
    pub around: String,
    /// How many relations away from them, 1 to 4; `None` for 1.
    pub steps: Option<usize>,
    /// Ids of nodes whose neighbors are wanted too.
    pub expand: String,
    /// Most nodes, 1 to 5000; `None` for 300.
    pub limit: Option<usize>,
}

impl App {
    /// A part of a task's graph, laid out. The same part of the same graph has the same places. Views are kept until the
    /// store changes, and computed one at a time.
    ///
    /// # Errors
    /// No such task; an unknown kind or relation, a number out of range, too many ids, or a text that is too long.
    pub async fn graph_view(&self, task: &TaskId, filter: &GraphFilter) -> Result<Arc<GraphView>, AppError> {
        let wanted = wanted(filter)?;
        let mut kept = self.inner.graphs.lock().await;
        let stamp = self.store().change_stamp().await?;
        kept.forget_before(stamp);
        if let Some(view) = kept.view(task, &wanted) {
            return Ok(view);
        }
        let drawn = if let Some(drawn) = kept.graph(task) {
            drawn
        } else {
            let rows = self.store().graph_rows(task).await?;
            let drawn = Arc::new(off_thread(move || Drawn::new(rows)).await?);
            kept.keep_graph(task, &drawn);
            drawn
        };
        let (task_id, asked) = (task.to_string(), wanted.clone());
        let view = Arc::new(off_thread(move || view_of(task_id, &drawn, &asked)).await?);
        kept.keep_view(task, wanted, &view);
        Ok(view)
    }
}

/// What a filter asks for, or why nothing can.
fn wanted(filter: &GraphFilter) -> Result<Wanted, AppError> {
    let kinds = words("kinds", &filter.kinds, Kind::ALL)?;
    let ties = words("relations", &filter.relations, Tie::ALL)?;
    let usual_ties = || Tie::ALL.iter().copied().filter(|tie| *tie != Tie::Neutral).collect();
    let text = lyra_text::normalise(&filter.text).to_lowercase();
    let length = text.chars().count();
    if length > MOST_TEXT {
        return Err(AppError::invalid(
            format!("`text` has {length} characters"),
            format!("use at most {MOST_TEXT}"),
        ));
    }
    Ok(Wanted {
        kinds: if kinds.is_empty() { [Kind::Claim, Kind::Work].into() } else { kinds },
        ties: if ties.is_empty() { usual_ties() } else { ties },
        words: text.split_whitespace().map(str::to_owned).collect(),
        around: ids("around", &filter.around)?,
        steps: within("steps", filter.steps.unwrap_or(1), MOST_STEPS)?,
        expand: ids("expand", &filter.expand)?,
        limit: within("limit", filter.limit.unwrap_or(USUAL_NODES), MOST_NODES)?,
    })
}

fn listed(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|word| !word.is_empty())
}

fn words<T: FromStr + Ord + ToString>(name: &str, text: &str, all: &[T]) -> Result<BTreeSet<T>, AppError> {
    let read = |word: &str| {
        word.parse().map_err(|_| {
            let known: Vec<String> = all.iter().map(ToString::to_string).collect();
            AppError::invalid(format!("`{name}` has `{word}`"), format!("use some of {}", known.join(", ")))
        })
    };
    listed(text).map(read).collect()
}

fn ids(name: &str, text: &str) -> Result<BTreeSet<String>, AppError> {
    let ids: BTreeSet<String> = listed(text).map(str::to_owned).collect();
    if ids.len() > MOST_IDS {
        let message = format!("`{name}` has {} ids", ids.len());
        return Err(AppError::invalid(message, format!("give at most {MOST_IDS}")));
    }
    Ok(ids)
}

fn within(name: &str, number: usize, most: usize) -> Result<usize, AppError> {
    if (1..=most).contains(&number) {
        return Ok(number);
    }
    Err(AppError::new(ErrorCode::InvalidArgument, format!("`{name}` is {number}; it must be 1 to {most}")))
}

/// How far a node reaches on the drawing, in pixels, by its weight. `assets/graph-view.js` and the picture of the page
/// draw it so.
fn radius(weight: f64) -> f64 {
    4.0 + 8.0 * weight.sqrt()
}

fn view_of(task_id: String, drawn: &Drawn, wanted: &Wanted) -> GraphView {
    let part = drawn.whole.part(wanted);
    let id = |at: usize| drawn.whole.items[part.nodes[at].item].id.as_str();
    // Networks number their nodes by id.
    let mut by_id: Vec<usize> = (0..part.nodes.len()).collect();
    by_id.sort_unstable_by_key(|&at| id(at));
    let names = || by_id.iter().map(|&at| id(at).to_owned());
    let both =
        part.edges.iter().flat_map(|edge| [(id(edge.from), id(edge.to)), (id(edge.to), id(edge.from))]);
    let network = Network::new(names(), both);
    let clusters = network.clusters();
    let radii: Vec<f64> = by_id.iter().map(|&at| radius(part.nodes[at].weight)).collect();
    let places = network.layout(&clusters, &radii);
    let betweenness = network.betweenness(BETWEENNESS_STEPS);
    let hubs = hubs(&network, &betweenness.scores, &by_id);
    let (loops, loops_truncated) = loops(&part, names(), &by_id, id);

    let mut nodes: Vec<GraphNode> = part.nodes.iter().map(|node| drawn.node(node)).collect();
    for (number, &at) in by_id.iter().enumerate() {
        (nodes[at].x, nodes[at].y) = (places[number].x, places[number].y);
    }
    let mut named = Vec::with_capacity(clusters.clusters.len());
    for (number, members) in clusters.clusters.iter().enumerate() {
        let mut members: Vec<usize> = members.iter().map(|&member| by_id[member]).collect();
        // Nodes stand by weight.
        members.sort_unstable();
        for &member in &members {
            nodes[member].cluster = Some(number);
        }
        named
            .push(GraphCluster { named_after: members.first().copied().unwrap_or_default(), nodes: members });
    }
    GraphView {
        task_id,
        matched_count: (!wanted.words.is_empty()).then(|| nodes.iter().filter(|node| node.matched).count()),
        left_out_count: part.fitting - nodes.len(),
        fitting_count: part.fitting,
        nodes,
        edges: part.edges.iter().map(edge).collect(),
        clusters: named,
        hubs,
        betweenness_sampled_sources: betweenness.sampled_sources,
        loops,
        loops_truncated,
    }
}

fn edge(edge: &lyra_graph::PartEdge) -> GraphEdge {
    GraphEdge {
        from: edge.from,
        to: edge.to,
        relation: edge.tie.as_str(),
        count: edge.count,
        nli_confidence: edge.confidence.map(thousandths),
    }
}

/// The nodes with the highest `PageRank` that have more than one relation.
fn hubs(network: &Network, betweenness: &[f64], by_id: &[usize]) -> Vec<GraphHub> {
    let ranks = network.pagerank(0.85);
    let mut order: Vec<usize> = (0..network.len()).filter(|&node| network.in_degree(node) > 1).collect();
    order.sort_by(|&a, &b| ranks[b].total_cmp(&ranks[a]).then(a.cmp(&b)));
    order.truncate(HUBS);
    let hub = |node: usize| GraphHub {
        node: by_id[node],
        pagerank: millionths(ranks[node]),
        betweenness: millionths(betweenness[node]),
    };
    order.into_iter().map(hub).collect()
}

/// Circles of citations among the shown works, those of two first.
fn loops<'p>(
    part: &Part,
    names: impl Iterator<Item = String>,
    by_id: &[usize],
    id: impl Fn(usize) -> &'p str + Copy,
) -> (Vec<Vec<usize>>, bool) {
    let cites = part.edges.iter().filter(|edge| edge.tie == Tie::Cites);
    let citations = Network::new(names, cites.map(|edge| (id(edge.from), id(edge.to))));
    let longer = citations.loops(LOOPS);
    let pairs = citations.mutual().into_iter().map(|(a, b)| vec![a, b]);
    let mut loops: Vec<Vec<usize>> = pairs.chain(longer.loops).collect();
    let truncated = longer.truncated || loops.len() > LOOPS.max_loops;
    loops.truncate(LOOPS.max_loops);
    let placed = |circle: Vec<usize>| circle.into_iter().map(|node| by_id[node]).collect();
    (loops.into_iter().map(placed).collect(), truncated)
}
