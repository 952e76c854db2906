//! The elements of a tree in document order, with how much text each holds: one walk, after which rules ask at no cost.

use crate::dom::{Visit, is_hidden, is_invisible_element, is_reading, walk};
use dom_query::NodeRef;

/// What an element holds. White space is not counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Amount {
    /// Characters.
    pub(super) chars: usize,
    /// Characters in links.
    pub(super) linked: usize,
    /// Links with text.
    pub(super) links: usize,
    /// Characters in paragraphs, outside links.
    pub(super) prose: usize,
    /// Fields and buttons.
    pub(super) controls: usize,
    /// Items of lists.
    pub(super) items: usize,
    /// Elements that are articles, itself included.
    pub(super) articles: usize,
}

impl Amount {
    /// Characters outside links.
    pub(super) fn plain(&self) -> usize {
        self.chars - self.linked
    }

    /// Whether at least `percent` of 100 characters are in links.
    pub(super) fn is_linked(&self, percent: usize) -> bool {
        self.chars > 0 && self.linked * 100 >= self.chars * percent
    }

    pub(super) fn since(&self, before: &Self) -> Self {
        Self {
            chars: self.chars - before.chars,
            linked: self.linked - before.linked,
            links: self.links - before.links,
            prose: self.prose - before.prose,
            controls: self.controls - before.controls,
            items: self.items - before.items,
            articles: self.articles - before.articles,
        }
    }
}

/// An element.
pub(super) struct Part<'a> {
    pub(super) node: NodeRef<'a>,
    pub(super) name: String,
    /// The element around it, as an index.
    pub(super) parent: Option<usize>,
    /// One past the last element in it, as an index.
    pub(super) end: usize,
    pub(super) amount: Amount,
    /// What stands before it.
    pub(super) before: Amount,
    /// Characters that stand in it and in no element within.
    pub(super) own: usize,
    /// Hidden from readers by its own attributes. Its content is not split further.
    pub(super) hidden: bool,
}

/// The elements under `root`, itself the first, in document order. What no reader sees is left out, but for the
/// elements that are hidden by an attribute.
pub(super) fn outline(root: NodeRef<'_>) -> Vec<Part<'_>> {
    let mut parts: Vec<Part<'_>> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    let mut befores: Vec<Amount> = Vec::new();
    let mut sum = Amount::default();
    let (mut links, mut paragraphs) = (0_usize, 0_usize);
    let mut link_has_text = false;
    walk(root, |visit| {
        match visit {
            Visit::Enter(node, name) => {
                if is_invisible_element(&name) || is_reading(&name) {
                    return false;
                }
                let hidden = is_hidden(&node).is_some();
                let parent = open.last().copied();
                let end = parts.len() + 1;
                if hidden {
                    parts.push(Part {
                        node,
                        name,
                        parent,
                        end,
                        amount: Amount::default(),
                        before: sum,
                        own: 0,
                        hidden,
                    });
                    return false;
                }
                befores.push(sum);
                open.push(parts.len());
                match name.as_str() {
                    "a" => {
                        links += 1;
                        link_has_text = false;
                    }
                    "p" | "blockquote" | "pre" => paragraphs += 1,
                    "article" => sum.articles += 1,
                    "li" => sum.items += 1,
                    "input" | "button" | "select" | "textarea" => sum.controls += 1,
                    _ => {}
                }
                parts.push(Part {
                    node,
                    name,
                    parent,
                    end,
                    amount: Amount::default(),
                    before: sum,
                    own: 0,
                    hidden,
                });
            }
            Visit::Text(text) => {
                let chars = text.chars().filter(|c| !c.is_whitespace()).count();
                sum.chars += chars;
                if let Some(at) = open.last() {
                    parts[*at].own += chars;
                }
                if links > 0 {
                    sum.linked += chars;
                    link_has_text |= chars > 0;
                } else if paragraphs > 0 {
                    sum.prose += chars;
                }
            }
            Visit::Leave(name) => {
                match name.as_str() {
                    "a" => {
                        links = links.saturating_sub(1);
                        sum.links += usize::from(link_has_text);
                        link_has_text = false;
                    }
                    "p" | "blockquote" | "pre" => paragraphs = paragraphs.saturating_sub(1),
                    _ => {}
                }
                if let (Some(at), Some(before)) = (open.pop(), befores.pop()) {
                    parts[at].amount = sum.since(&before);
                    parts[at].end = parts.len();
                }
            }
        }
        true
    });
    parts
}
