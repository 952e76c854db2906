//! The pages of a task as files for reference managers.

use lyra_bibliography::{Output, Record, Writer, family_name, given_family};
use lyra_domain::{Doi, Imprint, WorkKind};

/// A page that is cited, as far as it is known.
pub(crate) struct Page<'p> {
    pub title: &'p str,
    /// Names in the order of the by-line, as their source writes them.
    pub authors: &'p [String],
    pub year: Option<i32>,
    pub venue: Option<&'p str>,
    pub imprint: &'p Imprint,
    pub doi: Option<&'p str>,
    pub is_retracted: bool,
    /// A scholarly work; else a page of the web or a document.
    pub is_work: bool,
}

impl Page<'_> {
    /// Its record. Where no source says what it is, it is an article if it is a work in a venue.
    pub(crate) fn record(&self) -> Record {
        let record = Record {
            title: self.title.to_owned(),
            authors: self.authors.iter().map(|name| given_family(name)).collect(),
            year: self.year,
            venue: self.venue.map(str::to_owned),
            doi: self.doi.and_then(Doi::parse),
            is_retracted: self.is_retracted,
            ..Record::default()
        };
        let record = record.with_imprint(self.imprint);
        let kind = match record.kind {
            WorkKind::Other if !self.is_work => WorkKind::WebPage,
            WorkKind::Other if record.venue.is_some() => WorkKind::Article,
            kind => kind,
        };
        Record { kind, ..record }
    }
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

    fn page<'p>(imprint: &'p Imprint, authors: &'p [String]) -> Page<'p> {
        Page {
            title: "Naps",
            authors,
            year: Some(2020),
            venue: Some("North Press"),
            imprint,
            doi: Some("10.1000/ab"),
            is_retracted: false,
            is_work: true,
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
            let record = Page { is_work, ..page(&imprint, &[]) }.record();
            assert_eq!((record.kind, record.venue.as_deref()), (kind, venue), "{imprint:?}");
        }
    }

    #[test]
    fn sorted_by_family_name() {
        let imprint = Imprint::default();
        let names = ["Zoë Ames", "Curie, Marie", "Ludwig van Beethoven"].map(|name| [name.to_owned()]);
        let mut records: Vec<Record> = names.iter().map(|name| page(&imprint, name).record()).collect();
        records.push(page(&imprint, &[]).record());
        sort(&mut records);
        let first: Vec<_> = records.iter().map(|record| record.authors.first().map(String::as_str)).collect();
        assert_eq!(first, [None, Some("Zoë Ames"), Some("Marie Curie"), Some("Ludwig van Beethoven")]);
        let file = written(&records[1..2], Output::BibTex);
        assert!(file.starts_with("@article{ames2020naps,\n  author = {Ames, Zoë},\n"), "{file}");
        assert!(file.contains("  doi = {10.1000/ab},\n"), "{file}");
    }
}
