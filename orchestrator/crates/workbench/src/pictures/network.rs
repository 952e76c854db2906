//! A graph: nodes of several kinds where a layout put them, and the lines between them.
//!
//! Kinds differ in shape: claims are circles, passages diamonds, works squares. A claim that is supported has a
//! triangle that points up, a refuted one a triangle that points down; a contested one is half of each, an open one is hollow.

use super::frame::{Anchor, Ids, named, names, text};
use super::label::{self, SIZE};
use super::scale::Px;
use maud::{Markup, html};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Width of the picture, in pixels at 100 %; graphs that need less are no wider.
const WIDTH: f64 = 1_100.0;
/// Least width and height, so that the labels of few nodes fit.
const LEAST: (f64, f64) = (720.0, 240.0);
/// Space around the nodes, for labels.
const MARGIN: f64 = 48.0;
/// Longest label, in pixels.
const LABEL: f64 = 150.0;
/// Labels, at most.
const LABELS: usize = 40;

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// A claim that passages support and none refutes.
    Supported,
    /// A claim that passages refute and none supports.
    Refuted,
    /// A claim with passages on both sides.
    Contested,
    /// A claim on which no passage takes a side.
    Open,
    /// A passage.
    Passage,
    /// A work.
    Work,
    /// A work that was retracted.
    Retracted,
}

/// What a line says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Line {
    /// A passage is from a work.
    PartOf,
    /// A work cites another.
    Cites,
    /// A claim was found there.
    Origin,
    /// Neither supports nor refutes.
    Neutral,
    /// Supports.
    Supports,
    /// Refutes.
    Refutes,
}

impl Line {
    fn class(self) -> &'static str {
        match self {
            Self::Supports => "support",
            Self::Refutes => "refute",
            Self::Neutral => "neutral",
            Self::Cites | Self::Origin | Self::PartOf => "axis",
        }
    }

    /// Lengths of dashes and gaps; `None` for a whole line.
    fn dashes(self) -> Option<&'static str> {
        match self {
            Self::Supports | Self::Cites => None,
            Self::Refutes => Some("6 3"),
            Self::Neutral | Self::Origin => Some("2 3"),
            Self::PartOf => Some("1 2"),
        }
    }
}

/// A node.
#[derive(Debug, Clone, Copy)]
pub struct Node<'a> {
    /// Where it is, in pixels at 100 %, in any range.
    pub x: f64,
    /// The same, down.
    pub y: f64,
    /// How far it reaches, in pixels, at most 20.
    pub radius: f64,
    /// What it is.
    pub mark: Mark,
    /// Its name.
    pub label: &'a str,
    /// Where a click on it leads.
    pub href: &'a str,
}

/// Words of the picture.
#[derive(Debug, Clone, Copy)]
pub struct Texts<'a> {
    /// Title.
    pub title: &'a str,
    /// Description.
    pub description: &'a str,
}

/// The nodes, the heaviest first, with lines between them by their places. Lines to nodes that are not there are left out.
/// The picture is a group of links and so no image; its links are left out of the order of the Tab key, because a table with
/// the same links follows.
pub fn picture(ids: &str, nodes: &[Node<'_>], lines: &[(usize, usize, Line)], texts: &Texts<'_>) -> Markup {
    let ids = Ids::new(ids);
    let (places, width, height) = placed(nodes);
    html! {
        figure class="picture network" {
            svg viewBox={ "0 0 " (Px(width)) " " (Px(height)) } width=(Px(width)) height=(Px(height)) font-size=(Px(SIZE))
                role="group" aria-labelledby=(names(&ids)) {
                (named(&ids, texts.title, texts.description))
                g aria-hidden="true" {
                    @for (line, path) in paths(&places, lines) {
                        path class=(line.class()) d=(path) fill="none" stroke="currentColor" stroke-width="1"
                            stroke-opacity="0.4" stroke-dasharray=[line.dashes()] {}
                    }
                }
                @for (node, &(x, y)) in nodes.iter().zip(&places) {
                    a href=(node.href) tabindex="-1" {
                        title { (label::full(node.label)) }
                        (mark(node.mark, x, y, radius(node)))
                    }
                }
                g class="names" aria-hidden="true" {
                    @for (at, shown) in labels(nodes, &places, width, height) {
                        (text(places[at].0, below(&nodes[at], places[at]), Anchor::Middle, &shown))
                    }
                }
            }
        }
    }
}

fn radius(node: &Node<'_>) -> f64 {
    if node.radius.is_finite() { node.radius.clamp(2.0, 20.0) } else { 2.0 }
}

/// Where the label of a node stands.
fn below(node: &Node<'_>, (_, y): (f64, f64)) -> f64 {
    y + radius(node) + SIZE + 1.0
}

/// Points within the picture, and its width and height.
fn placed(nodes: &[Node<'_>]) -> (Vec<(f64, f64)>, f64, f64) {
    let sane = |value: f64| if value.is_finite() { value.clamp(-1e7, 1e7) } else { 0.0 };
    let points: Vec<(f64, f64)> = nodes.iter().map(|node| (sane(node.x), sane(node.y))).collect();
    let ends = |of: fn(&(f64, f64)) -> f64| {
        points
            .iter()
            .map(of)
            .fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)))
    };
    let ((left, right), (top, bottom)) = (ends(|point| point.0), ends(|point| point.1));
    let (across, down) = ((right - left).max(0.0), (bottom - top).max(0.0));
    let scale = ((WIDTH - 2.0 * MARGIN) / across.max(1.0)).min(1.0);
    let (width, height) =
        ((across * scale + 2.0 * MARGIN).max(LEAST.0), (down * scale + 2.0 * MARGIN).max(LEAST.1));
    let x = |value: f64| width / 2.0 + (value - f64::midpoint(left, right)) * scale;
    let y = |value: f64| height / 2.0 + (value - f64::midpoint(top, bottom)) * scale;
    (points.into_iter().map(|point| (x(point.0), y(point.1))).collect(), width, height)
}

/// All lines of a kind as one path.
fn paths(places: &[(f64, f64)], lines: &[(usize, usize, Line)]) -> BTreeMap<Line, String> {
    let mut paths: BTreeMap<Line, String> = BTreeMap::new();
    for &(from, to, line) in lines {
        if let (Some(from), Some(to)) = (places.get(from), places.get(to)) {
            let path = paths.entry(line).or_default();
            // Writing to a string cannot fail.
            let _ = write!(path, "M{} {}L{} {}", Px(from.0), Px(from.1), Px(to.0), Px(to.1));
        }
    }
    paths
}

/// Labels of the first nodes that have room for theirs.
fn labels(nodes: &[Node<'_>], places: &[(f64, f64)], width: f64, height: f64) -> Vec<(usize, String)> {
    let mut taken: Vec<[f64; 4]> = Vec::new();
    let mut shown = Vec::new();
    for (at, node) in nodes.iter().enumerate().take(3 * LABELS) {
        let text = label::fit(node.label, LABEL);
        let (x, bottom) = (places[at].0, below(node, places[at]) + 3.0);
        let half = label::width(&text) / 2.0;
        let own = [x - half, bottom - SIZE - 3.0, x + half, bottom];
        let free = |other: &[f64; 4]| {
            own[2] < other[0] || other[2] < own[0] || own[3] < other[1] || other[3] < own[1]
        };
        if !text.is_empty() && own[0] >= 0.0 && own[2] <= width && own[3] <= height && taken.iter().all(free)
        {
            taken.push(own);
            shown.push((at, text));
            if shown.len() == LABELS {
                break;
            }
        }
    }
    shown
}

/// The mark of a node around a point.
fn mark(mark: Mark, x: f64, y: f64, r: f64) -> Markup {
    let circle = |class: &str, fill: &str| {
        html! {
            circle class=(class) cx=(Px(x)) cy=(Px(y)) r=(Px(r)) fill=(fill)
                stroke="currentColor" stroke-width="1.5" {}
        }
    };
    let path = |class: &str, d: String| html! { path class=(class) d=(d) fill="currentColor" {} };
    // Half the width of a triangle, and its height; negative for one that points down.
    let triangle = |s: f64| {
        path("hole", format!("M{} {}l{} {}h{}z", Px(x), Px(y - s), Px(s), Px(1.6 * s), Px(-2.0 * s)))
    };
    match mark {
        Mark::Supported => html! { (circle("support", "currentColor")) (triangle(0.55 * r)) },
        Mark::Refuted => html! { (circle("refute", "currentColor")) (triangle(-0.55 * r)) },
        Mark::Contested => {
            let half = format!("M{} {}a{r} {r} 0 0 1 0 {}z", Px(x), Px(y - r), Px(2.0 * r), r = Px(r));
            html! { (circle("support", "currentColor")) (path("refute", half)) }
        }
        Mark::Open => html! {
            g class="neutral" {
                (circle("ground", "currentColor"))
                circle cx=(Px(x)) cy=(Px(y)) r=(Px(r)) fill="none" stroke="currentColor" stroke-width="1.5" {}
            }
        },
        Mark::Passage => {
            path("neutral", format!("M{} {}l{d} {d}l-{d} {d}l-{d} -{d}z", Px(x), Px(y - r), d = Px(r)))
        }
        Mark::Work | Mark::Retracted => {
            let side = 0.88 * r;
            let cross = format!("M{} {}l{d} {d}m0 -{d}l-{d} {d}", Px(x - r), Px(y - r), d = Px(2.0 * r));
            let (left, top, width) = (Px(x - side), Px(y - side), Px(2.0 * side));
            html! {
                rect class="work" x=(left) y=(top) width=(width) height=(width) rx="1.5" fill="currentColor" {}
                @if mark == Mark::Retracted {
                    path class="refute" d=(cross) fill="none" stroke="currentColor" stroke-width="2" {}
                }
            }
        }
    }
}

/// An entry of the legend: a mark.
pub fn mark_key(mark: Mark, text: &str) -> Markup {
    key(text, &self::mark(mark, 8.0, 7.0, 6.0))
}

/// An entry of the legend: a line.
pub fn line_key(line: Line, text: &str) -> Markup {
    let drawn = html! {
        path class=(line.class()) d="M0 7H20" fill="none" stroke="currentColor" stroke-width="1.5"
            stroke-dasharray=[line.dashes()] {}
    };
    key(text, &drawn)
}

fn key(text: &str, drawn: &Markup) -> Markup {
    html! {
        span class="key" {
            svg viewBox="0 0 20 14" width="20" height="14" aria-hidden="true" focusable="false" { (drawn) }
            " " (text)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use quick_xml::Reader;
    use quick_xml::events::Event;

    const TEXTS: Texts<'static> = Texts { title: "Graph", description: "Nodes & lines" };
    const MARKS: [Mark; 7] = [
        Mark::Supported,
        Mark::Refuted,
        Mark::Contested,
        Mark::Open,
        Mark::Passage,
        Mark::Work,
        Mark::Retracted,
    ];

    /// Counts elements by name; panics where the markup is not well-formed.
    fn elements(markup: &Markup) -> BTreeMap<String, usize> {
        let mut reader = Reader::from_str(&markup.0);
        let mut counts = BTreeMap::new();
        loop {
            match reader.read_event().expect("well-formed markup") {
                Event::Start(start) => {
                    *counts.entry(start.name().as_ref().to_owned()).or_default() += 1;
                    for attribute in start.attributes() {
                        let attribute = attribute.expect("an attribute");
                        let (name, value) = (attribute.key.as_ref().to_owned(), attribute.value.into_owned());
                        assert!(name != "style" && !name.starts_with("on"), "{name}={value}");
                    }
                }
                Event::Eof => return counts,
                _ => {}
            }
        }
    }

    proptest! {
        #[test]
        fn any_nodes_give_a_picture(
            places in prop::collection::vec((any::<f64>(), any::<f64>(), any::<f64>(), 0..7_usize), 0..40),
            lines in prop::collection::vec((0..50_usize, 0..50_usize), 0..40),
            label in prop_oneof!["\\PC{0,60}", Just("</title><script>alert(1)</script>".to_owned())],
        ) {
            let nodes: Vec<Node<'_>> = places
                .iter()
                .map(|&(x, y, radius, mark)| Node { x, y, radius, mark: MARKS[mark], label: &label, href: "/claims/x" })
                .collect();
            let lines: Vec<_> = lines.into_iter().map(|(from, to)| (from, to, Line::Refutes)).collect();
            let drawn = picture("g", &nodes, &lines, &TEXTS);
            let counts = elements(&drawn);
            prop_assert_eq!(counts.get("a").copied().unwrap_or(0), nodes.len());
            prop_assert!(!counts.contains_key("script"));
            prop_assert!(!drawn.0.contains("NaN") && !drawn.0.contains("inf"));
            let (points, width, height) = placed(&nodes);
            let inside = |&(x, y): &(f64, f64)| (0.0..=width).contains(&x) && (0.0..=height).contains(&y);
            prop_assert!(points.iter().all(inside), "{:?} {} {}", points, width, height);
        }
    }

    #[test]
    fn labels_do_not_lie_on_each_other() {
        let node = |x: f64, label| Node { x, y: 0.0, radius: 6.0, mark: Mark::Work, label, href: "/pages/x" };
        let nodes = [node(0.0, "The heaviest of all"), node(5.0, "Another one"), node(300.0, "Far away")];
        let (places, width, height) = placed(&nodes);
        let shown: Vec<usize> =
            labels(&nodes, &places, width, height).into_iter().map(|(at, _)| at).collect();
        assert_eq!(shown, [0, 2]);
    }

    #[test]
    fn lines_of_a_kind_are_one_path() {
        let node = |x: f64| Node { x, y: 0.0, radius: 6.0, mark: Mark::Open, label: "", href: "/claims/x" };
        let nodes = [node(0.0), node(50.0), node(90.0)];
        let lines =
            [(0, 1, Line::Supports), (1, 2, Line::Supports), (0, 2, Line::Refutes), (0, 9, Line::Cites)];
        let paths = paths(&placed(&nodes).0, &lines);
        assert_eq!(paths.keys().copied().collect::<Vec<_>>(), [Line::Supports, Line::Refutes]);
        assert_eq!(paths[&Line::Supports].matches('M').count(), 2);
    }
}
