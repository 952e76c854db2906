//! The parts of an HTML page that its readers do not see.

use crate::dom::{Visit, is_hidden, parse, single_spaces, walk};
use dom_query::NodeRef;

/// Most pieces of a page to examine, and characters of each: no real page has more.
const MAX_PIECES: usize = 5_000;
const MAX_CHARS: usize = 50_000;

/// Hidden from most readers, or in another place than the text: no reason to take a page for hostile.
const SEEN_ELSEWHERE: [&str; 4] = ["meta", "attribute", "link", "aria-hidden"];

/// A text that readers do not see.
pub(super) struct Piece {
    /// How it is hidden.
    pub(super) how: &'static str,
    /// Whether it is hidden from people while machines read it; links are not hidden, they are only not text.
    pub(super) hidden: bool,
    /// Whether no reader ever sees it, as far as the page tells: search engines show descriptions, and browsers show
    /// titles of elements.
    pub(super) unseen: bool,
    pub(super) text: String,
}

/// Hidden elements, comments, attributes that hold text, and the addresses of links and images.
pub(super) fn pieces(html: &str) -> Vec<Piece> {
    let document = parse(html).document;
    let mut found = Vec::new();
    collect(document.root(), &mut found);
    found
}

fn collect(root: NodeRef<'_>, found: &mut Vec<Piece>) {
    let push = |found: &mut Vec<Piece>, how: &'static str, hidden: bool, text: &str| {
        let text: String = single_spaces(text).chars().take(MAX_CHARS).collect();
        if text.chars().count() >= 12 && found.len() < MAX_PIECES {
            let unseen = hidden && !SEEN_ELSEWHERE.contains(&how);
            found.push(Piece { how, hidden, unseen, text });
        }
    };
    for node in root.descendants_it().filter(NodeRef::is_comment) {
        if let Some(comment) = comment_text(&node) {
            push(found, "comment", true, &comment);
        }
    }
    walk(root, |visit| {
        let Visit::Enter(node, name) = visit else { return true };
        match name.as_str() {
            "script" | "style" => return false,
            "noscript" | "template" => {
                push(found, "never shown", true, &node.text());
                return false;
            }
            "meta" => {
                let named = node.attr_or("name", "").to_ascii_lowercase();
                if !named.starts_with("citation_") {
                    push(found, "meta", true, &node.attr_or("content", ""));
                }
            }
            "a" => push(found, "link", false, &node.attr_or("href", "")),
            "img" | "iframe" => push(found, "link", false, &node.attr_or("src", "")),
            _ => {}
        }
        for attribute in ["alt", "title", "aria-label", "data-prompt", "placeholder"] {
            if let Some(value) = node.attr(attribute) {
                push(found, "attribute", true, &value);
            }
        }
        if let Some(how) = is_hidden(&node) {
            push(found, how, true, &text_of(node));
            return false;
        }
        true
    });
}

fn comment_text(node: &NodeRef<'_>) -> Option<String> {
    node.query(|node| match &node.data {
        dom_query::NodeData::Comment { contents } => Some(contents.to_string()),
        _ => None,
    })
    .flatten()
}

/// All text below an element, hidden or not.
fn text_of(node: NodeRef<'_>) -> String {
    let mut text = String::new();
    walk(node, |visit| {
        match visit {
            Visit::Enter(_, name) if matches!(name.as_str(), "script" | "style") => return false,
            Visit::Enter(..) | Visit::Leave(_) => {
                if !text.ends_with(' ') {
                    text.push(' ');
                }
            }
            Visit::Text(found) => text.push_str(&found),
        }
        true
    });
    text
}
