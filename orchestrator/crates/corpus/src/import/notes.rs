//! What each file of an import gave, until its documents are on their way to the index.

use crate::Document;
use crate::ledger::{Entry, Kind, Ledger, State, checksum};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The files of an import.
pub(super) struct Notes {
    files: Vec<Entry>,
    /// Parts of each file that were not read to their end.
    unread: Vec<usize>,
    /// Files whose documents all were passed on.
    done: Vec<Entry>,
    /// Files with references, whose documents may come after all files were read.
    waiting: Vec<usize>,
    ledger: Arc<Ledger>,
}

impl Notes {
    /// Files with the number of parts that each has; a file without parts is done.
    pub(super) fn new(files: Vec<Entry>, parts: Vec<usize>, ledger: Arc<Ledger>) -> Self {
        let mut notes = Self { files, unread: parts, done: Vec::new(), waiting: Vec::new(), ledger };
        for file in 0..notes.files.len() {
            if notes.unread.get(file) == Some(&0) {
                notes.finish(file);
            }
        }
        notes
    }

    /// The absolute path of a file.
    pub(super) fn path(&self, file: usize) -> Option<&Path> {
        self.files.get(file).map(|entry| entry.path.as_path())
    }

    /// A file contributes to a document.
    pub(super) fn gives(&mut self, file: usize, id: &str) {
        if let Some(entry) = self.files.get_mut(file) {
            entry.documents.push(id.to_owned());
        }
    }

    /// By what references find the paper in a file, and what it says beside its text.
    pub(super) fn holds(&mut self, file: usize, keys: Vec<String>, paper: Document) {
        if let Some(entry) = self.files.get_mut(file) {
            (entry.keys, entry.year, entry.author) = (keys, paper.year, paper.authors.into_iter().next());
            (entry.tags, entry.annotations) = (paper.tags, paper.annotations);
        }
    }

    /// A document of a file lacks metadata that a source may know.
    pub(super) fn lacks(&mut self, file: usize, id: &str) {
        if let Some(entry) = self.files.get_mut(file) {
            entry.incomplete.push(id.to_owned());
        }
    }

    /// A record of a file, or of a member of the archive that it is, was not imported.
    pub(super) fn rejects(&mut self, file: usize, member: PathBuf, line: u64, reason: &str) {
        if let Some(entry) = self.files.get_mut(file) {
            entry.refuse(member, line, reason);
        }
    }

    /// A part of a file was read to its end.
    pub(super) fn ended(&mut self, file: usize) {
        let Some(unread) = self.unread.get_mut(file) else { return };
        *unread = unread.saturating_sub(1);
        if *unread > 0 {
            return;
        }
        if self.files[file].kind == Kind::References { self.waiting.push(file) } else { self.finish(file) }
    }

    /// All references were passed on.
    pub(super) fn settle(&mut self) {
        for file in std::mem::take(&mut self.waiting) {
            self.finish(file);
        }
    }

    /// The files that are done since the last call.
    pub(super) fn take(&mut self) -> Vec<Entry> {
        std::mem::take(&mut self.done)
    }

    fn finish(&mut self, file: usize) {
        let mut entry = self.files[file].clone();
        // What changed while it was read is read again by the next import.
        let format = entry.format.as_deref();
        let same = State::of(&entry.path, format)
            .is_ok_and(|now| (now.bytes, now.exact) == (entry.state.bytes, entry.state.exact));
        let Some(sum) = same.then(|| checksum(&entry.path, format).ok()).flatten() else { return };
        entry.sum = sum;
        entry.documents.sort();
        entry.documents.dedup();
        if let Some(before) = self.ledger.get(&entry.path) {
            // A file that can no longer be read keeps its documents: it may be half written.
            if entry.documents.is_empty() && entry.rejected_count > 0 && !before.gone {
                entry.documents.clone_from(&before.documents);
            }
            let given = before.documents.iter().chain(&before.left);
            let left = given.filter(|id| entry.documents.binary_search(id).is_err());
            entry.left = left.cloned().collect();
            entry.left.sort();
            entry.left.dedup();
        }
        self.done.push(entry);
    }
}
