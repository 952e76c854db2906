//! A document of a corpus.

mod completed;
pub(crate) mod exported;
pub(crate) mod json;
mod patent;
mod place;
mod scope;
mod section;
mod version;

pub use completed::{Completed, Completion};
pub(crate) use patent::citation_key;
pub use patent::{LegalEvent, Priority};
pub use place::Place;
pub use section::{Passage, Section};
pub(crate) use version::is_of_server;
pub use version::{Stage, Version};

use crate::backend::{Codes, Publication};
use lyra_bibliography::Annotation;
use lyra_domain::{Doi, Identifier, Imprint, Work};
use serde::{Deserialize, Serialize};

/// A document as it is stored and returned: what a paper, a patent or any other text has of these fields.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Document {
    /// Identifier within the corpus.
    pub doc_id: String,
    /// Title, may be empty.
    pub title: String,
    /// Abstract or text, may be empty when there is another text.
    pub text: String,
    /// Address of the document.
    pub url: Option<String>,
    /// DOI.
    pub doi: Option<Doi>,
    /// Year of publication.
    pub year: Option<i32>,
    /// Journal, book, conference or site; the publisher of what is part of none of these.
    pub venue: Option<String>,
    /// What it is, and who published it.
    #[serde(flatten)]
    pub imprint: Imprint,
    /// Volume of the journal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub volume: Option<String>,
    /// Issue or number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issue: Option<String>,
    /// Pages such as `12-19`, or the number of the article.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pages: Option<String>,
    /// Names in the order of the by-line: authors, or the inventors of a patent.
    pub authors: Vec<String>,
    /// ISO 639-1 code: as given, else detected.
    pub language: Option<String>,
    /// How often others cite it.
    pub citation_count: Option<u32>,
    /// A record says that it was retracted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_retracted: bool,
    /// What it cites: DOIs, numbers, or ids of the same corpus.
    pub references: Vec<String>,
    /// Claims, one a line.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub claim: String,
    /// Description or full text, one paragraph a line.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub desc: String,
    /// Sections and pages of `desc`, in order; empty when they are not known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sections: Vec<Section>,
    /// Other identifiers than the DOI.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub identifiers: Vec<Identifier>,
    /// The preprint and the published version of the work, if both are known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub versions: Vec<Version>,
    /// Names of the files that it was read from, without their folders.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Keywords and tags, as the person's library has them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Collections of the person's library that it is in; levels are separated by `/`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub collections: Vec<String>,
    /// The person's own notes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What the person marked in the files, and wrote about it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub annotations: Vec<Annotation>,
    /// Address of its item in Zotero (`zotero://select/…`), if it was imported from Zotero's database.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zotero: Option<String>,
    /// Fields that no file says, and the sources that do.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub completed: Vec<Completed>,
    /// Classification codes.
    #[serde(skip_serializing_if = "Codes::is_empty")]
    pub codes: Codes,
    /// Number of the application.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub app_id: Option<String>,
    /// Number of the publication of the application.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pub_id: Option<String>,
    /// Number of the granted patent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exam_id: Option<String>,
    /// Earlier applications whose priority it claims.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub priorities: Vec<Priority>,
    /// Number of its simple family, as the source has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub family_id: Option<String>,
    /// Legal status in the words of the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub legal_status: Option<String>,
    /// Legal events that the source lists, in its order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub legal_events: Vec<LegalEvent>,
    /// Date of filing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub app_date: Option<jiff::civil::Date>,
    /// Date of publication.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pub_date: Option<jiff::civil::Date>,
    /// Office or country, two letters in upper case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub country: Option<String>,
    /// Applicants or assignees.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub applicants: Vec<String>,
    /// Applicants in Latin letters.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cross_en_applicants: Vec<String>,
}

/// Longest id in bytes.
const MAX_ID: usize = 512;

impl Document {
    /// Completes what follows from other fields, and checks that it can be stored; the error is the reason to report.
    pub(crate) fn finish(mut self) -> Result<Self, String> {
        self.check()?;
        if self.language.is_none() {
            let texts = [&self.text, &self.desc, &self.claim, &self.title];
            let shown = texts.into_iter().find(|text| !text.is_empty());
            self.language = shown.and_then(|shown| lyra_text::language(shown)).map(str::to_owned);
        }
        Ok(self.derived())
    }

    /// Completes what is in its other fields.
    pub(crate) fn derived(mut self) -> Self {
        self.year = self.year.or_else(|| self.pub_date.map(|date| i32::from(date.year())));
        self.country = self.country.take().or_else(|| self.country_of_number());
        self
    }

    /// Whether it is a patent document.
    pub fn is_patent(&self) -> bool {
        self.app_id.is_some() || self.pub_id.is_some() || self.exam_id.is_some() || !self.codes.is_empty()
    }

    /// Checks that it can be stored; the error is the reason to report.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.doc_id.is_empty() {
            return Err("missing id".to_owned());
        }
        if self.doc_id.len() > MAX_ID {
            return Err(format!("id is longer than {MAX_ID} bytes"));
        }
        if self.lacks_text() {
            return Err("no title and no text".to_owned());
        }
        Ok(())
    }

    /// Whether it has neither a title nor a text.
    pub(crate) fn lacks_text(&self) -> bool {
        [&self.title, &self.text, &self.claim, &self.desc].into_iter().all(String::is_empty)
    }

    /// All fields that searches over publications know.
    pub fn publication(self) -> Publication {
        let priority_date = self.priority_date();
        Publication {
            doc_id: self.doc_id,
            app_id: self.app_id,
            pub_id: self.pub_id,
            exam_id: self.exam_id,
            title: self.title,
            abst: self.text,
            claim: self.claim,
            desc: self.desc,
            codes: self.codes,
            app_date: self.app_date,
            pub_date: self.pub_date,
            country: self.country,
            lang: self.language,
            applicants: self.applicants,
            cross_en_applicants: self.cross_en_applicants,
            url: self.url,
            authors: self.authors,
            doi: self.doi,
            venue: self.venue,
            imprint: self.imprint,
            volume: self.volume,
            issue: self.issue,
            pages: self.pages,
            year: self.year,
            references: self.references,
            priority_date,
            priorities: self.priorities,
            family_id: self.family_id,
            legal_status: self.legal_status,
            legal_events: self.legal_events,
        }
    }

    /// The document's metadata as a work found in corpus `corpus`.
    pub fn work(&self, corpus: &str) -> Work {
        Work {
            title: self.title.clone(),
            year: self.year,
            venue: self.venue.clone(),
            imprint: self.imprint.clone(),
            doi: self.doi.clone(),
            authors: self.authors.clone(),
            citation_count: self.citation_count,
            is_retracted: self.is_retracted.then_some(true),
            references: self.references.clone(),
            source_api: format!("corpus:{corpus}"),
            ..Work::default()
        }
    }

    /// Where to find it: its own address, its DOI's, else `corpus:NAME/DOC_ID`.
    pub fn address(&self, corpus: &str) -> String {
        match (&self.url, &self.doi) {
            (Some(url), _) => url.clone(),
            (None, Some(doi)) => format!("https://doi.org/{doi}"),
            (None, None) => format!("corpus:{corpus}/{}", self.doc_id),
        }
    }
}
