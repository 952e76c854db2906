//! Zotero's RDF. Items, their files and notes, journals, and collections stand beside each other and refer to each
//! other; what items refer to is read first.

use crate::date::Date;
use crate::draft::{Draft, Slot};
use crate::names::person;
use crate::xml::{Element, Elements};
use crate::{Attachment, Kind, Outcome, Rejected, Source, zotero};
use std::collections::HashMap;

/// Longest text that is copied to the items that refer to it, in bytes.
const MAX_COPY: usize = 1_000;
/// Most journals, books, and series that an item is part of.
const MAX_HOSTS: usize = 5;

pub(crate) struct Rdf {
    elements: Elements,
    known: Known,
}

/// What items refer to, by its address in the file.
#[derive(Default)]
struct Known {
    files: HashMap<String, Attachment>,
    notes: HashMap<String, String>,
    hosts: HashMap<String, Host>,
    /// Names of the collections of an item.
    collections: HashMap<String, Vec<usize>>,
    names: Vec<String>,
}

/// A journal, book, or series that an item is part of.
#[derive(Debug, Clone, Default)]
struct Host {
    title: String,
    volume: String,
    issue: String,
    identifiers: Vec<String>,
}

/// Elements at the top: `bib:Article`, `bib:Journal`, `rdf:Description`, `z:Attachment`, `z:Collection`, ….
fn is_top(name: &str) -> bool {
    ITEMS.contains(&name) || OTHERS.contains(&name)
}

/// Elements that are items.
const ITEMS: [&str; 19] = [
    "Article",
    "Book",
    "BookSection",
    "Thesis",
    "Report",
    "Manuscript",
    "Document",
    "Patent",
    "Image",
    "Recording",
    "Legislation",
    "MotionPicture",
    "ConferenceProceedings",
    "Letter",
    "Interview",
    "Data",
    "Description",
    "Blog",
    "Computer",
];
/// Elements that items refer to.
const OTHERS: [&str; 4] = ["Journal", "Memo", "Attachment", "Collection"];

impl Rdf {
    pub(crate) fn new(text: &str) -> Self {
        let mut known = Known::default();
        let mut elements = Elements::nested(is_top);
        while let Some((_, element)) = elements.next(text) {
            if let Ok(element) = element {
                known.add(&element);
            }
        }
        Self { elements: Elements::nested(is_top), known }
    }
}

fn about(element: &Element) -> String {
    element.attribute("about").unwrap_or_default().to_owned()
}

/// The addresses that children of a name refer to.
fn references<'e>(element: &'e Element, name: &'e str) -> impl Iterator<Item = &'e str> {
    element.all(name).filter_map(|child| child.attribute("resource"))
}

fn item_type(element: &Element) -> String {
    element.text_at("itemType")
}

impl Known {
    fn add(&mut self, element: &Element) {
        match element.name.as_str() {
            "Attachment" => {
                // `rdf:resource` of Zotero, `z:path` of others.
                let nested =
                    ["resource", "path"].into_iter().find_map(|name| element.at(name)?.attribute("resource"));
                let path = nested.or_else(|| element.attribute("resource")).unwrap_or_default().to_owned();
                let part = |path: &str| {
                    Some(crate::text::line(&element.text_at(path))).filter(|text| !text.is_empty())
                };
                if !path.is_empty() {
                    let file = Attachment { path, title: part("title"), media_type: part("type") };
                    self.files.insert(about(element), file);
                }
            }
            "Memo" => drop(self.notes.insert(about(element), element.text_at("value"))),
            "Collection" => {
                let name: String =
                    crate::text::line(&element.text_at("title")).chars().take(MAX_COPY).collect();
                for part in references(element, "hasPart") {
                    self.collections.entry(part.to_owned()).or_default().push(self.names.len());
                }
                self.names.push(name);
            }
            _ if item_type(element).is_empty() || element.name == "Journal" => {
                drop(self.hosts.insert(about(element), Host::of(element)));
            }
            _ => {}
        }
    }
}

impl Host {
    fn of(element: &Element) -> Self {
        let short = |path: &str| element.text_at(path).chars().take(MAX_COPY).collect();
        Self {
            title: short("title"),
            volume: short("volume"),
            issue: short("number"),
            identifiers: identifiers(element)
                .into_iter()
                .filter(|id| id.len() <= MAX_COPY)
                .take(20)
                .collect(),
        }
    }

    fn write(&self, draft: &mut Draft) {
        draft.put(Slot::Venue, &self.title);
        draft.put(Slot::Volume, &self.volume);
        draft.put(Slot::Issue, &self.issue);
        self.identifiers.iter().for_each(|id| identify(draft, id));
    }
}

impl Source for Rdf {
    fn next(&mut self, text: &str) -> Option<Outcome> {
        loop {
            let (line, element) = self.elements.next(text)?;
            let element = match element {
                Ok(element) => element,
                Err(reason) => return Some(Err(Rejected { line, reason })),
            };
            let kind = item_type(&element);
            if !OTHERS.contains(&element.name.as_str())
                && !kind.is_empty()
                && kind != "attachment"
                && kind != "note"
            {
                return Some(record(line, &element, &kind, &mut self.known));
            }
        }
    }
}

fn record(line: u64, item: &Element, kind: &str, known: &mut Known) -> Outcome {
    let mut draft = Draft::new(line);
    let get = |path: &str| item.text_at(path);
    let is_web = |text: &str| crate::draft::is_web(text);
    draft.key(&get("citationKey"));
    let address = about(item);
    draft.key(&address);
    draft.url(&address);
    draft.kind(zotero::kind(kind));
    draft.title(&get("title"));
    for (path, are_editors) in [
        ("authors", false),
        ("inventors", false),
        ("programmers", false),
        ("presenters", false),
        ("editors", true),
    ] {
        for name in item.at(path).into_iter().flat_map(|list| list.below("Person")) {
            let family = [name.text_at("surname"), name.text_at("family_name")].concat();
            let given = [name.text_at("givenName"), name.text_at("givenname")].concat();
            let whole = person(&family, &given, "");
            if are_editors { draft.editor(&whole) } else { draft.author(&whole) }
        }
    }
    for id in identifiers(item) {
        identify(&mut draft, &id);
    }
    for part in item.all("isPartOf").take(MAX_HOSTS) {
        let inner = part.elements().find(|inner| inner.name != "Series").map(Host::of);
        if let Some(host) = inner.as_ref().or_else(|| known.hosts.get(part.attribute("resource")?)) {
            host.write(&mut draft);
        }
    }
    if zotero::kind(kind) == Kind::ConferencePaper {
        draft.put(Slot::Venue, &get("presentedAt/Conference/title"));
    }
    draft.put(Slot::Venue, &get("repository"));
    draft.put(Slot::Volume, &get("volume"));
    draft.put(Slot::Issue, &get("number"));
    draft.put(Slot::Pages, &get("pages"));
    draft.put(Slot::Publisher, &get("publisher/Organization/name"));
    draft.put(Slot::Place, &get("publisher/Organization/adr/Address/locality"));
    draft.put(Slot::Edition, &get("edition"));
    draft.date(Date::parse(&get("date")));
    draft.summary(&get("abstract"));
    draft.language(&get("language"));
    for subject in item.all("subject") {
        draft.tag(&subject.text());
    }
    for at in known.collections.get(&address).into_iter().flatten() {
        draft.collection(&known.names[*at]);
    }
    // A note and a file belong to one item, so that what many refer to is not copied.
    for note in references(item, "isReferencedBy").filter_map(|at| known.notes.remove(at)) {
        draft.note(&note);
    }
    for note in item.all("description") {
        draft.note(&note.text());
    }
    for file in references(item, "link").filter_map(|at| known.files.remove(at)) {
        if is_web(&file.path) { draft.url(&file.path) } else { draft.file(file) }
    }
    draft.finish()
}

/// `DOI 10.1/x`, `ISSN 1234-5678`, or an address.
fn identifiers(element: &Element) -> Vec<String> {
    element.all("identifier").map(Element::text).collect()
}

fn identify(draft: &mut Draft, text: &str) {
    let text = text.trim();
    match text.split_once(' ') {
        Some(("DOI", id)) => draft.doi(id),
        Some(("ISBN" | "ISSN", id)) => draft.serials(id),
        _ => draft.url(text),
    }
}
