//! Imports that began to write and have not finished: documents of what they read may be missing.
//!
//! Each has a file in the folder `unfinished` of its corpus, which contains the path that it was given. The file is written
//! before the first document, and removed at the end of an import of this path or of one above it.

use crate::hash::fnv;
use crate::import::same;
use crate::{CorpusError, Result};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

const FOLDER: &str = "unfinished";

/// Paths whose import has not finished, in order.
pub(crate) fn paths(folder: &Path) -> Vec<String> {
    let mut paths: Vec<String> = marks(folder).into_iter().map(|(_, path)| path).collect();
    paths.sort();
    paths
}

/// What the reader of a search has to know about them, without paths, which concern no caller.
pub(crate) fn note(folder: &Path) -> Option<String> {
    let note = "documents may be missing: an import into the corpus has not finished; repeat it if it was interrupted";
    is_any(folder).then(|| note.to_owned())
}

/// Whether there are any.
pub(crate) fn is_any(folder: &Path) -> bool {
    std::fs::read_dir(folder.join(FOLDER)).is_ok_and(|mut marks| marks.next().is_some())
}

fn marks(folder: &Path) -> Vec<(PathBuf, String)> {
    let Ok(entries) = std::fs::read_dir(folder.join(FOLDER)) else { return Vec::new() };
    let files = entries.filter_map(|entry| Some(entry.ok()?.path()));
    files.filter_map(|file| Some((file.clone(), std::fs::read_to_string(file).ok()?))).collect()
}

/// The mark of one import.
pub(crate) struct Mark {
    folder: PathBuf,
    roots: Vec<PathBuf>,
    begun: AtomicBool,
}

impl Mark {
    /// Of an import of these paths into the corpus in `folder`.
    pub(crate) fn new(folder: &Path, roots: &[PathBuf]) -> Self {
        let roots = roots.iter().map(|root| same(root)).collect();
        Self { folder: folder.to_owned(), roots, begun: AtomicBool::new(false) }
    }

    /// Before a document is written.
    pub(crate) fn begin(&self) -> Result<()> {
        if self.begun.load(Ordering::Relaxed) { Ok(()) } else { self.set() }
    }

    /// Also after the end, if something is missing then.
    pub(crate) fn set(&self) -> Result<()> {
        let marks = self.folder.join(FOLDER);
        std::fs::create_dir_all(&marks).map_err(CorpusError::io(&marks))?;
        for root in &self.roots {
            let path = root.to_string_lossy();
            let file = marks.join(format!("{:016x}", fnv(path.as_bytes())));
            std::fs::write(&file, path.as_bytes()).map_err(CorpusError::io(&file))?;
        }
        self.begun.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// After everything is there, while the corpus is locked. Marks of paths that no longer exist go as well, because these
    /// can never be imported again.
    pub(crate) fn end(&self) -> Result<()> {
        for (file, path) in marks(&self.folder) {
            let path = Path::new(&path);
            if self.roots.iter().any(|root| path.starts_with(root)) || !path.exists() {
                std::fs::remove_file(&file).map_err(CorpusError::io(&file))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_import_of_a_folder_above_ends_it() {
        let (corpus, files) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let file = |name: &str| {
            let path = same(files.path()).join(name);
            std::fs::write(&path, "x").unwrap();
            path
        };
        let (one, other, lost) = (file("one"), file("other"), file("lost"));
        Mark::new(corpus.path(), &[one.clone(), lost.clone()]).begin().unwrap();
        assert_eq!(paths(corpus.path()).len(), 2);
        let second = Mark::new(corpus.path(), &[other]);
        second.begin().unwrap();
        second.begin().unwrap();
        assert_eq!(paths(corpus.path()).len(), 3);
        std::fs::remove_file(&lost).unwrap();
        second.end().unwrap();
        assert_eq!(paths(corpus.path()), [one.display().to_string()]);
        assert!(note(corpus.path()).unwrap().contains("may be missing"));
        Mark::new(corpus.path(), &[files.path().to_owned()]).end().unwrap();
        assert_eq!(note(corpus.path()), None);
    }
}
