//! A document with all its fields, as backends hand it out.

use crate::document::{LegalEvent, Priority};
use crate::export::with_likely_kind;
use lyra_bibliography::Record;
use lyra_domain::classification::{Code, CodeError, System};
use lyra_domain::{Doi, Imprint};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A patent document or a paper. Absent texts are empty.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Publication {
    /// Identifier within the corpus (`app_doc_id`).
    pub doc_id: String,
    /// Number of the application.
    pub app_id: Option<String>,
    /// Number of the publication of the application.
    pub pub_id: Option<String>,
    /// Number of the granted patent.
    pub exam_id: Option<String>,
    /// Title.
    pub title: String,
    /// Abstract.
    pub abst: String,
    /// Claims, one a line.
    pub claim: String,
    /// Description, one paragraph a line.
    pub desc: String,
    /// Classification codes.
    pub codes: Codes,
    /// Date of filing.
    pub app_date: Option<jiff::civil::Date>,
    /// Date of publication.
    pub pub_date: Option<jiff::civil::Date>,
    /// Office or country, two letters: `US`, `EP`, `JP`, `WO`.
    pub country: Option<String>,
    /// ISO 639-1 code of the texts' language.
    pub lang: Option<String>,
    /// Applicants or assignees.
    pub applicants: Vec<String>,
    /// Applicants in Latin letters, for search across languages.
    pub cross_en_applicants: Vec<String>,
    /// Address of its own.
    pub url: Option<String>,
    /// Names in the order of the by-line: authors or inventors.
    pub authors: Vec<String>,
    /// DOI, of a paper.
    pub doi: Option<Doi>,
    /// Journal, book, conference or site, of a paper; the publisher of what is part of none of these.
    pub venue: Option<String>,
    /// What it is, and who published it.
    #[serde(flatten)]
    pub imprint: Imprint,
    /// Volume, of a paper.
    pub volume: Option<String>,
    /// Issue, of a paper.
    pub issue: Option<String>,
    /// Pages, of a paper.
    pub pages: Option<String>,
    /// Year of publication.
    pub year: Option<i32>,
    /// What it cites, as the source writes it: numbers of publications, DOIs, ids.
    pub references: Vec<String>,
    /// First day of the priorities that it claims.
    pub priority_date: Option<jiff::civil::Date>,
    /// Earlier applications whose priority it claims.
    pub priorities: Vec<Priority>,
    /// Number of its simple family.
    pub family_id: Option<String>,
    /// Legal status in the words of the source.
    pub legal_status: Option<String>,
    /// Legal events that the source lists.
    pub legal_events: Vec<LegalEvent>,
}

impl Publication {
    /// Whether it is a patent document.
    pub fn is_patent(&self) -> bool {
        self.app_id.is_some() || self.pub_id.is_some() || self.exam_id.is_some() || !self.codes.is_empty()
    }

    /// Its priorities in one line: `NL19981010536 (1998-11-12); …`.
    pub fn priorities_shown(&self) -> String {
        let shown = |priority: &Priority| match (&priority.number, priority.date) {
            (Some(number), Some(date)) => format!("{number} ({date})"),
            (Some(number), None) => number.clone(),
            (None, date) => date.map(|date| date.to_string()).unwrap_or_default(),
        };
        self.priorities.iter().map(shown).collect::<Vec<_>>().join("; ")
    }

    /// Its legal events, one a line: `2018-03-14 AS ASSIGNMENT`.
    pub fn legal_events_shown(&self) -> String {
        let shown = |event: &LegalEvent| {
            let date = event.date.map(|date| date.to_string()).unwrap_or_default();
            [date.as_str(), &event.code, &event.text]
                .into_iter()
                .filter(|part| !part.is_empty())
                .collect::<Vec<_>>()
                .join(" ")
        };
        self.legal_events.iter().map(shown).collect::<Vec<_>>().join("\n")
    }

    /// What reference managers know of it.
    pub fn record(&self) -> Record {
        let record = Record {
            title: self.title.clone(),
            authors: self.authors.iter().map(|name| lyra_bibliography::given_family(name)).collect(),
            year: self.year.or_else(|| self.pub_date.map(|date| i32::from(date.year()))),
            date: self
                .pub_date
                .filter(|date| self.year.is_none_or(|year| year == i32::from(date.year())))
                .map(|date| date.to_string()),
            venue: self.venue.clone(),
            volume: self.volume.clone(),
            issue: self.issue.clone(),
            pages: self.pages.clone(),
            doi: self.doi.clone(),
            url: self.url.clone(),
            abstract_text: Some(self.abst.clone()).filter(|text| !text.is_empty()),
            language: self.lang.clone(),
            ..Record::default()
        };
        with_likely_kind(record.with_imprint(&self.imprint), self.is_patent())
    }
}

/// Classification codes by system, in normal form, in the order of the document: the first is its primary one.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Codes {
    /// IPC.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ipc: Vec<String>,
    /// CPC.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cpc: Vec<String>,
    /// FI.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fi: Vec<String>,
    /// F-terms.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ft: Vec<String>,
    /// USPC.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub uspc: Vec<String>,
    /// Locarno.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub locarno: Vec<String>,
}

impl Codes {
    /// The codes of a system.
    pub fn of(&self, system: System) -> &[String] {
        match system {
            System::Ipc => &self.ipc,
            System::Cpc => &self.cpc,
            System::Fi => &self.fi,
            System::Ft => &self.ft,
            System::Uspc => &self.uspc,
            System::Locarno => &self.locarno,
        }
    }

    fn of_mut(&mut self, system: System) -> &mut Vec<String> {
        match system {
            System::Ipc => &mut self.ipc,
            System::Cpc => &mut self.cpc,
            System::Fi => &mut self.fi,
            System::Ft => &mut self.ft,
            System::Uspc => &mut self.uspc,
            System::Locarno => &mut self.locarno,
        }
    }

    /// Adds a code in any written form, once.
    ///
    /// # Errors
    /// [`CodeError`] when it is not a code of the system; nothing is added.
    pub fn add(&mut self, system: System, written: &str) -> Result<(), CodeError> {
        let code = Code::parse(system, written)?.as_str().to_owned();
        let known = self.of_mut(system);
        if !known.contains(&code) {
            known.push(code);
        }
        Ok(())
    }

    /// Adds a code that is in normal form already.
    pub(crate) fn push(&mut self, system: System, code: &str) {
        self.of_mut(system).push(code.to_owned());
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        System::ALL.into_iter().all(|system| self.of(system).is_empty())
    }
}

/// Which of its numbers names a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IdType {
    /// The identifier within the corpus.
    #[default]
    #[serde(alias = "app_doc_id")]
    DocId,
    /// Number of the application.
    AppId,
    /// Number of the publication.
    PubId,
    /// Number of the grant.
    ExamId,
}

impl IdType {
    /// The name in tool calls.
    pub fn name(self) -> &'static str {
        match self {
            Self::DocId => "doc_id",
            Self::AppId => "app_id",
            Self::PubId => "pub_id",
            Self::ExamId => "exam_id",
        }
    }

    /// That number of a document.
    pub fn of(self, publication: &Publication) -> Option<&str> {
        match self {
            Self::DocId => Some(&publication.doc_id),
            Self::AppId => publication.app_id.as_deref(),
            Self::PubId => publication.pub_id.as_deref(),
            Self::ExamId => publication.exam_id.as_deref(),
        }
    }
}

impl fmt::Display for IdType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// No type of number has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an id type: use doc_id (or app_doc_id), app_id, pub_id or exam_id")]
pub struct UnknownIdType(String);

impl FromStr for IdType {
    type Err = UnknownIdType;

    fn from_str(text: &str) -> Result<Self, UnknownIdType> {
        match text {
            "doc_id" | "app_doc_id" => Ok(Self::DocId),
            "app_id" => Ok(Self::AppId),
            "pub_id" => Ok(Self::PubId),
            "exam_id" => Ok(Self::ExamId),
            other => Err(UnknownIdType(other.to_owned())),
        }
    }
}
