//! The files of an import: opened here, and handed to a reader piece by piece, which says what they hold.

use super::messages::{Ask, Batch, Failure, Given, Said, arrived};
use super::part::{Contents, Part};
use super::records::{Holding, Record};
use super::spool::{Slice, Spool};
use super::{Format, Rejected, zotero};
use crate::{CorpusError, Result};
use lyra_bibliography::Parts;
use lyra_worker::{Talk, Talks, WorkerError};
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
/// Archives within archives, at most.
const MOST_NESTED: usize = 4;
/// Files and members that one reader reads before another one goes on.
const PER_READER: usize = 1_000;

/// A file, or a member of an archive.
pub(super) struct Source {
    /// The file as it was named; a member's name stands behind its archive's.
    pub(super) path: PathBuf,
    file: PathBuf,
    part: Part,
    /// Where its bytes are, if it was unpacked or copied.
    held: Option<Slice>,
    /// It was named itself: what is wrong with it ends the import, unless it is one paper.
    named: bool,
}

impl Source {
    /// Bytes on disk.
    pub(super) fn bytes(&self) -> u64 {
        self.part.bytes
    }

    fn slice(&self) -> Result<Slice> {
        self.held.clone().map_or_else(|| regular(&self.file), Ok)
    }

    /// Whether the import goes on without it when it cannot be read.
    fn is_passed_over(&self) -> bool {
        self.part.format.is_paper() || !self.named
    }
}

/// What an import has to read.
#[derive(Default)]
pub(super) struct Found {
    pub(super) sources: Vec<Source>,
    /// Files of folders that hold nothing to import, with the reason.
    pub(super) rejected: Vec<Rejected>,
}

/// A file, or content of one, that may hold something to import.
struct Candidate {
    path: PathBuf,
    file: PathBuf,
    held: Option<Slice>,
    named: bool,
    /// In how many archives it is.
    depth: usize,
}

/// Opens all files, those in folders, and the members of archives, also of archives in archives. From folders and
/// archives, it takes the files whose format is detected by content or name, in order of name; of a folder, the others
/// are rejected one by one, and so are members that cannot be read. A file that is named itself is always taken. When
/// `cancel` is canceled, it returns what was found until then.
pub(super) async fn open(
    paths: &[PathBuf],
    format: Option<Format>,
    readers: &Arc<Talks>,
    cancel: &CancellationToken,
) -> Result<Found> {
    let mut reading = Reading { readers: readers.clone(), talk: None, cancel: cancel.clone() };
    let (mut found, mut spool) = (Found::default(), Spool::default());
    for path in paths {
        let before = found.sources.len();
        let database = zotero::database_in(path);
        let folder = path.is_dir() && database.is_none();
        let files = match database {
            Some(database) => vec![database],
            None if folder => files_of(path, 0)?,
            None => vec![path.clone()],
        };
        for (nth, file) in files.into_iter().enumerate() {
            if nth % PER_READER == 0 {
                reading.talk = None;
            }
            let candidate = Candidate { path: file.clone(), file, held: None, named: !folder, depth: 0 };
            if !reading.open(candidate, format, &mut found, &mut spool).await? {
                return Ok(found);
            }
        }
        if found.sources.len() == before {
            let formats = Format::all().map(Format::name).collect::<Vec<_>>().join(", ");
            return Err(refused(
                path,
                format!("there is no file to import in it: {formats}, also in gzip, ZIP, or tar"),
            ));
        }
    }
    // References come first, so that papers find theirs.
    found.sources.sort_by_key(|source| !source.part.format.is_references());
    Ok(found)
}

/// Papers that references name and that are on this machine, beyond `found`. What is no paper is left out; what cannot
/// be read is rejected.
pub(super) async fn attached(
    found: &Found,
    readers: &Arc<Talks>,
    cancel: &CancellationToken,
) -> Result<Found> {
    let known: HashSet<PathBuf> = found.sources.iter().map(|source| same(&source.file)).collect();
    let mut files: BTreeSet<PathBuf> = BTreeSet::new();
    let mut reading = Reading { readers: readers.clone(), talk: None, cancel: cancel.clone() };
    for source in found.sources.iter().filter(|source| source.part.format.is_references()) {
        let (to, mut arriving) = mpsc::channel(1);
        let folder = source.file.parent().unwrap_or(Path::new(""));
        let base = if source.part.format == Format::Zotero { zotero::base_folder(folder) } else { None };
        let collect = async {
            while let Some(Ok(Fetched { message, .. })) = arriving.recv().await {
                let records = arrived(&message).filter_map(|record| record.ok()?.holding);
                for holding in records {
                    if let Holding::Reference { files: named, .. } = holding {
                        files.extend(named.iter().filter_map(|named| local(folder, base.as_deref(), named)));
                    }
                }
            }
        };
        let read = async {
            // The end of the sender ends the collection.
            let to = to;
            reading.read(0, source, &to).await
        };
        let (read, ()) = tokio::join!(read, collect);
        if !read? {
            return Ok(Found::default());
        }
    }
    let mut papers = Found::default();
    for (nth, file) in files.into_iter().filter(|file| !known.contains(&same(file))).enumerate() {
        if nth % PER_READER == 0 {
            reading.talk = None;
        }
        let looked = match regular(&file) {
            Ok(slice) => reading.look(&file, None, false, None, &slice).await,
            Err(error) => Err(error),
        };
        match looked {
            Ok(Some(contents)) => {
                let is_paper = |part: &Part| part.name.is_none() && part.format.is_attached();
                let source =
                    |part| Source { path: file.clone(), file: file.clone(), part, held: None, named: false };
                papers.sources.extend(contents.parts.into_iter().filter(is_paper).map(source));
            }
            Ok(None) => return Ok(Found::default()),
            Err(error) => papers.rejected.push(Rejected { file, line: 0, reason: reason(error)? }),
        }
    }
    Ok(papers)
}

/// What is wrong with one file; an error that is about something else stays one.
fn reason(error: CorpusError) -> Result<String> {
    match error {
        CorpusError::File { why, .. } => Ok(why),
        CorpusError::Io { source, .. } => Ok(source.to_string()),
        other => Err(other),
    }
}

/// The regular file that a reference names, if there is one: an absolute path, or one beside the references. Paths of
/// Zotero may be relative to the folder `base`.
fn local(folder: &Path, base: Option<&Path>, named: &str) -> Option<PathBuf> {
    let path = match named.strip_prefix("attachments:") {
        Some(named) => base?.join(named),
        None => folder.join(named.strip_prefix("file://").unwrap_or(named)),
    };
    path.is_file().then_some(path)
}

/// A path that is the same for all ways to a file.
fn same(path: &Path) -> PathBuf {
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
        if let Some(database) = zotero::database_in(&path).filter(|_| kind.is_dir()) {
            // Its files are those that its items name: the others are in its trash, or of its programs.
            files.push(database);
        } else if kind.is_dir() {
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
    /// Adds what a file and the archives in it hold to `found`; `false` when the import was cancelled.
    async fn open(
        &mut self,
        candidate: Candidate,
        format: Option<Format>,
        found: &mut Found,
        spool: &mut Spool,
    ) -> Result<bool> {
        let mut next = vec![candidate];
        while let Some(mut candidate) = next.pop() {
            let contents = match self.contents(&mut candidate, format, spool).await {
                Ok(Some(contents)) => contents,
                Ok(None) => return Ok(false),
                Err(error) if candidate.named => return Err(error),
                Err(error) => {
                    let reason = reason(error)?;
                    found.rejected.push(Rejected { file: candidate.path, line: 0, reason });
                    continue;
                }
            };
            let Candidate { path, file, held, named, depth } = candidate;
            let of = |name: Option<&str>| name.map_or_else(|| path.clone(), |name| member(&path, name));
            let Contents { parts, packed, rejected } = contents;
            if named
                && parts.is_empty()
                && packed.is_empty()
                && let Some((name, why)) = rejected.first()
            {
                return Err(refused(&of(Some(name)), why));
            }
            if parts.is_empty() && packed.is_empty() && rejected.is_empty() {
                let reason = "neither a document nor an archive of documents in a format that Lyra reads";
                found.rejected.push(Rejected { file: path, line: 0, reason: reason.to_owned() });
                continue;
            }
            let rejected = rejected.into_iter().map(|(name, reason)| Rejected {
                file: of(Some(&name)),
                line: 0,
                reason,
            });
            found.rejected.extend(rejected);
            let mut inner = Vec::new();
            for part in packed {
                let path = of(part.name.as_deref());
                let slice = if depth == MOST_NESTED {
                    Err(refused(&path, format!("more than {MOST_NESTED} archives within each other")))
                } else {
                    let outer = held.clone().map_or_else(|| regular(&file), Ok)?;
                    self.unpack(&path, &part, &outer, spool).await
                };
                match slice {
                    Ok(Some(slice)) => {
                        let (file, held) = (file.clone(), Some(slice));
                        let named = named && part.name.is_none();
                        inner.push(Candidate { path, file, held, named, depth: depth + 1 });
                    }
                    Ok(None) => return Ok(false),
                    Err(error) if named && part.name.is_none() => return Err(error),
                    Err(error) => {
                        found.rejected.push(Rejected { file: path, line: 0, reason: reason(error)? });
                    }
                }
            }
            next.extend(inner.into_iter().rev());
            found.sources.extend(parts.into_iter().map(|part| Source {
                path: of(part.name.as_deref()),
                file: file.clone(),
                named: named && part.name.is_none(),
                part,
                held: held.clone(),
            }));
        }
        Ok(true)
    }

    /// What a file holds, which is copied first if it is a database that its program may be writing to; none when the
    /// import was cancelled.
    async fn contents(
        &mut self,
        candidate: &mut Candidate,
        format: Option<Format>,
        spool: &mut Spool,
    ) -> Result<Option<Contents>> {
        let mut database = None;
        let Candidate { path, file, held, named, .. } = candidate;
        if held.is_none() && (zotero::is_database(file) || format == Some(Format::Zotero)) {
            regular(file)?;
            let (copied, parts) = zotero::copy(file, spool).map_err(CorpusError::io(&*file))?;
            (*held, database) = (Some(copied), Some(parts));
        }
        let slice = held.clone().map_or_else(|| regular(file), Ok)?;
        // What was unpacked from `a.tar.gz` is named so still, and is no longer packed.
        self.look(path, format, *named, database, &slice).await
    }

    /// What a file holds; none when the import was cancelled.
    async fn look(
        &mut self,
        path: &Path,
        format: Option<Format>,
        named: bool,
        database: Option<Parts>,
        slice: &Slice,
    ) -> Result<Option<Contents>> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let ask = Ask::Look { name, bytes: slice.bytes, format, named, database }.to_bytes();
        let mut tried = false;
        loop {
            match self.say(ask.clone(), slice).await {
                Ok((Said::Contents(contents), _)) => return Ok(Some(contents)),
                Ok((said, _)) => return Err(unfit(path, said)),
                Err(Unsaid::Cancelled) => return Ok(None),
                Err(unsaid) if unsaid.may_pass() && !tried => tried = true,
                Err(unsaid) => return Err(failed(path, unsaid, 0)),
            }
        }
    }

    /// Unpacks a part of a file; none when the import was cancelled.
    async fn unpack(
        &mut self,
        path: &Path,
        part: &Part,
        slice: &Slice,
        spool: &mut Spool,
    ) -> Result<Option<Slice>> {
        let mark = spool.mark();
        let mut message = Ask::Unpack { part: part.clone(), bytes: slice.bytes }.to_bytes();
        let unpacked = loop {
            match self.say(message, slice).await {
                Ok((Said::Piece, answer)) => {
                    let piece = Said::content(&answer);
                    if piece.is_empty() {
                        break Ok(spool.since(mark));
                    }
                    if let Err(error) = spool.add(piece) {
                        break Err(CorpusError::io(path)(error));
                    }
                    if let Err(failure) = spool.check(mark, part.bytes) {
                        break Err(unfit(path, Said::Failed(failure)));
                    }
                    // Go on.
                    message = Vec::new();
                }
                Ok((said, _)) => break Err(unfit(path, said)),
                Err(Unsaid::Cancelled) => break Ok(None),
                Err(unsaid) => break Err(failed(path, unsaid, 0)),
            }
        };
        if unpacked.is_err() {
            // A reader that is in the middle of an archive is of no use for anything else.
            self.talk = None;
            spool.cut(mark);
        }
        unpacked
    }

    /// Passes on all records of a source; whether it was read to its end. A reader that ends in the middle is replaced
    /// by one that goes on where it was; what ends that one too is not tried again.
    async fn read(&mut self, nth: u32, source: &Source, to: &mpsc::Sender<Result<Fetched>>) -> Result<bool> {
        let file = match source.slice() {
            Ok(file) => file,
            // It is gone since it was found.
            Err(error) if !source.named => {
                let why = reason(error)?;
                return Ok(pass_over(nth, source, 0, why, to).await);
            }
            Err(error) => return Err(error),
        };
        let bytes = file.bytes;
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
                Ok((Said::Failed(Failure { why, .. }), _)) if source.is_passed_over() => {
                    return Ok(pass_over(nth, source, line, why, to).await);
                }
                Ok((said, _)) => return Err(unfit(&source.path, said)),
                Err(Unsaid::Cancelled) => return Ok(false),
                Err(unsaid) if unsaid.may_pass() && !tried => {
                    tried = true;
                    message = Ask::Read { part: source.part.clone(), bytes, skip }.to_bytes();
                }
                Err(unsaid) if source.is_passed_over() => {
                    let why = reason(failed(&source.path, unsaid, line))?;
                    return Ok(pass_over(nth, source, line, why, to).await);
                }
                Err(unsaid) => return Err(failed(&source.path, unsaid, line)),
            }
        }
    }

    /// Says something to the reader and hands it what it wants of the file, until it says something else.
    async fn say(&mut self, mut message: Vec<u8>, file: &Slice) -> Result<(Said, Vec<u8>), Unsaid> {
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
                        let piece = tokio::task::spawn_blocking(move || file.hand(from, bytes)).await;
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

/// Rejects a file from a line on, so that it costs no other; whether the receiver is there.
async fn pass_over(
    nth: u32,
    source: &Source,
    line: u64,
    why: String,
    to: &mpsc::Sender<Result<Fetched>>,
) -> bool {
    let mut batch = Batch::default();
    batch.push(Record::new(line, Err(why)));
    let message = batch.take(source.part.bytes, true);
    let given = Given { count: 1, bytes_read: source.part.bytes, ended: true, ..Given::default() };
    to.send(Ok(Fetched { nth, given, message })).await.is_ok()
}

/// Opens a file other than a pipe or device, in its current length.
fn regular(path: &Path) -> Result<Slice> {
    let about = std::fs::metadata(path).map_err(CorpusError::io(path))?;
    if !about.is_file() {
        return Err(refused(
            path,
            "this is a pipe or a device; Lyra imports regular files: write its content to one first",
        ));
    }
    let file = File::open(path).map_err(CorpusError::io(path))?;
    Ok(Slice::whole(file, about.len()))
}

/// An error of a file from what its reader said in place of an answer.
fn unfit(path: &Path, said: Said) -> CorpusError {
    let Said::Failed(Failure { why, refused: no_import }) = said else {
        return CorpusError::io(path)(std::io::Error::other("its reader answers another question"));
    };
    let path = path.to_owned();
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
