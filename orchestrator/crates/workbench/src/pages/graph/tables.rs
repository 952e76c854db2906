//! The view as tables: nodes, clusters, hubs, loops, and relations on demand.

use super::wanted::{RELATIONS, Wanted};
use crate::words::Words;
use lyra_domain::TaskId;
use lyra_wire::{GraphNode, GraphView};
use maud::{Markup, html};

/// Nodes of one page of the table.
const ROWS: usize = 50;
/// Relations in the table, at most.
const EDGES: usize = 500;
/// Clusters that are listed, and members of one that are named.
const CLUSTERS: usize = 30;
const MEMBERS: usize = 12;

pub(super) fn all(words: Words, wanted: &Wanted, task: &TaskId, view: &GraphView) -> Markup {
    html! {
        section.stack aria-labelledby="graph-as-tables" {
            h2 #graph-as-tables { (words.t("graph.tables")) }
            (nodes(words, wanted, task, view))
            @if !view.clusters.is_empty() { (clusters(words, view)) }
            @if !view.hubs.is_empty() { (hubs(words, view)) }
            @if !view.loops.is_empty() { (loops(words, view)) }
            (edges(words, wanted, task, view))
        }
    }
}

/// A table to open, which scrolls sideways where it is wide.
fn folded(id: &str, title: &str, note: &str, open: bool, table: &Markup) -> Markup {
    html! {
        details id=(id) open[open] {
            summary { (title) }
            @if !note.is_empty() { p.small.quiet { (note) } }
            div.table tabindex="0" role="group" aria-label=(title) { (table) }
        }
    }
}

fn nodes(words: Words, wanted: &Wanted, task: &TaskId, view: &GraphView) -> Markup {
    let shown = view.nodes.iter().skip(wanted.from).take(ROWS);
    let next = wanted.from + ROWS;
    let table = html! {
        table {
            thead {
                tr {
                    th scope="col" { (words.t("graph.node")) }
                    th scope="col" { (words.t("graph.kind")) }
                    th scope="col" { (words.t("graph.about")) }
                    th.number scope="col" { (words.t("graph.relations")) }
                    th scope="col" { (words.t("graph.cluster")) }
                    th scope="col" { (words.t("graph.near_it")) }
                }
            }
            tbody data-list {
                @for node in shown {
                    tr id={ "row-" (node.node_id) } {
                        th scope="row" { a href=(node.path) { bdi { (named(words, node)) } } }
                        td { (words.t(kind(node))) }
                        td { (about(words, node)) }
                        td.number { (words.number(node.relation_count as u64)) }
                        td { @if let Some(cluster) = node.cluster { a href={ "#cluster-" (cluster + 1) } { (cluster + 1) } } }
                        td { a href=(wanted.following(task, &node.node_id)) data-graph-link { (words.t("graph.follow")) } }
                    }
                }
            }
        }
        @if next < view.nodes.len() {
            p { a.button data-more href=(Wanted { from: next, ..wanted.clone() }.address(task)) { (words.t("common.more")) } }
        }
    };
    folded("graph-nodes", words.t("graph.nodes_table"), words.t("graph.nodes_note"), true, &table)
}

fn kind(node: &GraphNode) -> &'static str {
    match node.kind {
        "claim" => "graph.claim",
        "passage" => "graph.passage",
        _ => "graph.work",
    }
}

fn named(words: Words, node: &GraphNode) -> &str {
    if node.label.is_empty() { words.t("common.untitled") } else { &node.label }
}

/// A claim's side and confidence, or a work's citation and year.
fn about(words: Words, node: &GraphNode) -> Markup {
    let side = node.side.map(|side| match side {
        "contested" => "common.contested",
        "supported" => "graph.supported",
        "refuted" => "graph.refuted",
        _ => "graph.undecided",
    });
    html! {
        @if let Some(side) = side { (words.t(side)) " " }
        @if let Some(confidence) = node.confidence { (format!("{confidence:.2}")) }
        @if let Some(citation) = &node.citation { bdi { (citation) } " " }
        @if let Some(year) = node.year { (year) " " }
        @if node.is_retracted { span.pill.bad { (words.t("common.retracted")) } }
    }
}

fn link(words: Words, view: &GraphView, at: usize) -> Markup {
    let node = view.nodes.get(at);
    html! { @if let Some(node) = node { a href=(node.path) { bdi { (named(words, node)) } } } }
}

fn clusters(words: Words, view: &GraphView) -> Markup {
    let table = html! {
        table {
            thead {
                tr {
                    th.number scope="col" { (words.t("graph.cluster")) }
                    th scope="col" { (words.t("graph.named_after")) }
                    th.number scope="col" { (words.t("graph.size")) }
                    th scope="col" { (words.t("graph.members")) }
                }
            }
            tbody {
                @for (number, cluster) in view.clusters.iter().take(CLUSTERS).enumerate() {
                    tr id={ "cluster-" (number + 1) } {
                        td.number { (number + 1) }
                        th scope="row" { (link(words, view, cluster.named_after)) }
                        td.number { (words.number(cluster.nodes.len() as u64)) }
                        td {
                            ul {
                                @for &member in cluster.nodes.iter().skip(1).take(MEMBERS) { li { (link(words, view, member)) } }
                                @if let Some(more) = more(words, cluster.nodes.len()) { li.quiet { (more) } }
                            }
                        }
                    }
                }
            }
        }
    };
    let title = words.with("graph.clusters_table", &[("n", &words.number(view.clusters.len() as u64))]);
    folded("graph-clusters", &title, words.t("graph.clusters_note"), false, &table)
}

/// How many members of a cluster of this size are not named.
fn more(words: Words, size: usize) -> Option<String> {
    let more = size.checked_sub(MEMBERS + 1).filter(|more| *more > 0)?;
    Some(words.with("graph.and_more", &[("n", &words.number(more as u64))]))
}

fn hubs(words: Words, view: &GraphView) -> Markup {
    let table = html! {
        table {
            thead {
                tr {
                    th scope="col" { (words.t("graph.node")) }
                    th scope="col" { (words.t("graph.kind")) }
                    th.number scope="col" { (words.t("graph.pagerank")) }
                    th.number scope="col" { (words.t("graph.betweenness")) }
                    th.number scope="col" { (words.t("graph.relations")) }
                }
            }
            tbody {
                @for (hub, node) in view.hubs.iter().filter_map(|hub| Some((hub, view.nodes.get(hub.node)?))) {
                    tr {
                        th scope="row" { (link(words, view, hub.node)) }
                        td { (words.t(kind(node))) }
                        td.number { (format!("{:.4}", hub.pagerank)) }
                        td.number { (format!("{:.4}", hub.betweenness)) }
                        td.number { (words.number(node.relation_count as u64)) }
                    }
                }
            }
        }
        @if let Some(sampled) = view.betweenness_sampled_sources {
            p.small.quiet { (words.with("graph.sampled", &[("n", &words.number(sampled as u64))])) }
        }
    };
    folded("graph-hubs", words.t("graph.hubs_table"), words.t("graph.hubs_note"), false, &table)
}

fn loops(words: Words, view: &GraphView) -> Markup {
    let list = html! {
        ol.loops {
            @for circle in &view.loops {
                li {
                    @for &at in circle { (link(words, view, at)) " → " }
                    @if let Some(&first) = circle.first() { (link(words, view, first)) }
                }
            }
        }
        @if view.loops_truncated { p.small.quiet { (words.t("graph.loops_truncated")) } }
    };
    let title = words.with("graph.loops_table", &[("n", &words.number(view.loops.len() as u64))]);
    folded("graph-loops", &title, words.t("graph.loops_note"), false, &list)
}

fn edges(words: Words, wanted: &Wanted, task: &TaskId, view: &GraphView) -> Markup {
    if !wanted.edges {
        let with = Wanted { edges: true, ..wanted.clone() };
        return html! {
            @if !view.edges.is_empty() {
                p { a href={ (with.address(task)) "#graph-edges" } data-graph-link { (words.t("graph.show_edges")) } }
            }
        };
    }
    let name = |relation: &str| {
        RELATIONS
            .iter()
            .find(|(word, _)| *word == relation)
            .map_or(words.t("graph.part_of"), |(_, text)| words.t(text))
    };
    let table = html! {
        table {
            thead {
                tr {
                    th scope="col" { (words.t("graph.from")) }
                    th scope="col" { (words.t("graph.relation")) }
                    th scope="col" { (words.t("graph.to")) }
                    th.number scope="col" { (words.t("graph.probability")) }
                    th.number scope="col" { (words.t("graph.times")) }
                }
            }
            tbody {
                @for edge in view.edges.iter().take(EDGES) {
                    tr {
                        td { (link(words, view, edge.from)) }
                        td { (name(edge.relation)) }
                        td { (link(words, view, edge.to)) }
                        td.number { @if let Some(confidence) = edge.nli_confidence { (format!("{confidence:.2}")) } }
                        td.number { (words.number(edge.count as u64)) }
                    }
                }
            }
        }
    };
    let cut = view.edges.len() > EDGES;
    let note = if cut {
        words.with("graph.edges_cut", &[("n", &words.number(EDGES as u64))])
    } else {
        String::new()
    };
    folded("graph-edges", words.t("graph.edges_table"), &note, true, &table)
}
