//! Works of a person's library: a reference and its paper become one document, and what the corpus knows of it stays.

use super::records::Holding;
use crate::Document;
use lyra_text::normalise;
use std::collections::HashMap;
use std::path::Path;

/// Letters and digits that a title has at least to tell a work from others.
const TELLING_TITLE: usize = 20;
/// Most characters of an id that is made of author, year and title.
const MAX_SLUG: usize = 80;
/// Words of the title in such an id.
const WORDS_OF_TITLE: usize = 8;

/// The works of one import. Of papers only their names are kept here, of references their records.
#[derive(Default)]
pub(super) struct Library {
    works: Vec<Work>,
    /// Works by identifier, title, and names of attached files; `None` where several have the key.
    by_key: HashMap<String, Option<usize>>,
    /// Works of earlier imports by the names of their papers.
    by_file: HashMap<String, Option<usize>>,
}

struct Work {
    /// A reference whose paper has not arrived.
    waiting: Option<(Document, Place)>,
    year: Option<i32>,
    /// Id of its document, once that was passed on.
    id: Option<String>,
    /// The file whose text was taken.
    paper: Option<String>,
    /// Sources with a reference to it that waits.
    named_by: Vec<u32>,
    /// Its paper was read by an earlier import, and no reference to it has arrived.
    remembered: bool,
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
    /// A document with its id. It is `whole` when a reference said what it is; `named_by` are the sources of such.
    Document { document: Box<Document>, whole: bool, named_by: Vec<u32> },
    /// A reference that waits for its paper.
    Waits,
    /// A reference that was there; the id of its work, once that is known.
    Repeated { id: Option<String> },
    /// Another file of the same work.
    Another { id: String, paper: String },
}

impl Library {
    /// A paper that an earlier import read and that is not read again: references find its document by its keys.
    pub(super) fn remember(&mut self, path: &Path, keys: Vec<String>, year: Option<i32>, id: &str) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let at = self.works.len();
        let (id, paper) = (Some(id.to_owned()), Some(name));
        self.add(keys, Work { waiting: None, year, id, paper, named_by: Vec::new(), remembered: true });
        for key in file_keys(path) {
            self.by_file.entry(key).and_modify(|known| *known = None).or_insert(Some(at));
        }
    }

    /// Takes a record of a library from the file at `path`.
    pub(super) fn shelve(
        &mut self,
        mut document: Document,
        holding: Holding,
        path: &Path,
        place: Place,
    ) -> Shelved {
        match holding {
            Holding::Reference { files } => {
                let keys = keys(&document);
                let attached: Vec<String> =
                    files.iter().flat_map(|file| file_keys(Path::new(file))).collect();
                let by_file = || attached.iter().find_map(|key| *self.by_file.get(key)?);
                let found = by_file().filter(|known| self.works[*known].remembered);
                if let Some(known) = found.or_else(|| self.find(&keys, document.year)) {
                    let work = &mut self.works[known];
                    if let Some(id) = work.id.clone().filter(|_| work.remembered) {
                        (work.remembered, document.doc_id) = (false, id);
                        let document = Box::new(document);
                        return Shelved::Document { document, whole: true, named_by: Vec::new() };
                    }
                    if let Some((waiting, _)) = &mut work.waiting {
                        waiting.fill_from(document);
                        work.named_by.push(place.file);
                    }
                    return Shelved::Repeated { id: work.id.clone() };
                }
                let year = document.year;
                let keys: Vec<String> = keys.into_iter().chain(attached).collect();
                let (waiting, named_by) = (Some((document, place)), vec![place.file]);
                self.add(keys, Work { waiting, year, id: None, paper: None, named_by, remembered: false });
                Shelved::Waits
            }
            Holding::Paper => {
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                document.files = vec![name.clone()];
                let own = keys(&document);
                if document.title.is_empty() {
                    document.title = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                }
                let known = self
                    .find(&file_keys(path), None)
                    .filter(|known| self.works[*known].paper.is_none())
                    .or_else(|| self.find(&own, document.year));
                if let Some(work) = known.map(|known| &mut self.works[known]) {
                    if let (Some(id), Some(paper)) = (&work.id, &work.paper) {
                        return Shelved::Another { id: id.clone(), paper: paper.clone() };
                    }
                    if let Some((mut reference, _)) = work.waiting.take() {
                        reference.fill_from(document);
                        reference.doc_id = id(&reference, &name);
                        (work.id, work.paper) = (Some(reference.doc_id.clone()), Some(name));
                        let named_by = std::mem::take(&mut work.named_by);
                        return Shelved::Document { document: Box::new(reference), whole: true, named_by };
                    }
                }
                document.doc_id = id(&document, &name);
                let year = document.year;
                let id = Some(document.doc_id.clone());
                let paper = Some(name);
                let work = Work { waiting: None, year, id, paper, named_by: Vec::new(), remembered: false };
                self.add(own, work);
                Shelved::Document { document: Box::new(document), whole: false, named_by: Vec::new() }
            }
        }
    }

    /// The references whose papers did not come, with ids and the sources that have them.
    pub(super) fn rest(self) -> impl Iterator<Item = (Document, Place, Vec<u32>)> {
        self.works.into_iter().filter_map(|work| Some((work.waiting?, work.named_by))).map(
            |((mut document, place), named_by)| {
                document.doc_id = id(&document, "");
                (document, place, named_by)
            },
        )
    }

    fn add(&mut self, keys: Vec<String>, work: Work) {
        let at = self.works.len();
        self.works.push(work);
        for key in keys {
            self.by_key.entry(key).and_modify(|known| *known = None).or_insert(Some(at));
        }
    }

    /// The work that has one of the keys. Of an equal title, the years are at most one apart.
    fn find(&self, keys: &[String], year: Option<i32>) -> Option<usize> {
        let known = keys.iter().filter_map(|key| Some((key, (*self.by_key.get(key)?)?)));
        let mut same = known.filter(|(key, at)| {
            !key.starts_with("title:")
                || year.zip(self.works[*at].year).is_none_or(|(a, b)| (a - b).abs() <= 1)
        });
        same.next().map(|(_, at)| at)
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
    let mut parts = text.rsplit('/');
    let Some(name) = parts.next().filter(|name| !name.is_empty()) else { return Vec::new() };
    let folder = parts.next().filter(|folder| !folder.is_empty());
    folder.map(|folder| format!("file:{folder}/{name}")).into_iter().chain([format!("file:{name}")]).collect()
}

/// An id that stays the same when the files are read again: DOI, another identifier, else author, year, and title, else
/// the file's name.
fn id(document: &Document, file: &str) -> String {
    if let Some(doi) = &document.doi {
        return format!("doi:{doi}");
    }
    if let Some(identifier) = document.identifiers.first() {
        return identifier.to_string();
    }
    let words = |text: &str| -> Vec<String> {
        let lower = normalise(text).to_lowercase();
        lower
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect()
    };
    let title = words(&document.title);
    if title.is_empty() {
        return format!("file:{file}");
    }
    // `Lee, Ann` or `Ann Lee`.
    let family = |author: &String| words(author.split(',').next().unwrap_or_default()).pop();
    let family = document.authors.first().and_then(family);
    let year = document.year.map(|year| year.to_string());
    let parts: Vec<String> =
        family.into_iter().chain(year).chain(title.into_iter().take(WORDS_OF_TITLE)).collect();
    parts.join("-").chars().take(MAX_SLUG).collect()
}

impl Document {
    /// Takes from another record of the same work what this one lacks. Names of files, identifiers, tags, collections,
    /// and notes of both are kept.
    pub(super) fn fill_from(&mut self, other: Self) {
        fn text(own: &mut String, other: String) {
            if own.is_empty() {
                *own = other;
            }
        }
        fn list<T: PartialEq>(own: &mut Vec<T>, other: Vec<T>) {
            let own_list = std::mem::take(own);
            // The other's come first: it may be the stored one, whose order then stays.
            let mut both = other;
            for item in own_list {
                if !both.contains(&item) {
                    both.push(item);
                }
            }
            *own = both;
        }
        text(&mut self.doc_id, other.doc_id);
        text(&mut self.title, other.title);
        text(&mut self.text, other.text);
        text(&mut self.claim, other.claim);
        if self.desc.is_empty() {
            (self.desc, self.sections) = (other.desc, other.sections);
        }
        if self.authors.is_empty() {
            self.authors = other.authors;
        }
        if self.references.is_empty() {
            self.references = other.references;
        }
        self.url = self.url.take().or(other.url);
        self.doi = self.doi.take().or(other.doi);
        self.year = self.year.or(other.year);
        self.venue = self.venue.take().or(other.venue);
        self.language = self.language.take().or(other.language);
        self.citation_count = self.citation_count.or(other.citation_count);
        list(&mut self.identifiers, other.identifiers);
        list(&mut self.files, other.files);
        list(&mut self.tags, other.tags);
        list(&mut self.collections, other.collections);
        list(&mut self.notes, other.notes);
        if self.completed.is_empty() {
            self.completed = other.completed;
        }
    }

    /// What a paper says beside what the corpus has of it: its text is new, the rest stays.
    pub(super) fn with_text_of(mut self, paper: Self) -> Self {
        if !paper.desc.is_empty() {
            (self.desc, self.sections) = (paper.desc.clone(), paper.sections.clone());
        }
        if !paper.references.is_empty() {
            self.references.clone_from(&paper.references);
        }
        self.fill_from(paper);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lyra_domain::Doi;

    const PLACE: Place = Place { file: 0, line: 1 };

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
            let files = files.into_iter().map(str::to_owned).collect();
            let held =
                library.shelve(record.clone(), Holding::Reference { files }, Path::new("a.bib"), PLACE);
            assert_eq!(held, Shelved::Waits);
            let shelved = library.shelve(found, Holding::Paper, Path::new("/home/lee/7/Lee.pdf"), PLACE);
            let Shelved::Document { document, whole: true, named_by } = shelved else {
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
        let held = Holding::Reference { files: vec!["b/x.pdf".to_owned()] };
        library.shelve(reference(TITLE, "10.1000/a", 2010), held, Path::new("a.bib"), PLACE);
        let shelved =
            library.shelve(paper(TITLE, "10.1000/b", 2019), Holding::Paper, Path::new("y.pdf"), PLACE);
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
        library.remember(Path::new("/a/7/Lee.pdf"), keys(&naps), naps.year, "lee-2019");
        library.remember(Path::new("/a/8/Ek.pdf"), Vec::new(), None, "file:Ek.pdf");
        let by_title = Holding::Reference { files: Vec::new() };
        let by_file = Holding::Reference { files: vec!["8/Ek.pdf".to_owned()] };
        for (record, holding, expected) in [
            (reference(TITLE, "10.1000/a", 2019), by_title.clone(), "lee-2019"),
            (reference("Another one", "10.1000/b", 2011), by_file, "file:Ek.pdf"),
        ] {
            let shelved = library.shelve(record, holding, Path::new("a.bib"), PLACE);
            let Shelved::Document { document, whole: true, .. } = shelved else { panic!("{shelved:?}") };
            assert_eq!(document.doc_id, expected);
        }
        let again = library.shelve(reference(TITLE, "", 2019), by_title, Path::new("b.bib"), PLACE);
        assert_eq!(again, Shelved::Repeated { id: Some("lee-2019".to_owned()) });
        let copy = library.shelve(naps, Holding::Paper, Path::new("copy.pdf"), PLACE);
        assert_eq!(copy, Shelved::Another { id: "lee-2019".to_owned(), paper: "Lee.pdf".to_owned() });
    }

    #[test]
    fn a_second_file_of_a_work_is_named() {
        let mut library = Library::default();
        library.shelve(paper(TITLE, "10.1000/a", 2019), Holding::Paper, Path::new("a.pdf"), PLACE);
        let again = library.shelve(paper(TITLE, "", 2019), Holding::Paper, Path::new("b.pdf"), PLACE);
        assert_eq!(again, Shelved::Another { id: "doi:10.1000/a".to_owned(), paper: "a.pdf".to_owned() });
    }

    #[test]
    fn ids_without_identifiers() {
        assert_eq!(id(&paper(TITLE, "", 2019), "x.pdf"), "lee-2019-short-naps-and-the-memory-of-adults");
        assert_eq!(id(&Document::default(), "x.pdf"), "file:x.pdf");
    }
}
