//! Decisions and included works as files.

use crate::{App, AppError};
use lyra_domain::csv::{cell, line};
use lyra_domain::{TaskId, Verdict, named_enum};
use lyra_graph::{Reference, Role, bibtex, ris, sort_references};
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
    }
}

/// Documents that are read at a time.
const PART: u32 = 200;
/// The columns of a CSV file.
const COLUMNS: [&str; 12] = [
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
        let mut works: Vec<Reference> = all.iter().map(reference).collect();
        sort_references(&mut works);
        Ok(match format {
            ScreeningExport::Csv => csv(&all),
            ScreeningExport::Ris => ris(&works),
            ScreeningExport::BibTex => bibtex(&works),
        })
    }
}

fn reference(screened: &Screened) -> Reference {
    let citation = screened.page.citation.clone();
    Reference {
        page_id: screened.page.id.to_string(),
        is_work: citation.doi.is_some() || citation.venue.is_some(),
        title: citation.title,
        authors: citation.authors,
        year: citation.year,
        venue: citation.venue,
        imprint: screened.page.imprint.clone(),
        doi: citation.doi,
        pmid: None,
        url: citation.url,
        accessed: None,
        role: Role::Evidence,
        is_retracted: citation.is_retracted == Some(true),
    }
}

fn csv(all: &[Screened]) -> String {
    let mut file = line(COLUMNS);
    for Screened { decision, page } in all {
        let citation = &page.citation;
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
            citation.doi.clone().unwrap_or_default(),
            citation.url.clone().unwrap_or_default(),
        ];
        file.push_str(&line(cells.iter().map(|text| cell(text))));
    }
    file
}
