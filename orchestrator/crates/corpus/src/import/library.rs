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
mod tests {
    use super::*;
    use crate::ledger::{Kind, State};
    use lyra_domain::{Doi, Identifier};

    const PLACE: Place = Place { file: 0, line: 1 };

    fn shelve(library: &mut Library, document: Document, holding: Holding, path: &str) -> Shelved {
        library.shelve(document, holding, Path::new(path), Path::new(path), PLACE)
    }

    fn listed(files: &[&str], versions: &[&str]) -> Holding {
        let [files, versions] =
            [files, versions].map(|list| list.iter().map(|&one| one.to_owned()).collect());
        Holding::Reference { files, versions }
    }

    fn paper(title: &str, doi: &str, year: i32) -> Document {
        Document {
            title: title.to_owned(),
            doi: Doi::parse(doi),
            year: Some(year),
            authors: vec!["Ann Lee".to_owned()],
            desc: "Naps helped.".to_owned(),
            ..Document::default()
        }
    }

    fn reference(title: &str, doi: &str, year: i32) -> Document {
        Document { desc: String::new(), venue: Some("Sleep".to_owned()), ..paper(title, doi, year) }
    }

    const TITLE: &str = "Short naps and the memory of adults";

    #[test]
    fn a_reference_and_its_paper_are_one_document() {
        for (record, files, found) in [
            (reference("Else", "10.1000/a", 2019), vec![], paper("Naps", "10.1000/a", 2020)),
            (reference(TITLE, "", 2019), vec![], paper("SHORT NAPS and the Memory of Adults", "", 2020)),
            (reference("Quite another one", "", 1999), vec!["C:\\zotero\\7\\Lee.pdf"], paper("", "", 2019)),
        ] {
            let mut library = Library::default();
            let held = shelve(&mut library, record.clone(), listed(&files, &[]), "a.bib");
            assert_eq!(held, Shelved::Waits);
            let shelved = shelve(&mut library, found, Holding::Paper, "/home/lee/7/Lee.pdf");
            let Shelved::Document { document, whole: true, named_by, .. } = shelved else {
                panic!("{shelved:?}")
            };
            assert_eq!((&document.title, named_by), (&record.title, vec![0]));
            assert_eq!((document.venue.as_deref(), document.desc.as_str()), (Some("Sleep"), "Naps helped."));
            assert_eq!(document.files, ["Lee.pdf"]);
            assert_eq!(library.rest().count(), 0);
        }
    }

    #[test]
    fn others_stay_apart() {
        let mut library = Library::default();
        let held = listed(&["b/x.pdf"], &[]);
        shelve(&mut library, reference(TITLE, "10.1000/a", 2010), held, "a.bib");
        let shelved = shelve(&mut library, paper(TITLE, "10.1000/b", 2019), Holding::Paper, "y.pdf");
        assert!(
            matches!(shelved, Shelved::Document { document, whole: false, .. } if document.doc_id == "doi:10.1000/b")
        );
        let left: Vec<_> = library.rest().map(|(document, ..)| document.doc_id).collect();
        assert_eq!(left, ["doi:10.1000/a"]);
    }

    #[test]
    fn references_find_papers_that_are_not_read_again() {
        let mut library = Library::default();
        let naps = paper(TITLE, "", 2019);
        let read = |path: &str, keys: Vec<String>, id: &str| {
            let mut entry = Entry::new(path.into(), State::default(), None, Kind::Documents);
            (entry.keys, entry.year, entry.tags) = (keys, naps.year, vec!["naps".to_owned()]);
            entry.documents.push(id.to_owned());
            entry
        };
        library.remember(&read("/a/7/Lee.pdf", keys(&naps), "lee-2019"));
        library.remember(&read("/a/8/Ek.pdf", vec!["file:Ek.pdf".to_owned()], "file:Ek.pdf"));
        let (by_title, by_file) = (listed(&[], &[]), listed(&["8/Ek.pdf"], &[]));
        for (record, holding) in [
            (reference(TITLE, "10.1000/a", 2019), by_title.clone()),
            (reference("Another one", "10.1000/b", 2011), by_file),
        ] {
            assert_eq!(shelve(&mut library, record, holding, "a.bib"), Shelved::Waits);
        }
        let again = shelve(&mut library, reference(TITLE, "", 2019), by_title, "b.bib");
        assert_eq!(again, Shelved::Repeated { id: Some("lee-2019".to_owned()) });
        let copy = shelve(&mut library, naps, Holding::Paper, "copy.pdf");
        assert_eq!(copy, Shelved::Another { id: "lee-2019".to_owned(), paper: "Lee.pdf".to_owned() });
        let left: Vec<_> = library.rest().map(|(document, ..)| (document.doc_id, document.tags)).collect();
        let tags = || vec!["naps".to_owned()];
        assert_eq!(left, [("lee-2019".to_owned(), tags()), ("file:Ek.pdf".to_owned(), tags())]);
    }

    #[test]
    fn a_second_file_of_a_work_is_named() {
        let mut library = Library::default();
        shelve(&mut library, paper(TITLE, "10.1000/a", 2019), Holding::Paper, "a.pdf");
        let again = shelve(&mut library, paper(TITLE, "", 2019), Holding::Paper, "b.pdf");
        assert_eq!(again, Shelved::Another { id: "doi:10.1000/a".to_owned(), paper: "a.pdf".to_owned() });
    }

    /// Whether two records are one work, whichever comes first.
    fn are_one(a: (&Document, &Holding, &str), b: (&Document, &Holding, &str)) -> bool {
        let join = |first: (&Document, &Holding, &str), second: (&Document, &Holding, &str)| {
            let mut library = Library::default();
            for (document, holding, path) in [first, second] {
                shelve(&mut library, document.clone(), holding.clone(), path);
            }
            library.works.len() == 1
        };
        assert_eq!(join(a, b), join(b, a), "{a:?} {b:?}");
        join(a, b)
    }

    #[test]
    fn only_preprint_and_article_are_versions() {
        let with = |pmid: &str, document: Document| Document {
            identifiers: Identifier::in_text(&format!("PMID: {pmid}")),
            ..document
        };
        let later = with("31000002", reference("Interventions for sleep: an update", "10.1000/later", 2020));
        let review = with("31000001", reference("Interventions for sleep", "10.1000/review", 2015));
        let preprint = with("31000001", reference("Sleep, briefly", "10.1101/2019.01.01.123456", 2019));
        let (update, plain) = (listed(&[], &["pmid:31000001"]), listed(&[], &[]));
        assert!(!are_one((&later, &update, "a.nbib"), (&review, &plain, "a.nbib")));
        assert!(are_one((&later, &update, "a.nbib"), (&preprint, &plain, "a.nbib")));
    }

    #[test]
    fn other_identifiers_join_no_works_whose_dois_differ() {
        let with = |doi: &str, title: &str| Document {
            identifiers: Identifier::in_text("PMCID: PMC123456"),
            ..reference(title, doi, 2019)
        };
        let plain = listed(&[], &[]);
        let one = with("10.1000/a", "Naps");
        for (other, same) in [
            (with("10.1000/b", "Copper"), false),
            (with("", "Copper"), true),
            (with("10.1101/2019.01.01.123456", "Copper"), true),
        ] {
            assert_eq!(are_one((&one, &plain, "a.ris"), (&other, &plain, "a.ris")), same, "{other:?}");
        }
    }

    #[test]
    fn a_title_joins_no_works_of_different_authors_or_dois() {
        const COMMON: &str = "Introduction to the special issue";
        let by = |author: &str, doi: &str, year| Document {
            authors: vec![author.to_owned()],
            ..paper(COMMON, doi, year)
        };
        let (plain, file) = (listed(&[], &[]), Holding::Paper);
        let lee = by("Lee, Ann", "", 2019);
        for (other, same) in [
            (by("Bo Ek", "", 2020), false),
            (by("Ann Lee", "", 2020), true),
            (by("Lee A", "", 2019), true),
            (Document { authors: Vec::new(), ..lee.clone() }, true),
        ] {
            assert_eq!(are_one((&lee, &plain, "a.bib"), (&other, &plain, "a.bib")), same, "{other:?}");
            assert_eq!(are_one((&lee, &plain, "a.bib"), (&other, &file, "b.html")), same, "{other:?}");
        }
        let [one, two] = ["10.1000/a", "10.1000/b"].map(|doi| by("Ann Lee", doi, 2019));
        assert!(!are_one((&one, &file, "a/x.html"), (&two, &file, "b/y.html")));
        assert!(!are_one((&one, &plain, "a.bib"), (&two, &file, "b/y.html")));
        assert!(are_one((&one, &plain, "a.bib"), (&lee, &file, "b/y.html")));
    }

    #[test]
    fn the_author_of_a_paper_counts_that_is_not_read_again() {
        let mut library = Library::default();
        let naps = paper(TITLE, "", 2019);
        let mut entry = Entry::new("/a/7/Lee.pdf".into(), State::default(), None, Kind::Documents);
        (entry.keys, entry.year, entry.author) = (keys(&naps), naps.year, naps.authors.first().cloned());
        entry.documents.push("lee-2019".to_owned());
        library.remember(&entry);
        let of_ek = Document { authors: vec!["Bo Ek".to_owned()], ..reference(TITLE, "", 2019) };
        for record in [of_ek, reference(TITLE, "", 2019)] {
            shelve(&mut library, record, listed(&[], &[]), "a.bib");
        }
        let left: Vec<_> = library.rest().map(|(document, naming, ..)| (document.doc_id, naming)).collect();
        let of_ek = "ek-2019-short-naps-and-the-memory-of-adults".to_owned();
        assert_eq!(left, [("lee-2019".to_owned(), Naming::Earlier), (of_ek, Naming::Title)]);
    }

    #[test]
    fn a_bare_file_name_joins_no_works_that_say_what_they_are() {
        let naps = reference("Short naps", "10.1000/naps", 2019);
        let (bare, file) = (listed(&["main.html"], &[]), Holding::Paper);
        let titled = reference(TITLE, "", 2019);
        let copper = "Copper alloys and their corrosion at sea";
        for (record, found, same) in [
            (&naps, paper("Copper alloys", "10.1000/copper", 2019), false),
            (&titled, paper(copper, "", 2019), false),
            (&naps, paper("", "", 2019), true),
            (&titled, paper("Short naps and the memory", "10.1000/naps", 2019), true),
        ] {
            let mut library = Library::default();
            shelve(&mut library, record.clone(), bare.clone(), "library/refs.bib");
            let shelved = shelve(&mut library, found.clone(), file.clone(), "other/main.html");
            assert_eq!(matches!(shelved, Shelved::Document { whole: true, .. }), same, "{found:?}");
        }
        // The file beside the references is the one that they name.
        let mut library = Library::default();
        shelve(&mut library, titled, bare, "library/refs.bib");
        let shelved = shelve(&mut library, paper(copper, "", 2019), file, "library/main.html");
        assert!(matches!(shelved, Shelved::Document { whole: true, .. }), "{shelved:?}");
    }
}
