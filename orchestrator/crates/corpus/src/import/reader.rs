//! The first stage: records become documents, those that the corpus has already are dropped.
//!
//! References wait until all files were read, because their papers may come later.

use super::files::{Fetched, Source};
use super::library::{Library, Place, Shelved, keys};
use super::messages::{Arrived, arrived};
use super::notes::Notes;
use super::records::Holding;
use super::{LISTED, Pending, Rejected, Step, Tally, Texts};
use crate::backend::FeatureScope;
use crate::document::json::OddCodes;
use crate::hash::{fnv, fnv_row};
use crate::index::{self, Snapshot, to_json};
use crate::ledger::{Entry, Ledger};
use crate::vectors::Vectors;
use crate::{CorpusError, Document, Result};
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, PoisonError};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// What the corpus holds before the import.
pub(super) struct Known {
    pub(super) snapshot: Snapshot,
    pub(super) vectors: Vectors,
    /// Scopes that documents are embedded in now.
    pub(super) scopes: Vec<FeatureScope>,
}

impl Known {
    /// Which parts of a document are embedded.
    fn texts(&self, document: &Document) -> Texts {
        texts(document, &self.scopes)
    }

    /// Whether the entry has all its embeddings, and they are what was written.
    fn is_sound(&self, entry: &index::Entry, texts: &[(Vec<FeatureScope>, String)]) -> bool {
        texts.iter().flat_map(|(scopes, _)| scopes).all(|scope| {
            let row = entry.rows.iter().find(|(of, _)| of == scope).map(|(_, row)| row);
            row.is_some_and(|row| {
                self.vectors.row(row.row).is_some_and(|numbers| fnv_row(numbers) == row.sum)
            })
        })
    }
}

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
    let mut intake = Intake::new(shelves, known, batch_size, next, tally);
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
    for (document, place, named_by) in std::mem::take(&mut intake.library).rest() {
        if cancel.is_cancelled() {
            return Ok(false);
        }
        let outcome = intake.work(document, true, &named_by, Vec::new(), place);
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
    /// Checksums of id and content, and where: 24 bytes for each document of the import.
    seen: HashMap<u64, (u64, u32, u32)>,
    sources: Arc<Vec<Source>>,
    notes: Notes,
    /// Ids of the documents of files that are not read again.
    kept: HashSet<String>,
    batch: Vec<Pending>,
    batch_size: usize,
    next: &'a mpsc::Sender<Step<Pending>>,
    tally: &'a Tally,
    number: u64,
}

impl<'a> Intake<'a> {
    fn new(
        shelves: Shelves,
        known: &'a Known,
        batch_size: usize,
        next: &'a mpsc::Sender<Step<Pending>>,
        tally: &'a Tally,
    ) -> Self {
        let Shelves { sources, files, kept, ledger } = shelves;
        let mut parts = vec![0; files.len()];
        for source in &*sources {
            parts[source.disk] += 1;
        }
        let mut library = Library::default();
        for Entry { path, keys, year, documents, .. } in kept.iter().filter(|entry| !entry.keys.is_empty()) {
            if let [id] = documents.as_slice() {
                library.remember(path, keys.clone(), *year, id);
            }
        }
        let kept = kept.into_iter().flat_map(|entry| entry.documents).collect();
        let notes = Notes::new(files, parts, ledger);
        let batch = Vec::with_capacity(batch_size);
        let seen = HashMap::new();
        Self { known, library, seen, sources, notes, kept, batch, batch_size, next, tally, number: 0 }
    }

    /// Passes on documents, and the files whose documents were passed on. `false` when the next stage is gone.
    fn pass_on(&mut self) -> bool {
        let step = Step { documents: std::mem::take(&mut self.batch), files: self.notes.take() };
        self.next.blocking_send(step).is_ok()
    }

    /// Counts the documents of files that are not read again.
    fn count_kept(&self) {
        let unread = self.kept.iter().filter(|id| !self.seen.contains_key(&fnv(id.as_bytes()))).count();
        let mut tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        tally.0.unchanged += unread as u64;
        tally.1.unchanged += unread as u64;
    }

    fn disk(&self, place: Place) -> usize {
        self.sources.get(place.file as usize).map_or(usize::MAX, |source| source.disk)
    }

    /// Counts an outcome and passes on documents for the index. `false` when the next stage is gone.
    fn count(&mut self, outcome: Outcome, place: Place) -> Result<bool> {
        self.number += 1;
        let file = self.path(place);
        let rejected = |reason| Rejected { file: file.clone(), line: place.line, reason };
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
                let disk = self.sources.get(place.file as usize).map_or(usize::MAX, |source| source.disk);
                self.notes.rejects(disk, place.line, &reason);
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
        Ok(!due || self.pass_on())
    }

    fn path(&self, place: Place) -> PathBuf {
        self.sources.get(place.file as usize).map(|source| source.path.clone()).unwrap_or_default()
    }

    fn outcome(&mut self, record: Arrived<'_>, place: Place, source: &Source) -> Outcome {
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
            Some(holding) => self.shelve(document, holding, odd_codes, place, source),
        }
    }

    fn shelve(
        &mut self,
        document: Document,
        holding: Holding,
        odd_codes: OddCodes,
        place: Place,
        source: &Source,
    ) -> Outcome {
        let (names, year) = (keys(&document), document.year);
        let is_paper = holding == Holding::Paper;
        match self.library.shelve(document, holding, &source.path, place) {
            Shelved::Waits => Outcome::Waits,
            Shelved::Repeated { id } => {
                if let Some(id) = id {
                    self.notes.gives(source.disk, &id);
                }
                Outcome::Repeated
            }
            Shelved::Another { id, paper } => {
                self.notes.gives(source.disk, &id);
                Outcome::Reject(format!(
                    "another file of the same work as {paper}, which was imported as `{id}`"
                ))
            }
            Shelved::Document { document, whole, named_by } => {
                if is_paper {
                    let names = if names.is_empty() { vec![document.doc_id.clone()] } else { names };
                    self.notes.holds(source.disk, names, year);
                }
                self.work(*document, whole, &named_by, odd_codes, place)
            }
        }
    }

    /// A work of a library, with what the corpus has of it already.
    fn work(
        &mut self,
        document: Document,
        whole: bool,
        named_by: &[u32],
        odd_codes: OddCodes,
        place: Place,
    ) -> Outcome {
        for file in named_by {
            let disk = self.disk(Place { file: *file, line: 0 });
            self.notes.gives(disk, &document.doc_id);
        }
        let stored = self.known.snapshot.stored(&document.doc_id);
        let document = match stored.map(|stored| stored.map(|stored| stored.yielding_to(&document))) {
            Err(error) => return Outcome::Failed(error),
            Ok(None) => document,
            Ok(Some(stored)) if whole => {
                let mut document = document;
                document.fill_from(stored);
                document
            }
            Ok(Some(stored)) => stored.with_text_of(document),
        };
        match document.finish() {
            Ok(document) => {
                let disk = self.disk(place);
                let is_paper = self.sources.get(place.file as usize).is_some_and(Source::is_paper);
                if is_paper && document.lacks_metadata() {
                    self.notes.lacks(disk, &document.doc_id);
                }
                let json = to_json(&document);
                self.accept(document, json, odd_codes, place)
            }
            Err(reason) => Outcome::Reject(reason),
        }
    }

    fn accept(&mut self, document: Document, json: String, odd_codes: OddCodes, place: Place) -> Outcome {
        if let Err(reason) = document.check() {
            return Outcome::Reject(reason);
        }
        let hash = fnv(json.as_bytes());
        let line = u32::try_from(place.line).unwrap_or(u32::MAX);
        let disk = self.disk(place);
        if let Some((earlier, file, line)) = self.seen.get(&fnv(document.doc_id.as_bytes())) {
            if *earlier == hash {
                self.notes.gives(disk, &document.doc_id);
                return Outcome::Repeated;
            }
            let file = self.path(Place { file: *file, line: 0 }).display().to_string();
            return Outcome::Reject(format!(
                "id `{}` is on line {line} of {file} with other content",
                document.doc_id
            ));
        }
        self.seen.insert(fnv(document.doc_id.as_bytes()), (hash, place.file, line));
        self.notes.gives(disk, &document.doc_id);
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
