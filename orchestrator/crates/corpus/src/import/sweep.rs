//! After an import: which files are new, changed and gone, and which documents lost their last file.

use super::files::same;
use super::home::Home;
use super::{FileChange, FileKind, FileReport, LISTED};
use crate::Result;
use crate::ledger::{Entry, Ledger};
use std::collections::{BTreeSet, HashSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// What an import looked at.
pub(super) struct Seen {
    /// The files and folders that were named.
    pub(super) roots: Vec<PathBuf>,
    /// The files that were read, as they were found.
    pub(super) read: Vec<Entry>,
    /// Files that were not read again.
    pub(super) unchanged: u64,
    /// What was known before.
    pub(super) before: std::sync::Arc<Ledger>,
    /// Files were left for another import.
    pub(super) partial: bool,
}

/// Notes what is gone, and removes the documents of it when asked to. The caller holds the corpus' lock.
pub(super) fn run(home: &Home, ledger: &mut Ledger, seen: &Seen, prune: bool) -> Result<FileReport> {
    let mut report = FileReport { unchanged: seen.unchanged, ..FileReport::default() };
    let mut recorded = !seen.partial;
    for file in &seen.read {
        let known = seen.before.get(&file.path).is_some_and(|before| !before.gone);
        let now = ledger.get(&file.path).filter(|now| {
            (now.state.bytes, now.state.modified) == (file.state.bytes, file.state.modified) && !now.gone
        });
        recorded &= now.is_some();
        let kind = if known { FileKind::Changed } else { FileKind::New };
        let documents = now.map(|now| now.documents.clone()).unwrap_or_default();
        *(if known { &mut report.changed } else { &mut report.new }) += 1;
        report.list(FileChange { file: file.path.clone(), kind, documents });
    }
    let roots: Vec<PathBuf> = seen.roots.iter().map(|root| same(root)).collect();
    let below = |path: &Path| roots.iter().find(|root| path.starts_with(root)).cloned();
    let named: BTreeSet<PathBuf> = ledger
        .entries()
        .filter(|entry| below(&entry.path).is_some())
        .flat_map(|entry| entry.named.iter().map(|file| same(file)))
        .collect();
    let in_scope = |entry: &Entry| below(&entry.path).is_some() || named.contains(&entry.path);
    let lost: Vec<Entry> = ledger
        .entries()
        .filter(|entry| in_scope(entry) && !entry.gone && is_missing(&entry.path))
        .map(|entry| Entry { gone: true, ..entry.clone() })
        .collect();
    ledger.append(lost)?;
    let scope: Vec<&Entry> = ledger.entries().filter(|entry| in_scope(entry)).collect();
    let gone: Vec<&Entry> = scope.iter().copied().filter(|entry| entry.gone).collect();
    report.gone = gone.len() as u64;
    let present = Ledger::given(ledger.entries().filter(|entry| !entry.gone));
    for entry in &gone {
        let documents = Ledger::orphans(&present, &[*entry]);
        report.list(FileChange { file: entry.path.clone(), kind: FileKind::Gone, documents });
    }
    let orphans = home.present(Ledger::orphans(&present, &scope))?;
    report.orphaned = orphans.len() as u64;
    let (mut doomed, mut forgotten, mut settled) = (Vec::new(), Vec::new(), Vec::new());
    if prune && recorded {
        let deleted = |entry: &&&Entry| entry.gone && may_prune(&entry.path, below(&entry.path).as_deref());
        forgotten = scope.iter().filter(deleted).map(|entry| entry.path.clone()).collect();
        let known: HashSet<&Path> = forgotten.iter().map(PathBuf::as_path).collect();
        // What is gone and may come back keeps its documents, also below other folders.
        let held = Ledger::given(ledger.entries().filter(|entry| !known.contains(entry.path.as_path())));
        doomed = home.present(Ledger::orphans(&held, &scope))?;
        let changed = scope.iter().filter(|entry| !entry.gone && !entry.left.is_empty());
        settled = changed.map(|entry| Entry { left: Vec::new(), ..(*entry).clone() }).collect();
    }
    let removed: HashSet<&String> = doomed.iter().collect();
    report.orphans = orphans.into_iter().filter(|id| !removed.contains(id)).take(LISTED).collect();
    if !doomed.is_empty() {
        home.delete(&doomed)?;
    }
    report.pruned = doomed.len() as u64;
    ledger.append(settled)?;
    ledger.drop_files(&forgotten)?;
    ledger.tidy()?;
    Ok(report)
}

/// Whether the disk says that there is no such file, rather than that it cannot tell.
fn is_missing(path: &Path) -> bool {
    matches!(std::fs::metadata(path), Err(error) if error.kind() == ErrorKind::NotFound)
}

/// Whether a file that is gone was surely deleted: the named folder is there and has files, and the nearest folder
/// that is left is not empty, as the mount point of a disk that is away would be.
fn may_prune(path: &Path, root: Option<&Path>) -> bool {
    let has_files =
        |folder: &Path| std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some());
    let nearest = path.ancestors().skip(1).find(|folder| folder.is_dir());
    root.is_none_or(|root| root != path && has_files(root)) && nearest.is_some_and(has_files)
}

impl FileReport {
    fn list(&mut self, change: FileChange) {
        if self.changes.len() < LISTED {
            self.changes.push(change);
        }
    }
}
