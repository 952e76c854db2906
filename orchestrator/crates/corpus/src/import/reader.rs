//! The first stage: records become documents, those that the corpus has already are dropped.
//!
//! References wait until all files were read, because their papers may come later.

use super::files::{Fetched, Source};
use super::library::{self, Library, Place, Shelved};
use super::messages::{Arrived, arrived};
use super::records::Holding;
use super::spool::{Slice, Spool};
use super::{LISTED, Pending, Rejected, Tally};
use crate::backend::FeatureScope;
use crate::document::Stage;
use crate::document::json::OddCodes;
use crate::hash::{fnv, fnv_row};
use crate::index::{Entry, Snapshot, to_json};
use crate::vectors::Vectors;
use crate::{CorpusError, Document, Result};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
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
    let (mut files_before, mut ended) = (0_u64, 0);
    let mut intake = Intake::new(sources, known, batch_size, next, tally);
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
            let place = Place { file: nth, line: record.line };
            let outcome = intake.outcome(record, place, &source.path);
            if !intake.count(outcome, place)? {
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
    for (document, place) in std::mem::take(&mut intake.library).rest() {
        if cancel.is_cancelled() {
            return Ok(false);
        }
        let outcome = intake.work(document, true, Vec::new(), place);
        if !intake.count(outcome, place)? {
            return Ok(false);
        }
    }
    // A closed channel means that a later stage failed, and says so itself.
    let _ = next.blocking_send(intake.batch);
    Ok(true)
}

enum Outcome {
    Take(Box<Pending>, OddCodes),
    Unchanged,
    Repeated,
    /// A reference that waits for its paper.
    Waits,
    Reject(String),
    Failed(CorpusError),
}

/// What goes through this stage.
struct Intake<'a> {
    known: &'a Known,
    library: Library,
    /// Documents of papers that were passed on, of which another version may come.
    passed: HashMap<u64, Slice>,
    spool: Spool,
    /// Checksums of id and content, and where: 24 bytes for each document of the import.
    seen: HashMap<u64, (u64, u32, u32)>,
    paths: Vec<PathBuf>,
    batch: Vec<Pending>,
    batch_size: usize,
    next: &'a mpsc::Sender<Vec<Pending>>,
    tally: &'a Tally,
    number: u64,
}

impl<'a> Intake<'a> {
    fn new(
        sources: &[Source],
        known: &'a Known,
        batch_size: usize,
        next: &'a mpsc::Sender<Vec<Pending>>,
        tally: &'a Tally,
    ) -> Self {
        let paths = sources.iter().map(|source| source.path.clone()).collect();
        let batch = Vec::with_capacity(batch_size);
        let (library, passed, seen) = (Library::default(), HashMap::new(), HashMap::new());
        let spool = Spool::default();
        Self { known, library, passed, spool, seen, paths, batch, batch_size, next, tally, number: 0 }
    }

    /// Counts an outcome and passes on documents for the index. `false` when the next stage is gone.
    fn count(&mut self, outcome: Outcome, place: Place) -> Result<bool> {
        self.number += 1;
        let rejected = |reason| Rejected { file: self.path(place), line: place.line, reason };
        let mut tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        let (report, progress) = &mut *tally;
        match outcome {
            Outcome::Take(pending, odd_codes) => {
                report.odd_codes_count += odd_codes.len() as u64;
                let room = LISTED.saturating_sub(report.odd_codes.len());
                let named = odd_codes.into_iter().take(room);
                report.odd_codes.extend(named.map(|code| rejected(format!("no such code: {code}"))));
                self.batch.push(*pending);
            }
            Outcome::Unchanged => {
                report.unchanged += 1;
                progress.unchanged += 1;
            }
            Outcome::Repeated => report.repeated += 1,
            Outcome::Waits => {}
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
        let due = self.batch.len() >= self.batch_size
            || (self.batch.is_empty() && self.number.is_multiple_of(4_096));
        Ok(!due || self.next.blocking_send(std::mem::take(&mut self.batch)).is_ok())
    }

    fn path(&self, place: Place) -> PathBuf {
        self.paths.get(place.file as usize).cloned().unwrap_or_default()
    }

    fn outcome(&mut self, record: Arrived<'_>, place: Place, path: &Path) -> Outcome {
        let (json, odd_codes) = match record.outcome {
            Ok(read) => read,
            Err(reason) => return Outcome::Reject(reason),
        };
        // What read it may have been taken over by what it read.
        let document: Document = match serde_json::from_str(json) {
            Ok(document) => document,
            Err(error) => {
                return Outcome::Failed(CorpusError::Io { path: self.path(place), source: error.into() });
            }
        };
        match record.holding {
            None => self.accept(document, json.to_owned(), odd_codes, place),
            Some(holding) => self.shelve(document, holding, odd_codes, place, path),
        }
    }

    fn shelve(
        &mut self,
        document: Document,
        holding: Holding,
        odd_codes: OddCodes,
        place: Place,
        path: &Path,
    ) -> Outcome {
        match self.library.shelve(document, holding, path, place) {
            Shelved::Waits => Outcome::Waits,
            Shelved::Repeated => Outcome::Repeated,
            Shelved::Another { id, paper } => Outcome::Reject(format!(
                "another file of the same work as {paper}, which was imported as `{id}`"
            )),
            Shelved::Document { document, whole } => self.work(*document, whole, odd_codes, place),
            Shelved::Version { id, document, stage, whole } => {
                self.version(&id, *document, stage, whole, place)
            }
        }
    }

    /// Another version of a work that was passed on: the document with both takes its place.
    fn version(&mut self, id: &str, document: Document, stage: Stage, whole: bool, place: Place) -> Outcome {
        let passed = self.passed.get(&fnv(id.as_bytes())).map(|slice| slice.hand(0, slice.bytes));
        let first: Document = match passed {
            Some(Ok(json)) => match serde_json::from_slice(&json) {
                Ok(first) => first,
                Err(error) => return Outcome::Failed(CorpusError::io(&self.path(place))(error.into())),
            },
            Some(Err(error)) => return Outcome::Failed(CorpusError::io(&self.path(place))(error)),
            None => return Outcome::Reject(format!("another version of `{id}`, which was not imported")),
        };
        let other = if stage == Stage::Published { Stage::Preprint } else { Stage::Published };
        let doc_id = first.doc_id.clone();
        let mut both = if stage == Stage::Published && !whole {
            let mut published = document;
            published.join(Some(stage), first, Some(other));
            published
        } else {
            let mut first = first;
            first.join(Some(other), document, Some(stage));
            first
        };
        both.doc_id = doc_id;
        let json = match both.finish() {
            Ok(finished) => {
                both = finished;
                to_json(&both)
            }
            Err(reason) => return Outcome::Reject(reason),
        };
        self.seen.remove(&fnv(both.doc_id.as_bytes()));
        match self.accept(both, json, Vec::new(), place) {
            Outcome::Take(pending, codes) => {
                Outcome::Take(Box::new(Pending { replaces: true, ..*pending }), codes)
            }
            // It was counted with its first version.
            Outcome::Unchanged => Outcome::Waits,
            other => other,
        }
    }

    /// What the corpus has of a work, also under another of its ids, which it keeps.
    fn stored(&self, document: &Document) -> Result<Option<Document>> {
        let ids = std::iter::once(document.doc_id.clone()).chain(library::ids(document));
        for (nth, id) in ids.enumerate() {
            let Some(stored) = self.known.snapshot.stored(&id)? else { continue };
            let others = |stored: &Document| {
                let known = |doi| {
                    stored.versions.iter().chain(&document.versions).any(|v| v.doi.as_ref() == Some(doi))
                };
                stored
                    .doi
                    .as_ref()
                    .zip(document.doi.as_ref())
                    .is_some_and(|(a, b)| a != b && !known(a) && !known(b))
            };
            if nth == 0 || !others(&stored) {
                return Ok(Some(stored));
            }
        }
        Ok(None)
    }

    /// A work of a library, with what the corpus has of it already.
    fn work(&mut self, document: Document, whole: bool, odd_codes: OddCodes, place: Place) -> Outcome {
        let id = document.doc_id.clone();
        let document = match self.stored(&document) {
            Err(error) => return Outcome::Failed(error),
            Ok(None) => document,
            Ok(Some(mut stored)) if whole => {
                let mut document = document;
                if document.zotero.is_some() && stored.zotero.is_some() {
                    // What Zotero no longer has was removed there.
                    stored.tags.clear();
                    stored.collections.clear();
                    stored.notes.clear();
                    stored.annotations.clear();
                }
                document.doc_id.clone_from(&stored.doc_id);
                let (own, other) = (document.stage(), stored.stage());
                document.join(own, stored, other);
                document
            }
            Ok(Some(stored)) => stored.with_text_of(document),
        };
        match document.finish() {
            Ok(document) => {
                let json = to_json(&document);
                if let Err(error) = self.pass(&id, &json) {
                    return Outcome::Failed(CorpusError::io(&self.path(place))(error));
                }
                self.accept(document, json, odd_codes, place)
            }
            Err(reason) => Outcome::Reject(reason),
        }
    }

    /// Keeps a document in case that another version of its work comes.
    fn pass(&mut self, id: &str, json: &str) -> std::io::Result<()> {
        let mark = self.spool.mark();
        self.spool.add(json.as_bytes())?;
        self.passed.extend(self.spool.since(mark).map(|slice| (fnv(id.as_bytes()), slice)));
        Ok(())
    }

    fn accept(&mut self, document: Document, json: String, odd_codes: OddCodes, place: Place) -> Outcome {
        if let Err(reason) = document.check() {
            return Outcome::Reject(reason);
        }
        let hash = fnv(json.as_bytes());
        let line = u32::try_from(place.line).unwrap_or(u32::MAX);
        if let Some((earlier, file, line)) = self.seen.get(&fnv(document.doc_id.as_bytes())) {
            if *earlier == hash {
                return Outcome::Repeated;
            }
            let file =
                self.paths.get(*file as usize).map(|path| path.display().to_string()).unwrap_or_default();
            return Outcome::Reject(format!(
                "id `{}` is on line {line} of {file} with other content",
                document.doc_id
            ));
        }
        self.seen.insert(fnv(document.doc_id.as_bytes()), (hash, place.file, line));
        let texts = self.known.texts(&document);
        match self.known.snapshot.entry(&document.doc_id) {
            Err(error) => Outcome::Failed(error),
            Ok(Some(entry)) if entry.hash == hash && self.known.is_sound(&entry, &texts) => {
                Outcome::Unchanged
            }
            Ok(entry) => {
                let pending = Pending { document, json, hash, texts, replaces: entry.is_some() };
                Outcome::Take(Box::new(pending), odd_codes)
            }
        }
    }
}
