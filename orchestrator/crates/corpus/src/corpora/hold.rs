//! Keeping a corpus as it is while its files are copied.

use super::{Corpora, blocking};
use crate::manifest::{Manifest, check_name};
use crate::{CorpusError, Result, import, vectors};
use std::fs::File;
use std::path::PathBuf;

/// Names of files in a corpus folder that are not part of the corpus or are rebuilt from other files.
const NOT_CONTENT: [&str; 4] = ["import.lock", ".tantivy-writer.lock", vectors::BYTES, vectors::BYTES_LOCK];

/// A corpus locked against imports and removal while this value lives. Searches still work.
pub struct HeldCorpus {
    /// Its folder.
    pub folder: PathBuf,
    /// Its files, relative to the folder, by name.
    pub files: Vec<PathBuf>,
    _lock: File,
}

impl Corpora {
    /// Names of every corpus that is there, readable or not.
    ///
    /// # Errors
    /// When the folder of corpora cannot be read.
    pub async fn names(&self) -> Result<Vec<String>> {
        let root = self.root.clone();
        blocking(move || {
            let entries = match std::fs::read_dir(&root) {
                Ok(entries) => entries,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
                Err(error) => return Err(CorpusError::io(&root)(error)),
            };
            let mut names: Vec<String> = entries
                .filter_map(|entry| {
                    entry.ok().filter(|entry| entry.path().is_dir())?.file_name().into_string().ok()
                })
                .filter(|name| check_name(name).is_ok())
                .collect();
            names.sort();
            Ok(names)
        })
        .await
    }

    /// Keeps a corpus as it is until what is returned is dropped.
    ///
    /// # Errors
    /// [`CorpusError::NotFound`], [`CorpusError::Busy`] while it is being imported, or when its files cannot be read.
    pub async fn hold(&self, name: &str) -> Result<HeldCorpus> {
        let (folder, name) = (self.folder(name)?, name.to_owned());
        blocking(move || {
            if Manifest::read(&folder, &name)?.is_none() {
                return Err(CorpusError::NotFound { name });
            }
            let lock = import::lock(&folder, &name)?;
            let mut files = Vec::new();
            let mut folders = vec![PathBuf::new()];
            while let Some(inner) = folders.pop() {
                let path = folder.join(&inner);
                for entry in std::fs::read_dir(&path).map_err(CorpusError::io(&path))? {
                    let entry = entry.map_err(CorpusError::io(&path))?;
                    let relative = inner.join(entry.file_name());
                    if entry.path().is_dir() {
                        folders.push(relative);
                    } else if !NOT_CONTENT.iter().any(|name| entry.file_name() == *name) {
                        files.push(relative);
                    }
                }
            }
            files.sort();
            Ok(HeldCorpus { folder, files, _lock: lock })
        })
        .await
    }
}
