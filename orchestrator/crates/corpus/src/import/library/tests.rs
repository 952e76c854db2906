//! Tests of which records become one work.

use super::*;
use crate::ledger::{Kind, State};
use lyra_domain::{Doi, Identifier, Imprint, WorkKind};

const PLACE: Place = Place { file: 0, line: 1 };

fn shelve(library: &mut Library, document: Document, holding: Holding, path: &str) -> Shelved {
    library.shelve(document, holding, Path::new(path), Path::new(path), PLACE)
}

fn listed(files: &[&str], versions: &[&str]) -> Holding {
    let [files, versions] = [files, versions].map(|list| list.iter().map(|&one| one.to_owned()).collect());
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
fn imprints_are_completed_and_that_of_the_published_version_wins() {
    let of = |kind, publisher: &str, isbn: &str| Imprint {
        kind: Some(kind),
        publisher: Some(publisher.to_owned()).filter(|name| !name.is_empty()),
        isbn: Some(isbn.to_owned()).filter(|number| !number.is_empty()).into_iter().collect(),
        ..Imprint::default()
    };
    let joined = |first: &Document, second: &Document| {
        let mut library = Library::default();
        for document in [first, second] {
            shelve(&mut library, document.clone(), listed(&[], &[]), "a.ris");
        }
        let left: Vec<_> = library.rest().map(|(document, ..)| document.imprint).collect();
        let [imprint] = &left[..] else { panic!("{left:?}") };
        imprint.clone()
    };
    let with = |imprint: &Imprint, document: Document| Document { imprint: imprint.clone(), ..document };
    let (known, bare) = (of(WorkKind::Book, "North", ""), of(WorkKind::Book, "", "9783161484100"));
    let book = |imprint: &Imprint| with(imprint, reference(TITLE, "10.1000/a", 2019));
    for (first, second) in [(&known, &bare), (&bare, &known), (&known, &Imprint::default())] {
        let imprint = joined(&book(first), &book(second));
        assert_eq!((imprint.kind, imprint.publisher.as_deref()), (Some(WorkKind::Book), Some("North")));
    }
    let (early, late) = (of(WorkKind::Preprint, "bioRxiv", ""), of(WorkKind::Article, "", ""));
    let preprint = with(&early, reference(TITLE, "10.1101/2019.01.01.123456", 2019));
    let article = with(&late, reference(TITLE, "10.1000/a", 2019));
    for (first, second) in [(&preprint, &article), (&article, &preprint)] {
        assert_eq!(joined(first, second), late);
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
