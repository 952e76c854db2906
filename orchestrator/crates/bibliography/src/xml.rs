//! Records in XML: the elements of one record as a tree.

use crate::{MAX_DEPTH, MAX_RECORD, Outcome, Place, Rejected, Source};
use quick_xml::Reader;
use quick_xml::escape::resolve_html5_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};

/// An element without its namespace prefix.
#[derive(Debug, Default, Clone)]
pub(crate) struct Element {
    pub(crate) name: String,
    attributes: Vec<(String, String)>,
    children: Vec<Child>,
}

#[derive(Debug, Clone)]
enum Child {
    Text(String),
    Element(Element),
}

/// Finds the elements of a file that are records.
pub(crate) struct Elements {
    place: Place,
    at: usize,
    is_record: fn(&str) -> bool,
    /// Records may be in records; the outer ones count.
    is_nested: bool,
}

impl Elements {
    /// Elements whose name, without prefix, fits. What is around them is skipped without being understood.
    pub(crate) fn new(is_record: fn(&str) -> bool) -> Self {
        Self { place: Place::default(), at: 0, is_record, is_nested: false }
    }

    /// The same for records that may have elements of these names inside.
    pub(crate) fn nested(is_record: fn(&str) -> bool) -> Self {
        Self { is_nested: true, ..Self::new(is_record) }
    }

    /// The next element with its line. Reading goes on at the next beginning of a record after one that is broken.
    pub(crate) fn next(&mut self, text: &str) -> Option<(u64, Result<Element, String>)> {
        let start = self.find(text, self.at)?;
        let line = self.place.to(text, start);
        let inside: fn(&str) -> bool = if self.is_nested { |_| false } else { self.is_record };
        let (read, length) = tree(&text[start..], inside);
        self.at = start + length.max(1);
        Some((line, read))
    }

    /// Where the next record begins.
    fn find(&self, text: &str, from: usize) -> Option<usize> {
        let mut at = from;
        loop {
            at += text.get(at..)?.find('<')?;
            let tag = &text[at..];
            let hidden = [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>")];
            if let Some((open, close)) = hidden.iter().find(|(open, _)| tag.starts_with(open)) {
                at += open.len() + tag[open.len()..].find(close)? + close.len();
            } else if (self.is_record)(local_name(&tag[1..])) {
                return Some(at);
            } else {
                at += 1;
            }
        }
    }
}

/// The name of the tag that begins a text, without its prefix.
fn local_name(text: &str) -> &str {
    let end =
        text.bytes().take(100).position(|byte| !byte.is_ascii_alphanumeric() && !b":-_.".contains(&byte));
    let name = &text[..end.unwrap_or(0)];
    name.rsplit(':').next().unwrap_or(name)
}

/// The element at the beginning of a text, and how many bytes were read. An element inside that `ends` it means that it
/// was not closed.
fn tree(text: &str, ends: fn(&str) -> bool) -> (Result<Element, String>, usize) {
    let mut reader = Reader::from_str(text);
    // An ampersand of its own is often meant as one.
    reader.config_mut().allow_dangling_amp = true;
    let mut open: Vec<Element> = Vec::new();
    loop {
        let position = reader.buffer_position() as usize;
        let event = match reader.read_event() {
            Ok(event) => event,
            // What is not closed has been read to the end, and need not be read again.
            Err(error) => return (Err(format!("broken XML: {error}")), reader.buffer_position() as usize),
        };
        if position > MAX_RECORD {
            return (Err(format!("longer than {} MiB", MAX_RECORD >> 20)), position);
        }
        let done = match event {
            Event::Start(start) => {
                let element = element(&start);
                if open.len() >= MAX_DEPTH {
                    return (Err(format!("elements nest deeper than {MAX_DEPTH}")), position);
                }
                if !open.is_empty() && ends(&element.name) {
                    return (Err(format!("`{}` is not closed", open[0].name)), position);
                }
                open.push(element);
                None
            }
            Event::Empty(start) => Some(element(&start)),
            Event::End(_) => open.pop(),
            Event::Text(text) => add(&mut open, text.to_string()),
            Event::CData(text) => add(&mut open, text.to_string()),
            Event::GeneralRef(entity) => add(&mut open, resolved(&entity)),
            Event::Eof => {
                let name = open.first().map_or("element", |element| element.name.as_str());
                return (Err(format!("the file ends inside `{name}`")), text.len());
            }
            Event::Decl(_) | Event::DocType(_) | Event::Comment(_) | Event::PI(_) => None,
        };
        if let Some(done) = done {
            match open.last_mut() {
                Some(parent) => parent.children.push(Child::Element(done)),
                None => return (Ok(done), reader.buffer_position() as usize),
            }
        }
    }
}

fn add(open: &mut [Element], text: String) -> Option<Element> {
    if let Some(parent) = open.last_mut() {
        match parent.children.last_mut() {
            Some(Child::Text(before)) => before.push_str(&text),
            _ => parent.children.push(Child::Text(text)),
        }
    }
    None
}

fn element(start: &BytesStart<'_>) -> Element {
    let mut attributes = start.attributes();
    // The check compares each attribute with all before it.
    attributes.with_checks(false);
    let attributes = attributes.flatten().map(|attribute| {
        let value = crate::text::plain(&attribute.value).into_owned();
        (attribute.key.local_name().as_ref().to_owned(), value)
    });
    Element {
        name: start.local_name().as_ref().to_owned(),
        attributes: attributes.collect(),
        children: Vec::new(),
    }
}

/// What an entity stands for; an undeclared one stays as written.
fn resolved(entity: &BytesRef<'_>) -> String {
    if let Ok(Some(c)) = entity.resolve_char_ref() {
        return c.to_string();
    }
    let name: &str = entity;
    resolve_html5_entity(name).map_or_else(|| format!("&{name};"), str::to_owned)
}

impl Element {
    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(of, _)| of == name).map(|(_, value)| value.as_str())
    }

    /// Whether an attribute has a value.
    pub(crate) fn has(&self, name: &str, value: &str) -> bool {
        self.attribute(name).is_some_and(|found| found.eq_ignore_ascii_case(value))
    }

    /// Child elements.
    pub(crate) fn elements(&self) -> impl Iterator<Item = &Self> {
        self.children.iter().filter_map(|child| match child {
            Child::Element(element) => Some(element),
            Child::Text(_) => None,
        })
    }

    /// Children of a name.
    pub(crate) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Self> {
        self.elements().filter(move |element| element.name == name)
    }

    /// The element at a path of names such as `a/b/c`, the first of each.
    pub(crate) fn at(&self, path: &str) -> Option<&Self> {
        path.split('/').try_fold(self, |element, name| element.elements().find(|child| child.name == name))
    }

    /// Every element of a name below, in the order of the document, but none inside of another.
    pub(crate) fn below<'a>(&'a self, name: &str) -> Vec<&'a Self> {
        let mut found = Vec::new();
        self.collect_below(name, &mut found);
        found
    }

    fn collect_below<'a>(&'a self, name: &str, found: &mut Vec<&'a Self>) {
        for child in self.elements() {
            if child.name == name {
                found.push(child);
            } else {
                child.collect_below(name, found);
            }
        }
    }

    /// All text in it.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        self.write(&mut text);
        text
    }

    /// The text at a path; empty if it is absent.
    pub(crate) fn text_at(&self, path: &str) -> String {
        self.at(path).map(Self::text).unwrap_or_default()
    }

    fn write(&self, text: &mut String) {
        for child in &self.children {
            match child {
                Child::Text(part) => text.push_str(part),
                Child::Element(element) => element.write(text),
            }
        }
    }
}

/// Records that are elements, each read on its own.
pub(crate) struct Records {
    elements: Elements,
    read: fn(u64, &Element) -> Outcome,
}

impl Records {
    pub(crate) fn new(is_record: fn(&str) -> bool, read: fn(u64, &Element) -> Outcome) -> Self {
        Self { elements: Elements::new(is_record), read }
    }
}

impl Source for Records {
    fn next(&mut self, text: &str) -> Option<Outcome> {
        let (line, element) = self.elements.next(text)?;
        Some(match element {
            Ok(element) => (self.read)(line, &element),
            Err(reason) => Err(Rejected { line, reason }),
        })
    }
}
