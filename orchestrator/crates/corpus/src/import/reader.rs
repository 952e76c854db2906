//! The first stage: records become documents, those that the corpus has already are dropped.
//!
//! References wait until all files were read, because their papers may come later.

use super::files::{Fetched, Source};
use super::known::{Had, Known};
use super::library::{self, Library, Place, Shelved};
use super::messages::{Arrived, arrived};
use super::notes::Notes;
use super::records::Holding;
use super::spool::{Slice, Spool};
use super::{LISTED, Pending, Rejected, Step, Tally, Texts};
use crate::backend::FeatureScope;
use crate::document::json::OddCodes;
use crate::document::{Stage, Version};
use crate::hash::fnv;
use crate::index::to_json;
use crate::ledger::{Entry, Ledger};
use crate::{CorpusError, Document, Result};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Documents of one title that are looked at for the other version of a work.
const SAME_TITLE: usize = 8;

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
    for (mut document, place, named_by) in std::mem::take(&mut intake.library).rest() {
        if cancel.is_cancelled() {
            return Ok(false);
        }
        if names_nothing(&document) {
            // A file that Zotero has no record of. If it is not on this machine now, it may have been.
            let Some(stored) = intake.stored(&document)? else { continue };
            document.doc_id = stored.doc_id;
        }
        let outcome = intake.work(document, true, &named_by, Vec::new(), place);
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

enum Outcome {
    Take(Box<Pending>, OddCodes),
    Unchanged,
    Repeated,
    /// A reference that waits for its paper.
    Waits,
    Reject(String),
    Failed(CorpusError),
}

/// The documents that the items of Zotero became that are read again.
fn items(
    sources: &[Source],
    files: &[Entry],
    ledger: &Ledger,
    known: &Known,
) -> Result<HashMap<String, String>> {
    let mut items = HashMap::new();
    for source in sources.iter().filter(|source| source.is_zotero()) {
        let Some(before) = files.get(source.disk).and_then(|file| ledger.get(&file.path)) else { continue };
        for id in before.documents.iter().chain(&before.left) {
            if let Some(address) = known.stored(id)?.and_then(|stored| stored.zotero) {
                items.entry(address).or_insert_with(|| id.clone());
            }
        }
    }
    Ok(items)
}

/// A document that was passed on.
struct Passed {
    json: Slice,
    /// The corpus has it like that.
    unchanged: bool,
}

/// What goes through this stage.
struct Intake<'a> {
    known: &'a Known,
    library: Library,
    /// Works of the library that were passed on, of which another version may come, by id.
    passed: HashMap<u64, Passed>,
    spool: Spool,
    /// Ids of documents by the addresses of items in Zotero that they were made of.
    items: HashMap<String, String>,
    /// Ids of works for which the corpus has others.
    renamed: HashMap<String, String>,
    /// Publications of which only numbers were read so far.
    waiting: Vec<(Document, OddCodes, Place)>,
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
        let items = items(&sources, &files, &ledger, known)?;
        let kept = kept.into_iter().flat_map(|entry| entry.documents).collect();
        let notes = Notes::new(files, parts, ledger);
        let batch = Vec::with_capacity(batch_size);
        Ok(Self {
            known,
            library,
            passed: HashMap::new(),
            spool: Spool::default(),
            items,
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
    fn part(&mut self, mut document: Document, odd_codes: OddCodes, place: Place, may_wait: bool) -> Outcome {
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
        let json = to_json(&both);
        let was_passed = self.seen.remove(&fnv(id.as_bytes())).is_some();
        let passed = match self.pass(&json) {
            Ok(passed) => passed,
            Err(error) => return Outcome::Failed(CorpusError::io(&self.path(place))(error)),
        };
        let outcome = self.accept(both, json, odd_codes, place);
        let unchanged = matches!(outcome, Outcome::Unchanged);
        self.passed.extend(passed.map(|json| (fnv(id.as_bytes()), Passed { json, unchanged })));
        match outcome {
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
            tags: document.tags.clone(),
            annotations: document.annotations.clone(),
            ..Document::default()
        };
        let shelved = self.library.shelve(document, holding, &source.path, place);
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
            Shelved::Document { document, whole, named_by } => {
                self.work(*document, whole, &named_by, odd_codes, place)
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

    /// What the corpus has of a work, also under another of its ids, which it keeps; without the fields of sources that
    /// the work says itself.
    fn stored(&self, document: &Document) -> Result<Option<Document>> {
        let item = document.zotero.as_ref().and_then(|address| self.items.get(address));
        let own = Some(document.doc_id.clone()).filter(|id| !id.is_empty());
        let sure = item.cloned().into_iter().chain(own).map(|id| (id, true));
        let ids = sure.chain(library::ids(document).into_iter().map(|id| (id, false)));
        for (id, is_sure) in ids {
            let Some(stored) = self.known.stored(&id)? else { continue };
            let stored = stored.yielding_to(document);
            let known =
                |doi| stored.versions.iter().chain(&document.versions).any(|v| v.doi.as_ref() == Some(doi));
            let is_other = stored
                .doi
                .as_ref()
                .zip(document.doi.as_ref())
                .is_some_and(|(a, b)| a != b && !known(a) && !known(b));
            if is_sure || !is_other {
                return Ok(Some(stored));
            }
        }
        self.stored_versions(document)
    }

    /// What the corpus has of a work under the id of another version that it was joined with.
    fn stored_versions(&self, document: &Document) -> Result<Option<Document>> {
        if document.doi.is_none() && document.identifiers.is_empty() {
            return Ok(None);
        }
        let titled = self.known.titled(&document.title, SAME_TITLE)?;
        let is_version = |version: &Version| {
            (document.doi.is_some() && version.doi == document.doi)
                || version.identifiers.iter().any(|id| document.identifiers.contains(id))
        };
        let stored = titled.into_iter().find(|stored| stored.versions.iter().any(is_version));
        Ok(stored.map(|stored| stored.yielding_to(document)))
    }

    /// A work that the corpus does not have, with the other version of it that an earlier import read: files that come
    /// one by one, as from a browser, name each its own identifier.
    fn with_other_version(&self, document: Document, whole: bool) -> Result<Document> {
        let stage = if whole { document.stage() } else { document.stage_of_file() };
        let Some(stage) = stage.filter(|_| document.versions.is_empty()) else { return Ok(document) };
        for stored in self.known.titled(&document.title, SAME_TITLE)? {
            let Some(other) = library::stage_of_other(&document, stage, &stored) else { continue };
            let doc_id = stored.doc_id.clone();
            let (mut first, of_first, second, of_second) = match stage {
                Stage::Published => (document, stage, stored, other),
                Stage::Preprint => (stored, other, document, stage),
            };
            first.join(Some(of_first), second, Some(of_second));
            first.doc_id = doc_id;
            return Ok(first);
        }
        Ok(document)
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
        let id = document.doc_id.clone();
        let document = match self.stored(&document) {
            Err(error) => return Outcome::Failed(error),
            Ok(None) => match self.with_other_version(document, whole) {
                Ok(document) => document,
                Err(error) => return Outcome::Failed(error),
            },
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
        let json = to_json(&document);
        let passed = match self.pass(&json) {
            Ok(passed) => passed,
            Err(error) => return Outcome::Failed(CorpusError::io(&self.path(place))(error)),
        };
        let outcome = self.accept(document, json, odd_codes, place);
        let unchanged = matches!(outcome, Outcome::Unchanged);
        self.passed.extend(passed.map(|json| (fnv(id.as_bytes()), Passed { json, unchanged })));
        self.give(named_by, &doc_id);
        outcome
    }

    /// Keeps a document in case that another version of its work comes.
    fn pass(&mut self, json: &str) -> std::io::Result<Option<Slice>> {
        let mark = self.spool.mark();
        self.spool.add(json.as_bytes())?;
        Ok(self.spool.since(mark))
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

/// A work that a reference describes, with what the corpus has of it.
fn described(mut reference: Document, mut stored: Document) -> Document {
    if reference.zotero.is_some() && stored.zotero.is_some() {
        // What Zotero no longer has was removed there.
        stored.tags.clear();
        stored.collections.clear();
        stored.notes.clear();
        stored.annotations.clear();
    }
    reference.doc_id.clone_from(&stored.doc_id);
    let (own, other) = (reference.stage(), stored.stage());
    reference.join(own, stored, other);
    reference
}
