//! The works of a graph as a bibliography: BibTeX and RIS.

mod bibtex;
mod keys;
mod names;
mod ris;

pub use bibtex::bibtex;
pub use ris::ris;

use lyra_domain::{Imprint, WorkKind};

/// A work or page to cite.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reference {
    /// Id of the page in the store.
    pub page_id: String,
    /// A scholarly work; else a page of the web or a document.
    pub is_work: bool,
    /// Title.
    pub title: String,
    /// Names in the order of the by-line, as their source writes them.
    pub authors: Vec<String>,
    /// Year of publication.
    pub year: Option<i32>,
    /// Journal, conference or site.
    pub venue: Option<String>,
    /// What it is, and who published it.
    pub imprint: Imprint,
    /// DOI, normalized.
    pub doi: Option<String>,
    /// `PubMed` id.
    pub pmid: Option<String>,
    /// Where to read it.
    pub url: Option<String>,
    /// Day on which it was read (`2026-11-20`).
    pub accessed: Option<String>,
    /// Its part in the task.
    pub role: Role,
    /// It was retracted.
    pub is_retracted: bool,
}

impl Reference {
    /// What it appeared in, on one line.
    fn container(&self) -> Option<String> {
        self.imprint.container(self.venue.as_deref()).map(line)
    }

    /// What it is, as its source says; else an article if it is a work that appeared in something.
    fn kind(&self) -> Option<WorkKind> {
        let is_article = self.is_work && self.container().is_some();
        self.imprint.kind.or(is_article.then_some(WorkKind::Article))
    }
}

/// Why a reference is in the bibliography.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Role {
    /// Claims have evidence in it or come from it.
    #[default]
    Evidence,
    /// Such a page cites it.
    Cited,
}

/// Sorts as reference lists are: sources of evidence first, then by the first author's family name, year and title.
pub fn sort_references(references: &mut [Reference]) {
    references.sort_by_cached_key(|reference| {
        let author = reference.authors.first().map(|name| names::Name::read(name).family().to_lowercase());
        (
            reference.role == Role::Cited,
            author,
            reference.year,
            reference.title.to_lowercase(),
            reference.page_id.clone(),
        )
    });
}

impl Role {
    /// The keyword in exports.
    fn keyword(self) -> &'static str {
        match self {
            Self::Evidence => "evidence",
            Self::Cited => "cited",
        }
    }
}

/// Text on one line: control characters and runs of white space become single spaces.
fn line(text: &str) -> String {
    text.split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|w| !w.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests;
