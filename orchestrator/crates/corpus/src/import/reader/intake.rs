//! Takes records in: joins what belongs to one work, and drops what the corpus has already.

use super::Shelves;
use super::stored::{Stored, described};
use crate::document::Stage;
use crate::document::json::OddCodes;
use crate::hash::fnv;
use crate::import::files::Source;
use crate::import::known::{Had, Known};
use crate::import::library::{self, Library, Naming, Place, Shelved};
use crate::import::messages::Arrived;
use crate::import::notes::Notes;
use crate::import::records::Holding;
use crate::import::spool::{Slice, Spool};
use crate::import::{LISTED, Pending, Rejected, Step, Tally};
use crate::index::to_json;
use crate::{CorpusError, Document, Result};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};
use tokio::sync::mpsc;

/// What becomes of a record.
pub(super) enum Outcome {
    Take(Box<Pending>, OddCodes),
    Unchanged,
    Repeated,
    /// A reference that waits for its paper.
    Waits,
    Reject(String),
    Failed(CorpusError),
}

/// A document that was passed on.
struct Passed {
    json: Slice,
    /// The corpus has it like that.
    unchanged: bool,
}

/// What goes through this stage.
pub(super) struct Intake<'a> {
    known: &'a Known,
    pub(super) library: Library,
    /// Works of the library that were passed on, of which another version may come, by id.
    passed: HashMap<u64, Passed>,
    spool: Spool,
    pub(super) stored: Stored<'a>,
    /// Ids of works for which the corpus has others.
    renamed: HashMap<String, String>,
    /// Publications of which only numbers were read so far.
    pub(super) waiting: Vec<(Document, OddCodes, Place)>,
    /// Checksums of id and content, and where: 24 bytes for each document of the import.
    seen: HashMap<u64, (u64, u32, u32)>,
    sources: Arc<Vec<Source>>,
    pub(super) notes: Notes,
    /// Ids of the documents of files that are not read again.
    kept: HashSet<String>,
    batch: Vec<Pending>,
    batch_size: usize,
    next: &'a mpsc::Sender<Step<Pending>>,
    tally: &'a Tally,
    number: u64,
}

impl<'a> Intake<'a> {
    pub(super) fn new(
        shelves: Shelves,
        known: &'a Known,
        batch_size: usize,
        next: &'a mpsc::Sender<Step<Pending>>,
        tally: &'a Tally,
    ) -> Result<Self> {
        let Shelves { sources, files, kept, ledger } = shelves;
        let mut parts = vec![0; files.len()];
        for source in &*sources {
            parts[source.disk] += 1;
        }
        let mut library = Library::default();
        for entry in &kept {
            library.remember(entry);
        }
        let stored = Stored::new(known, &sources, &files, &ledger)?;
        let kept = kept.into_iter().flat_map(|entry| entry.documents).collect();
        let notes = Notes::new(files, parts, ledger);
        let batch = Vec::with_capacity(batch_size);
        Ok(Self {
            known,
            library,
            passed: HashMap::new(),
            spool: Spool::default(),
            stored,
            renamed: HashMap::new(),
            waiting: Vec::new(),
            seen: HashMap::new(),
            sources,
            notes,
            kept,
            batch,
            batch_size,
            next,
            tally,
            number: 0,
        })
    }

    /// Passes on documents, and the files whose documents were passed on. `false` when the next stage is gone.
    pub(super) fn pass_on(&mut self) -> bool {
        let step = Step { documents: std::mem::take(&mut self.batch), files: self.notes.take() };
        self.next.blocking_send(step).is_ok()
    }

    /// Counts the documents of files that are not read again.
    pub(super) fn count_kept(&self) {
        let unread = self.kept.iter().filter(|id| !self.seen.contains_key(&fnv(id.as_bytes()))).count();
        let mut tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        tally.0.unchanged += unread as u64;
        tally.1.unchanged += unread as u64;
    }

    fn disk(&self, place: Place) -> usize {
        self.sources.get(place.file as usize).map_or(usize::MAX, |source| source.disk)
    }

    /// Counts an outcome and passes on documents for the index. `false` when the next stage is gone.
    pub(super) fn count(&mut self, outcome: Outcome, place: Place) -> Result<bool> {
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
                if let Some(source) = self.sources.get(place.file as usize) {
                    self.notes.rejects(source.disk, source.member(), place.line, &reason);
                }
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

    /// The absolute path of a file; a member's name stands behind its archive's.
    fn origin(&self, place: Place) -> PathBuf {
        let Some(source) = self.sources.get(place.file as usize) else { return PathBuf::new() };
        let file = self.notes.path(source.disk).unwrap_or(&source.path);
        file.components().chain(source.member().components()).collect()
    }

    pub(super) fn outcome(&mut self, record: Arrived<'_>, place: Place, source: &Source) -> Outcome {
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
        if let Some(reason) = record.left_out {
            let mut tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
            tally.0.partial_count += 1;
            if tally.0.partial.len() < LISTED {
                tally.0.partial.push(Rejected { file: source.path.clone(), line: place.line, reason });
            }
        }
        match record.holding {
            None => self.accept(document, json.to_owned(), odd_codes, place),
            Some(Holding::Part) => self.part(document, odd_codes, place, true),
            Some(holding) => self.shelve(document, holding, odd_codes, place, source),
        }
    }

    /// What one answer of a service says of a publication, with what other answers and the corpus have of it. The answer
    /// itself decides. Without a title and a text, it waits for those to the end of the import, if it `may_wait`.
    pub(super) fn part(
        &mut self,
        mut document: Document,
        odd_codes: OddCodes,
        place: Place,
        may_wait: bool,
    ) -> Outcome {
        let id = document.doc_id.clone();
        match self.first_version(&id, None) {
            Ok(Some(known)) => document.fill_from(known),
            Ok(None) => {}
            Err(error) => return Outcome::Failed(error),
        }
        if may_wait && document.lacks_text() {
            self.waiting.push((document, odd_codes, place));
            return Outcome::Waits;
        }
        let both = match document.finish() {
            Ok(both) => both,
            Err(reason) => {
                return Outcome::Reject(format!("{reason} of `{id}`, neither here nor in the corpus"));
            }
        };
        let was_passed = self.seen.remove(&fnv(id.as_bytes())).is_some();
        match self.pass(&id, both, odd_codes, place) {
            Outcome::Take(pending, codes) if was_passed => {
                Outcome::Take(Box::new(Pending { replaces: true, ..*pending }), codes)
            }
            // It was counted with its first part.
            Outcome::Unchanged if was_passed => Outcome::Waits,
            other => other,
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
        let names = library::keys(&document);
        let is_paper = holding == Holding::Paper;
        let said = Document {
            year: document.year,
            authors: document.authors.first().cloned().into_iter().collect(),
            tags: document.tags.clone(),
            annotations: document.annotations.clone(),
            ..Document::default()
        };
        let origin = self.origin(place);
        let shelved = self.library.shelve(document, holding, &source.path, &origin, place);
        if is_paper && !matches!(shelved, Shelved::Another { .. }) {
            let named = !names.is_empty();
            let name = || source.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let names = if named { names } else { vec![format!("file:{}", name())] };
            self.notes.holds(source.disk, names, said);
        }
        match shelved {
            Shelved::Waits => Outcome::Waits,
            Shelved::Repeated { id } => {
                if let Some(id) = id.map(|id| self.stored_id(id)) {
                    self.notes.gives(source.disk, &id);
                }
                Outcome::Repeated
            }
            Shelved::Another { id, paper } => {
                let id = self.stored_id(id);
                self.notes.gives(source.disk, &id);
                Outcome::Reject(format!(
                    "another file of the same work as {paper}, which was imported as `{id}`"
                ))
            }
            Shelved::Document { document, naming, whole, named_by } => {
                self.work(*document, naming, whole, &named_by, odd_codes, place)
            }
            Shelved::Version { id, document, stage, whole, reference, named_by } => {
                let first = match self.first_version(&id, reference) {
                    Ok(Some(first)) => first,
                    Ok(None) => {
                        let why = format!("another version of `{id}`, which was not imported");
                        return Outcome::Reject(why);
                    }
                    Err(error) => return Outcome::Failed(error),
                };
                let outcome = self.version(first, *document, stage, whole, &named_by, place);
                let was_unchanged =
                    self.passed.get(&fnv(id.as_bytes())).is_some_and(|passed| passed.unchanged);
                if was_unchanged && matches!(outcome, Outcome::Take(..)) {
                    // It was counted when its first version came.
                    let mut tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
                    tally.0.unchanged = tally.0.unchanged.saturating_sub(1);
                    tally.1.unchanged = tally.1.unchanged.saturating_sub(1);
                }
                outcome
            }
        }
    }

    /// The id that the corpus has of a work.
    fn stored_id(&self, id: String) -> String {
        self.renamed.get(&id).cloned().unwrap_or(id)
    }

    /// A work of which another version came: what was passed on of it, or what the corpus has, with what a reference
    /// says of it that was not passed on.
    fn first_version(&self, id: &str, reference: Option<Box<Document>>) -> Result<Option<Document>> {
        let first = match self.passed.get(&fnv(id.as_bytes())) {
            Some(Passed { json, .. }) => {
                let read = json.hand(0, json.bytes).and_then(|json| Ok(serde_json::from_slice(&json)?));
                Some(read.map_err(CorpusError::io(Path::new(id)))?)
            }
            None => self.known.stored(id)?,
        };
        Ok(first.map(|first| match reference {
            Some(reference) => described(*reference, first),
            None => first,
        }))
    }

    /// Another version of a work that was passed on, or that an earlier import read: the document with both takes its
    /// place.
    fn version(
        &mut self,
        mut first: Document,
        document: Document,
        stage: Stage,
        whole: bool,
        named_by: &[u32],
        place: Place,
    ) -> Outcome {
        let other = if stage == Stage::Published { Stage::Preprint } else { Stage::Published };
        let doc_id = first.doc_id.clone();
        let mut both = if stage == Stage::Published && !whole {
            let mut published = document;
            published.join(Some(stage), first, Some(other));
            published
        } else {
            first.join(Some(other), document, Some(stage));
            first
        };
        both.doc_id.clone_from(&doc_id);
        let both = match both.finish() {
            Ok(both) => both,
            Err(reason) => return Outcome::Reject(reason),
        };
        let json = to_json(&both);
        let was_passed = self.seen.remove(&fnv(doc_id.as_bytes())).is_some();
        let outcome = self.accept(both, json, Vec::new(), place);
        self.give(named_by, &doc_id);
        match outcome {
            Outcome::Take(pending, codes) => {
                Outcome::Take(Box::new(Pending { replaces: true, ..*pending }), codes)
            }
            // It was counted with its first version.
            Outcome::Unchanged if was_passed => Outcome::Waits,
            other => other,
        }
    }

    /// Notes that these sources contribute to a document, if it is one of the import.
    fn give(&mut self, named_by: &[u32], id: &str) {
        if self.seen.contains_key(&fnv(id.as_bytes())) {
            for file in named_by {
                let disk = self.disk(Place { file: *file, line: 0 });
                self.notes.gives(disk, id);
            }
        }
    }

    /// A work of a library, with what the corpus has of it already.
    pub(super) fn work(
        &mut self,
        document: Document,
        naming: Naming,
        whole: bool,
        named_by: &[u32],
        odd_codes: OddCodes,
        place: Place,
    ) -> Outcome {
        let id = document.doc_id.clone();
        let origin = self.origin(place);
        let document = match self.stored.of(&document, naming, &origin) {
            Err(error) => return Outcome::Failed(error),
            Ok(None) => {
                let named = self.stored.named_apart(document, naming, &origin);
                match named.and_then(|document| self.stored.with_other_version(document, whole)) {
                    Ok(document) => document,
                    Err(error) => return Outcome::Failed(error),
                }
            }
            Ok(Some(stored)) if whole => described(document, stored),
            Ok(Some(stored)) => stored.with_text_of(document),
        };
        let document = match document.finish() {
            Ok(document) => document,
            Err(reason) => return Outcome::Reject(reason),
        };
        let doc_id = document.doc_id.clone();
        if doc_id != id {
            self.renamed.insert(id.clone(), doc_id.clone());
        }
        let is_paper = self.sources.get(place.file as usize).is_some_and(Source::is_paper);
        if is_paper && document.lacks_metadata() {
            let disk = self.disk(place);
            self.notes.lacks(disk, &doc_id);
        }
        let outcome = self.pass(&id, document, odd_codes, place);
        self.give(named_by, &doc_id);
        outcome
    }

    /// Accepts a document, and keeps it under this id in case another version of its work comes.
    fn pass(&mut self, id: &str, document: Document, odd_codes: OddCodes, place: Place) -> Outcome {
        let json = to_json(&document);
        let mark = self.spool.mark();
        if let Err(error) = self.spool.add(json.as_bytes()) {
            return Outcome::Failed(CorpusError::io(&self.path(place))(error));
        }
        let kept = self.spool.since(mark);
        let outcome = self.accept(document, json, odd_codes, place);
        let unchanged = matches!(outcome, Outcome::Unchanged);
        self.passed.extend(kept.map(|json| (fnv(id.as_bytes()), Passed { json, unchanged })));
        outcome
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
        match self.known.had(&document.doc_id, hash, &texts) {
            Err(error) => Outcome::Failed(error),
            Ok(Had::Same) => Outcome::Unchanged,
            Ok(had) => {
                let replaces = had == Had::Other;
                let pending = Pending { document, json, hash, texts, replaces, from: Some(place) };
                Outcome::Take(Box::new(pending), odd_codes)
            }
        }
    }
}
