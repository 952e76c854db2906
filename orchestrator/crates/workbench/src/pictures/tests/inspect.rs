//! Reads a picture's markup as XML, and checks what holds for all of them.

use crate::pictures::label;
use maud::Markup;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use std::collections::{BTreeMap, BTreeSet};

type Attributes = BTreeMap<String, String>;

/// An element with the text directly in it.
struct Element {
    name: String,
    attributes: Attributes,
    text: String,
    /// Width and height of the view box around it.
    size: Option<(f64, f64)>,
}

/// Checks a picture or table whose ids begin with `prefix`.
#[track_caller]
pub(super) fn check(prefix: &str, markup: &Markup) {
    let elements = elements(markup);
    check_ids(markup);
    for element in &elements {
        if let Some(id) = element.attributes.get("id") {
            assert!(id.starts_with(&format!("{prefix}-")), "{id}");
        }
        check_looks(element);
        if let Some(size) = element.size {
            check_places(element, size);
        }
    }
    for svg in elements
        .iter()
        .filter(|element| element.name == "svg" && !element.attributes.contains_key("aria-hidden"))
    {
        assert_eq!(svg.attributes.get("role").map(String::as_str), Some("img"));
        assert!(svg.attributes.contains_key("aria-labelledby"));
    }
}

/// Checks that every id is unique, and that what refers to an id refers to one that exists.
#[track_caller]
pub(super) fn check_ids(markup: &Markup) {
    let elements = elements(markup);
    let all: Vec<&String> = elements.iter().filter_map(|element| element.attributes.get("id")).collect();
    let ids: BTreeSet<&str> = all.iter().map(|id| id.as_str()).collect();
    assert_eq!(all.len(), ids.len(), "{all:?}");
    for element in &elements {
        for (name, value) in &element.attributes {
            let reference = value.strip_prefix("url(#").and_then(|rest| rest.strip_suffix(')'));
            let references = if name == "aria-labelledby" {
                value.split(' ').collect()
            } else {
                Vec::from_iter(reference)
            };
            for reference in references {
                assert!(ids.contains(reference), "{reference} is not among {ids:?}");
            }
        }
    }
}

/// Checks that ids hold plain characters only.
#[track_caller]
pub(super) fn check_with_plain_prefix(markup: &Markup) {
    check_ids(markup);
    for element in elements(markup) {
        if let Some(id) = element.attributes.get("id") {
            assert!(id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_'), "{id}");
        }
    }
}

/// The texts of a picture, in order.
pub(super) fn texts_of(markup: &Markup) -> Vec<String> {
    elements(markup)
        .into_iter()
        .filter(|element| element.name == "text")
        .map(|element| element.text)
        .collect()
}

/// Colors come from classes alone, and nothing acts.
#[track_caller]
fn check_looks(element: &Element) {
    for (name, value) in &element.attributes {
        assert!(name != "style" && !name.starts_with("on") && name != "href", "{name}={value}");
        if name == "fill" || name == "stroke" {
            assert!(
                value == "none" || value == "currentColor" || value.starts_with("url(#"),
                "{name}={value}"
            );
        }
    }
    assert!(!matches!(element.name.as_str(), "script" | "style" | "foreignObject" | "image" | "use" | "a"));
}

/// Everything that is drawn lies in the view box.
#[track_caller]
fn check_places(element: &Element, (width, height): (f64, f64)) {
    let number = |name: &str| element.attributes.get(name).map(|value| parsed(value));
    let within = |x: f64, y: f64| {
        let inside = (-1e-6..=width + 1e-6).contains(&x) && (-1e-6..=height + 1e-6).contains(&y);
        assert!(inside, "{} {:?} is not within {width} × {height}", element.name, element.attributes);
    };
    for (name, value) in &element.attributes {
        if matches!(
            name.as_str(),
            "x" | "y" | "x1" | "y1" | "x2" | "y2" | "cx" | "cy" | "r" | "width" | "height"
        ) {
            parsed(value);
        }
    }
    match element.name.as_str() {
        "line" => {
            for (x, y) in [("x1", "y1"), ("x2", "y2")] {
                within(number(x).unwrap(), number(y).unwrap());
            }
        }
        "rect" => {
            let (x, y) = (number("x").unwrap(), number("y").unwrap());
            within(x, y);
            within(x + number("width").unwrap() - 0.02, y + number("height").unwrap() - 0.02);
        }
        "circle" => {
            let (x, y, r) = (number("cx").unwrap(), number("cy").unwrap(), number("r").unwrap());
            within(x - r, y - r);
            within(x + r, y + r);
        }
        "polyline" | "polygon" => {
            for point in element.attributes["points"].split_whitespace() {
                let (x, y) = point.split_once(',').unwrap();
                within(parsed(x), parsed(y));
            }
        }
        "text" => {
            let (x, y, long) = (number("x").unwrap(), number("y").unwrap(), label::width(&element.text));
            let (left, right) = match element.attributes["text-anchor"].as_str() {
                "start" => (x, x + long),
                "end" => (x - long, x),
                _ => (x - long / 2.0, x + long / 2.0),
            };
            within(left, y - label::SIZE * 0.8);
            within(right, y);
        }
        _ => {}
    }
}

/// A number or percentage.
#[track_caller]
fn parsed(value: &str) -> f64 {
    let number: f64 = value.trim_end_matches('%').parse().unwrap_or(f64::NAN);
    assert!(number.is_finite(), "{value} is not a number");
    number
}

/// All elements in order. Panics where the markup is not well-formed.
fn elements(markup: &Markup) -> Vec<Element> {
    let mut reader = Reader::from_str(&markup.0);
    let mut read: Vec<Element> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    loop {
        match reader.read_event().unwrap() {
            Event::Start(start) => {
                let outer = open.last().and_then(|i| read[*i].size);
                read.push(element(&start, outer));
                open.push(read.len() - 1);
            }
            Event::End(_) => {
                open.pop();
            }
            Event::Text(text) => {
                if let Some(i) = open.last() {
                    read[*i].text.push_str(&text);
                }
            }
            Event::GeneralRef(reference) => {
                let written = format!("&{};", &*reference);
                let text = quick_xml::escape::unescape(&written).unwrap().into_owned();
                read[*open.last().unwrap()].text.push_str(&text);
            }
            Event::Eof => break,
            other => panic!("{other:?} is not expected in a picture"),
        }
    }
    assert!(open.is_empty());
    read
}

fn element(start: &BytesStart<'_>, outer: Option<(f64, f64)>) -> Element {
    let attributes: Attributes = start
        .attributes()
        .map(|attribute| attribute.map(|a| (a.key.as_ref().to_owned(), a.value.into_owned())).unwrap())
        .collect();
    let name = start.name().as_ref().to_owned();
    let size = match (name.as_str(), attributes.get("viewBox")) {
        // Places within a pattern are those of its tile.
        ("pattern", _) => None,
        ("svg", Some(view)) => {
            let ends: Vec<f64> = view.split(' ').map(parsed).collect();
            assert_eq!(ends[..2], [0.0, 0.0]);
            Some((ends[2], ends[3]))
        }
        // Without a view box, places across are percentages.
        ("svg", None) => Some((100.0, parsed(&attributes["height"]))),
        _ => outer,
    };
    Element { name, attributes, text: String::new(), size }
}
