//! A record while its fields are read. For a field that holds one value, the first counts.

use crate::date::Date;
use crate::text::{line, lines, plain};
use crate::{Annotation, Attachment, Kind, MAX_FIELD, Outcome, Record, Rejected};
use crate::{ids, language};
use lyra_domain::Identifier;
use std::collections::HashSet;

/// What programs write into notes; the rest of such a line is not the user's.
const PROGRAMS: [&str; 19] = [
    "_eprint:",
    "accepted:",
    "cited by:",
    "cited by ",
    "cited reference count:",
    "citation key:",
    "container-title:",
    "export date:",
    "exported from ",
    "isbn:",
    "issn:",
    "number of pages:",
    "page version id:",
    "publication title:",
    "publisher:",
    "times cited in web of science",
    "times cited:",
    "total times cited:",
    "zscc:",
];

/// Most files, collections, and serial numbers of a record, in which each is looked for.
const MAX_LIST: usize = 1_000;

/// Most annotations of a record.
const MAX_ANNOTATIONS: usize = 20_000;

/// Venues of preprints.
const PREPRINTS: [&str; 9] = [
    "arxiv",
    "biorxiv",
    "medrxiv",
    "chemrxiv",
    "psyarxiv",
    "ssrn",
    "research square",
    "preprints.org",
    "osf",
];

/// A field of one text on one line.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Slot {
    Venue,
    Volume,
    Issue,
    Pages,
    Publisher,
    Place,
    Edition,
}

#[derive(Debug, Default)]
pub(crate) struct Draft {
    record: Record,
    date: Option<Date>,
    /// From addresses and notes; what the fields say comes first.
    found: Vec<Identifier>,
    tags: HashSet<String>,
}

impl Draft {
    pub(crate) fn new(line: u64) -> Self {
        Self { record: Record { line, ..Record::default() }, ..Self::default() }
    }

    /// Whether a value can be read: it is not blank, and not too long.
    fn takes(&mut self, name: &str, text: &str) -> bool {
        if text.len() > MAX_FIELD {
            if !self.record.omitted.iter().any(|known| known == name) {
                self.record.omitted.push(name.to_owned());
            }
            return false;
        }
        !text.trim().is_empty()
    }

    pub(crate) fn kind(&mut self, kind: Kind) {
        self.record.kind = kind;
    }

    pub(crate) fn kind_so_far(&self) -> Kind {
        self.record.kind
    }

    pub(crate) fn key(&mut self, text: &str) {
        if self.record.key.is_empty() && self.takes("key", text) {
            self.record.key = line(text);
        }
    }

    pub(crate) fn title(&mut self, text: &str) {
        if self.record.title.is_empty() && self.takes("title", text) {
            self.record.title = line(&plain(text));
        }
    }

    /// A title with its subtitle.
    pub(crate) fn titled(&mut self, title: &str, subtitle: &str) {
        let [title, subtitle] = [title, subtitle].map(str::trim);
        if title.is_empty() || subtitle.is_empty() || title.len().saturating_add(subtitle.len()) > MAX_FIELD {
            self.title(title);
        } else {
            let colon = if title.ends_with([':', '?', '!', '.']) { " " } else { ": " };
            self.title(&format!("{title}{colon}{subtitle}"));
        }
    }

    pub(crate) fn author(&mut self, name: &str) {
        if self.takes("author", name) {
            self.record.authors.push(line(&plain(name)));
        }
    }

    pub(crate) fn editor(&mut self, name: &str) {
        if self.takes("editor", name) {
            self.record.editors.push(line(&plain(name)));
        }
    }

    pub(crate) fn has_authors(&self) -> bool {
        !self.record.authors.is_empty()
    }

    pub(crate) fn has_editors(&self) -> bool {
        !self.record.editors.is_empty()
    }

    pub(crate) fn put(&mut self, slot: Slot, text: &str) {
        let name = match slot {
            Slot::Venue => "venue",
            Slot::Volume => "volume",
            Slot::Issue => "issue",
            Slot::Pages => "pages",
            Slot::Publisher => "publisher",
            Slot::Place => "place",
            Slot::Edition => "edition",
        };
        if !self.takes(name, text) {
            return;
        }
        let value = match slot {
            Slot::Pages => pages(text),
            _ => line(&plain(text)),
        };
        let place = match slot {
            Slot::Venue => &mut self.record.venue,
            Slot::Volume => &mut self.record.volume,
            Slot::Issue => &mut self.record.issue,
            Slot::Pages => &mut self.record.pages,
            Slot::Publisher => &mut self.record.publisher,
            Slot::Place => &mut self.record.place,
            Slot::Edition => &mut self.record.edition,
        };
        if place.is_none() && !value.is_empty() {
            *place = Some(value);
        }
    }

    /// A date; of several, the first that says most of the year that was named first.
    pub(crate) fn date(&mut self, date: Option<Date>) {
        let Some(date) = date else { return };
        let longer =
            |known: &Date| known.year == date.year && date.to_string().len() > known.to_string().len();
        if self.date.as_ref().is_none_or(longer) {
            self.date = Some(date);
        }
    }

    /// A month and day for a year that is known.
    pub(crate) fn completed_date(&mut self, text: &str) {
        self.date = self.date.map(|date| date.completed(text));
    }

    pub(crate) fn doi(&mut self, text: &str) {
        if self.record.doi.is_none() {
            self.record.doi = ids::doi(text);
        }
    }

    pub(crate) fn arxiv(&mut self, text: &str) {
        if self.record.arxiv.is_none() {
            self.record.arxiv = ids::arxiv(text);
        }
    }

    pub(crate) fn pmid(&mut self, text: &str) {
        if self.record.pmid.is_none() {
            self.record.pmid = ids::pmid(text);
        }
    }

    pub(crate) fn pmcid(&mut self, text: &str) {
        if self.record.pmcid.is_none() {
            self.record.pmcid = ids::pmcid(text);
        }
    }

    /// Whatever identifiers a text names, if no field says otherwise.
    pub(crate) fn identify(&mut self, text: &str) {
        self.found.extend(ids::in_text(text));
    }

    pub(crate) fn serials(&mut self, text: &str) {
        let (isbn, issn) = ids::serials(text);
        for (list, found) in [(&mut self.record.isbn, isbn), (&mut self.record.issn, issn)] {
            for id in found {
                if !list.contains(&id) && list.len() < MAX_LIST {
                    list.push(id);
                }
            }
        }
    }

    /// The first address in a text.
    pub(crate) fn url(&mut self, text: &str) {
        if !self.takes("url", text) {
            return;
        }
        // Some writers put several into one field.
        let text = text.split(";http").next().unwrap_or_default();
        let url = text.split([' ', '\n', '\t']).find(|word| is_web(word));
        if let Some(url) = url.map(|url| url.trim_end_matches([';', ','])) {
            self.found.extend(ids::in_url(url));
            self.record.url.get_or_insert_with(|| url.to_owned());
        }
    }

    /// When the address was read.
    pub(crate) fn accessed(&mut self, date: Option<Date>) {
        if self.record.accessed.is_none() {
            self.record.accessed = date.map(|date| date.to_string());
        }
    }

    /// An abstract, of which every line is a paragraph.
    pub(crate) fn summary(&mut self, text: &str) {
        if self.record.abstract_text.is_none() && self.takes("abstract", text) {
            self.record.abstract_text = Some(lines(&plain(text))).filter(|text| !text.is_empty());
        }
    }

    pub(crate) fn language(&mut self, text: &str) {
        if self.record.language.is_none() {
            self.record.language = language::code(text);
        }
    }

    pub(crate) fn tag(&mut self, text: &str) {
        if !self.takes("tags", text) {
            return;
        }
        let tag = line(&plain(text));
        self.record.is_retracted |=
            ["retracted", "retracted publication"].contains(&tag.to_lowercase().as_str());
        if !tag.is_empty() && self.tags.insert(tag.clone()) {
            self.record.tags.push(tag);
        }
    }

    pub(crate) fn collection(&mut self, text: &str) {
        if self.takes("collections", text) {
            let name = line(text);
            if !self.record.collections.contains(&name) && self.record.collections.len() < MAX_LIST {
                self.record.collections.push(name);
            }
        }
    }

    /// A note. Lines such as `PMID: 123` become identifiers, and those that programs write are left out.
    pub(crate) fn note(&mut self, text: &str) {
        if !self.takes("notes", text) {
            return;
        }
        let text = lines(&plain(text));
        let own: Vec<&str> = text.split('\n').filter(|line| !self.takes_line(line)).collect();
        if own.iter().any(|line| !line.is_empty()) {
            self.record.notes.push(own.join("\n"));
        }
    }

    /// A marked text, with what was written about it.
    pub(crate) fn annotation(&mut self, text: &str, comment: &str, page: &str, color: &str) {
        if text.len() > MAX_FIELD || comment.len() > MAX_FIELD {
            self.takes("annotations", if text.len() > MAX_FIELD { text } else { comment });
            return;
        }
        let some = |text: &str| Some(line(text)).filter(|text| !text.is_empty() && text.len() <= 100);
        let annotation = Annotation {
            text: line(&plain(text)),
            comment: lines(&plain(comment)),
            page: some(page),
            color: some(color),
        };
        let says = !annotation.text.is_empty() || !annotation.comment.is_empty();
        if says && self.record.annotations.len() < MAX_ANNOTATIONS {
            self.record.annotations.push(annotation);
        }
    }

    /// Where the item is in Zotero.
    pub(crate) fn item(&mut self, address: String) {
        self.record.zotero = Some(address);
    }

    /// Whether a line of a note is a field of the record.
    fn takes_line(&mut self, line: &str) -> bool {
        let lower: String = line.chars().take(40).flat_map(char::to_lowercase).collect();
        if lower == "retracted" {
            self.record.is_retracted = true;
            return true;
        }
        if ["doi:", "pmid:", "pmcid:", "arxiv:"].iter().any(|name| lower.starts_with(name)) {
            let found = ids::in_text(line);
            let taken = !found.is_empty();
            self.found.extend(found);
            return taken;
        }
        if let Some(publisher) = lower.strip_prefix("publisher:") {
            let at = line.len().saturating_sub(publisher.len());
            self.put(Slot::Publisher, line.get(at..).unwrap_or_default());
        }
        if lower.starts_with("citation key:") {
            self.key(line.split_once(':').map_or("", |(_, key)| key));
        }
        PROGRAMS.iter().any(|name| lower.starts_with(name)) || lower.starts_with("tex.")
    }

    pub(crate) fn file(&mut self, file: Attachment) {
        let new = self.record.files.len() < MAX_LIST
            && !self.record.files.iter().any(|known| known.path == file.path);
        if new && self.takes("files", &file.path) {
            self.record.files.push(file);
        }
    }

    pub(crate) fn retracted(&mut self) {
        self.record.is_retracted = true;
    }

    pub(crate) fn retracts(&mut self, ids: Vec<Identifier>) {
        self.record.retracts.extend(ids);
    }

    pub(crate) fn version(&mut self, ids: Vec<Identifier>) {
        self.record.versions.extend(ids);
    }

    /// A file that nothing is known about: it is a record although it names no work.
    pub(crate) fn finish_file(self) -> Record {
        self.record
    }

    /// The record, with what follows from its fields.
    pub(crate) fn finish(mut self) -> Outcome {
        let venue = self.record.venue.as_deref().unwrap_or_default().to_lowercase();
        self.found.extend(ids::in_text(&venue));
        let record = &mut self.record;
        record.date = self.date.map(|date| date.to_string());
        record.year = self.date.map(|date| date.year);
        if let Some(id) = record.doi.as_ref().and_then(lyra_domain::Doi::arxiv) {
            record.arxiv.get_or_insert(id);
        }
        for id in self.found {
            match id {
                Identifier::Doi(id) => drop(record.doi.get_or_insert(id)),
                Identifier::Arxiv(id) => drop(record.arxiv.get_or_insert(id)),
                Identifier::Pmid(id) => drop(record.pmid.get_or_insert(id)),
                Identifier::Pmcid(id) => drop(record.pmcid.get_or_insert(id)),
                _ => {}
            }
        }
        let open = matches!(record.kind, Kind::Article | Kind::Other | Kind::Manuscript | Kind::WebPage);
        let unpublished = venue.is_empty() && record.arxiv.is_some();
        if open && (unpublished || PREPRINTS.iter().any(|name| venue.starts_with(name))) {
            record.kind = Kind::Preprint;
        }
        let title = record.title.get(..20).unwrap_or(&record.title).to_lowercase();
        let marks = ["retracted:", "retracted article:", "[retracted]", "retracted article."];
        record.is_retracted |= marks.iter().any(|mark| title.starts_with(mark));
        let own = record.identifiers();
        for list in [&mut record.versions, &mut record.retracts] {
            list.sort();
            list.dedup();
            list.retain(|id| !own.contains(id));
        }
        if record.title.is_empty() && own.is_empty() && record.abstract_text.is_none() {
            let reason = match &record.omitted[..] {
                [] => "no title, no identifier, and no abstract".to_owned(),
                omitted => format!("longer than {} MiB: {}", MAX_FIELD >> 20, omitted.join(", ")),
            };
            return Err(Rejected { line: record.line, reason });
        }
        Ok(self.record)
    }
}

/// Whether a word is an address of the web.
pub(crate) fn is_web(text: &str) -> bool {
    ["http://", "https://"]
        .iter()
        .any(|scheme| text.get(..scheme.len()).is_some_and(|s| s.eq_ignore_ascii_case(scheme)))
}

/// `12–19`, `pp. 12--19`, and `12 - 19` as `12-19`.
fn pages(text: &str) -> String {
    let text = line(&plain(text)).replace(['\u{2010}', '\u{2011}', '\u{2013}', '\u{2014}', '\u{2212}'], "-");
    let bare =
        ["pages ", "pp. ", "pp.", "p. "].iter().find_map(|front| text.strip_prefix(front)).unwrap_or(&text);
    let parts: Vec<&str> = bare.split('-').map(str::trim).filter(|part| !part.is_empty()).collect();
    parts.join("-")
}
