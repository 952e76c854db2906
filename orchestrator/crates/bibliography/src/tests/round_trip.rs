//! What Lyra writes is read back.

use super::records;
use crate::{Format, Kind, Record};
use lyra_domain::Imprint;
use lyra_graph::{Reference, Role, bibtex, ris};
use proptest::prelude::*;

fn references() -> Vec<Reference> {
    vec![
        Reference {
            page_id: "page_1".to_owned(),
            is_work: true,
            title: "50% of mRNA & {braces} #1_a $5 ~ ^ \\ end — 睡眠 \"quoted\"".to_owned(),
            authors: ["Erwin Schrödinger", "Ludwig van Beethoven", "John Smith Jr.", "King Jr."]
                .map(str::to_owned)
                .into(),
            year: Some(1935),
            venue: Some("Acta & Co".to_owned()),
            imprint: Imprint::default(),
            doi: Some("10.1002/(sici)1097-0258(19980815)17:15/16<1661::aid-sim968>3.0.co;2-2".to_owned()),
            pmid: Some("23847242".to_owned()),
            url: Some("https://example.org/a_b?x=%20&y=1#z".to_owned()),
            accessed: None,
            role: Role::Evidence,
            is_retracted: true,
        },
        Reference {
            page_id: "page_2".to_owned(),
            is_work: false,
            title: "Unbalanced } and { in a title of a Study".to_owned(),
            authors: vec!["Society of A and B".to_owned(), "山田 太郎".to_owned()],
            year: Some(2001),
            url: Some("https://example.org/".to_owned()),
            accessed: Some("2026-11-20".to_owned()),
            role: Role::Cited,
            ..Reference::default()
        },
    ]
}

#[track_caller]
fn check(reference: &Reference, record: &Record) {
    assert_eq!(record.title, reference.title);
    assert_eq!(record.authors, reference.authors);
    assert_eq!(record.year, reference.year);
    assert_eq!(record.doi.as_ref().map(ToString::to_string), reference.doi);
    assert_eq!(record.pmid, reference.pmid);
    assert_eq!(record.url, reference.url);
    assert_eq!(record.is_retracted, reference.is_retracted);
    assert_eq!(record.notes, [""; 0], "`Retracted` is no note of the user's");
    let role = if reference.role == Role::Cited { "cited" } else { "evidence" };
    assert_eq!(record.tags.first().map(String::as_str), Some(role));
    let place = if reference.is_work { &record.venue } else { &record.publisher };
    assert_eq!(place, &reference.venue);
}

#[test]
fn own_files_are_read_back() {
    let references = references();
    for (text, format, page) in
        [(bibtex(&references), Format::BibTex, Kind::Other), (ris(&references), Format::Ris, Kind::WebPage)]
    {
        assert_eq!(Format::detect("export", text.as_bytes()), Some(format));
        let records = records(&text, format);
        assert_eq!(records.iter().map(|record| record.kind).collect::<Vec<_>>(), [Kind::Article, page]);
        for (reference, record) in references.iter().zip(&records) {
            check(reference, record);
        }
    }
}

#[test]
fn what_a_work_is_and_who_published_it_is_read_back() {
    let some = |text: &str| Some(text.to_owned());
    for kind in Kind::ALL.iter().copied() {
        let imprint = Imprint {
            kind: Some(kind),
            publisher: some("North & Press"),
            place: some("Bern"),
            edition: Some("2".to_owned()).filter(|_| kind != Kind::Article),
            editors: vec!["Jane Doe".to_owned()],
            isbn: vec!["9783161484100".to_owned()],
            issn: vec!["1234-567X".to_owned()],
        };
        let reference = Reference {
            page_id: "page_1".to_owned(),
            is_work: true,
            title: "Naps".to_owned(),
            venue: some(if kind.is_part() { "Sleep" } else { "North & Press" }),
            imprint: imprint.clone(),
            ..Reference::default()
        };
        let written = std::slice::from_ref(&reference);
        for (text, format) in [(bibtex(written), Format::BibTex), (ris(written), Format::Ris)] {
            let found = super::one(&text, format);
            let is_conference = (kind, format) == (Kind::Proceedings, Format::Ris);
            let expect = if is_conference { Kind::ConferencePaper } else { kind };
            assert_eq!(found.kind, expect, "{text}");
            assert_eq!(found.imprint(), Imprint { kind: found.imprint().kind, ..imprint.clone() }, "{text}");
            assert_eq!(found.venue.as_deref(), kind.is_part().then_some("Sleep"), "{text}");
        }
    }
}

proptest! {
    #[test]
    fn any_title_and_name_is_read_back(
        // Dashes, quotes of LaTeX, and tags mean something; Lyra writes them as they are.
        title in "[A-Za-z0-9{}%$#_~^\\\\\"=,:()@éß睡 ]{1,40}( & [a-z]{1,9}-[A-Z{}]{1,5})?",
        family in "[A-Z][a-zé]{1,9}",
        given in "[A-H][a-z]{1,9}",
    ) {
        let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
        prop_assume!(!title.is_empty());
        let reference = Reference {
            page_id: "page_1".to_owned(),
            is_work: true,
            title: title.clone(),
            authors: vec![format!("{given} {family}")],
            ..Reference::default()
        };
        let written = std::slice::from_ref(&reference);
        for (text, format) in [(bibtex(written), Format::BibTex), (ris(written), Format::Ris)] {
            let records = records(&text, format);
            prop_assert_eq!(records.len(), 1);
            prop_assert_eq!(&records[0].title, &title);
            prop_assert_eq!(&records[0].authors, &[format!("{given} {family}")]);
        }
    }
}
