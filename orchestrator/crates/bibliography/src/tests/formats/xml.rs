use crate::tests::{one, outcome, records};
use crate::{Format, Kind};
use lyra_domain::Identifier;

#[test]
fn endnote() {
    let record = one(include_str!("../files/endnote.xml"), Format::EndNoteXml);
    assert_eq!((record.key.as_str(), record.kind), ("7", Kind::Article));
    assert_eq!(record.title, "Naps of E. coli");
    assert_eq!(record.authors, ["Ann Lee", "World Health Organization"]);
    assert_eq!(record.venue.as_deref(), Some("Journal of Sleep"));
    assert_eq!((record.date.as_deref(), record.pages.as_deref()), (Some("2019-05-03"), Some("101-109")));
    assert_eq!((record.pmid.as_deref(), record.pmcid.as_deref()), (Some("31000001"), Some("PMC6000001")));
    assert_eq!(record.issn, ["1234-5678", "8765-4321"]);
    assert_eq!(record.abstract_text.as_deref(), Some("One & two."));
    assert_eq!(
        (&record.tags[..], &record.notes[..]),
        (&["memory".to_owned(), "naps".to_owned()][..], &["My note".to_owned()][..])
    );
    assert_eq!(record.url.as_deref(), Some("https://example.org/nap"));
    assert_eq!(record.files[0].path, "internal-pdf://123/Lee.pdf");
    assert_eq!(record.doi.unwrap().as_str(), "10.1000/nap");
}

#[test]
fn pubmed() {
    let found = records(include_str!("../files/pubmed.xml"), Format::PubMedXml);
    let [article, chapter] = &found[..] else { panic!("{found:#?}") };
    assert_eq!((article.line, article.title.as_str()), (4, "Naps and memory in CO2"));
    assert_eq!(article.authors, ["Ann B Lee", "Martin King Jr", "Nap Group"]);
    assert_eq!((article.date.as_deref(), article.pages.as_deref()), (Some("2019-05-03"), Some("101-109")));
    assert_eq!(article.abstract_text.as_deref(), Some("BACKGROUND: Naps.\nRESULTS: p < 0.05."));
    assert_eq!(article.doi.as_ref().unwrap().as_str(), "10.1000/nap");
    assert_eq!(article.pmcid.as_deref(), Some("PMC6000001"));
    assert_eq!(article.tags, ["Memory", "naps"]);
    assert_eq!(article.issn, ["1234-5678", "8765-4321"]);
    assert!(article.is_retracted);
    assert!(article.versions.contains(&Identifier::Pmid("30000001".to_owned())));
    assert_eq!(
        (chapter.kind, chapter.title.as_str(), chapter.venue.as_deref()),
        (Kind::Chapter, "One Syndrome", Some("Syndromes"))
    );
    assert_eq!(
        (chapter.authors[0].as_str(), chapter.editors[0].as_str(), chapter.year),
        ("J Doe", "Bo Ek", Some(2009))
    );
}

#[test]
fn mods() {
    let record = one(include_str!("../files/mods.xml"), Format::Mods);
    assert_eq!(
        (record.key.as_str(), record.kind, record.title.as_str()),
        ("lee2019", Kind::Article, "The Naps: a trial")
    );
    assert_eq!((record.authors[0].as_str(), record.editors[0].as_str()), ("Ann Lee", "Jane Doe"));
    assert_eq!(
        (record.venue.as_deref(), record.publisher.as_deref()),
        (Some("Journal of Sleep"), Some("North"))
    );
    assert_eq!((record.date.as_deref(), record.pages.as_deref()), (Some("2019-05-03"), Some("101-109")));
    assert_eq!([record.volume, record.issue].map(Option::unwrap), ["12", "3"]);
    assert_eq!((&record.issn[..], record.notes.len()), (&["1234-5678".to_owned()][..], 1));
    assert_eq!(record.versions.len(), 1);
}

#[test]
fn zotero_rdf() {
    let found = records(include_str!("../files/zotero.rdf"), Format::ZoteroRdf);
    let [article, chapter, preprint] = &found[..] else { panic!("{found:#?}") };
    assert_eq!((article.line, article.title.as_str(), article.kind), (4, "Naps & memory", Kind::Article));
    assert_eq!(
        (article.authors[0].as_str(), article.venue.as_deref()),
        ("Ann Lee", Some("Journal of Sleep"))
    );
    assert_eq!(article.doi.as_ref().unwrap().as_str(), "10.1000/nap");
    assert_eq!(
        (article.volume.as_deref(), article.issue.as_deref(), article.pmid.as_deref()),
        (Some("12"), Some("3"), Some("31000001"))
    );
    assert_eq!(
        (&article.tags[..], &article.notes[..]),
        (&["memory".to_owned(), "naps".to_owned()][..], &["My note".to_owned()][..])
    );
    assert_eq!(article.collections, ["Thesis"]);
    assert_eq!(
        (article.files[0].path.as_str(), article.files[0].media_type.as_deref()),
        ("files/5/Lee.pdf", Some("application/pdf"))
    );
    assert_eq!(article.files[1].path, "files/6/Data.csv");
    assert_eq!(article.url.as_deref(), Some("https://example.org/nap"));
    assert_eq!((chapter.venue.as_deref(), chapter.publisher.as_deref()), (Some("Whole"), Some("North")));
    assert_eq!(chapter.isbn, ["9783161484100"]);
    assert_eq!(preprint.kind, Kind::Preprint);
}

#[test]
fn a_broken_record_costs_itself() {
    let good = |title: &str| format!("<record><titles><title>{title}</title></titles></record>\n");
    let text = format!(
        "<xml><records>\n{}<record><titles><title>Broken</titles></record>\n{}<record><titles>\n{}{}",
        good("A"),
        good("B & C"),
        good("D"),
        "<record><titles><title>cut"
    );
    let (titles, rejected) = outcome(&text, Format::EndNoteXml);
    assert_eq!(titles, ["A", "B & C", "D"]);
    let lines: Vec<u64> = rejected.iter().map(|(line, _)| *line).collect();
    assert_eq!(lines, [3, 5, 7], "{rejected:?}");
    let deep = format!("<record>{}</record>{}", "<a>".repeat(200), good("After"));
    let (titles, rejected) = outcome(&deep, Format::EndNoteXml);
    assert_eq!((titles.len(), rejected[0].1.as_str()), (1, "elements nest deeper than 100"));
}
