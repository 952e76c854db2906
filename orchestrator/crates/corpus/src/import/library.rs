//! Works of a person's library: a reference and its paper become one document, and what the corpus knows of it stays.

mod facts;
mod ids;
mod merge;

pub(super) use self::ids::{Naming, Slug, identifying, same_title};

use self::facts::Facts;
use self::ids::{Names, family};
use super::records::Holding;
use crate::Document;
use crate::document::Stage;
use crate::ledger::Entry;
use lyra_text::normalise;
use std::collections::HashMap;
use std::path::Path;

/// Letters and digits that a title has at least to tell a work from others.
const TELLING_TITLE: usize = 20;
/// Years between a preprint and what was published of it, at most.
const YEARS_TO_PRINT: i32 = 2;
/// What begins the key of a work that a record names as another version of its own.
const VERSION: &str = "version:";

/// The works of one import. Of papers only their names are kept here, of references their records.
#[derive(Default)]
pub(super) struct Library {
    works: Vec<Work>,
    /// Works by identifier, title, names of attached files, and identifiers of their other versions.
    by_key: HashMap<String, Vec<usize>>,
    /// Works of earlier imports by the names of their papers; `None` where several have the name.
    by_file: HashMap<String, Option<usize>>,
    /// Works of earlier imports by id.
    by_id: HashMap<String, usize>,
    /// Which version the reference describes that names a file.
    stages: HashMap<String, Stage>,
    names: Names,
}

struct Work {
    /// A reference whose paper has not arrived, or a preprint's text whose published version may come.
    waiting: Option<(Document, Place)>,
    /// What the work is, as it was last known.
    facts: Facts,
    /// Id of its document, once that was passed on.
    id: Option<String>,
    /// The file whose text was taken.
    paper: Option<String>,
    /// Whether a reference says what it is.
    has_reference: bool,
    /// Whether files of both versions were passed on.
    has_both: bool,
    /// Sources with records of it that wait.
    named_by: Vec<u32>,
    /// Keywords and marks in its papers that an earlier import read and that are not read again.
    remembered: Option<Box<Document>>,
}

impl Work {
    fn new(facts: Facts) -> Self {
        Self {
            waiting: None,
            facts,
            id: None,
            paper: None,
            has_reference: false,
            has_both: false,
            named_by: Vec::new(),
            remembered: None,
        }
    }

    /// What waits of it, with all that is known from earlier imports.
    fn take_waiting(&mut self) -> Option<(Document, Place)> {
        let (mut document, place) = self.waiting.take()?;
        if let Some(paper) = self.remembered.take() {
            document.fill_from(*paper);
        }
        Some((document, place))
    }
}

/// Whether a stored document surely is the other version of a work: both name the same title and first author, their
/// years are at most two apart, and one is a preprint, the other not. What is not known of either does not count as the
/// same. Returns which version the stored one is.
pub(super) fn stage_of_other(document: &Document, stage: Stage, stored: &Document) -> Option<Stage> {
    let title = |of: &Document| keys(of).into_iter().find(|key| key.starts_with("title:"));
    let same_title = title(document).is_some_and(|own| title(stored) == Some(own));
    let same_author = family(document).is_some_and(|own| family(stored) == Some(own));
    let near = document.year.zip(stored.year).is_none_or(|(a, b)| (a - b).abs() <= YEARS_TO_PRINT);
    let other = stored.stage_of_file().or_else(|| stored.stage()).filter(|_| stored.versions.is_empty());
    other.filter(|other| *other != stage && same_title && same_author && near)
}

/// A file of the import, and a line in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) file: u32,
    pub(super) line: u64,
}

/// What becomes of an arrival.
#[derive(Debug, PartialEq)]
pub(super) enum Shelved {
    /// A document with its id, and what that comes from. It is `whole` when a reference said what it is; `named_by` are the
    /// sources of such.
    Document { document: Box<Document>, naming: Naming, whole: bool, named_by: Vec<u32> },
    /// A reference that waits for its paper, or a preprint that waits for what was published of it.
    Waits,
    /// A reference that was there; the id of its work, once that is known.
    Repeated { id: Option<String> },
    /// Another file of the same work.
    Another { id: String, paper: String },
    /// A file of another version of a work, of which a file was passed on with this id, or is remembered.
    Version {
        id: String,
        document: Box<Document>,
        /// Which version it is.
        stage: Stage,
        /// A reference said what the work is.
        whole: bool,
        /// That reference, if it was not passed on, and the sources of it.
        reference: Option<Box<Document>>,
        named_by: Vec<u32>,
    },
}

impl Library {
    /// A file with one paper that an earlier import read and that is not read again: references find its document by its
    /// keys. Other files are left out.
    pub(super) fn remember(&mut self, entry: &Entry) {
        let ([id], false) = (&entry.documents[..], entry.keys.is_empty()) else { return };
        let said = Document {
            tags: entry.tags.clone(),
            annotations: entry.annotations.clone(),
            ..Document::default()
        };
        let facts = Facts::of_entry(entry);
        let at = if let Some(at) = self.by_id.get(id).copied() {
            let work = &mut self.works[at];
            work.has_both |= work.facts.stage != facts.stage;
            if let Some(known) = &mut work.remembered {
                known.fill_from(said);
            }
            self.know(at, entry.keys.iter().cloned());
            at
        } else {
            let at = self.works.len();
            let name = entry.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            self.names.keep(id);
            let (id, remembered) = (Some(id.clone()), Some(Box::new(said)));
            self.by_id.extend(id.clone().map(|id| (id, at)));
            self.add(entry.keys.clone(), Work { id, paper: Some(name), remembered, ..Work::new(facts) });
            at
        };
        for key in file_keys(&entry.path) {
            let known = self.by_file.entry(key).or_insert(Some(at));
            *known = known.filter(|known| *known == at);
        }
    }

    /// Takes a record of a library from the file at `path`. `origin` is the same for all ways to that file.
    pub(super) fn shelve(
        &mut self,
        document: Document,
        holding: Holding,
        path: &Path,
        origin: &Path,
        place: Place,
    ) -> Shelved {
        match holding {
            Holding::Reference { files, versions } => {
                let folder = path.parent().unwrap_or(Path::new(""));
                let attached = files.iter().flat_map(|file| file_keys(&folder.join(file))).collect();
                self.reference(document, attached, &versions, place)
            }
            // Parts are put together by their ids, before they come here.
            Holding::Paper | Holding::Part => self.paper(document, path, origin, place),
        }
    }

    fn reference(
        &mut self,
        document: Document,
        attached: Vec<String>,
        versions: &[String],
        place: Place,
    ) -> Shelved {
        let stage = document.stage();
        let facts = Facts::of(&document, stage);
        for (key, stage) in attached.iter().filter_map(|key| Some((key, stage?))) {
            self.stages.insert(key.clone(), stage);
        }
        let keys = keys(&document);
        let by_file = attached.iter().find_map(|key| {
            let at = (*self.by_file.get(key)?)?;
            let work = &self.works[at];
            (!work.has_reference && facts.agree(key, &work.facts)).then_some(at)
        });
        // What the record says about versions tells more than a title.
        let by_version = || versions.iter().find_map(|key| self.of(key, |known| facts.is_version_of(known)));
        let found = by_file.or_else(by_version).or_else(|| self.find(&keys, &facts));
        let versions = versions.iter().map(|key| format!("{VERSION}{key}"));
        let keys: Vec<String> = keys.into_iter().chain(versions).chain(attached).collect();
        if let Some(known) = found {
            let work = &mut self.works[known];
            work.named_by.push(place.file);
            if work.remembered.is_some() && !work.has_reference {
                (work.waiting, work.has_reference) = (Some((document, place)), true);
                work.facts.complete_from(&facts);
                self.know(known, keys.into_iter());
                return Shelved::Waits;
            }
            if let Some((waiting, _)) = &mut work.waiting {
                let known = waiting.stage();
                if (known, stage) == (Some(Stage::Preprint), Some(Stage::Published)) {
                    let preprint = std::mem::replace(waiting, document);
                    waiting.join(stage, preprint, known);
                } else {
                    waiting.join(known, document, stage);
                }
                // The stage of a work with a paper is the paper's.
                let stage = work.facts.stage.filter(|_| work.paper.is_some()).or(waiting.stage());
                work.facts = Facts::of(waiting, stage);
            }
            let id = work.id.clone();
            self.know(known, keys.into_iter());
            return Shelved::Repeated { id };
        }
        let (waiting, named_by) = (Some((document, place)), vec![place.file]);
        self.add(keys, Work { waiting, has_reference: true, named_by, ..Work::new(facts) });
        Shelved::Waits
    }

    fn paper(&mut self, mut document: Document, path: &Path, origin: &Path, place: Place) -> Shelved {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        document.files = vec![name.clone()];
        let own = keys(&document);
        let files = file_keys(path);
        let of_reference = || files.iter().find_map(|key| self.stages.get(key).copied());
        let stage = document.stage_of_file().or_else(of_reference);
        let mut facts = Facts::of(&document, stage);
        let naming = Naming::of(&document.title);
        if document.title.is_empty() {
            document.title = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        }
        let known = self
            .find(&files, &facts)
            .filter(|known| self.works[*known].paper.is_none())
            .or_else(|| self.find(&own, &facts));
        if let Some(known) = known {
            let work = &mut self.works[known];
            let shown = work.facts.stage;
            if let (Some(id), Some(paper)) = (&work.id, &work.paper) {
                let (id, paper, whole) = (id.clone(), paper.clone(), work.has_reference);
                let other = stage.filter(|stage| shown.is_some_and(|shown| shown != *stage));
                let Some(stage) = other.filter(|_| !work.has_both) else {
                    return Shelved::Another { id, paper };
                };
                work.has_both = true;
                let reference = work.take_waiting().map(|(reference, _)| Box::new(reference));
                let named_by = std::mem::take(&mut work.named_by);
                let document = Box::new(document);
                return Shelved::Version { id, document, stage, whole, reference, named_by };
            }
            if let Some((mut reference, of)) = work.waiting.take() {
                let has_both = !reference.versions.is_empty();
                let has_text = !reference.desc.is_empty();
                let known_stage = reference.stage();
                let stage = stage.or(known_stage);
                if has_both && has_text && stage == Some(Stage::Preprint) {
                    let paper = reference.files.first().cloned().unwrap_or_default();
                    let id = self.names.of(&reference, Naming::of(&reference.title), origin);
                    work.waiting = Some((reference, of));
                    return Shelved::Another { id, paper };
                }
                let naming = if reference.title.is_empty() { naming } else { Naming::of(&reference.title) };
                let own = if has_both && has_text { Some(Stage::Preprint) } else { known_stage };
                reference.join(own, document, stage);
                if has_both && stage == Some(Stage::Preprint) {
                    // The published version's file may come, whose text is shown then.
                    work.waiting = Some((reference, of));
                    work.named_by.push(place.file);
                    return Shelved::Waits;
                }
                reference.doc_id = self.names.of(&reference, naming, origin);
                (work.id, work.paper) = (Some(reference.doc_id.clone()), Some(name));
                work.facts = Facts::of(&reference, stage);
                let named_by = std::mem::take(&mut work.named_by);
                self.know(known, keys(&reference).into_iter());
                let document = Box::new(reference);
                return Shelved::Document { document, naming, whole: true, named_by };
            }
        }
        document.doc_id = self.names.of(&document, naming, origin);
        let id = Some(document.doc_id.clone());
        // Of a file that does not say otherwise, it is what was published.
        facts.stage = stage.or(Some(Stage::Published));
        self.add(own, Work { id, paper: Some(name), ..Work::new(facts) });
        Shelved::Document { document: Box::new(document), naming, whole: false, named_by: Vec::new() }
    }

    /// The references whose papers did not come, with ids and what these come from, and the sources that have them.
    pub(super) fn rest(self) -> impl Iterator<Item = (Document, Naming, Place, Vec<u32>)> {
        let Self { works, mut names, .. } = self;
        works.into_iter().filter_map(move |mut work| {
            let (mut document, place) = work.take_waiting()?;
            let naming = if work.id.is_some() { Naming::Earlier } else { Naming::of(&document.title) };
            document.doc_id = work.id.unwrap_or_else(|| names.of(&document, naming, Path::new("")));
            Some((document, naming, place, work.named_by))
        })
    }

    fn add(&mut self, keys: Vec<String>, work: Work) {
        let at = self.works.len();
        self.works.push(work);
        for key in keys {
            let known = self.by_key.entry(key).or_default();
            if known.last() != Some(&at) {
                known.push(at);
            }
        }
    }

    /// Keys that a work is known by from now on, as far as no other has them.
    fn know(&mut self, at: usize, keys: impl Iterator<Item = String>) {
        for key in keys {
            self.by_key.entry(key).or_insert_with(|| vec![at]);
        }
    }

    /// The work that one of the keys is of, or that names one as its other version.
    fn find(&self, keys: &[String], facts: &Facts) -> Option<usize> {
        keys.iter().find_map(|key| {
            self.of(key, |known| facts.agree(key, known))
                .or_else(|| self.of(&format!("{VERSION}{key}"), |known| facts.is_version_of(known)))
        })
    }

    /// The only work with a key of which what is known fits.
    fn of(&self, key: &str, fits: impl Fn(&Facts) -> bool) -> Option<usize> {
        let mut fitting = self.by_key.get(key)?.iter().filter(|at| fits(&self.works[**at].facts));
        let first = *fitting.next()?;
        fitting.next().is_none().then_some(first)
    }
}

/// Keys of a work: its identifiers, and its title when it tells it from others.
pub(super) fn keys(document: &Document) -> Vec<String> {
    let mut keys: Vec<String> = document.doi.iter().map(|doi| format!("doi:{doi}")).collect();
    keys.extend(document.identifiers.iter().map(ToString::to_string));
    let title: String =
        normalise(&document.title).to_lowercase().chars().filter(|c| c.is_alphanumeric()).collect();
    let weight: usize = title.chars().map(|c| if c > '\u{3000}' { 3 } else { 1 }).sum();
    if weight >= TELLING_TITLE {
        keys.push(format!("title:{title}"));
    }
    keys
}

/// Keys of an attached file: its name with its folder's, and its name alone.
fn file_keys(path: &Path) -> Vec<String> {
    // Files of references are written by programs of other systems.
    let text = path.to_string_lossy().replace('\\', "/").to_lowercase();
    let mut parts = text.rsplit('/').filter(|part| *part != ".");
    let Some(name) = parts.next().filter(|name| !name.is_empty()) else { return Vec::new() };
    let folder = parts.next().filter(|folder| !folder.is_empty());
    folder.map(|folder| format!("file:{folder}/{name}")).into_iter().chain([format!("file:{name}")]).collect()
}

#[cfg(test)]
mod tests;
