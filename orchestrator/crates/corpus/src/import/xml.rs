//! Patent documents in XML: the elements of one record as a tree, and the offices' ways to fill it.

use super::patent;
use super::records::Block;
use crate::Document;
use crate::document::json::OddCodes;
use quick_xml::Reader;
use quick_xml::escape::resolve_html5_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};

/// Deepest nesting that is read.
const MAX_DEPTH: usize = 200;

/// Whether a line begins the next document of a file that holds many.
pub(super) fn starts(line: &[u8], block: &Block) -> bool {
    let line = line.trim_ascii_start();
    line.starts_with(b"<?xml ") || (line.starts_with(b"<!DOCTYPE") && block.has_type)
}

/// A document of one record; the error is the reason to report.
pub(super) fn parse(bytes: &[u8]) -> Result<(Document, OddCodes), String> {
    let text = decoded(bytes)?;
    let root = tree(&text)?;
    let (document, odd) = match root.name.as_str() {
        "us-patent-grant" | "us-patent-application" => patent::us::read(&root),
        "patent-application-publication" => patent::pap::read(&root),
        "PATDOC" => patent::st32::grant(&root),
        "ep-patent-document" => patent::st32::epo(&root),
        "jp-official-gazette" => patent::jp::read(&root),
        "SpecificationDocument" | "ClaimsDocument" => {
            return Err(format!("`{}` is a part of an application's file and no document", root.name));
        }
        other => {
            let known = "us-patent-grant, us-patent-application, PATDOC, patent-application-publication, ep-patent-document, jp-official-gazette, exchange-documents, world-patent-data";
            return Err(format!("`{other}` is not a patent document: the known root elements are {known}"));
        }
    };
    Ok((document.finish()?, odd))
}

/// The text in the encoding that it declares; UTF-8 when it declares none.
fn decoded(bytes: &[u8]) -> Result<String, String> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Ok(text.to_owned());
    }
    let declaration = String::from_utf8_lossy(&bytes[..bytes.len().min(200)]).into_owned();
    let label = declaration.split("encoding=").nth(1).and_then(|rest| {
        let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        rest.get(1..)?.split(quote).next()
    });
    let encoding = label.and_then(|label| encoding_rs::Encoding::for_label(label.as_bytes()));
    match encoding.filter(|encoding| *encoding != encoding_rs::UTF_8) {
        Some(encoding) => {
            let (text, _, broken) = encoding.decode(bytes);
            if broken { Err(format!("not {}", encoding.name())) } else { Ok(text.into_owned()) }
        }
        None => Err("not UTF-8".to_owned()),
    }
}

/// An element without its namespace prefix.
#[derive(Debug, Default)]
pub(super) struct Element {
    pub(super) name: String,
    attributes: Vec<(String, String)>,
    children: Vec<Child>,
}

#[derive(Debug)]
enum Child {
    Text(String),
    Element(Element),
}

fn tree(text: &str) -> Result<Element, String> {
    let mut reader = Reader::from_str(text.trim_start_matches('\u{FEFF}').trim_start());
    // Real gazettes have an ampersand now and then that is meant as one.
    reader.config_mut().allow_dangling_amp = true;
    let mut growing = Growing::default();
    loop {
        let position = reader.buffer_position();
        let event = reader.read_event().map_err(|error| format!("broken XML at byte {position}: {error}"))?;
        if let Some(whole) = growing.take(event, position)? {
            return Ok(whole);
        }
    }
}

/// An element of which the rest is still to come.
#[derive(Debug, Default)]
pub(super) struct Growing {
    open: Vec<Element>,
    /// Bytes of text that it holds so far.
    pub(super) bytes: usize,
}

impl Growing {
    /// Whether no element is open.
    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Takes the next event of a reader; the element once it is whole. The error is the reason to report.
    pub(super) fn take(&mut self, event: Event<'_>, position: u64) -> Result<Option<Element>, String> {
        match event {
            Event::Start(start) => {
                if self.open.len() >= MAX_DEPTH {
                    return Err(format!("elements nest deeper than {MAX_DEPTH} at byte {position}"));
                }
                self.open.push(element(&start));
            }
            Event::Empty(start) => return Ok(self.close(element(&start))),
            Event::End(_) => {
                let Some(done) = self.open.pop() else {
                    return Err(format!("an element ends at byte {position} that never began"));
                };
                return Ok(self.close(done));
            }
            Event::Text(text) => self.add(text.to_string()),
            Event::CData(text) => self.add(text.to_string()),
            Event::GeneralRef(entity) => self.add(resolved(&entity)),
            Event::Eof => {
                return Err(match self.open.last() {
                    Some(element) => format!("the file ends inside `{}`", element.name),
                    None => "no element".to_owned(),
                });
            }
            Event::Decl(_) | Event::DocType(_) | Event::Comment(_) | Event::PI(_) => {}
        }
        Ok(None)
    }

    /// Gives a whole element to the one around it; the element if there is none.
    fn close(&mut self, done: Element) -> Option<Element> {
        match self.open.last_mut() {
            Some(parent) => {
                parent.children.push(Child::Element(done));
                None
            }
            None => Some(done),
        }
    }

    /// Adds text to the open element; text outside the root is ignored.
    fn add(&mut self, text: String) {
        self.bytes += text.len();
        if let Some(parent) = self.open.last_mut() {
            parent.children.push(Child::Text(text));
        }
    }
}

fn element(start: &BytesStart<'_>) -> Element {
    let attributes = start
        .attributes()
        .flatten()
        .map(|attribute| (attribute.key.local_name().as_ref().to_owned(), attribute.value.into_owned()));
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
    /// An element of parts that another format names.
    pub(super) fn new(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }

    pub(super) fn set(&mut self, attribute: &str, value: String) {
        self.attributes.push((attribute.to_owned(), value));
    }

    pub(super) fn push(&mut self, child: Self) {
        self.children.push(Child::Element(child));
    }

    pub(super) fn push_text(&mut self, text: String) {
        self.children.push(Child::Text(text));
    }

    /// Reads a piece of markup that another format holds, such as the claims in an answer in JSON; as a text without its tags
    /// if it is not well-formed.
    pub(super) fn of_markup(markup: &str) -> Self {
        tree(&format!("<text>{markup}</text>")).unwrap_or_else(|_| {
            let mut text = Self::new("text");
            let without_tags = |part: &str| part.split_once('>').map_or("", |(_, text)| text).to_owned();
            let mut parts = markup.split('<');
            let first = parts.next().unwrap_or_default().to_owned();
            for part in std::iter::once(first).chain(parts.map(without_tags)) {
                let mut line = Self::new("p");
                line.push_text(part);
                text.push(line);
            }
            text
        })
    }

    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(of, _)| of == name).map(|(_, value)| value.as_str())
    }

    /// Child elements.
    pub(super) fn elements(&self) -> impl Iterator<Item = &Self> {
        self.children.iter().filter_map(|child| match child {
            Child::Element(element) => Some(element),
            Child::Text(_) => None,
        })
    }

    /// Children of a name.
    pub(super) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Self> {
        self.elements().filter(move |element| element.name == name)
    }

    /// The element at a path of names such as `a/b/c`, the first of each.
    pub(super) fn at(&self, path: &str) -> Option<&Self> {
        path.split('/').try_fold(self, |element, name| element.elements().find(|child| child.name == name))
    }

    /// Every element of a name below, in the order of the document.
    pub(super) fn below<'a>(&'a self, name: &str) -> Vec<&'a Self> {
        let mut found = Vec::new();
        for child in self.elements() {
            if child.name == name {
                found.push(child);
            } else {
                found.extend(child.below(name));
            }
        }
        found
    }

    /// All text in it, blanks collapsed.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        self.write(&mut text, &|_| " ");
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// All text in it with its blanks, which count in columns.
    pub(super) fn columns(&self) -> String {
        let mut text = String::new();
        self.write(&mut text, &|_| " ");
        text
    }

    /// The text at a path, `None` if it has no text.
    pub(super) fn text_at(&self, path: &str) -> Option<String> {
        self.at(path).map(Self::text).filter(|text| !text.is_empty())
    }

    /// All text in it, one block (paragraph, heading, table row) a line. `heading` names what stands before an
    /// element's text.
    pub(super) fn lines(&self, heading: &dyn Fn(&str) -> Option<&'static str>) -> String {
        let mut text = String::new();
        self.write(&mut text, &|name| heading(name).unwrap_or("\n"));
        let line = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        text.split('\n').map(line).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
    }

    fn write(&self, text: &mut String, before: &dyn Fn(&str) -> &'static str) {
        for child in &self.children {
            match child {
                // A line break in the file is white space, not a paragraph.
                Child::Text(part) => text.extend(part.chars().map(|c| if c == '\n' { ' ' } else { c })),
                Child::Element(element) if BLOCKS.contains(&element.name.as_str()) => {
                    text.push_str(before(&element.name));
                    element.write(text, before);
                    text.push_str(if before(&element.name) == " " { " " } else { "\n" });
                }
                Child::Element(element) => element.write(text, before),
            }
        }
    }
}

/// Elements that stand on lines of their own.
const BLOCKS: [&str; 48] = [
    "p",
    "heading",
    "paragraph",
    "PARA",
    "H",
    "CLMSTEP",
    "claim-text",
    "claim",
    "CLM",
    "li",
    "dt",
    "dd",
    "row",
    "entry",
    "br",
    "description",
    "section",
    "technical-field",
    "background-art",
    "disclosure",
    "summary-of-invention",
    "tech-problem",
    "tech-solution",
    "advantageous-effects",
    "description-of-drawings",
    "best-mode",
    "mode-for-invention",
    "industrial-applicability",
    "description-of-embodiments",
    "embodiments-example",
    "citation-list",
    "patent-literature",
    "non-patent-literature",
    "reference-signs-list",
    "brief-description-of-drawings",
    "detailed-description",
    "background-of-invention",
    "BRFSUM",
    "DETDESC",
    "DRWDESC",
    "RELAPP",
    "GOVINT",
    "patcit",
    "nplcit",
    "subdoc-abstract",
    "subdoc-description",
    "maths",
    "tables",
];
