//! The files of an import: opened here, and handed to a reader piece by piece, which says what they hold.

use super::messages::{Ask, Batch, Failure, Given, Said, arrived};
use super::part::Part;
use super::records::{Holding, Record};
use super::{Format, ImportOptions, Rejected};
use crate::corpora::blocking;
use crate::ledger::{Entry, Kind, Ledger, State};
use crate::{CorpusError, Result};
use lyra_worker::{Talk, Talks, WorkerError, hand};
use std::collections::{BTreeSet, HashSet};
use std::fs::File;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Folders within folders, at most.
const MOST_DEEP: usize = 16;
/// How long a reader may take from what it is told to what it says, which is a record or a piece of the file.
const STEP: Duration = Duration::from_mins(1);
/// Files and members that one reader reads before another one goes on.
const PER_READER: usize = 1_000;

/// A file, or a member of an archive.
pub(super) struct Source {
    /// The file as it was named; a member's name stands behind its archive's.
    pub(super) path: PathBuf,
    /// Its file among those that are read.
    pub(super) disk: usize,
    file: PathBuf,
    part: Part,
}

impl Source {
    /// Bytes on disk.
    pub(super) fn bytes(&self) -> u64 {
        self.part.bytes
    }

    /// Whether it is one paper.
    pub(super) fn is_paper(&self) -> bool {
        self.part.format.is_paper()
    }
}

/// What an import has to read.
#[derive(Default)]
pub(super) struct Found {
    pub(super) sources: Vec<Source>,
    /// The files of the sources, and those that hold nothing to import.
    pub(super) files: Vec<Entry>,
    /// Files that are as they were when an earlier import read them.
    pub(super) kept: Vec<Entry>,
    /// Files of folders that hold nothing to import, with the reason.
    pub(super) rejected: Vec<Rejected>,
}

/// A file that may be read.
struct Candidate {
    /// Place of the path that it was found by.
    root: usize,
    file: PathBuf,
    /// The same for all ways to the file.
    same: PathBuf,
    state: std::io::Result<State>,
    /// What is known of it, if that still is so.
    known: Option<Entry>,
}

impl Candidate {
    fn of(root: usize, file: PathBuf, format: Option<Format>, ledger: &Ledger) -> Self {
        let (same, state) = (same(&file), State::of(&file));
        let known = ledger.get(&same).cloned().filter(|known| {
            let format = format.map(Format::name);
            state.as_ref().is_ok_and(|state| known.is_current(*state, format))
        });
        Self { root, file, same, state, known }
    }
}

/// Opens all files, those in folders, the members of archives, and papers that references name. From folders and
/// archives, it takes the files whose format is detected by content or name, in order of name; of a folder, the others
/// are rejected one by one. A file that is named itself is always taken. Files that are as the ledger says are kept
/// and not opened, but for references when there are papers that they may describe. When `cancel` is canceled, it
/// returns what was found until then.
pub(super) async fn open(
    paths: &[PathBuf],
    options: &ImportOptions,
    ledger: &Arc<Ledger>,
    readers: &Arc<Talks>,
    cancel: &CancellationToken,
) -> Result<Found> {
    let candidates = {
        let (paths, options, ledger) = (paths.to_vec(), options.clone(), ledger.clone());
        blocking(move || candidates(&paths, &options, &ledger)).await?
    };
    let mut reading = Reading { readers: readers.clone(), talk: None, cancel: cancel.clone() };
    let mut found = Found::default();
    let mut looked = HashSet::new();
    let mut fruitful: HashSet<usize> = HashSet::new();
    for (nth, candidate) in candidates.into_iter().enumerate() {
        let Candidate { root, file, same, state, known } = candidate;
        if !looked.insert(same.clone()) {
            fruitful.insert(root);
            continue;
        }
        if let Some(known) = known {
            if known.kind == Kind::Nothing {
                found.rejected.extend(rejected(&known));
            } else {
                fruitful.insert(root);
            }
            found.kept.push(known);
            continue;
        }
        if nth % PER_READER == 0 {
            reading.talk = None;
        }
        let folder = paths.get(root).is_some_and(|path| path.is_dir());
        let parts = match reading.look(&file, options.format, !folder).await {
            Ok(Some(parts)) => parts,
            Ok(None) => return Ok(found),
            Err(error) if !folder => return Err(error),
            Err(CorpusError::File { why, .. }) => {
                found.nothing(file, same, &state, options.format, why);
                continue;
            }
            // It may be readable later.
            Err(CorpusError::Io { source, .. }) => {
                found.rejected.push(Rejected { file, line: 0, reason: source.to_string() });
                continue;
            }
            Err(other) => return Err(other),
        };
        if parts.is_empty() {
            let reason = "neither a document nor an archive of documents in a format that Lyra reads";
            found.nothing(file, same, &state, options.format, reason.to_owned());
            continue;
        }
        fruitful.insert(root);
        found.take(&file, same, state, options.format, parts);
    }
    for (root, path) in paths.iter().enumerate() {
        if !fruitful.contains(&root) && !options.except.iter().any(|file| file.starts_with(same(path))) {
            let formats = Format::all().map(Format::name).collect::<Vec<_>>().join(", ");
            return Err(refused(
                path,
                format!("there is no file to import in it: {formats}, also in gzip or ZIP"),
            ));
        }
    }
    if !reading.attached(&mut found, options, ledger).await?
        || !reading.described(&mut found, options).await?
    {
        return Ok(found);
    }
    // References come first, so that papers find theirs.
    found.sources.sort_by_key(|source| !source.part.format.is_references());
    Ok(found)
}

/// The files below these paths, with what is known of them.
fn candidates(paths: &[PathBuf], options: &ImportOptions, ledger: &Ledger) -> Result<Vec<Candidate>> {
    let mut candidates = Vec::new();
    for (root, path) in paths.iter().enumerate() {
        let files = if path.is_dir() { files_of(path, 0)? } else { vec![path.clone()] };
        let all = files.into_iter().map(|file| Candidate::of(root, file, options.format, ledger));
        candidates.extend(all.filter(|candidate| !options.except.contains(&candidate.same)));
    }
    Ok(candidates)
}

/// Files that an import would look at.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Survey {
    /// Files that are new or changed.
    pub changed: Vec<Stamp>,
    /// Absolute paths of files that are no longer there, and that no import has noticed to be gone.
    pub gone: Vec<PathBuf>,
}

/// A file as the disk shows it: as long as it is written, this changes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Stamp {
    /// Absolute path.
    pub file: PathBuf,
    /// Bytes.
    pub bytes: u64,
    /// Nanoseconds since 1970 of its last change, 0 when that is unknown.
    pub modified: i64,
}

/// What an import of these paths would look at.
pub(crate) fn survey(paths: &[PathBuf], options: &ImportOptions, ledger: &Ledger) -> Result<Survey> {
    let mut changed = Vec::new();
    for Candidate { same, state, known, .. } in candidates(paths, options, ledger)? {
        // What cannot be read at all is reported by the import.
        let state = state.unwrap_or_default();
        if known.is_none() {
            changed.push(Stamp { file: same, bytes: state.bytes, modified: state.exact });
        }
    }
    let roots: Vec<PathBuf> = paths.iter().map(|path| same(path)).collect();
    let below = |entry: &&Entry| roots.iter().any(|root| entry.path.starts_with(root));
    let lost = ledger.entries().filter(below).filter(|entry| !entry.gone && !entry.path.exists());
    Ok(Survey { changed, gone: lost.map(|entry| entry.path.clone()).collect() })
}

/// What of a file that is not read again was not imported.
pub(super) fn rejected(known: &Entry) -> impl Iterator<Item = Rejected> + '_ {
    let of = |(line, reason): &(u64, String)| Rejected {
        file: known.path.clone(),
        line: *line,
        reason: reason.clone(),
    };
    known.rejected.iter().map(of)
}

impl Found {
    /// Takes the parts of a file.
    fn take(
        &mut self,
        file: &Path,
        same: PathBuf,
        state: std::io::Result<State>,
        format: Option<Format>,
        parts: Vec<Part>,
    ) {
        let references = parts.iter().any(|part| part.format.is_references());
        let kind = if references { Kind::References } else { Kind::Documents };
        let disk = self.files.len();
        // A file whose state is not known is read again by the next import.
        let state = state.unwrap_or_default();
        self.files.push(Entry::new(same, state, format.map(Format::name), kind));
        self.sources.extend(parts.into_iter().map(|part| {
            let path = part.name.as_deref().map_or_else(|| file.to_owned(), |name| member(file, name));
            Source { path, disk, file: file.to_owned(), part }
        }));
    }

    /// Rejects a file.
    fn nothing(
        &mut self,
        file: PathBuf,
        same: PathBuf,
        state: &std::io::Result<State>,
        format: Option<Format>,
        reason: String,
    ) {
        if let Ok(state) = state {
            let rejected = vec![(0, reason.clone())];
            let entry = Entry::new(same, *state, format.map(Format::name), Kind::Nothing);
            self.files.push(Entry { rejected, rejected_count: 1, ..entry });
        }
        self.rejected.push(Rejected { file, line: 0, reason });
    }
}

/// The file that a reference names: an absolute path, or one beside the references.
fn local(folder: &Path, named: &str) -> PathBuf {
    folder.join(named.strip_prefix("file://").unwrap_or(named))
}

/// A path that is the same for all ways to a file.
pub(crate) fn same(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

fn refused(path: &Path, why: impl Into<String>) -> CorpusError {
    CorpusError::File { path: path.to_owned(), why: why.into() }
}

/// A member behind its archive, without roots and ways up: the path is only shown, and shows where the member is.
fn member(archive: &Path, name: &str) -> PathBuf {
    let names = Path::new(name).components().filter(|part| matches!(part, Component::Normal(_)));
    archive.join(names.collect::<PathBuf>())
}

/// The files of a folder and of those in it, by name; links to folders are not followed, hidden files left out.
fn files_of(folder: &Path, depth: usize) -> Result<Vec<PathBuf>> {
    let mut entries: Vec<_> = std::fs::read_dir(folder)
        .and_then(Iterator::collect::<std::io::Result<_>>)
        .map_err(CorpusError::io(folder))?;
    entries.retain(|entry| !entry.file_name().as_encoded_bytes().starts_with(b"."));
    entries.sort_by_key(std::fs::DirEntry::file_name);
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.path();
        let kind = entry.file_type().map_err(CorpusError::io(&path))?;
        if kind.is_dir() {
            if depth == MOST_DEEP {
                return Err(refused(&path, format!("more than {MOST_DEEP} folders within each other")));
            }
            files.extend(files_of(&path, depth + 1)?);
        } else if path.is_file() {
            files.push(path);
        }
    }
    Ok(files)
}

/// Records of one source, as they arrived.
pub(super) struct Fetched {
    /// Which source.
    pub(super) nth: u32,
    pub(super) given: Given,
    pub(super) message: Vec<u8>,
}

/// Has all sources read and sends their documents, until the sources end, `cancel` is canceled, or the receiver is
/// dropped. An error is the last message.
pub(super) async fn fetch(
    sources: Arc<Vec<Source>>,
    readers: Arc<Talks>,
    to: mpsc::Sender<Result<Fetched>>,
    cancel: CancellationToken,
) {
    let mut reading = Reading { readers, talk: None, cancel };
    for (nth, source) in (0_u32..).zip(&*sources) {
        if (nth as usize).is_multiple_of(PER_READER) {
            reading.talk = None;
        }
        let ended = tokio::select! {
            () = to.closed() => return,
            ended = reading.read(nth, source, &to) => ended,
        };
        match ended {
            Ok(true) => {}
            Ok(false) => return,
            Err(error) => {
                // If the receiver is gone, something else failed first.
                let _ = to.send(Err(error)).await;
                return;
            }
        }
    }
}

/// The conversation with a reader.
struct Reading {
    readers: Arc<Talks>,
    /// The one that is there.
    talk: Option<Talk>,
    cancel: CancellationToken,
}

/// Why there is no answer.
enum Unsaid {
    Cancelled,
    Worker(WorkerError),
    File(std::io::Error),
}

impl Unsaid {
    /// Whether something else than the file may be the cause.
    fn may_pass(&self) -> bool {
        matches!(self, Self::Worker(WorkerError::Died { .. }))
    }
}

impl Reading {
    /// Takes the papers that references name and that are on this machine. What is no paper is left out. `false` when
    /// the import was cancelled.
    async fn attached(
        &mut self,
        found: &mut Found,
        options: &ImportOptions,
        ledger: &Arc<Ledger>,
    ) -> Result<bool> {
        let mut named: BTreeSet<PathBuf> =
            found.kept.iter().flat_map(|known| known.named.iter().cloned()).collect();
        for source in found.sources.iter().filter(|source| source.part.format.is_references()) {
            let Some(files) = self.named(source).await? else { return Ok(false) };
            found.files[source.disk].named.extend(files.iter().cloned());
            named.extend(files);
        }
        let known: HashSet<PathBuf> =
            found.files.iter().chain(&found.kept).map(|entry| entry.path.clone()).collect();
        let candidates = {
            let (ledger, except) = (ledger.clone(), options.except.clone());
            blocking(move || {
                let there = named.into_iter().filter(|file| file.is_file());
                let all = there.map(|file| Candidate::of(0, file, None, &ledger));
                let new = all.filter(|file| !known.contains(&file.same) && !except.contains(&file.same));
                Ok(new.collect::<Vec<_>>())
            })
            .await?
        };
        let mut taken = HashSet::new();
        for Candidate { file, same, state, known, .. } in candidates {
            if !taken.insert(same.clone()) {
                continue;
            }
            if let Some(known) = known {
                found.kept.push(known);
                continue;
            }
            match self.look(&file, None, false).await {
                Ok(Some(parts)) => {
                    let is_paper = |part: &Part| part.name.is_none() && part.format.is_attached();
                    let parts: Vec<Part> = parts.into_iter().filter(is_paper).collect();
                    if !parts.is_empty() {
                        found.take(&file, same, state, None, parts);
                    }
                }
                Ok(None) => return Ok(false),
                // It is reported when it is imported as a file of its own.
                Err(error) => tracing::warn!(file = %file.display(), %error, "attached file left out"),
            }
        }
        Ok(true)
    }

    /// The files that references name; `None` when the import was cancelled.
    async fn named(&mut self, source: &Source) -> Result<Option<BTreeSet<PathBuf>>> {
        let mut files = BTreeSet::new();
        let (to, mut arriving) = mpsc::channel(1);
        let folder = source.file.parent().unwrap_or(Path::new(""));
        let collect = async {
            while let Some(Ok(Fetched { message, .. })) = arriving.recv().await {
                let records = arrived(&message).filter_map(|record| record.ok()?.holding);
                for holding in records {
                    if let Holding::Reference { files: named } = holding {
                        files.extend(named.iter().map(|named| local(folder, named)));
                    }
                }
            }
        };
        let read = async {
            // The end of the sender ends the collection.
            let to = to;
            self.read(0, source, &to).await
        };
        let (read, ()) = tokio::join!(read, collect);
        Ok(read?.then_some(files))
    }

    /// Reads references again that are as they were, when a paper is new: they may describe it. `false` when the import
    /// was cancelled.
    async fn described(&mut self, found: &mut Found, options: &ImportOptions) -> Result<bool> {
        if !found.sources.iter().any(Source::is_paper) {
            return Ok(true);
        }
        let (again, kept) = std::mem::take(&mut found.kept)
            .into_iter()
            .partition::<Vec<_>, _>(|known| known.kind == Kind::References);
        found.kept = kept;
        for known in again {
            let Some(parts) = self.look(&known.path, options.format, true).await? else { return Ok(false) };
            let file = known.path.clone();
            found.take(&file, known.path, Ok(State::of(&file).unwrap_or_default()), options.format, parts);
            if let Some(entry) = found.files.last_mut() {
                entry.named = known.named;
            }
        }
        Ok(true)
    }

    /// What a file holds; none when the import was cancelled.
    async fn look(&mut self, path: &Path, format: Option<Format>, named: bool) -> Result<Option<Vec<Part>>> {
        let (file, bytes) = regular(path)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let ask = Ask::Look { name, bytes, format, named }.to_bytes();
        let mut tried = false;
        loop {
            match self.say(ask.clone(), &file).await {
                Ok((Said::Parts(parts), _)) => return Ok(Some(parts)),
                Ok((said, _)) => return Err(unfit(path, said)),
                Err(Unsaid::Cancelled) => return Ok(None),
                Err(unsaid) if unsaid.may_pass() && !tried => tried = true,
                Err(unsaid) => return Err(failed(path, unsaid, 0)),
            }
        }
    }

    /// Passes on all records of a source; whether it was read to its end. A reader that ends in the middle is replaced
    /// by one that goes on where it was; what ends that one too is not tried again.
    async fn read(&mut self, nth: u32, source: &Source, to: &mpsc::Sender<Result<Fetched>>) -> Result<bool> {
        let (file, bytes) = regular(&source.file)?;
        let (mut skip, mut line, mut tried) = (0, 0, false);
        let mut message = Ask::Read { part: source.part.clone(), bytes, skip }.to_bytes();
        loop {
            match self.say(message, &file).await {
                Ok((Said::Records(given), records)) => {
                    if given.count > 0 {
                        (skip, line, tried) = (skip + given.count, given.line, false);
                    }
                    if to.send(Ok(Fetched { nth, given, message: records })).await.is_err() {
                        return Ok(false);
                    }
                    if given.ended {
                        return Ok(true);
                    }
                    // Go on.
                    message = Vec::new();
                }
                Ok((Said::Failed(Failure { why, .. }), _)) if source.part.format.is_paper() => {
                    return Ok(pass_over(nth, source, why, to).await);
                }
                Ok((said, _)) => return Err(unfit(&source.path, said)),
                Err(Unsaid::Cancelled) => return Ok(false),
                Err(unsaid) if unsaid.may_pass() && !tried => {
                    tried = true;
                    message = Ask::Read { part: source.part.clone(), bytes, skip }.to_bytes();
                }
                Err(unsaid) if source.part.format.is_paper() && !matches!(unsaid, Unsaid::File(_)) => {
                    let CorpusError::File { why, .. } = failed(&source.path, unsaid, line) else {
                        return Ok(false);
                    };
                    return Ok(pass_over(nth, source, why, to).await);
                }
                Err(unsaid) => return Err(failed(&source.path, unsaid, line)),
            }
        }
    }

    /// Says something to the reader and hands it what it wants of the file, until it says something else.
    async fn say(&mut self, mut message: Vec<u8>, file: &Arc<File>) -> Result<(Said, Vec<u8>), Unsaid> {
        let cancel = self.cancel.clone();
        let answered = cancel.run_until_cancelled(async {
            let mut talk = match self.talk.take() {
                Some(talk) => talk,
                None => self.readers.begin().await.map_err(Unsaid::Worker)?,
            };
            loop {
                let answer = talk.say(message, STEP).await.map_err(Unsaid::Worker)?;
                match Said::read(&answer).map_err(Unsaid::File)? {
                    Said::Want { from, bytes } => {
                        let file = file.clone();
                        let piece = tokio::task::spawn_blocking(move || hand(&file, from, bytes)).await;
                        message = piece.map_err(std::io::Error::other).flatten().map_err(Unsaid::File)?;
                    }
                    said => {
                        // Only now is it known that it is fit for more.
                        self.talk = Some(talk);
                        return Ok((said, answer));
                    }
                }
            }
        });
        answered.await.unwrap_or(Err(Unsaid::Cancelled))
    }
}

/// Rejects a file that is one document, so that it costs no other; whether the receiver is there.
async fn pass_over(nth: u32, source: &Source, why: String, to: &mpsc::Sender<Result<Fetched>>) -> bool {
    let mut batch = Batch::default();
    batch.push(Record::new(0, Err(why)));
    let message = batch.take(source.part.bytes, true);
    let given = Given { count: 1, bytes_read: source.part.bytes, ended: true, ..Given::default() };
    to.send(Ok(Fetched { nth, given, message })).await.is_ok()
}

/// Opens a file other than a pipe or device; also returns its current length.
fn regular(path: &Path) -> Result<(Arc<File>, u64)> {
    let about = std::fs::metadata(path).map_err(CorpusError::io(path))?;
    if !about.is_file() {
        return Err(refused(
            path,
            "this is a pipe or a device; Lyra imports regular files: write its content to one first",
        ));
    }
    let file = File::open(path).map_err(CorpusError::io(path))?;
    Ok((Arc::new(file), about.len()))
}

/// An error of a file from what its reader said in place of an answer.
fn unfit(path: &Path, said: Said) -> CorpusError {
    let Said::Failed(Failure { member: of, why, refused: no_import }) = said else {
        return CorpusError::io(path)(std::io::Error::other("its reader answers another question"));
    };
    let path = of.map_or_else(|| path.to_owned(), |name| member(path, &name));
    if no_import {
        CorpusError::File { path, why }
    } else {
        let source = std::io::Error::new(std::io::ErrorKind::InvalidData, why);
        CorpusError::Io { path, source }
    }
}

/// An error of a file whose reader ended. `line` is where the last record begins that it has read.
fn failed(path: &Path, unsaid: Unsaid, line: u64) -> CorpusError {
    let why = match unsaid {
        Unsaid::Cancelled => "the import was cancelled".to_owned(),
        Unsaid::File(error) => return CorpusError::io(path)(error),
        Unsaid::Worker(WorkerError::Memory { bytes }) => {
            format!("reading it takes more than {} MB of memory", bytes >> 20)
        }
        Unsaid::Worker(WorkerError::Deadline { .. } | WorkerError::Cpu { .. }) => {
            format!("reading one record of it takes more than {} s", STEP.as_secs())
        }
        Unsaid::Worker(WorkerError::Died { how }) => {
            format!("reading it failed inside a parser, twice ({how})")
        }
        Unsaid::Worker(other) => other.to_string(),
    };
    let after = match line {
        0 => String::new(),
        line => format!("; what did it comes after the record on line {line}"),
    };
    refused(path, format!("{why}{after}. Leave that out and repeat the import"))
}
