//! The files of an import: opened here, and handed to a reader piece by piece, which says what they hold.

use super::messages::{Ask, Batch, Failure, Given, Said, arrived};
use super::part::{Contents, Part};
use super::records::{Holding, Record};
use super::spool::{Slice, Spool};
use super::{Format, ImportOptions, Rejected, zotero};
use crate::corpora::blocking;
use crate::ledger::{Entry, Kind, Ledger, Refused, State};
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
    /// Its file among those that are read.
    pub(super) disk: usize,
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

    /// Whether it is one paper.
    pub(super) fn is_paper(&self) -> bool {
        self.part.format.is_paper()
    }

    /// Whether it is Zotero's database.
    pub(super) fn is_zotero(&self) -> bool {
        self.part.format == Format::Zotero
    }

    /// Where it is in the archive that its file is; empty for the file itself.
    pub(super) fn member(&self) -> PathBuf {
        self.path.strip_prefix(&self.file).unwrap_or(Path::new("")).to_owned()
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
    /// The files of the sources, and those that hold nothing to import.
    pub(super) files: Vec<Entry>,
    /// Files that are as they were when an earlier import read them.
    pub(super) kept: Vec<Entry>,
    /// Files of folders and members of archives that hold nothing to import, with the reason.
    pub(super) rejected: Vec<Rejected>,
}

/// A file that may be read.
struct Candidate {
    /// Place of the path that it was found by.
    root: usize,
    file: PathBuf,
    /// It was named itself, or is the database of the folder that was named.
    named: bool,
    /// The same for all ways to the file.
    same: PathBuf,
    state: std::io::Result<State>,
    /// Its entry in the ledger, if that is still true.
    known: Option<Entry>,
}

impl Candidate {
    fn of(root: usize, file: PathBuf, named: bool, format: Option<Format>, ledger: &Ledger) -> Self {
        let format = format.map(Format::name);
        let (same, state) = (same(&file), State::of(&file, format));
        let known = ledger
            .get(&same)
            .cloned()
            .filter(|known| state.as_ref().is_ok_and(|state| known.is_current(*state, format)));
        Self { root, file, named, same, state, known }
    }
}

/// A file, or content of one, that may hold something to import.
struct Packed {
    path: PathBuf,
    held: Option<Slice>,
    named: bool,
    /// In how many archives it is.
    depth: usize,
}

/// What a file holds.
#[derive(Default)]
struct Opened {
    sources: Vec<Source>,
    /// What is in it and cannot be read.
    rejected: Vec<Rejected>,
}

/// Opens all files, those in folders, the members of archives, also of archives in archives, and papers that references
/// name. From folders and archives, it takes the files whose format is detected by content or name, in order of name; of
/// a folder, the others are rejected one by one, and so are members that cannot be read. A file that is named itself is
/// always taken; of Zotero's data folder, it is the database. Files that are as the ledger says are kept and not opened,
/// but for references when there are papers that they may describe. When `cancel` is canceled, it returns what was found
/// until then.
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
    let spool = Spool::default();
    let mut reading = Reading { readers: readers.clone(), talk: None, spool, cancel: cancel.clone() };
    let mut found = Found::default();
    let mut looked = HashSet::new();
    let mut fruitful: HashSet<usize> = HashSet::new();
    for (nth, candidate) in candidates.into_iter().enumerate() {
        let Candidate { root, file, named, same, state, known } = candidate;
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
        let opened = match reading.open(&file, named, options.format).await {
            Ok(Some(opened)) => opened,
            Ok(None) => return Ok(found),
            Err(error) if named => return Err(error),
            Err(error) if is_about_content(&error) => {
                let odd = vec![Rejected { file: file.clone(), line: 0, reason: reason(error)? }];
                found.nothing(&file, same, &state, options.format, odd);
                continue;
            }
            // It may be readable later.
            Err(error) => {
                found.rejected.push(Rejected { file, line: 0, reason: reason(error)? });
                continue;
            }
        };
        if opened.sources.is_empty() {
            let mut odd = opened.rejected;
            if odd.is_empty() {
                let reason = "neither a document nor an archive of documents in a format that Lyra reads";
                odd.push(Rejected { file: file.clone(), line: 0, reason: reason.to_owned() });
            }
            found.nothing(&file, same, &state, options.format, odd);
            continue;
        }
        fruitful.insert(root);
        found.take(&file, same, state, options.format, opened);
    }
    for (root, path) in paths.iter().enumerate() {
        if !fruitful.contains(&root) && !options.except.iter().any(|file| file.starts_with(same(path))) {
            let formats = Format::all().map(Format::name).collect::<Vec<_>>().join(", ");
            return Err(refused(
                path,
                format!("there is no file to import in it: {formats}, also in gzip, ZIP, or tar"),
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

/// The files below these paths, with their entries in the ledger.
fn candidates(paths: &[PathBuf], options: &ImportOptions, ledger: &Ledger) -> Result<Vec<Candidate>> {
    let mut candidates = Vec::new();
    for (root, path) in paths.iter().enumerate() {
        let database = zotero::database_in(path);
        let named = database.is_some() || !path.is_dir();
        let files = match database {
            Some(database) => vec![database],
            None if named => vec![path.clone()],
            None => files_of(path, 0)?,
        };
        let all = files.into_iter().map(|file| Candidate::of(root, file, named, options.format, ledger));
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
    let of = |Refused { member, line, reason }: &Refused| Rejected {
        file: if member.as_os_str().is_empty() { known.path.clone() } else { known.path.join(member) },
        line: *line,
        reason: reason.clone(),
    };
    known.rejected.iter().map(of)
}

impl Found {
    /// Takes what a file holds.
    fn take(
        &mut self,
        file: &Path,
        same: PathBuf,
        state: std::io::Result<State>,
        format: Option<Format>,
        opened: Opened,
    ) {
        let Opened { sources, rejected } = opened;
        let references = sources.iter().any(|source| source.part.format.is_references());
        let kind = if references { Kind::References } else { Kind::Documents };
        let disk = self.files.len();
        // A file whose state is not known is read again by the next import.
        self.enter(file, same, state.unwrap_or_default(), format, kind, rejected);
        self.sources.extend(sources.into_iter().map(|source| Source { disk, ..source }));
    }

    /// Rejects a file as a whole.
    fn nothing(
        &mut self,
        file: &Path,
        same: PathBuf,
        state: &std::io::Result<State>,
        format: Option<Format>,
        rejected: Vec<Rejected>,
    ) {
        match state {
            Ok(state) => self.enter(file, same, *state, format, Kind::Nothing, rejected),
            Err(_) => self.rejected.extend(rejected),
        }
    }

    /// Notes a file with what of it is rejected.
    fn enter(
        &mut self,
        file: &Path,
        same: PathBuf,
        state: State,
        format: Option<Format>,
        kind: Kind,
        rejected: Vec<Rejected>,
    ) {
        let mut entry = Entry::new(same, state, format.map(Format::name), kind);
        for odd in rejected {
            let member = odd.file.strip_prefix(file).unwrap_or(Path::new("")).to_owned();
            entry.refuse(member, odd.line, &odd.reason);
            self.rejected.push(odd);
        }
        self.files.push(entry);
    }
}

/// What is wrong with one file; an error that is about something else stays one.
fn reason(error: CorpusError) -> Result<String> {
    match error {
        CorpusError::File { why, .. } => Ok(why),
        CorpusError::Io { source, .. } => Ok(source.to_string()),
        other => Err(other),
    }
}

/// Whether a file cannot be read because of what is in it, rather than because the disk fails just now.
fn is_about_content(error: &CorpusError) -> bool {
    match error {
        CorpusError::File { .. } => true,
        CorpusError::Io { source, .. } => source.kind() == std::io::ErrorKind::InvalidData,
        _ => false,
    }
}

/// The file that a reference names, which need not be there: an absolute path, or one beside the references. Paths of
/// Zotero may be relative to the folder `base`.
fn local(folder: &Path, base: Option<&Path>, named: &str) -> Option<PathBuf> {
    match named.strip_prefix("attachments:") {
        Some(named) => Some(base?.join(named)),
        None => Some(folder.join(named.strip_prefix("file://").unwrap_or(named))),
    }
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
        } else if path.is_file() && !zotero::is_journal(&path) {
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
    let mut reading = Reading { readers, talk: None, spool: Spool::default(), cancel };
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
    /// What it unpacks.
    spool: Spool,
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
    /// What a file and the archives in it hold; `None` when the import was cancelled. What is wrong with the file is an
    /// error, what is wrong with a member only when the file was `named` and has no other content.
    async fn open(&mut self, file: &Path, named: bool, format: Option<Format>) -> Result<Option<Opened>> {
        let mut opened = Opened::default();
        let mut next = vec![Packed { path: file.to_owned(), held: None, named, depth: 0 }];
        while let Some(mut packed) = next.pop() {
            let contents = match self.contents(file, &mut packed, format).await {
                Ok(Some(contents)) => contents,
                Ok(None) => return Ok(None),
                Err(error) if packed.named || packed.depth == 0 => return Err(error),
                Err(error) => {
                    opened.rejected.push(Rejected { file: packed.path, line: 0, reason: reason(error)? });
                    continue;
                }
            };
            let Packed { path, held, named, depth } = packed;
            let of = |name: Option<&str>| name.map_or_else(|| path.clone(), |name| member(&path, name));
            let Contents { parts, packed, rejected } = contents;
            if named
                && parts.is_empty()
                && packed.is_empty()
                && let Some((name, why)) = rejected.first()
            {
                return Err(refused(&of(Some(name)), why));
            }
            if depth > 0 && parts.is_empty() && packed.is_empty() && rejected.is_empty() {
                let reason = "neither a document nor an archive of documents in a format that Lyra reads";
                opened.rejected.push(Rejected { file: path, line: 0, reason: reason.to_owned() });
                continue;
            }
            let rejected = rejected.into_iter().map(|(name, reason)| Rejected {
                file: of(Some(&name)),
                line: 0,
                reason,
            });
            opened.rejected.extend(rejected);
            let mut inner = Vec::new();
            for part in packed {
                let path = of(part.name.as_deref());
                let named = named && part.name.is_none();
                let slice = if depth == MOST_NESTED {
                    Err(refused(&path, format!("more than {MOST_NESTED} archives within each other")))
                } else {
                    let outer = held.clone().map_or_else(|| regular(file), Ok)?;
                    self.unpack(&path, &part, &outer).await
                };
                match slice {
                    Ok(Some(slice)) => {
                        inner.push(Packed { path, held: Some(slice), named, depth: depth + 1 });
                    }
                    Ok(None) => return Ok(None),
                    Err(error) if named => return Err(error),
                    Err(error) => {
                        opened.rejected.push(Rejected { file: path, line: 0, reason: reason(error)? });
                    }
                }
            }
            next.extend(inner.into_iter().rev());
            opened.sources.extend(parts.into_iter().map(|part| Source {
                path: of(part.name.as_deref()),
                disk: 0,
                file: file.to_owned(),
                named: named && part.name.is_none(),
                part,
                held: held.clone(),
            }));
        }
        Ok(Some(opened))
    }

    /// Takes the papers that references name and that are on this machine. What is no paper is left out; what cannot be
    /// read is rejected. `false` when the import was cancelled.
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
                let all = there.map(|file| Candidate::of(0, file, false, None, &ledger));
                let new = all.filter(|file| !known.contains(&file.same) && !except.contains(&file.same));
                Ok(new.collect::<Vec<_>>())
            })
            .await?
        };
        let mut taken = HashSet::new();
        for (nth, candidate) in candidates.into_iter().enumerate() {
            let Candidate { file, same, state, known, .. } = candidate;
            if !taken.insert(same.clone()) {
                continue;
            }
            if let Some(known) = known {
                if known.kind == Kind::Nothing {
                    found.rejected.extend(rejected(&known));
                }
                found.kept.push(known);
                continue;
            }
            if nth % PER_READER == 0 {
                self.talk = None;
            }
            let looked = match regular(&file) {
                Ok(slice) => self.look(&file, None, false, None, &slice).await,
                Err(error) => Err(error),
            };
            match looked {
                Ok(Some(contents)) => {
                    let is_paper = |part: &Part| part.name.is_none() && part.format.is_attached();
                    let of = |part| Source {
                        path: file.clone(),
                        disk: 0,
                        file: file.clone(),
                        part,
                        held: None,
                        named: false,
                    };
                    let sources: Vec<Source> = contents.parts.into_iter().filter(is_paper).map(of).collect();
                    if !sources.is_empty() {
                        found.take(&file, same, state, None, Opened { sources, rejected: Vec::new() });
                    }
                }
                Ok(None) => return Ok(false),
                Err(error) if is_about_content(&error) => {
                    let odd = vec![Rejected { file: file.clone(), line: 0, reason: reason(error)? }];
                    found.nothing(&file, same, &state, None, odd);
                }
                // It may be readable later.
                Err(error) => {
                    found.rejected.push(Rejected { file, line: 0, reason: reason(error)? });
                }
            }
        }
        Ok(true)
    }

    /// The files that references name; `None` when the import was cancelled.
    async fn named(&mut self, source: &Source) -> Result<Option<BTreeSet<PathBuf>>> {
        let mut files = BTreeSet::new();
        let (to, mut arriving) = mpsc::channel(1);
        let folder = source.file.parent().unwrap_or(Path::new(""));
        let base = if source.is_zotero() { zotero::base_folder(folder) } else { None };
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
            let state = State::of(&known.path, options.format.map(Format::name));
            match self.open(&known.path, false, options.format).await {
                // It changed just now, and is read by the next import.
                Ok(Some(opened)) if opened.sources.is_empty() => found.kept.push(known),
                Ok(Some(opened)) => {
                    let file = known.path.clone();
                    found.take(&file, known.path, state, options.format, opened);
                    if let Some(entry) = found.files.last_mut() {
                        entry.named = known.named;
                    }
                }
                Ok(None) => return Ok(false),
                Err(error) => {
                    let odd = Rejected { file: known.path.clone(), line: 0, reason: reason(error)? };
                    found.rejected.push(odd);
                    found.kept.push(known);
                }
            }
        }
        Ok(true)
    }

    /// What a file, or content of it, holds. A database is copied first, because its program may be writing to it. None
    /// when the import was cancelled.
    async fn contents(
        &mut self,
        file: &Path,
        packed: &mut Packed,
        format: Option<Format>,
    ) -> Result<Option<Contents>> {
        let mut database = None;
        let Packed { path, held, named, .. } = packed;
        if held.is_none() && (zotero::is_database(file) || format == Some(Format::Zotero)) {
            regular(file)?;
            let (copied, parts) = zotero::copy(file, &mut self.spool).map_err(CorpusError::io(file))?;
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
    async fn unpack(&mut self, path: &Path, part: &Part, slice: &Slice) -> Result<Option<Slice>> {
        let mark = self.spool.mark();
        let mut message = Ask::Unpack { part: part.clone(), bytes: slice.bytes }.to_bytes();
        let unpacked = loop {
            match self.say(message, slice).await {
                Ok((Said::Piece, answer)) => {
                    let piece = Said::content(&answer);
                    if piece.is_empty() {
                        break Ok(self.spool.since(mark));
                    }
                    if let Err(error) = self.spool.add(piece) {
                        break Err(CorpusError::io(path)(error));
                    }
                    if let Err(failure) = self.spool.check(mark, part.bytes) {
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
            self.spool.cut(mark);
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
