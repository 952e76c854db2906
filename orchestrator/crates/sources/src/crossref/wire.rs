//! The API's JSON. Everything may be absent or null.

use crate::Paper;
use crate::paper::{address, filled, imprint, says_retracted};
use crate::records::Records;
use crate::registry::CROSSREF;
use lyra_bibliography::{isbns, issns, language_code, shown_line, shown_lines};
use lyra_domain::{Doi, Identifier, Imprint, Work};
use serde::Deserialize;

/// Types of records that are no works of their own, or whole series of them.
const NO_WORKS: [&str; 12] = [
    "component",
    "peer-review",
    "grant",
    "database",
    "journal",
    "journal-issue",
    "journal-volume",
    "book-series",
    "book-set",
    "proceedings-series",
    "report-series",
    "standard-series",
];
/// What a notice does to the work that it updates, as publishers and Retraction Watch call it. A partial retraction, a
/// correction, and an expression of concern leave the work standing.
const RETRACTING: [&str; 3] = ["retraction", "removal", "withdrawal"];

/// What every answer is wrapped in.
#[derive(Debug, Deserialize)]
pub(super) struct Message<T> {
    pub(super) message: T,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub(super) struct WirePage {
    total_results: Option<u64>,
    items: Option<Records<WireRecord>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub(super) struct WireRecord {
    #[serde(rename = "DOI")]
    doi: Option<String>,
    #[serde(rename = "URL")]
    url: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    title: Option<Vec<String>>,
    container_title: Option<Vec<String>>,
    author: Option<Vec<Author>>,
    editor: Option<Vec<Author>>,
    publisher: Option<String>,
    publisher_location: Option<String>,
    #[serde(rename = "ISBN")]
    isbn: Option<Vec<String>>,
    #[serde(rename = "ISSN")]
    issn: Option<Vec<String>>,
    #[serde(rename = "abstract")]
    abstract_text: Option<String>,
    language: Option<String>,
    published: Option<Date>,
    issued: Option<Date>,
    license: Option<Vec<License>>,
    link: Option<Vec<Link>>,
    resource: Option<Resource>,
    is_referenced_by_count: Option<u32>,
    references_count: Option<u32>,
    reference: Option<Vec<Reference>>,
    /// What this record is a notice about.
    update_to: Option<Vec<Update>>,
    /// The notices about this record.
    updated_by: Option<Vec<Update>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Author {
    given: Option<String>,
    family: Option<String>,
    /// Of a group.
    name: Option<String>,
}

/// Year, month, day; the latter two may be missing, and all may be null.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
struct Date {
    date_parts: Vec<Vec<Option<i32>>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct License {
    #[serde(rename = "URL")]
    url: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
struct Link {
    #[serde(rename = "URL")]
    url: Option<String>,
    content_type: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Resource {
    primary: Option<License>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Reference {
    #[serde(rename = "DOI")]
    doi: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Update {
    #[serde(rename = "type")]
    kind: Option<String>,
}

impl WirePage {
    /// How many there are in all, and those of this page.
    pub(super) fn records(self) -> (u64, Vec<WireRecord>) {
        (self.total_results.unwrap_or(0), self.items.map(|items| items.0).unwrap_or_default())
    }
}

impl Update {
    fn retracts(&self) -> bool {
        self.kind.as_deref().is_some_and(|kind| RETRACTING.contains(&kind.trim().to_lowercase().as_str()))
    }
}

impl WireRecord {
    /// Whether it is a work, and no notice that another one was retracted.
    pub(super) fn is_work(&self) -> bool {
        let is_notice = self.update_to.iter().flatten().any(Update::retracts);
        !is_notice && !self.kind.as_deref().is_some_and(|kind| NO_WORKS.contains(&kind))
    }

    /// Where it is free: what has a Creative Commons license, as a PDF if possible.
    fn free_copy(&self) -> Option<String> {
        let mut licenses = self.license.iter().flatten().filter_map(|license| license.url.as_deref());
        licenses.find(|license| license.contains("creativecommons.org/"))?;
        let links = self.link.iter().flatten();
        let mut pdfs = links.filter(|link| link.content_type.as_deref() == Some("application/pdf"));
        let page = || self.resource.as_ref()?.primary.as_ref()?.url.clone();
        filled(pdfs.find_map(|link| link.url.clone()).or_else(page))
    }
}

impl Date {
    fn part(&self, place: usize) -> Option<i32> {
        self.date_parts.first()?.get(place).copied().flatten()
    }

    /// A whole day, as `2024-05-31`.
    fn day(&self) -> Option<String> {
        let (year, month, day) = (self.part(0)?, self.part(1)?, self.part(2)?);
        let valid = (1..=9999).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
        valid.then(|| format!("{year:04}-{month:02}-{day:02}"))
    }
}

/// An abstract without its markup and without the heading that says that it is one. Publishers escape twice.
fn abstract_of(markup: &str) -> Option<String> {
    let shown = shown_lines(&shown_lines(markup));
    let text = match shown.split_once('\n') {
        Some((first, rest)) if ["abstract", "summary"].contains(&first.trim().to_lowercase().as_str()) => {
            rest
        }
        _ => &shown,
    };
    filled(Some(text.to_owned()))
}

fn first(texts: Option<Vec<String>>) -> Option<String> {
    texts.into_iter().flatten().map(|text| shown_line(&text)).find(|text| !text.is_empty())
}

fn name(author: Author) -> Option<String> {
    let person = match (filled(author.given), filled(author.family)) {
        (Some(given), Some(family)) => Some(format!("{given} {family}")),
        (given, family) => family.or(given),
    };
    person.or_else(|| filled(author.name))
}

impl From<WireRecord> for Paper {
    fn from(record: WireRecord) -> Self {
        let oa_url = record.free_copy();
        let title = first(record.title).unwrap_or_default();
        let is_retracted = record.updated_by.iter().flatten().any(Update::retracts) || says_retracted(&title);
        let date = record.published.or(record.issued);
        let cited = |reference: Reference| Some(Doi::parse(&reference.doi?)?.to_string());
        let imprint = Imprint {
            place: filled(record.publisher_location),
            editors: record.editor.into_iter().flatten().filter_map(name).collect(),
            isbn: isbns(record.isbn.as_deref().unwrap_or_default()),
            issn: issns(record.issn.as_deref().unwrap_or_default()),
            ..imprint(record.kind.as_deref(), record.publisher)
        };
        let mut work = Work {
            title,
            year: date.as_ref().and_then(|date| date.part(0)),
            published_date: date.as_ref().and_then(Date::day),
            venue: first(record.container_title),
            imprint,
            authors: record.author.into_iter().flatten().filter_map(name).collect(),
            citation_count: record.is_referenced_by_count,
            reference_count: record.references_count,
            is_retracted: Some(is_retracted),
            oa_url,
            references: record.reference.into_iter().flatten().filter_map(cited).collect(),
            source_api: CROSSREF.name.to_owned(),
            ..Work::default()
        };
        if let Some(doi) = record.doi.and_then(|doi| Doi::parse(&doi)) {
            work.add_identifier(Identifier::Doi(doi));
        }
        Self {
            url: address(&work, filled(record.url)),
            work,
            abstract_text: record.abstract_text.and_then(|markup| abstract_of(&markup)),
            language: record.language.and_then(|language| language_code(&language)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lyra_domain::WorkKind;
    use serde_json::json;

    #[test]
    fn abstracts_lose_their_markup() {
        for (markup, expect) in [
            ("<jats:title>Abstract</jats:title><jats:p>Naps help.</jats:p>", "Naps help."),
            (
                "<jats:sec><jats:title>Methods</jats:title><jats:p>At <jats:italic>T</jats:italic> \
                 (&amp;lt;75 K), H<jats:sub>2</jats:sub>O.</jats:p></jats:sec>",
                "Methods\nAt T (<75 K), H2O.",
            ),
            ("Plain, with p &lt; 0.05.", "Plain, with p < 0.05."),
        ] {
            assert_eq!(abstract_of(markup).as_deref(), Some(expect));
        }
        assert_eq!(abstract_of("<jats:p> </jats:p>"), None);
    }

    #[test]
    fn what_a_record_is_and_who_published_it() {
        let record = json!({"DOI": "10.1000/a", "title": ["Naps"], "type": "book-chapter", "container-title": ["Sleep"],
            "publisher": "North Press", "publisher-location": "Bern", "editor": [{"given": "Jane", "family": "Doe"}],
            "ISBN": ["978-3-16-148410-0"], "ISSN": ["12345678"]});
        let work = Paper::from(serde_json::from_value::<WireRecord>(record).unwrap()).work;
        let expect = Imprint {
            kind: Some(WorkKind::Chapter),
            publisher: Some("North Press".to_owned()),
            place: Some("Bern".to_owned()),
            edition: None,
            editors: vec!["Jane Doe".to_owned()],
            isbn: vec!["9783161484100".to_owned()],
            issn: vec!["1234-5678".to_owned()],
        };
        assert_eq!((work.venue.as_deref(), work.imprint), (Some("Sleep"), expect));
    }

    #[test]
    fn updates_of_either_side_are_read() {
        let record = |value| serde_json::from_value::<WireRecord>(value).unwrap();
        for (kind, retracts) in
            [("retraction", true), ("withdrawal", true), ("correction", false), ("partial_retraction", false)]
        {
            let updates = json!([{"type": kind, "DOI": "10.1000/n", "source": "retraction-watch"}]);
            let updated = Paper::from(record(json!({"DOI": "10.1000/a", "updated-by": updates.clone()})));
            assert_eq!(updated.work.is_retracted, Some(retracts), "{kind}");
            let notice = record(json!({"DOI": "10.1000/n", "update-to": updates}));
            assert_eq!(notice.is_work(), !retracts, "{kind}");
        }
        assert!(!record(json!({"type": "component"})).is_work());
    }

    #[test]
    fn a_record_of_nulls_is_a_paper_without_anything() {
        let null = json!({"DOI": "10.1000/A", "title": null, "author": [{"family": null, "name": "A group"}],
            "published": {"date-parts": [[null]]}, "license": null, "link": null, "abstract": null});
        let paper = Paper::from(serde_json::from_value::<WireRecord>(null).unwrap());
        assert_eq!((paper.url.as_str(), paper.work.year), ("https://doi.org/10.1000/a", None));
        assert_eq!(
            (paper.work.authors.len(), paper.abstract_text, paper.work.published_date),
            (1, None, None)
        );
    }
}
