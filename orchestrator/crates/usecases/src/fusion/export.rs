//! A run as a file: a table for spreadsheets, or records for reference managers.

mod csv;
mod record;
mod table;
mod xlsx;

use super::blend::representatives;
use super::{Fusion, Representative, blocking};
use crate::AppError;
use lyra_bibliography::{Output, Writer};
use lyra_corpus::backend::{IdType, Publication};
use lyra_domain::named_enum;
use lyra_store::StoredRun;
use lyra_wire::fusion::DocumentShare;
use std::collections::HashMap;
use table::{Names, Table};

/// Publications in memory at a time.
const BATCH: usize = 200;

named_enum! {
    /// What a run is written as.
    pub enum RunFormat {
        /// Comma-separated values in UTF-8 with a byte order mark, for spreadsheets and scripts.
        Csv = "csv",
        /// A workbook of Office Open XML with one sheet.
        Xlsx = "xlsx",
        /// Records of reference managers.
        Ris = "ris",
    }
}

impl RunFormat {
    /// The media type of its files.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Csv => "text/csv; charset=utf-8; header=present",
            Self::Xlsx => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            Self::Ris => "application/x-research-info-systems",
        }
    }
}

/// A run as a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFile {
    /// Its name, without a folder.
    pub name: String,
    /// Its media type.
    pub media_type: &'static str,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

impl Fusion {
    /// The documents of a run in its order, with their ranks, what each lane of a fusion adds, and a person's
    /// judgments.
    ///
    /// # Errors
    /// No such run, or a corpus that cannot be read.
    pub async fn export_run(&self, run_id: &str, format: RunFormat) -> Result<RunFile, AppError> {
        let run = self.run(run_id).await?;
        let shares = self.listed(&run, 0, usize::MAX).await?;
        let judged: HashMap<String, Representative> =
            representatives(&run)?.into_iter().map(|judged| (judged.doc_id.clone(), judged)).collect();
        let mut file = Draft::new(format, &run);
        for batch in shares.chunks(BATCH) {
            let ids: Vec<String> = batch.iter().map(|share| share.doc_id.clone()).collect();
            let publications = self.publications(&run.corpus, &ids, IdType::DocId).await?;
            for (share, publication) in batch.iter().zip(publications) {
                file.add(&run.id, share, publication, judged.get(&share.doc_id));
            }
        }
        let bytes = blocking(move || file.bytes()).await?;
        Ok(RunFile { name: format!("{}.{format}", run.id), media_type: format.media_type(), bytes })
    }
}

/// A file that documents are added to.
enum Draft {
    Table(Table, RunFormat),
    Records(Writer, String),
}

impl Draft {
    fn new(format: RunFormat, run: &StoredRun) -> Self {
        match format {
            RunFormat::Ris => Self::Records(Writer::new(Output::Ris), String::new()),
            RunFormat::Csv | RunFormat::Xlsx => {
                let lanes = run.parents.iter().map(|parent| parent.lane.clone()).collect();
                Self::Table(Table::new(Names { lanes }), format)
            }
        }
    }

    fn add(
        &mut self,
        run_id: &str,
        share: &DocumentShare,
        publication: Option<Publication>,
        judged: Option<&Representative>,
    ) {
        let publication = publication.unwrap_or_default();
        match self {
            Self::Table(table, _) => table.add(share, &publication, judged),
            Self::Records(writer, text) => {
                let record = record::of(run_id, share, &publication, judged);
                text.push_str(&writer.record(&record));
            }
        }
    }

    fn bytes(self) -> Result<Vec<u8>, AppError> {
        match self {
            Self::Table(table, RunFormat::Xlsx) => xlsx::written(&table),
            Self::Table(table, _) => Ok(csv::written(&table)),
            Self::Records(writer, text) => Ok((text + writer.end()).into_bytes()),
        }
    }
}
