//! The files of an import: opened here, and handed to a reader piece by piece, which says what they hold.

mod reading;
mod survey;

pub(super) use reading::{Fetched, fetch};
pub use survey::{Stamp, Survey};
pub(crate) use survey::{same, survey};

use super::messages::arrived;
use super::part::{Contents, Part};
use super::records::Holding;
use super::spool::{Slice, Spool};
use super::{Format, ImportOptions, Rejected, zotero};
use crate::corpora::blocking;
use crate::ledger::{Entry, Kind, Ledger, Refused, State};
use crate::{CorpusError, Result};
use lyra_worker::Talks;
use reading::{Reading, regular};
use std::collections::{BTreeSet, HashSet};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use survey::{Candidate, candidates};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Archives within archives, at most.
const MOST_NESTED: usize = 4;
/// Files and members that one reader reads before another one goes on.
const PER_READER: usize = 1_000;
/// Why a file is rejected whose content is not known.
const UNKNOWN: &str = "neither a document nor an archive of documents in a format that Lyra reads";

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
            if known.kind != Kind::Nothing {
                fruitful.insert(root);
            }
            found.keep(known);
            continue;
        }
        if nth % PER_READER == 0 {
            reading.talk = None;
        }
        let opened = match reading.open(&file, named, options.format).await {
            Ok(Some(opened)) => opened,
            Ok(None) => return Ok(found),
            Err(error) if named => return Err(error),
            Err(error) => {
                found.fail(&file, same, &state, options.format, error)?;
                continue;
            }
        };
        if opened.sources.is_empty() {
            let mut odd = opened.rejected;
            if odd.is_empty() {
                odd.push(Rejected { file: file.clone(), line: 0, reason: UNKNOWN.to_owned() });
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

    /// Keeps the entry of a file that is as it was.
    fn keep(&mut self, known: Entry) {
        if known.kind == Kind::Nothing {
            self.rejected.extend(rejected(&known));
        }
        self.kept.push(known);
    }

    /// Rejects a file that cannot be read. It is noted if that is because of what is in it; otherwise it may be readable
    /// later.
    fn fail(
        &mut self,
        file: &Path,
        same: PathBuf,
        state: &std::io::Result<State>,
        format: Option<Format>,
        error: CorpusError,
    ) -> Result<()> {
        let noted = is_about_content(&error);
        let odd = Rejected { file: file.to_owned(), line: 0, reason: reason(error)? };
        if noted {
            self.nothing(file, same, state, format, vec![odd]);
        } else {
            self.rejected.push(odd);
        }
        Ok(())
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

fn refused(path: &Path, why: impl Into<String>) -> CorpusError {
    CorpusError::File { path: path.to_owned(), why: why.into() }
}

/// A member behind its archive, without roots and ways up: the path is only shown, and shows where the member is.
/// Without a name, it is the file itself.
fn member(archive: &Path, name: &str) -> PathBuf {
    let names = Path::new(name).components().filter(|part| matches!(part, Component::Normal(_)));
    archive.components().chain(names).collect()
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
                opened.rejected.push(Rejected { file: path, line: 0, reason: UNKNOWN.to_owned() });
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
                found.keep(known);
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
                Err(error) => found.fail(&file, same, &state, None, error)?,
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
}
