//! The last stage: vectors and documents go to disk, and are committed together.

use super::files::Source;
use super::{EmbeddedDocument, LISTED, Rejected, Step, Tally};
use crate::Result;
use crate::corpora::wait;
use crate::hash::fnv_row;
use crate::index::{Row, Rows, TextIndex};
use crate::ledger::Ledger;
use crate::remote::{Put, Shelf, Written};
use crate::vectors::VectorWriter;
use std::path::Path;
use std::sync::PoisonError;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Bytes of documents and their embeddings that wait to be sent to a cluster.
const WAITING_BYTES: usize = 16 << 20;

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

/// The same on a cluster. What was sent is durable when the cluster has answered. Documents that it refuses are reported
/// as rejected.
pub(super) fn run_there(
    shelf: &Shelf,
    sources: &[Source],
    mut batches: mpsc::Receiver<Step<EmbeddedDocument>>,
    ledger: &mut Ledger,
    commit_every: usize,
    tally: &Tally,
    cancel: &CancellationToken,
) -> Result<()> {
    let (mut documents, mut files, mut bytes) = (Vec::new(), Vec::new(), 0);
    let send = |documents: &mut Vec<EmbeddedDocument>| -> Result<()> {
        let sent = std::mem::take(documents);
        let Written { created, refused } = put(shelf, &sent, cancel)?;
        let mut tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
        let (report, progress) = &mut *tally;
        for (pending, _) in sent {
            let Some(reason) = refused.iter().find(|one| one.id == pending.document.doc_id) else {
                let is_new = created.contains(&pending.document.doc_id);
                *(if is_new { &mut report.added } else { &mut report.updated }) += 1;
                progress.indexed += 1;
                continue;
            };
            report.rejected_count += 1;
            progress.rejected += 1;
            if report.rejected.len() < LISTED {
                let place = pending.from;
                let source = place.and_then(|place| sources.get(place.file as usize));
                report.rejected.push(Rejected {
                    file: source.map(|source| source.path.clone()).unwrap_or_default(),
                    line: place.map_or(0, |place| place.line),
                    reason: format!("`{}`: {}", reason.id, reason.reason),
                });
            }
        }
        Ok(())
    };
    while let Some(step) = batches.blocking_recv() {
        bytes += step.documents.iter().map(weight).sum::<usize>();
        documents.extend(step.documents);
        files.extend(step.files);
        if documents.len() >= commit_every || bytes >= WAITING_BYTES {
            send(&mut documents)?;
            bytes = 0;
        }
        if documents.is_empty() {
            ledger.append(std::mem::take(&mut files))?;
        }
    }
    if !documents.is_empty() {
        send(&mut documents)?;
    }
    ledger.append(files)
}

/// About how many bytes a document is in a request.
fn weight((pending, own): &EmbeddedDocument) -> usize {
    let numbers: usize =
        pending.texts.iter().zip(own).map(|((scopes, _), vector)| scopes.len() * vector.len()).sum();
    pending.json.len() + 11 * numbers
}

fn put(shelf: &Shelf, documents: &[EmbeddedDocument], cancel: &CancellationToken) -> Result<Written> {
    let put = |(pending, own): &'_ EmbeddedDocument| {
        let scopes = pending.texts.iter().map(|(scopes, _)| scopes.clone());
        (pending.hash, scopes.zip(own.iter().cloned()).collect())
    };
    let puts: Vec<Put<'_>> = documents
        .iter()
        .map(|document| {
            let (hash, vectors) = put(document);
            Put { document: &document.0.document, hash, vectors }
        })
        .collect();
    wait(shelf.put(&shelf.index, &puts, cancel))
}
