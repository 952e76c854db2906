//! The view as a picture, and its legend.

use crate::pictures::network::{Line, Mark, Node, Texts, line_key, mark_key, picture as draw};
use crate::words::Words;
use lyra_wire::{GraphNode, GraphView};
use maud::{Markup, html};

/// Nodes that are drawn as SVG: the heaviest.
const DRAWN: usize = 300;

/// The heaviest nodes of the view as SVG, with links.
pub(super) fn picture(words: Words, view: &GraphView) -> Markup {
    let nodes: Vec<Node<'_>> = view.nodes.iter().take(DRAWN).map(node).collect();
    let lines: Vec<(usize, usize, Line)> =
        view.edges.iter().map(|edge| (edge.from, edge.to, line(edge.relation))).collect();
    let texts = Texts { title: words.t("graph.title"), description: words.t("graph.description") };
    html! {
        @if nodes.is_empty() {
            p.empty { (words.t("graph.nothing")) }
        } @else {
            (draw("graph-svg", &nodes, &lines, &texts))
            @if view.nodes.len() > DRAWN {
                p.small.quiet {
                    (words.with("graph.drawn", &[("n", &words.number(DRAWN as u64))]))
                }
            }
        }
    }
}

fn node(node: &GraphNode) -> Node<'_> {
    // As the layout keeps it free.
    let radius = 4.0 + 8.0 * node.weight.sqrt();
    Node { x: node.x, y: node.y, radius, mark: mark(node), label: &node.label, href: &node.path }
}

fn mark(node: &GraphNode) -> Mark {
    match (node.kind, node.side) {
        (_, Some("supported")) => Mark::Supported,
        (_, Some("refuted")) => Mark::Refuted,
        (_, Some("contested")) => Mark::Contested,
        ("claim", _) => Mark::Open,
        ("passage", _) => Mark::Passage,
        _ if node.is_retracted => Mark::Retracted,
        _ => Mark::Work,
    }
}

fn line(relation: &str) -> Line {
    match relation {
        "supports" => Line::Supports,
        "refutes" => Line::Refutes,
        "neutral" => Line::Neutral,
        "origin" => Line::Origin,
        "cites" => Line::Cites,
        _ => Line::PartOf,
    }
}

/// What shapes and lines mean.
pub(super) fn legend(words: Words) -> Markup {
    html! {
        p.legend {
            @for (mark, text) in [
                (Mark::Supported, "graph.supported"), (Mark::Refuted, "graph.refuted"), (Mark::Contested, "common.contested"),
                (Mark::Open, "graph.undecided"), (Mark::Work, "graph.work"), (Mark::Retracted, "common.retracted"),
                (Mark::Passage, "graph.passage"),
            ] {
                (mark_key(mark, words.t(text)))
            }
            @for (line, text) in [
                (Line::Supports, "common.supports"), (Line::Refutes, "common.refutes"), (Line::Neutral, "common.neutral"),
                (Line::Cites, "graph.cites"), (Line::Origin, "graph.origin"), (Line::PartOf, "graph.part_of"),
            ] {
                (line_key(line, words.t(text)))
            }
        }
    }
}
