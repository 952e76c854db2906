//! The last stage: vectors and documents go to disk, and are committed together.

use super::{EmbeddedDocument, Step, Tally};
use crate::Result;
use crate::hash::fnv_row;
use crate::index::{Row, Rows, TextIndex};
use crate::ledger::Ledger;
use crate::vectors::VectorWriter;
use std::path::Path;
use std::sync::PoisonError;
use tokio::sync::mpsc;

/// Writes until the stage before ends; what came before an error there is committed as well.
///
/// Vectors are on disk before the index that counts them is: an interruption anywhere leaves rows that no commit
/// names, and they are cut off here. A file is noted once its documents are committed. Commits follow a number of
/// documents, or a smaller one of papers, which take long to read.
pub(super) fn run(
    index: &TextIndex,
    folder: &Path,
    dimension: usize,
    mut batches: mpsc::Receiver<Step<EmbeddedDocument>>,
    ledger: &mut Ledger,
    (commit_every, papers_every): (usize, usize),
    tally: &Tally,
) -> Result<()> {
    let mut vectors = VectorWriter::open(folder, dimension, index.snapshot()?.rows)?;
    let mut writer = index.writer()?;
    let (mut uncommitted, mut papers) = (0, 0);
    let mut files = Vec::new();
    while let Some(step) = batches.blocking_recv() {
        let (mut added, mut updated) = (0, 0);
        for (pending, own) in &step.documents {
            let mut rows = Rows::new();
            for ((scopes, _), vector) in pending.texts.iter().zip(own) {
                let row = Row { row: vectors.append(vector)?, sum: fnv_row(vector) };
                rows.extend(scopes.iter().map(|scope| (*scope, row)));
            }
            writer.put(&pending.document, &pending.json, pending.hash, &rows, pending.replaces)?;
            *(if pending.replaces { &mut updated } else { &mut added }) += 1;
        }
        uncommitted += step.documents.len();
        papers += step.documents.iter().filter(|(pending, _)| !pending.document.sections.is_empty()).count();
        files.extend(step.files);
        if uncommitted >= commit_every || papers >= papers_every {
            writer.commit(vectors.sync()?)?;
            (uncommitted, papers) = (0, 0);
        }
        if uncommitted == 0 {
            ledger.append(std::mem::take(&mut files))?;
        }
        let mut tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
        let (report, progress) = &mut *tally;
        report.added += added;
        report.updated += updated;
        progress.indexed += added + updated;
    }
    if uncommitted > 0 {
        writer.commit(vectors.sync()?)?;
    }
    ledger.append(files)?;
    writer.finish()
}
