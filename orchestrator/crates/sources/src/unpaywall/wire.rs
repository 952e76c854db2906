//! The API's JSON. Everything may be absent or null.

use crate::Paper;
use crate::markup::unmarked;
use crate::paper::{address, filled, imprint};
use crate::records::Records;
use crate::registry::UNPAYWALL;
use lyra_domain::{Doi, Identifier, Work};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
pub(super) struct List {
    pub(super) results: Option<Records<Match>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Match {
    pub(super) response: Record,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Record {
    doi: Option<String>,
    title: Option<String>,
    year: Option<i32>,
    published_date: Option<String>,
    journal_name: Option<String>,
    /// As Crossref has it.
    genre: Option<String>,
    publisher: Option<String>,
    best_oa_location: Option<Location>,
    oa_locations: Option<Vec<Location>>,
    z_authors: Option<Vec<Author>>,
}

#[derive(Debug, Clone, Deserialize)]
struct Location {
    url: Option<String>,
    url_for_pdf: Option<String>,
}

/// As Crossref has them, or as one text.
#[derive(Debug, Deserialize)]
struct Author {
    given: Option<String>,
    family: Option<String>,
    raw_author_name: Option<String>,
}

impl Record {
    /// `None` for a record without a DOI.
    pub(super) fn into_paper(self) -> Option<Paper> {
        let doi = Doi::parse(self.doi.as_deref()?)?;
        let others = self.oa_locations.into_iter().flatten();
        let places: Vec<Location> = self.best_oa_location.into_iter().chain(others).collect();
        // Any copy as PDF before a landing page: the page of the work itself is fetched anyway.
        let pdf = places.iter().find_map(|place| filled(place.url_for_pdf.clone()));
        let copy = pdf.or_else(|| places.iter().find_map(|place| filled(place.url.clone())));
        let mut work = Work {
            title: filled(self.title.map(|title| unmarked(&title))).unwrap_or_default(),
            year: self.year,
            published_date: filled(self.published_date),
            venue: filled(self.journal_name),
            imprint: imprint(self.genre.as_deref(), self.publisher),
            authors: self.z_authors.into_iter().flatten().filter_map(name).collect(),
            oa_url: copy,
            source_api: UNPAYWALL.name.to_owned(),
            ..Work::default()
        };
        let arxiv = doi.arxiv().map(Identifier::Arxiv);
        [Some(Identifier::Doi(doi)), arxiv].into_iter().flatten().for_each(|id| work.add_identifier(id));
        Some(Paper { url: address(&work, None), work, abstract_text: None, language: None })
    }
}

fn name(author: Author) -> Option<String> {
    match (filled(author.given), filled(author.family)) {
        (Some(given), Some(family)) => Some(format!("{given} {family}")),
        (_, Some(family)) => Some(family),
        _ => filled(author.raw_author_name),
    }
}
