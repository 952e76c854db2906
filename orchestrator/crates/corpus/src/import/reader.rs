//! The first stage: records become documents, those that the corpus has already are dropped.

use super::files::{Fetched, Source};
use super::messages::arrived;
use super::{LISTED, Pending, Rejected, Tally};
use crate::backend::FeatureScope;
use crate::document::json::OddCodes;
use crate::hash::{fnv, fnv_row};
use crate::index::{Entry, Snapshot};
use crate::vectors::Vectors;
use crate::{CorpusError, Document, Result};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::PoisonError;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// What the corpus holds before the import.
pub(super) struct Known {
    pub(super) snapshot: Snapshot,
    pub(super) vectors: Vectors,
    /// Scopes that every document is embedded in.
    pub(super) scopes: Vec<FeatureScope>,
}

impl Known {
    /// Which parts of a document are embedded.
    fn texts(&self, document: &Document) -> Vec<(Vec<FeatureScope>, String)> {
        let mut texts: Vec<(Vec<FeatureScope>, String)> = Vec::new();
        for scope in &self.scopes {
            let Some(text) = document.text_of(*scope) else { continue };
            match texts.iter_mut().find(|(_, known)| *known == text) {
                Some((scopes, _)) => scopes.push(*scope),
                None => texts.push((vec![*scope], text)),
            }
        }
        texts
    }

    /// Whether the entry has all its embeddings, and they are what was written.
    fn is_sound(&self, entry: &Entry, texts: &[(Vec<FeatureScope>, String)]) -> bool {
        texts.iter().flat_map(|(scopes, _)| scopes).all(|scope| {
            let row = entry.rows.iter().find(|(of, _)| of == scope).map(|(_, row)| row);
            row.is_some_and(|row| {
                self.vectors.row(row.row).is_some_and(|numbers| fnv_row(numbers) == row.sum)
            })
        })
    }
}

/// Takes what the files hold to their end, to a cancellation, or until the next stage is gone; `true` at their end.
pub(super) fn run(
    mut fetched: mpsc::Receiver<Result<Fetched>>,
    sources: &[Source],
    known: &Known,
    batch_size: usize,
    next: &mpsc::Sender<Vec<Pending>>,
    tally: &Tally,
    cancel: &CancellationToken,
) -> Result<bool> {
    let mut batch = Vec::with_capacity(batch_size);
    // Checksums of id and content, and where: 24 bytes for each document of the import.
    let mut seen: HashMap<u64, (u64, u32, u32)> = HashMap::new();
    let paths: Vec<PathBuf> = sources.iter().map(|source| source.path.clone()).collect();
    let (mut files_before, mut ended, mut number) = (0_u64, 0, 0_u64);
    while let Some(part) = fetched.blocking_recv() {
        let Fetched { nth, given, message } = part?;
        let Some(source) = sources.get(nth as usize) else { break };
        let so_far = files_before.saturating_add(given.bytes_read.min(source.bytes()));
        tally.lock().unwrap_or_else(PoisonError::into_inner).1.bytes_read = so_far;
        for record in arrived(&message) {
            if cancel.is_cancelled() {
                return Ok(false);
            }
            let record = record.map_err(CorpusError::io(&source.path))?;
            let line = record.line;
            number += 1;
            let outcome = accept(record.outcome, known, &mut seen, (nth, line), &paths);
            let rejected = |reason| Rejected { file: source.path.clone(), line, reason };
            let mut tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
            let (report, progress) = &mut *tally;
            match outcome {
                Outcome::Take(pending, odd_codes) => {
                    batch.push(*pending);
                    report.odd_codes_count += odd_codes.len() as u64;
                    let room = LISTED.saturating_sub(report.odd_codes.len());
                    let named = odd_codes.into_iter().take(room);
                    report.odd_codes.extend(named.map(|code| rejected(format!("no such code: {code}"))));
                }
                Outcome::Unchanged => {
                    report.unchanged += 1;
                    progress.unchanged += 1;
                }
                Outcome::Repeated => report.repeated += 1,
                Outcome::Reject(reason) => {
                    report.rejected_count += 1;
                    progress.rejected += 1;
                    if report.rejected.len() < LISTED {
                        report.rejected.push(rejected(reason));
                    }
                }
                Outcome::Failed(error) => return Err(error),
            }
            drop(tally);
            // An empty batch now and then keeps the progress moving where nothing is new.
            if (batch.len() >= batch_size || (batch.is_empty() && number % 4_096 == 0))
                && next.blocking_send(std::mem::take(&mut batch)).is_err()
            {
                return Ok(false);
            }
        }
        if given.ended {
            ended += 1;
            files_before = files_before.saturating_add(source.bytes());
            tally.lock().unwrap_or_else(PoisonError::into_inner).1.bytes_read = files_before;
        }
    }
    if ended < sources.len() {
        return Ok(false);
    }
    // A closed channel means that a later stage failed, and says so itself.
    let _ = next.blocking_send(batch);
    Ok(true)
}

enum Outcome {
    Take(Box<Pending>, OddCodes),
    Unchanged,
    Repeated,
    Reject(String),
    Failed(CorpusError),
}

fn accept(
    record: Result<(&str, OddCodes), String>,
    known: &Known,
    seen: &mut HashMap<u64, (u64, u32, u32)>,
    (file, number): (u32, u64),
    paths: &[PathBuf],
) -> Outcome {
    let (json, odd_codes) = match record {
        Ok(read) => read,
        Err(reason) => return Outcome::Reject(reason),
    };
    // What read it may have been taken over by what it read.
    let document: Document = match serde_json::from_str(json) {
        Ok(document) => document,
        Err(error) => {
            let path = paths.get(file as usize).cloned().unwrap_or_default();
            return Outcome::Failed(CorpusError::Io { path, source: error.into() });
        }
    };
    if let Err(reason) = document.check() {
        return Outcome::Reject(reason);
    }
    let hash = fnv(json.as_bytes());
    let place = (hash, file, u32::try_from(number).unwrap_or(u32::MAX));
    if let Some((earlier, file, line)) = seen.get(&fnv(document.doc_id.as_bytes())) {
        if *earlier == hash {
            return Outcome::Repeated;
        }
        let file = paths.get(*file as usize).map(|path| path.display().to_string()).unwrap_or_default();
        return Outcome::Reject(format!(
            "id `{}` is on line {line} of {file} with other content",
            document.doc_id
        ));
    }
    seen.insert(fnv(document.doc_id.as_bytes()), place);
    let texts = known.texts(&document);
    match known.snapshot.entry(&document.doc_id) {
        Err(error) => Outcome::Failed(error),
        Ok(Some(entry)) if entry.hash == hash && known.is_sound(&entry, &texts) => Outcome::Unchanged,
        Ok(entry) => {
            let pending = Pending { document, json: json.to_owned(), hash, texts, replaces: entry.is_some() };
            Outcome::Take(Box::new(pending), odd_codes)
        }
    }
}
