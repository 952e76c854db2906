//! BibTeX and BibLaTeX.

mod entry;
mod latex;
mod people;
mod symbols;
mod write;

pub(crate) use entry::begins;
pub(crate) use write::written;

use crate::date::Date;
use crate::draft::{Draft, Slot, is_web};
use crate::text::paragraphs;
use crate::{Kind, MAX_FIELD, MAX_RECORD, Outcome, Place, Rejected, Source, files};
use entry::{Block, Piece};
use std::collections::HashMap;

/// Longest text that an abbreviation stands for, and that is inherited by cross-reference, in bytes.
const MAX_COPY: usize = 1_000;

/// Most entries that one refers to.
const MAX_PARENTS: usize = 5;

/// Fields of a parent that a cross-reference passes on, and what they are called in the child.
const INHERITED: [(&str, &str); 15] = [
    ("title", "booktitle"),
    ("subtitle", "booksubtitle"),
    ("booktitle", "booktitle"),
    ("journal", "journal"),
    ("journaltitle", "journaltitle"),
    ("editor", "editor"),
    ("publisher", "publisher"),
    ("organization", "organization"),
    ("year", "year"),
    ("date", "date"),
    ("month", "month"),
    ("volume", "volume"),
    ("isbn", "isbn"),
    ("issn", "issn"),
    ("langid", "langid"),
];

/// A field's lower-case name, and its value with abbreviations replaced.
type Fields = Vec<(String, String)>;

pub(crate) struct BibTex {
    /// The entries, in order.
    blocks: std::vec::IntoIter<Block>,
    place: Place,
    /// Abbreviations, in lower case.
    strings: HashMap<String, String>,
    /// Entries that others refer to, by key, and what they pass on once it is known.
    parents: HashMap<String, (Block, Option<Fields>)>,
    /// Bytes that may still be copied.
    copies: usize,
}

impl BibTex {
    pub(crate) fn new(text: &str) -> Self {
        let copies = text.len().saturating_mul(4).saturating_add(MAX_COPY);
        let mut reader = Self {
            blocks: Vec::new().into_iter(),
            place: Place::default(),
            strings: HashMap::new(),
            parents: HashMap::new(),
            copies,
        };
        let (mut blocks, mut from) = (Vec::new(), 0);
        while let Some(block) = entry::next(text, from) {
            from = block.next;
            match block.kind.as_str() {
                "string" => reader.define(text, &block),
                "comment" | "preamble" => {}
                _ => blocks.push(block),
            }
        }
        reader.find_parents(text, &blocks);
        reader.blocks = blocks.into_iter();
        reader
    }

    fn define(&mut self, text: &str, block: &Block) {
        let Some(body) = block.body.clone() else { return };
        for (name, pieces) in entry::definitions(&text[body]) {
            let value = self.value(&pieces);
            if value.len() <= MAX_COPY {
                self.strings.insert(name.to_lowercase(), value);
            }
        }
    }

    /// The entries that `crossref` and `xdata` name.
    fn find_parents(&mut self, text: &str, blocks: &[Block]) {
        let mut named = std::collections::HashSet::new();
        for block in blocks {
            let Some(body) = block.body.clone().map(|body| &text[body]) else { continue };
            if !mentions_parent(body) {
                continue;
            }
            for (name, pieces) in entry::fields(body).1 {
                if is_reference(name)
                    && let [Piece::Text(key)] = pieces[..]
                {
                    named.insert(key.trim().to_lowercase());
                }
            }
        }
        if named.is_empty() {
            return;
        }
        for block in blocks {
            let Some(body) = block.body.clone().map(|body| &text[body]) else { continue };
            let key = body.split(',').next().unwrap_or_default().trim().to_lowercase();
            if named.contains(&key) {
                self.parents.entry(key).or_insert_with(|| (block.clone(), None));
            }
        }
    }

    /// A value with its abbreviations replaced; one that is unknown stays as it is written.
    fn value(&mut self, pieces: &[Piece<'_>]) -> String {
        let mut value = String::new();
        for piece in pieces {
            match piece {
                Piece::Text(text) => value.push_str(text),
                Piece::Name(name) => {
                    let known = self.strings.get(&name.to_lowercase());
                    match known.filter(|text| text.len() <= self.copies) {
                        Some(text) => {
                            self.copies -= text.len();
                            value.push_str(text);
                        }
                        None => value.push_str(name),
                    }
                }
            }
        }
        value
    }

    fn fields(&mut self, body: &str) -> (String, Fields) {
        let (key, fields) = entry::fields(body);
        let fields =
            fields.into_iter().map(|(name, pieces)| (name.to_lowercase(), self.value(&pieces))).collect();
        (key.to_owned(), fields)
    }

    /// Adds what an entry inherits. Parents of parents count, as far as they are read already.
    fn inherit(&mut self, text: &str, fields: &mut Fields) {
        let parents: Vec<String> = fields
            .iter()
            .filter(|(name, _)| is_reference(name))
            .take(MAX_PARENTS)
            .map(|(_, key)| key.trim().to_lowercase())
            .collect();
        for key in parents {
            for (name, value) in self.passed_on(text, &key) {
                let cost = name.len() + value.len();
                let is_new = fields.iter().all(|(known, _)| *known != name);
                if is_new && cost <= self.copies {
                    self.copies -= cost;
                    fields.push((name, value));
                }
            }
        }
    }

    /// What the entry of a key passes on.
    fn passed_on(&mut self, text: &str, key: &str) -> Fields {
        let Some((block, known)) = self.parents.get(key) else { return Vec::new() };
        if let Some(known) = known {
            return known.clone();
        }
        let Some(body) = block.body.clone() else { return Vec::new() };
        let (_, all) = self.fields(&text[body]);
        let mut passed: Fields = Vec::new();
        for (from, to) in INHERITED {
            let value = all.iter().find(|(name, value)| name == from && value.len() <= MAX_COPY);
            if let Some((_, value)) = value
                && passed.iter().all(|(name, _)| name != to)
            {
                passed.push((to.to_owned(), value.clone()));
            }
        }
        if let Some((_, known)) = self.parents.get_mut(key) {
            *known = Some(passed.clone());
        }
        passed
    }
}

/// Whether a body may have a field that refers to another entry.
fn mentions_parent(body: &str) -> bool {
    let bytes = body.as_bytes();
    bytes.windows(8).any(|window| window.eq_ignore_ascii_case(b"crossref"))
        || bytes.windows(5).any(|window| window.eq_ignore_ascii_case(b"xdata"))
}

fn is_reference(name: &str) -> bool {
    name.eq_ignore_ascii_case("crossref") || name.eq_ignore_ascii_case("xdata")
}

impl Source for BibTex {
    fn next(&mut self, text: &str) -> Option<Outcome> {
        loop {
            let block = self.blocks.next()?;
            let line = self.place.to(text, block.at);
            let reject = |reason: String| Some(Err(Rejected { line, reason }));
            let Some(body) = block.body.map(|body| &text[body]) else {
                return reject(format!("@{} is not closed: a closing delimiter is missing", block.kind));
            };
            if body.len() > MAX_RECORD {
                return reject(format!("longer than {} MiB", MAX_RECORD >> 20));
            }
            let (key, mut fields) = self.fields(body);
            // `@home (see below)` in a comment is no entry.
            if block.kind == "xdata" || (key.is_empty() && fields.is_empty()) {
                continue;
            }
            self.inherit(text, &mut fields);
            return Some(record(line, &block.kind, &key, &fields));
        }
    }
}

/// The first value of a field that is not blank.
fn first<'f>(fields: &'f Fields, name: &str) -> Option<&'f str> {
    fields
        .iter()
        .find(|(known, value)| known == name && !value.trim().is_empty())
        .map(|(_, value)| value.as_str())
}

fn record(line: u64, kind: &str, key: &str, fields: &Fields) -> Outcome {
    let mut draft = Draft::new(line);
    draft.key(key);
    draft.kind(self::kind(kind, first(fields, "type"), first(fields, "entrysubtype")));
    let text = |name: &str| first(fields, name).map(shown).unwrap_or_default();
    let part = |draft: &mut Draft, slot: Slot, names: &[&str]| {
        for name in names {
            draft.put(slot, &text(name));
        }
    };
    draft.titled(&text("title"), &text("subtitle"));
    let of_whole = ["maintitle", "booktitle"].into_iter().filter(|_| first(fields, "title").is_none());
    for name in of_whole {
        draft.title(&text(name));
    }
    // Of commands that are not known, the names are all there is.
    draft.title(&first(fields, "title").unwrap_or_default().replace(['{', '}', '\\'], ""));
    for (name, value) in fields {
        read(&mut draft, name, value);
    }
    part(
        &mut draft,
        Slot::Venue,
        &["journaltitle", "journal", "booktitle", "maintitle", "eventtitle", "shortjournal"],
    );
    part(&mut draft, Slot::Volume, &["volume"]);
    part(&mut draft, Slot::Issue, &["number", "issue"]);
    part(&mut draft, Slot::Pages, &["pages", "eid", "article-number"]);
    part(&mut draft, Slot::Publisher, &["publisher", "school", "institution", "organization"]);
    part(&mut draft, Slot::Place, &["address", "location"]);
    part(&mut draft, Slot::Edition, &["edition"]);
    if let Some(how) = first(fields, "howpublished") {
        let how = shown(how);
        draft.url(&how);
        if !how.split_whitespace().any(is_web) {
            draft.put(Slot::Publisher, &how);
        }
    }
    eprint(&mut draft, fields);
    dates(&mut draft, fields);
    draft.finish()
}

/// The identifier in the archive that other fields name; one of arXiv if none does.
fn eprint(draft: &mut Draft, fields: &Fields) {
    let Some(value) = first(fields, "eprint").map(latex::verbatim) else { return };
    let archive = first(fields, "eprinttype").or_else(|| first(fields, "archiveprefix")).map(shown);
    match archive.map(|archive| archive.trim().to_lowercase()).as_deref() {
        Some("pubmed" | "pmid" | "medline") => draft.pmid(&value),
        Some("pmc" | "pmcid" | "pubmed central") => draft.pmcid(&value),
        Some("arxiv") | None => {
            draft.arxiv(&value);
            // `eprint = {9901001}, primaryclass = {hep-th}`
            let class = first(fields, "primaryclass").unwrap_or_default();
            draft.arxiv(&format!("{}/{value}", class.trim()));
        }
        Some(_) => {}
    }
}

/// What one field adds, apart from those that depend on others.
fn read(draft: &mut Draft, name: &str, value: &str) {
    match name {
        "author" => people::read(value).iter().for_each(|name| draft.author(name)),
        "editor" => people::read(value).iter().for_each(|name| draft.editor(name)),
        "doi" => draft.doi(&latex::verbatim(value)),
        "url" => draft.url(&latex::verbatim(&shown_url(value))),
        "urldate" => draft.accessed(Date::parse(&shown(value))),
        "pmid" => draft.pmid(&shown(value)),
        "pmcid" | "pmc" => draft.pmcid(&shown(value)),
        "arxivid" | "arxiv" => draft.arxiv(&shown(value)),
        "isbn" | "issn" | "eissn" => draft.serials(&shown(value)),
        "abstract" => draft.summary(&paragraphs(&shown(value))),
        "langid" | "language" => draft.language(&shown(value)),
        "keywords" | "keyword" | "mendeley-tags" => {
            for tag in items(value) {
                draft.tag(&tag);
            }
        }
        "groups" | "mendeley-groups" | "collection" | "collections" => {
            for name in items(value) {
                draft.collection(&name);
            }
        }
        "file" | "localfile" | "pdf" if value.len() <= MAX_FIELD => {
            for file in files::parse(value) {
                draft.file(file);
            }
        }
        "note" | "annote" | "annotation" | "comment" | "review" | "addendum" | "notes" => {
            draft.note(&shown(value));
        }
        _ => {}
    }
}

/// The text of a value; one that is too long stays so, and is left out by what takes it.
fn shown(value: &str) -> String {
    if value.len() > MAX_FIELD { value.to_owned() } else { latex::text(value) }
}

/// The items of a list. Separators in braces belong to an item, unless the braces are around everything.
fn items(value: &str) -> Vec<String> {
    let is_list = value.len() > MAX_FIELD || !value.contains('{') || people::is_group(value.trim());
    if is_list {
        shown(value).split([',', ';', '\n']).map(str::to_owned).collect()
    } else {
        people::split(value, people::Between::Items).into_iter().map(shown).collect()
    }
}

/// An address without the command around it.
fn shown_url(value: &str) -> String {
    let value = value.trim();
    value.strip_prefix("\\url{").and_then(|inner| inner.strip_suffix('}')).unwrap_or(value).to_owned()
}

fn dates(draft: &mut Draft, fields: &Fields) {
    draft.date(first(fields, "date").and_then(Date::parse));
    let Some(year) = first(fields, "year").map(shown).and_then(|year| Date::parse(&year)) else { return };
    draft.date(Some(year));
    if let Some(month) = first(fields, "month").map(shown) {
        let day = first(fields, "day").and_then(|day| day.trim().parse().ok());
        // `month = 10 # "~may"` has the day with the month.
        let by_name = year.completed(&month);
        draft.date(if by_name == year {
            Date::new(year.year, Date::month(&month), day)
        } else {
            Some(by_name)
        });
        draft.date(day.and_then(|day| Date::new(year.year, Date::month(&month), Some(day))));
    }
}

fn kind(entry: &str, of: Option<&str>, subtype: Option<&str>) -> Kind {
    let of = of.unwrap_or_default().to_lowercase();
    match entry {
        "article" | "periodical" | "suppperiodical" => match subtype.unwrap_or_default().trim() {
            "newspaper" | "magazine" => Kind::News,
            _ => Kind::Article,
        },
        "review" => Kind::Article,
        "book" | "mvbook" | "booklet" | "collection" | "mvcollection" | "reference" | "mvreference" => {
            Kind::Book
        }
        "inbook" | "incollection" | "bookinbook" | "suppbook" | "suppcollection" | "inreference" => {
            Kind::Chapter
        }
        "inproceedings" | "conference" => Kind::ConferencePaper,
        "proceedings" | "mvproceedings" => Kind::Proceedings,
        "phdthesis" | "mastersthesis" | "thesis" => Kind::Thesis,
        "techreport" | "report" | "manual" => Kind::Report,
        "online" | "electronic" | "www" | "webpage" => Kind::WebPage,
        "dataset" | "data" => Kind::Dataset,
        "software" | "softwareversion" => Kind::Software,
        "patent" => Kind::Patent,
        "standard" => Kind::Standard,
        "preprint" => Kind::Preprint,
        "unpublished" => Kind::Manuscript,
        _ if of.contains("preprint") => Kind::Preprint,
        _ if of.contains("thesis") => Kind::Thesis,
        _ => Kind::Other,
    }
}
