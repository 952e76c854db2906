//! Texts that a page brings along for its scripts to show: JSON-LD's `articleBody`, and a template in the element of
//! the article.

use super::blocks::{self, BlockKind, Builder, Content};
use super::boilerplate;
use crate::dom::{parse, single_spaces};
use dom_query::Document;
use serde_json::Value;
use std::collections::VecDeque;
use url::Url;

/// Nodes of JSON-LD that are looked at.
const MAX_JSON_NODES: usize = 5_000;
/// Elements of each kind that are read.
const MAX_ELEMENTS: usize = 8;

/// The longest of these texts; empty without any texts.
pub(super) fn text(document: &Document, base: &Url) -> Content {
    let templates = "[itemprop~='articleBody'] script[type='text/template'], \
         [itemprop~='articleBody'] script[type='text/html']";
    let templates = document
        .select(templates)
        .nodes()
        .iter()
        .take(MAX_ELEMENTS)
        .map(|node| from_html(&node.text(), base))
        .collect::<Vec<_>>();
    let linked = document.select("script[type='application/ld+json']");
    let bodies = linked.nodes().iter().take(MAX_ELEMENTS).filter_map(|node| {
        let body = article_body(&serde_json::from_str(node.text().trim()).ok()?)?;
        Some(if body.contains("</") { from_html(&body, base) } else { from_lines(&body) })
    });
    templates.into_iter().chain(bodies).max_by_key(|content| content.text.len()).unwrap_or_default()
}

/// Breadth first: the page's own article stands above articles that it mentions.
fn article_body(value: &Value) -> Option<String> {
    let mut todo = VecDeque::from([value]);
    for _ in 0..MAX_JSON_NODES {
        match todo.pop_front()? {
            Value::Array(items) => todo.extend(items),
            Value::Object(object) => {
                if let Some(Value::String(body)) = object.get("articleBody") {
                    return Some(body.clone());
                }
                todo.extend(object.values().filter(|value| value.is_object() || value.is_array()));
            }
            _ => {}
        }
    }
    None
}

fn from_html(html: &str, base: &Url) -> Content {
    let document = parse(html).document;
    boilerplate::clear(document.root());
    blocks::read(document.root(), base)
}

fn from_lines(text: &str) -> Content {
    let mut out = Builder::default();
    for line in text.lines() {
        out.push(BlockKind::Paragraph, &single_spaces(line));
    }
    let places = vec![None; out.blocks.len()];
    Content { text: out.text, blocks: out.blocks, links: Vec::new(), places }
}
