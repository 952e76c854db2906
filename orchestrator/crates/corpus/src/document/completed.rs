//! Metadata that sources outside add to what files say.

use crate::Document;
use lyra_domain::{Identifier, Work};
use serde::{Deserialize, Serialize};

/// A field that a source outside filled in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Completed {
    /// `doi`, `authors`, `year`, `venue`, or `identifiers`.
    pub field: String,
    /// The source that says so, as `openalex`.
    pub source: String,
}

/// What a source outside knows of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion {
    /// The source, as `openalex`.
    pub source: String,
    /// What it knows.
    pub work: Work,
}

impl Document {
    /// Whether it lacks what tells a paper from others: its DOI, its authors, or its year.
    pub fn lacks_metadata(&self) -> bool {
        self.doi.is_none() || self.authors.is_empty() || self.year.is_none()
    }

    /// Fills in the fields that it lacks, and records where they come from; whether there were any.
    pub(crate) fn complete_with(&mut self, completion: Completion) -> bool {
        let Completion { source, work } = completion;
        let mut filled = Vec::new();
        if self.doi.is_none() && work.doi.is_some() {
            self.doi = work.doi;
            filled.push("doi");
        }
        if self.authors.is_empty() && !work.authors.is_empty() {
            self.authors = work.authors;
            filled.push("authors");
        }
        if self.year.is_none() && work.year.is_some() {
            self.year = work.year;
            filled.push("year");
        }
        if self.venue.is_none() && work.venue.is_some() {
            self.venue = work.venue;
            filled.push("venue");
        }
        if self.identifiers.is_empty() && !work.ids.is_empty() {
            let others = work.ids.into_iter().filter(|id| !matches!(id, Identifier::Doi(_)));
            self.identifiers = others.collect();
            filled.push("identifiers");
        }
        let record = |field: &&str| Completed { field: (*field).to_owned(), source: source.clone() };
        self.completed.extend(filled.iter().map(record));
        !filled.is_empty()
    }

    /// Without the fields of sources that a file says itself by now.
    pub(crate) fn yielding_to(mut self, file: &Self) -> Self {
        let completed = std::mem::take(&mut self.completed);
        for entry in completed {
            let said = match entry.field.as_str() {
                "doi" => file.doi.is_some(),
                "authors" => !file.authors.is_empty(),
                "year" => file.year.is_some(),
                "venue" => file.venue.is_some(),
                "identifiers" => !file.identifiers.is_empty(),
                _ => false,
            };
            if !said {
                self.completed.push(entry);
                continue;
            }
            match entry.field.as_str() {
                "doi" => self.doi = None,
                "authors" => self.authors.clear(),
                "year" => self.year = None,
                "venue" => self.venue = None,
                _ => self.identifiers.clear(),
            }
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lyra_domain::Doi;

    #[test]
    fn what_a_file_says_stays_and_wins() {
        let mut document = Document { year: Some(2019), ..Document::default() };
        assert!(document.lacks_metadata());
        let work = Work {
            doi: Doi::parse("10.1000/a"),
            year: Some(2020),
            authors: vec!["Ann Lee".to_owned()],
            ..Work::default()
        };
        let completion = Completion { source: "openalex".to_owned(), work };
        assert!(document.complete_with(completion.clone()) && !document.clone().complete_with(completion));
        assert!(!document.lacks_metadata());
        let fields: Vec<&str> = document.completed.iter().map(|entry| entry.field.as_str()).collect();
        assert_eq!((document.year, fields), (Some(2019), vec!["doi", "authors"]));
        let file = Document { authors: vec!["Lee, A.".to_owned()], ..Document::default() };
        let after = document.yielding_to(&file);
        assert!(after.authors.is_empty() && after.doi.is_some());
        assert_eq!(after.completed.len(), 1);
    }
}
