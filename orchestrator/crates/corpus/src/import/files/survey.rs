//! The files that an import would look at, and which of them have changed.

use super::refused;
use crate::import::{Format, ImportOptions, zotero};
use crate::ledger::{Entry, Ledger, State};
use crate::{CorpusError, Result};
use std::path::{Path, PathBuf};

/// Folders within folders, at most.
const MOST_DEEP: usize = 16;

/// A file that may be read.
pub(super) struct Candidate {
    /// Place of the path that it was found by.
    pub(super) root: usize,
    pub(super) file: PathBuf,
    /// It was named itself, or is the database of the folder that was named.
    pub(super) named: bool,
    /// The same for all ways to the file.
    pub(super) same: PathBuf,
    pub(super) state: std::io::Result<State>,
    /// Its entry in the ledger, if that is still true.
    pub(super) known: Option<Entry>,
}

impl Candidate {
    pub(super) fn of(
        root: usize,
        file: PathBuf,
        named: bool,
        format: Option<Format>,
        ledger: &Ledger,
    ) -> Self {
        let format = format.map(Format::name);
        let (same, state) = (same(&file), State::of(&file, format));
        let known = ledger
            .get(&same)
            .cloned()
            .filter(|known| state.as_ref().is_ok_and(|state| known.is_current(*state, format)));
        Self { root, file, named, same, state, known }
    }
}

/// The files below these paths, with their entries in the ledger.
pub(super) fn candidates(
    paths: &[PathBuf],
    options: &ImportOptions,
    ledger: &Ledger,
) -> Result<Vec<Candidate>> {
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

/// A path that is the same for all ways to a file.
pub(crate) fn same(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
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
