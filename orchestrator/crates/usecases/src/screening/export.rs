//! Decisions and included works as files.

use crate::{App, AppError, references};
use lyra_bibliography::{Output, Record};
use lyra_domain::csv::{cell, line};
use lyra_domain::{Doi, TaskId, Verdict, named_enum};
use lyra_store::{DecidedFilter, Screened};

named_enum! {
    /// A file of a task's screening.
    pub enum ScreeningExport {
        /// Every decided document with its decision, RFC 4180.
        Csv = "csv",
        /// The included works.
        Ris = "ris",
        /// The included works.
        BibTex = "bibtex",
        /// The included works.
        CslJson = "csl",
    }
}

/// Documents that are read at a time.
const PART: u32 = 200;
/// The columns of a CSV file.
const COLUMNS: [&str; 16] = [
    "page_id",
    "verdict",
    "reason",
    "basis",
    "decided_by",
    "decided_at",
    "title",
    "authors",
    "year",
    "venue",
    "type",
    "publisher",
    "isbn",
    "issn",
    "doi",
    "url",
];

impl App {
    /// The text of a file: all decisions that count as CSV, or the included works as a bibliography.
    ///
    /// # Errors
    /// No such task.
    pub async fn export_screening(&self, task: &TaskId, format: ScreeningExport) -> Result<String, AppError> {
        let verdict = (format != ScreeningExport::Csv).then_some(Verdict::Include);
        let filter = DecidedFilter { verdict, ..DecidedFilter::default() };
        let mut all: Vec<Screened> = Vec::new();
        let mut cursor = None;
        loop {
            let part = self.store().decided_page(task, &filter, PART, cursor.as_deref()).await?;
            all.extend(part.decided);
            cursor = part.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
        // In the order of the decisions.
        all.reverse();
        Ok(match format {
            ScreeningExport::Csv => csv(&all),
            ScreeningExport::Ris => bibliography(&all, Output::Ris),
            ScreeningExport::BibTex => bibliography(&all, Output::BibTex),
            ScreeningExport::CslJson => bibliography(&all, Output::CslJson),
        })
    }
}

fn bibliography(works: &[Screened], format: Output) -> String {
    let mut records: Vec<Record> = works.iter().map(record).collect();
    references::sort(&mut records);
    references::written(&records, format)
}

fn record(screened: &Screened) -> Record {
    let citation = &screened.page.citation;
    let record = Record {
        title: citation.title.clone(),
        authors: references::authors(&citation.authors),
        year: citation.year,
        venue: citation.venue.clone(),
        doi: citation.doi.as_deref().and_then(Doi::parse),
        url: citation.url.clone(),
        tags: vec!["included".to_owned()],
        is_retracted: citation.is_retracted == Some(true),
        ..Record::default()
    };
    let is_work = citation.doi.is_some() || citation.venue.is_some();
    references::completed(record, &screened.page.imprint, is_work)
}

fn csv(all: &[Screened]) -> String {
    let mut file = line(COLUMNS);
    for Screened { decision, page } in all {
        let (citation, imprint) = (&page.citation, &page.imprint);
        let cells = [
            page.id.to_string(),
            decision.verdict.to_string(),
            decision.reason.clone().unwrap_or_default(),
            decision.basis.to_string(),
            decision.decided_by.clone(),
            decision.decided_at.clone(),
            citation.title.clone(),
            citation.authors.join("; "),
            citation.year.map_or_else(String::new, |year| year.to_string()),
            citation.venue.clone().unwrap_or_default(),
            imprint.kind.map_or_else(String::new, |kind| kind.to_string()),
            imprint.publisher.clone().unwrap_or_default(),
            imprint.isbn.join("; "),
            imprint.issn.join("; "),
            citation.doi.clone().unwrap_or_default(),
            citation.url.clone().unwrap_or_default(),
        ];
        file.push_str(&line(cells.iter().map(|text| cell(text))));
    }
    file
}
