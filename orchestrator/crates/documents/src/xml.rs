//! XML as a tree: no entities but characters, nothing from outside, bounded depth and size.

use crate::budget::Budget;
use crate::encoding::decode_xml;
use crate::{ReadError, Result};
use quick_xml::Reader;
use quick_xml::escape::{resolve_html5_entity, unescape_with};
use quick_xml::events::{BytesStart, Event};
use std::collections::HashMap;

/// How strictly markup is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Markup {
    /// XML: broken markup is an error.
    Strict,
    /// XHTML of books: what can be read is read.
    Lenient,
}

/// A document, its nodes in the order in which they begin.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    nodes: Vec<Node>,
    names: Vec<Box<str>>,
}

#[derive(Debug)]
struct Node {
    content: NodeContent,
    /// Position after its last descendant.
    end: u32,
}

#[derive(Debug)]
enum NodeContent {
    Element { name: u32, attributes: Vec<(u32, Box<str>)> },
    Text(String),
}

/// An element of a tree.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Element<'t> {
    tree: &'t Tree,
    at: u32,
}

/// A child of an element.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Child<'t> {
    Element(Element<'t>),
    Text(&'t str),
}

/// Names of elements and attributes, each once.
#[derive(Default)]
struct Names {
    names: Vec<Box<str>>,
    known: HashMap<Box<str>, u32>,
}

impl Names {
    fn id(&mut self, name: &str) -> u32 {
        if let Some(id) = self.known.get(name) {
            return *id;
        }
        let id = self.names.len() as u32;
        self.names.push(name.into());
        self.known.insert(name.into(), id);
        id
    }
}

impl Tree {
    /// Reads XML in whatever encoding it is. Elements named in `skip` are dropped with all they hold.
    pub(crate) fn read(bytes: &[u8], markup: Markup, skip: &[&str], budget: &mut Budget) -> Result<Self> {
        Self::parse(&decode_xml(bytes), markup, skip, budget)
    }

    fn parse(text: &str, markup: Markup, skip: &[&str], budget: &mut Budget) -> Result<Self> {
        let mut reader = Reader::from_str(text.trim_start_matches('\u{FEFF}').trim_start());
        let config = reader.config_mut();
        config.allow_dangling_amp = true;
        if markup == Markup::Lenient {
            config.check_end_names = false;
            config.allow_unmatched_ends = true;
        }
        let mut names = Names::default();
        let mut nodes: Vec<Node> = Vec::new();
        let mut open: Vec<usize> = Vec::new();
        // Open elements that are not kept: skipped ones, and those below the deepest allowed.
        let mut skipped = 0_usize;
        let mut flattened = 0_usize;
        let mut joins = false;
        loop {
            let position = reader.buffer_position();
            let event = match reader.read_event() {
                Ok(event) => event,
                Err(_) if markup == Markup::Lenient => {
                    budget.leave_out("text after broken markup");
                    break;
                }
                Err(error) => {
                    return Err(ReadError::Damaged(format!("broken XML at byte {position}: {error}")));
                }
            };
            let mut add = |nodes: &mut Vec<Node>, open: &[usize], part: &str| {
                if open.is_empty() || skipped > 0 {
                    return;
                }
                if joins && let Some(Node { content: NodeContent::Text(text), .. }) = nodes.last_mut() {
                    text.push_str(part);
                } else {
                    let end = nodes.len() as u32 + 1;
                    nodes.push(Node { content: NodeContent::Text(part.to_owned()), end });
                }
                joins = true;
            };
            let event = match event {
                Event::Start(start) if markup == Markup::Lenient && is_void(start.local_name().as_ref()) => {
                    Event::Empty(start)
                }
                event => event,
            };
            match event {
                Event::Text(part) => add(&mut nodes, &open, &part),
                Event::CData(part) => add(&mut nodes, &open, &part),
                Event::GeneralRef(entity) => {
                    if let Ok(Some(c)) = entity.resolve_char_ref() {
                        add(&mut nodes, &open, c.encode_utf8(&mut [0; 4]));
                    } else if let Some(known) = resolve_html5_entity(&entity) {
                        add(&mut nodes, &open, known);
                    } else {
                        add(&mut nodes, &open, &format!("&{};", &*entity));
                    }
                }
                Event::Start(start) => {
                    joins = false;
                    if skipped > 0 || skip.contains(&start.local_name().as_ref()) {
                        skipped += 1;
                    } else if flattened > 0 || open.len() >= budget.limits.depth {
                        budget.leave_out(format!(
                            "the structure of elements nested deeper than {}",
                            budget.limits.depth
                        ));
                        flattened += 1;
                    } else {
                        open.push(nodes.len());
                        nodes.push(element(&start, &mut names));
                    }
                }
                Event::Empty(start) => {
                    joins = false;
                    if skipped == 0 && flattened == 0 && !skip.contains(&start.local_name().as_ref()) {
                        let mut node = element(&start, &mut names);
                        node.end = nodes.len() as u32 + 1;
                        nodes.push(node);
                        if open.is_empty() {
                            break;
                        }
                    }
                }
                Event::End(end) => {
                    joins = false;
                    if skipped > 0 {
                        skipped -= 1;
                    } else if flattened > 0 {
                        flattened -= 1;
                    } else {
                        let end_name = end.local_name();
                        let is = |at: usize| match &nodes[at].content {
                            NodeContent::Element { name, .. } => {
                                *names.names[*name as usize] == *end_name.as_ref()
                            }
                            NodeContent::Text(_) => false,
                        };
                        // Elements that books leave open end with the one around them.
                        let from = match markup {
                            Markup::Strict => open.len().saturating_sub(1),
                            Markup::Lenient => open.iter().rposition(|at| is(*at)).unwrap_or(open.len()),
                        };
                        for done in open.split_off(from) {
                            nodes[done].end = nodes.len() as u32;
                        }
                        if open.is_empty() {
                            break;
                        }
                    }
                }
                Event::Eof if open.is_empty() || markup == Markup::Lenient => break,
                Event::Eof => {
                    return Err(ReadError::damaged("the XML ends before its elements end"));
                }
                Event::Decl(_) | Event::DocType(_) | Event::Comment(_) | Event::PI(_) => {}
            }
            if nodes.len() > budget.elements_left {
                budget.leave_out(format!("what follows the first {} elements", budget.limits.elements));
                break;
            }
        }
        let end = nodes.len() as u32;
        for unfinished in open {
            nodes[unfinished].end = end;
        }
        budget.elements_left = budget.elements_left.saturating_sub(nodes.len());
        Ok(Self { nodes, names: names.names })
    }

    /// The outermost element.
    pub(crate) fn root(&self) -> Option<Element<'_>> {
        (!self.nodes.is_empty()).then_some(Element { tree: self, at: 0 })
    }
}

/// Elements of HTML that have no content.
fn is_void(name: &str) -> bool {
    matches!(
        name,
        "br" | "hr" | "img" | "input" | "meta" | "link" | "col" | "wbr" | "source" | "area" | "embed"
    )
}

fn element(start: &BytesStart<'_>, names: &mut Names) -> Node {
    let mut attributes = Vec::new();
    for attribute in start.html_attributes().with_checks(false).flatten() {
        let value = unescape_with(&attribute.value, resolve_html5_entity);
        let value = value.map_or_else(|_| attribute.value.as_ref().into(), |value| value.as_ref().into());
        attributes.push((names.id(attribute.key.as_ref()), value));
    }
    Node { content: NodeContent::Element { name: names.id(start.local_name().as_ref()), attributes }, end: 0 }
}

impl<'t> Element<'t> {
    /// Name without prefix.
    pub(crate) fn name(self) -> &'t str {
        match &self.tree.nodes[self.at as usize].content {
            NodeContent::Element { name, .. } => &self.tree.names[*name as usize],
            NodeContent::Text(_) => "",
        }
    }

    /// Value of an attribute, found by its name with or without prefix.
    pub(crate) fn attribute(self, wanted: &str) -> Option<&'t str> {
        let NodeContent::Element { attributes, .. } = &self.tree.nodes[self.at as usize].content else {
            return None;
        };
        let name = |id: u32| &*self.tree.names[id as usize];
        let local = |id: u32| name(id).rsplit(':').next().unwrap_or_default();
        let exact = attributes.iter().find(|(id, _)| name(*id) == wanted);
        exact.or_else(|| attributes.iter().find(|(id, _)| local(*id) == wanted)).map(|(_, value)| &**value)
    }

    /// Children in order.
    pub(crate) fn children(self) -> impl Iterator<Item = Child<'t>> {
        let tree = self.tree;
        let end = tree.nodes[self.at as usize].end;
        let mut at = self.at + 1;
        std::iter::from_fn(move || {
            let node = (at < end).then(|| &tree.nodes[at as usize])?;
            let child = match &node.content {
                NodeContent::Element { .. } => Child::Element(Element { tree, at }),
                NodeContent::Text(text) => Child::Text(text),
            };
            at = node.end.max(at + 1);
            Some(child)
        })
    }

    /// Child elements in order.
    pub(crate) fn elements(self) -> impl Iterator<Item = Self> {
        self.children().filter_map(|child| if let Child::Element(child) = child { Some(child) } else { None })
    }

    /// Child elements of a name.
    pub(crate) fn all(self, name: &str) -> impl Iterator<Item = Self> {
        self.elements().filter(move |child| child.name() == name)
    }

    /// The first child element of a name.
    pub(crate) fn child(self, name: &str) -> Option<Self> {
        self.all(name).next()
    }

    /// The element at a path of names such as `a/b/c`, the first of each.
    pub(crate) fn at(self, path: &str) -> Option<Self> {
        path.split('/').try_fold(self, Element::child)
    }

    /// Every element of a name below it, in order.
    pub(crate) fn below(self, name: &str) -> impl Iterator<Item = Self> {
        self.descendants().filter(move |element| element.name() == name)
    }

    /// Elements of a name below it that are not inside another one of that name.
    pub(crate) fn outermost(self, name: &str) -> impl Iterator<Item = Self> {
        let tree = self.tree;
        let end = tree.nodes[self.at as usize].end;
        let mut at = self.at + 1;
        std::iter::from_fn(move || {
            while at < end {
                let element = Self { tree, at };
                let found = element.name() == name;
                at = if found { tree.nodes[at as usize].end.max(at + 1) } else { at + 1 };
                if found {
                    return Some(element);
                }
            }
            None
        })
    }

    /// Every element below it, in order.
    pub(crate) fn descendants(self) -> impl Iterator<Item = Self> {
        let tree = self.tree;
        let inside = self.at + 1..tree.nodes[self.at as usize].end;
        inside.filter_map(move |at| {
            let element = matches!(tree.nodes[at as usize].content, NodeContent::Element { .. });
            element.then_some(Self { tree, at })
        })
    }

    /// All text in it, white space collapsed.
    pub(crate) fn text(self) -> String {
        let inside = self.at + 1..self.tree.nodes[self.at as usize].end;
        let mut text = String::new();
        for at in inside {
            if let NodeContent::Text(part) = &self.tree.nodes[at as usize].content {
                text.push_str(part);
            }
        }
        crate::draft::clean(&text)
    }

    /// The text at a path, `None` if it has no text.
    pub(crate) fn text_at(self, path: &str) -> Option<String> {
        self.at(path).map(Self::text).filter(|text| !text.is_empty())
    }
}
