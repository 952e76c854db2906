use crate::tests::{one, outcome, records};
use crate::{Annotation, Format, Kind};

#[test]
fn csl_json() {
    let found = records(include_str!("../files/items.json"), Format::CslJson);
    let [first, second, third] = &found[..] else { panic!("{found:#?}") };
    assert_eq!((first.line, first.key.as_str(), first.kind), (2, "lee2019", Kind::Article));
    assert_eq!(first.title, "Naps & memory");
    assert_eq!(first.authors, ["Ann Lee", "Jan van der Berg", "Nap Group", "山田 太郎"]);
    assert_eq!((first.date.as_deref(), first.pages.as_deref()), (Some("2019-05-03"), Some("101-109")));
    assert_eq!((first.pmid.as_deref(), first.pmcid.as_deref()), (Some("31000001"), Some("PMC6000001")));
    assert_eq!((first.volume.as_deref(), first.language.as_deref()), (Some("12"), Some("en")));
    assert_eq!(first.abstract_text.as_deref(), Some("One.\nTwo."));
    assert_eq!(
        (&first.tags[..], &first.notes[..]),
        (&["memory".to_owned(), "sleep".to_owned()][..], &["My note".to_owned()][..])
    );
    assert_eq!((second.line, second.kind, second.date.as_deref()), (9, Kind::Preprint, Some("2017-06")));
    assert_eq!(second.arxiv.as_ref().unwrap().to_string(), "1706.03762");
    assert_eq!((third.title.as_str(), third.venue.as_deref()), ("Crossref: of lists", Some("Full")));
    assert_eq!((third.year, third.issn.len()), (Some(2020), 2));
    assert_eq!(third.abstract_text.as_deref(), Some("One.\nTwo."));
}

#[test]
fn lists_objects_and_single_items() {
    let title = |text: &str| one(text, Format::CslJson).title;
    assert_eq!(title(r#"{"style": {}, "items": [{"title": "In a list"}], "x": [1]}"#), "In a list");
    assert_eq!(title(r#"{"status": "ok", "message": {"items": [{"title": "Of Crossref"}]}}"#), "Of Crossref");
    assert_eq!(title(r#"{"status": "ok", "message": {"title": ["One work"]}}"#), "One work");
    assert_eq!(title("\u{FEFF} {\"title\": \"Alone\"} "), "Alone");
    assert_eq!(outcome("[]", Format::CslJson), (vec![], vec![]));
    assert_eq!(outcome("", Format::CslJson), (vec![], vec![]));
}

#[test]
fn a_broken_item_costs_itself() {
    let (titles, rejected) = outcome(
        "[{\"title\": \"A\"},\n{\"title\": \"B\", },\n 3, \"x\",\n{\"title\": \"\\ud800\"},\n\
         {\"title\": \"C\", \"note\": \"}]\"},\n{}, {\"title\": \"D\"",
        Format::CslJson,
    );
    assert_eq!(titles, ["A", "C"]);
    let lines: Vec<u64> = rejected.iter().map(|(line, _)| *line).collect();
    assert_eq!(lines, [2, 3, 3, 4, 6, 6], "{rejected:?}");
}

#[test]
fn patents_and_laws_of_zotero_have_dates() {
    let date = |fields: &str| {
        let record = one(&format!(r#"{{"items": [{{"title": "Naps", {fields}}}]}}"#), Format::ZoteroJson);
        (record.date, record.year)
    };
    let day = |date: &str, year| (Some(date.to_owned()), Some(year));
    assert_eq!(
        date(r#""itemType": "patent", "filingDate": "2017-01-02", "issueDate": "2019-05-03""#),
        day("2019-05-03", 2019)
    );
    assert_eq!(date(r#""itemType": "patent", "filingDate": "2017-01-02""#), day("2017-01-02", 2017));
    assert_eq!(date(r#""itemType": "case", "dateDecided": "1973-01-22""#), day("1973-01-22", 1973));
    assert_eq!(date(r#""itemType": "statute", "dateEnacted": "1990""#), day("1990", 1990));
    assert_eq!(date(r#""itemType": "book", "date": "2020", "issueDate": "2020-01-01""#), day("2020", 2020));
}

#[test]
fn better_bibtex_json() {
    let record = one(include_str!("../files/better-bibtex.json"), Format::ZoteroJson);
    assert_eq!((record.key.as_str(), record.kind, record.line), ("lee2019", Kind::Preprint, 4));
    assert_eq!(
        (record.authors.len(), record.authors[0].as_str(), record.editors[0].as_str()),
        (2, "Ann Lee", "Ed Itor")
    );
    assert_eq!(record.collections, ["Thesis/Chapter 2"]);
    assert_eq!(record.tags, ["sleep", "naps"]);
    assert_eq!(record.notes, ["My note"]);
    let marked = |annotation: &Annotation| (annotation.text.clone(), annotation.comment.clone());
    let marked: Vec<_> = record.annotations.iter().map(marked).collect();
    assert_eq!(marked, [("Marked".to_owned(), "Why?".to_owned())]);
    assert_eq!(
        (record.pmid.as_deref(), record.arxiv.unwrap().to_string().as_str()),
        (Some("31000001"), "1706.03762")
    );
    assert_eq!(record.files.len(), 1);
    assert_eq!(record.files[0].path, "/home/a/Zotero/storage/X/Lee.pdf");
}
