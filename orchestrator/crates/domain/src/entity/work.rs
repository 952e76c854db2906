//! A scholarly work, known by its metadata.

use crate::{Doi, Identifier, Imprint};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Identity of a work: `doi:…` when it has a DOI, else `title:…`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct WorkId(String);

impl WorkId {
    /// The id of a work with this DOI.
    pub fn from_doi(doi: &Doi) -> Self {
        Self(format!("doi:{doi}"))
    }

    /// The id of a work without a DOI: its title in lower case with single spaces, its year, its first author.
    pub fn from_title(title: &str, year: Option<i32>, first_author: Option<&str>) -> Self {
        let fold = |text: &str| {
            text.split(|c: char| !c.is_alphanumeric())
                .filter(|word| !word.is_empty())
                .collect::<Vec<_>>()
                .join(" ")
                .to_lowercase()
        };
        let year = year.map(|y| y.to_string()).unwrap_or_default();
        Self(format!("title:{}|{year}|{}", fold(title), fold(first_author.unwrap_or_default())))
    }

    /// An id read back from the store.
    pub fn from_stored(text: String) -> Self {
        Self(text)
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for WorkId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Metadata of a work, from any source.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Work {
    /// Title as published.
    pub title: String,
    /// Year of publication.
    pub year: Option<i32>,
    /// Day of publication (`2024-05-31`), when the source knows it.
    pub published_date: Option<String>,
    /// Journal, conference or site.
    pub venue: Option<String>,
    /// What it is, and who published it.
    #[serde(flatten)]
    pub imprint: Imprint,
    /// DOI.
    pub doi: Option<Doi>,
    /// Its other identifiers, each kind at most once.
    pub ids: Vec<Identifier>,
    /// Names in the order of the by-line.
    pub authors: Vec<String>,
    /// Number of citations, as reported by its source.
    pub citation_count: Option<u32>,
    /// Number of references, as reported by its source.
    pub reference_count: Option<u32>,
    /// Whether it was retracted; `None` when its source does not report it.
    pub is_retracted: Option<bool>,
    /// Where its full text is free to read.
    pub oa_url: Option<String>,
    /// Its references, as reported by its source: DOIs or ids of the same source.
    pub references: Vec<String>,
    /// Where the metadata came from: `semantic_scholar`, `openalex`, `corpus:NAME`.
    pub source_api: String,
}

impl Work {
    /// Identity: by DOI when there is one.
    pub fn id(&self) -> WorkId {
        self.doi.as_ref().map_or_else(
            || WorkId::from_title(&self.title, self.year, self.authors.first().map(String::as_str)),
            WorkId::from_doi,
        )
    }

    /// Every name it is known by, the DOI first.
    pub fn identifiers(&self) -> impl Iterator<Item = Identifier> + '_ {
        self.doi.clone().map(Identifier::Doi).into_iter().chain(self.ids.iter().cloned())
    }

    /// Adds an identifier; an existing one of the same kind stays.
    pub fn add_identifier(&mut self, id: Identifier) {
        match id {
            Identifier::Doi(doi) => {
                self.doi.get_or_insert(doi);
            }
            other
                if self.ids.iter().all(|id| std::mem::discriminant(id) != std::mem::discriminant(&other)) =>
            {
                self.ids.push(other);
                self.ids.sort();
            }
            _ => {}
        }
    }
}
