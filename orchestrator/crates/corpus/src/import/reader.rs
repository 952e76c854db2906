//! The first stage: records become documents, those that the corpus has already are dropped.
//!
//! References wait until all files were read, because their papers may come later.

mod intake;
mod stored;

use self::intake::Intake;
use super::files::{Fetched, Source};
use super::known::Known;
use super::library::{Naming, Place};
use super::messages::arrived;
use super::{Pending, Step, Tally, Texts};
use crate::backend::FeatureScope;
use crate::ledger::{Entry, Ledger};
use crate::{CorpusError, Document, Result};
use std::path::Path;
use std::sync::{Arc, PoisonError};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// What to embed of a document in these scopes: each text once, with all scopes that have it.
pub(super) fn texts(document: &Document, scopes: &[FeatureScope]) -> Texts {
    let mut texts = Texts::new();
    for scope in scopes {
        let Some(text) = document.text_of(*scope) else { continue };
        match texts.iter_mut().find(|(_, known)| *known == text) {
            Some((scopes, _)) => scopes.push(*scope),
            None => texts.push((vec![*scope], text)),
        }
    }
    texts
}

/// What an import knows of its files.
pub(super) struct Shelves {
    pub(super) sources: Arc<Vec<Source>>,
    pub(super) files: Vec<Entry>,
    pub(super) kept: Vec<Entry>,
    pub(super) ledger: Arc<Ledger>,
}

/// Takes what the files hold to their end, to a cancellation, or until the next stage is gone; `true` at their end.
pub(super) fn run(
    mut fetched: mpsc::Receiver<Result<Fetched>>,
    shelves: Shelves,
    known: &Known,
    batch_size: usize,
    next: &mpsc::Sender<Step<Pending>>,
    tally: &Tally,
    cancel: &CancellationToken,
) -> Result<bool> {
    let (mut files_before, mut ended) = (0_u64, 0);
    let sources = shelves.sources.clone();
    let mut intake = Intake::new(shelves, known, batch_size, next, tally)?;
    while let Some(part) = fetched.blocking_recv() {
        let Fetched { nth, given, message } = part?;
        let Some(source) = sources.get(nth as usize) else { break };
        let so_far = files_before.saturating_add(given.bytes_read.min(source.bytes()));
        tally.lock().unwrap_or_else(PoisonError::into_inner).1.bytes_read = so_far;
        known.look_ahead(|| ids(&message))?;
        for record in arrived(&message) {
            if cancel.is_cancelled() {
                return Ok(false);
            }
            let record = record.map_err(CorpusError::io(&source.path))?;
            let place = Place { file: nth, line: record.line };
            let outcome = intake.outcome(record, place, source);
            if !intake.count(outcome, place)? {
                return Ok(false);
            }
        }
        if given.ended {
            ended += 1;
            intake.notes.ended(source.disk);
            files_before = files_before.saturating_add(source.bytes());
            tally.lock().unwrap_or_else(PoisonError::into_inner).1.bytes_read = files_before;
        }
    }
    if ended < sources.len() {
        return Ok(false);
    }
    for (mut document, mut naming, place, named_by) in std::mem::take(&mut intake.library).rest() {
        if cancel.is_cancelled() {
            return Ok(false);
        }
        if names_nothing(&document) {
            // A file that Zotero has no record of. If it is not on this machine now, it may have been.
            let Some(stored) = intake.stored.of(&document, naming, Path::new(""))? else { continue };
            (document.doc_id, naming) = (stored.doc_id, Naming::Earlier);
        }
        let outcome = intake.work(document, naming, true, &named_by, Vec::new(), place);
        if !intake.count(outcome, place)? {
            return Ok(false);
        }
    }
    for (document, odd_codes, place) in std::mem::take(&mut intake.waiting) {
        if cancel.is_cancelled() {
            return Ok(false);
        }
        let outcome = intake.part(document, odd_codes, place, false);
        if !intake.count(outcome, place)? {
            return Ok(false);
        }
    }
    intake.notes.settle();
    intake.count_kept();
    // A closed channel means that a later stage failed, and says so itself.
    let _ = intake.pass_on();
    Ok(true)
}

/// Ids of the documents of a message that have one already.
fn ids(message: &[u8]) -> Vec<String> {
    #[derive(serde::Deserialize)]
    struct Named {
        doc_id: String,
    }
    let records = arrived(message).filter_map(|record| record.ok()?.outcome.ok());
    let named = records.filter_map(|(json, _)| serde_json::from_str::<Named>(json).ok());
    named.map(|named| named.doc_id).filter(|id| !id.is_empty()).collect()
}

/// Whether a reference does not say which work it is.
fn names_nothing(reference: &Document) -> bool {
    reference.title.is_empty() && reference.text.is_empty() && reference.doi.is_none()
}
