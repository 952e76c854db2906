//! What a file says about one work.

use crate::Kind;
use lyra_domain::{ArxivId, Doi, Identifier, Imprint};
use serde::{Deserialize, Serialize};
use std::fmt;

/// What a file says about one work. An absent text is empty or `None`, never blank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Record {
    /// Number of the line in the file on which it begins; the first is 1.
    pub line: u64,
    /// What the file calls it: a citation key or the manager's id. May be empty, and need not be unique.
    pub key: String,
    /// What it is.
    pub kind: Kind,
    /// Title on one line. Empty only if there is an identifier or an abstract, or if it is a file without a record.
    pub title: String,
    /// Names in the order of the by-line, "Given Family".
    pub authors: Vec<String>,
    /// Names of the editors.
    pub editors: Vec<String>,
    /// Year of publication.
    pub year: Option<i32>,
    /// Date of publication as far as it is known: `2024`, `2024-05`, or `2024-05-31`.
    pub date: Option<String>,
    /// Journal, book, proceedings, or site that it is part of.
    pub venue: Option<String>,
    /// Volume.
    pub volume: Option<String>,
    /// Issue or number.
    pub issue: Option<String>,
    /// Pages such as `12-19`, or the number of the article.
    pub pages: Option<String>,
    /// Publisher, university, or institution.
    pub publisher: Option<String>,
    /// City of the publisher.
    pub place: Option<String>,
    /// Edition as written.
    pub edition: Option<String>,
    /// DOI.
    pub doi: Option<Doi>,
    /// arXiv identifier.
    pub arxiv: Option<ArxivId>,
    /// PubMed id: digits.
    pub pmid: Option<String>,
    /// PubMed Central id: `PMC` and digits.
    pub pmcid: Option<String>,
    /// ISBNs of 10 or 13 characters, without hyphens.
    pub isbn: Vec<String>,
    /// ISSNs (`1234-567X`).
    pub issn: Vec<String>,
    /// Address on the web, with `http` or `https`.
    pub url: Option<String>,
    /// Date on which the address was read, as far as it is known, in the form of [`date`](Self::date).
    pub accessed: Option<String>,
    /// Abstract, one paragraph a line.
    #[serde(rename = "abstract")]
    pub abstract_text: Option<String>,
    /// ISO 639-1 code of the language, if it is one of those that are known by name.
    pub language: Option<String>,
    /// Keywords and tags, each once, in order.
    pub tags: Vec<String>,
    /// Collections or groups of the manager that it is in; levels are separated by `/`.
    pub collections: Vec<String>,
    /// Notes, most of them the user's own, without formatting.
    pub notes: Vec<String>,
    /// What the user marked in the attached files.
    pub annotations: Vec<Annotation>,
    /// Attached files.
    pub files: Vec<Attachment>,
    /// Address of the item in Zotero (`zotero://select/…`), if it was read from Zotero's database.
    pub zotero: Option<String>,
    /// Whether the file says that it was retracted. `false` says nothing.
    pub is_retracted: bool,
    /// What it retracts, if it is the notice of a retraction.
    pub retracts: Vec<Identifier>,
    /// Other versions of the same work: the article of a preprint, the preprint of an article.
    pub versions: Vec<Identifier>,
    /// Fields that were too long to be read.
    pub omitted: Vec<String>,
}

/// A file that belongs to a record.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Attachment {
    /// Path or address as written, without escapes: absolute, relative to the file, or of a scheme such as
    /// `internal-pdf:` or `attachments:`.
    pub path: String,
    /// What the manager calls it.
    pub title: Option<String>,
    /// Its type as written: `application/pdf`, `PDF`.
    pub media_type: Option<String>,
}

/// What a user marked or wrote in a file. The text, the comment, or both are there.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Annotation {
    /// The marked text on one line; empty for a note.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// What the user wrote about it, one paragraph a line; may be empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub comment: String,
    /// Label of its page, as printed: `7`, `iv`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<String>,
    /// Its color as `#rrggbb`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub color: Option<String>,
}

impl fmt::Display for Annotation {
    /// `“Naps help.” (p. 7)`, and what the user wrote about it on the next line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = Some(format!("“{}”", self.text)).filter(|_| !self.text.is_empty());
        let page = self.page.as_ref().map(|page| format!("(p. {page})"));
        let first = text.into_iter().chain(page).collect::<Vec<_>>().join(" ");
        f.write_str(&first)?;
        let between = if first.is_empty() || self.comment.is_empty() { "" } else { "\n" };
        write!(f, "{between}{}", self.comment)
    }
}

/// A record that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rejected {
    /// Number of the line on which it begins; the first is 1.
    pub line: u64,
    /// What is wrong with it.
    pub reason: String,
}

impl Default for Record {
    fn default() -> Self {
        Self {
            line: 1,
            key: String::new(),
            kind: Kind::Other,
            title: String::new(),
            authors: Vec::new(),
            editors: Vec::new(),
            year: None,
            date: None,
            venue: None,
            volume: None,
            issue: None,
            pages: None,
            publisher: None,
            place: None,
            edition: None,
            doi: None,
            arxiv: None,
            pmid: None,
            pmcid: None,
            isbn: Vec::new(),
            issn: Vec::new(),
            url: None,
            accessed: None,
            abstract_text: None,
            language: None,
            tags: Vec::new(),
            collections: Vec::new(),
            notes: Vec::new(),
            annotations: Vec::new(),
            files: Vec::new(),
            zotero: None,
            is_retracted: false,
            retracts: Vec::new(),
            versions: Vec::new(),
            omitted: Vec::new(),
        }
    }
}

impl Record {
    /// Every identifier of the work, the DOI first.
    pub fn identifiers(&self) -> Vec<Identifier> {
        let doi = self.doi.clone().map(Identifier::Doi);
        let pmid = self.pmid.clone().map(Identifier::Pmid);
        let pmcid = self.pmcid.clone().map(Identifier::Pmcid);
        let arxiv = self.arxiv.clone().map(Identifier::Arxiv);
        [doi, pmid, pmcid, arxiv].into_iter().flatten().collect()
    }

    /// What the work is, and who published it.
    pub fn imprint(&self) -> Imprint {
        Imprint {
            kind: Some(self.kind).filter(|kind| *kind != Kind::Other),
            publisher: self.publisher.clone(),
            place: self.place.clone(),
            edition: self.edition.clone(),
            editors: self.editors.clone(),
            isbn: self.isbn.clone(),
            issn: self.issn.clone(),
        }
    }

    /// The same record of a work with this imprint.
    #[must_use]
    pub fn with_imprint(self, imprint: &Imprint) -> Self {
        let Imprint { kind, publisher, place, edition, editors, isbn, issn } = imprint.clone();
        Self {
            kind: kind.unwrap_or(Kind::Other),
            venue: imprint.container(self.venue.as_deref()).map(str::to_owned),
            publisher,
            place,
            edition,
            editors,
            isbn,
            issn,
            ..self
        }
    }

    /// The same record with the kind that its venue or arXiv identifier makes likely, if it does not say one.
    #[must_use]
    pub fn with_likely_kind(self) -> Self {
        let kind = match (self.kind, &self.venue, &self.arxiv) {
            (Kind::Other, Some(_), _) => Kind::Article,
            (Kind::Other, None, Some(_)) => Kind::Preprint,
            (known, ..) => known,
        };
        Self { kind, ..self }
    }
}
