//! The pages of a task as files for reference managers.

use lyra_bibliography::{Output, Record, Writer, family_name, given_family};
use lyra_domain::{Imprint, WorkKind};

/// Names of authors as records have them.
pub(crate) fn authors(names: &[String]) -> Vec<String> {
    names.iter().map(|name| given_family(name)).collect()
}

/// The record of a page with this imprint. Where no source says what it is, it is a page of the web, or what its venue makes
/// likely if it `is_work`, a scholarly one.
pub(crate) fn completed(record: Record, imprint: &Imprint, is_work: bool) -> Record {
    let record = record.with_imprint(imprint);
    if record.kind == WorkKind::Other && !is_work {
        return Record { kind: WorkKind::WebPage, ..record };
    }
    record.with_likely_kind()
}

/// Sorts as reference lists are: by the first author's family name, year, and title.
pub(crate) fn sort(records: &mut [Record]) {
    records.sort_by_cached_key(|record| {
        let author = record.authors.first().map(|name| family_name(name).to_lowercase());
        (author, record.year, record.title.to_lowercase())
    });
}

/// The text of a file with these records, in their order.
pub(crate) fn written(records: &[Record], format: Output) -> String {
    let mut writer = Writer::new(format);
    let mut file: String = records.iter().map(|record| writer.record(record)).collect();
    file.push_str(writer.end());
    file
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(names: &[String]) -> Record {
        Record {
            title: "Naps".to_owned(),
            authors: authors(names),
            year: Some(2020),
            venue: Some("North Press".to_owned()),
            ..Record::default()
        }
    }

    #[test]
    fn what_a_page_is_decides_its_entry() {
        let said = |kind, publisher: &str| Imprint {
            kind,
            publisher: Some(publisher.to_owned()).filter(|name| !name.is_empty()),
            ..Imprint::default()
        };
        for (imprint, is_work, kind, venue) in [
            (said(None, ""), true, WorkKind::Article, Some("North Press")),
            (said(None, ""), false, WorkKind::WebPage, Some("North Press")),
            // The venue of a book repeats its publisher.
            (said(Some(WorkKind::Book), "North Press"), true, WorkKind::Book, None),
            (said(None, "North Press"), true, WorkKind::Other, None),
            (said(Some(WorkKind::Chapter), "South"), true, WorkKind::Chapter, Some("North Press")),
        ] {
            let record = completed(record(&[]), &imprint, is_work);
            assert_eq!((record.kind, record.venue.as_deref()), (kind, venue), "{imprint:?}");
        }
    }

    #[test]
    fn sorted_by_family_name() {
        let names = ["Zoë Ames", "Curie, Marie", "Ludwig van Beethoven"].map(|name| [name.to_owned()]);
        let imprint = Imprint::default();
        let mut records: Vec<Record> =
            names.iter().map(|name| completed(record(name), &imprint, true)).collect();
        records.push(record(&[]));
        sort(&mut records);
        let first: Vec<_> = records.iter().map(|record| record.authors.first().map(String::as_str)).collect();
        assert_eq!(first, [None, Some("Zoë Ames"), Some("Marie Curie"), Some("Ludwig van Beethoven")]);
        let file = written(&records[1..2], Output::BibTex);
        assert!(file.starts_with("@article{ames2020naps,\n  author = {Ames, Zoë},\n"), "{file}");
    }
}
