//! A corpus held open for searching.

use crate::backend::FeatureScope;
use crate::hash::{fnv, fnv_row};
use crate::index::{Snapshot, TextIndex};
use crate::manifest::Manifest;
use crate::vectors::Vectors;
use crate::{CorpusError, Result, upgrade};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};
use tantivy::DocAddress;

/// The committed state of a corpus: index snapshot, and every embedding once one is asked for.
pub(crate) struct Opened {
    pub(crate) manifest: Manifest,
    pub(crate) snapshot: Snapshot,
    folder: PathBuf,
    index: TextIndex,
    version: Vec<String>,
    embeddings: OnceLock<Embeddings>,
    /// Held while the embeddings are read, so that they are read once.
    reading: Mutex<()>,
}

/// The embeddings of a corpus, in memory.
pub(crate) struct Embeddings {
    vectors: Vectors,
    /// Embeddings that do not match their checksums.
    pub(crate) damaged: usize,
    /// Row of each document by scope, segment and document number; `NONE` for those without.
    rows: HashMap<FeatureScope, Vec<Vec<u64>>>,
}

const NONE: u64 = u64::MAX;

impl Opened {
    /// Opens a corpus.
    pub(crate) fn open(folder: &Path, name: &str) -> Result<Self> {
        let missing = || CorpusError::NotFound { name: name.to_owned() };
        let manifest = upgrade::current(folder, name)?.ok_or_else(missing)?;
        let index = TextIndex::open(folder, name)?;
        // Taken first: a commit in between makes the version look old, and the corpus is opened once more.
        let version = index.version()?;
        let snapshot = index.snapshot()?;
        let folder = folder.to_owned();
        let (embeddings, reading) = (OnceLock::new(), Mutex::new(()));
        Ok(Self { manifest, snapshot, folder, index, version, embeddings, reading })
    }

    /// Whether this is still what is on disk.
    pub(crate) fn is_current(&self, folder: &Path) -> Result<bool> {
        let manifest = Manifest::read(folder, &self.manifest.name)?;
        Ok(manifest.as_ref() == Some(&self.manifest) && self.index.version()? == self.version)
    }

    /// Names this state of the corpus.
    pub(crate) fn identity(&self) -> String {
        let state = format!("{} {} {:?}", self.manifest.name, self.manifest.created, self.version);
        format!("{:016x}", fnv(state.as_bytes()))
    }

    /// The embeddings, read and checked at the first call.
    pub(crate) fn embeddings(&self) -> Result<&Embeddings> {
        let _turn = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = self.embeddings.get() {
            return Ok(known);
        }
        let read = Embeddings::read(&self.folder, &self.manifest, &self.snapshot)?;
        Ok(self.embeddings.get_or_init(|| read))
    }
}

impl Embeddings {
    fn read(folder: &Path, manifest: &Manifest, snapshot: &Snapshot) -> Result<Self> {
        let vectors = Vectors::read(folder, manifest.dimension, snapshot.rows)?;
        let mut damaged = 0;
        let mut rows = HashMap::new();
        for scope in &manifest.scopes {
            let segments = snapshot.searcher.segment_readers();
            let mut of_scope: Vec<Vec<u64>> =
                segments.iter().map(|reader| vec![NONE; reader.max_doc() as usize]).collect();
            snapshot.rows_of(*scope, |at, row| {
                if vectors.row(row.row).is_some_and(|numbers| fnv_row(numbers) == row.sum) {
                    of_scope[at.segment_ord as usize][at.doc_id as usize] = row.row;
                } else {
                    damaged += 1;
                }
            })?;
            rows.insert(*scope, of_scope);
        }
        if damaged > 0 {
            tracing::warn!(
                corpus = manifest.name,
                rows = damaged,
                "embeddings are damaged; importing the files again mends them"
            );
        }
        Ok(Self { vectors, damaged, rows })
    }

    /// Every document with a sound embedding of a scope.
    pub(crate) fn of_scope(&self, scope: FeatureScope) -> impl Iterator<Item = (DocAddress, &[f32])> {
        let segments = self.rows.get(&scope).map(Vec::as_slice).unwrap_or_default();
        (0_u32..).zip(segments).flat_map(move |(segment, rows)| {
            (0_u32..)
                .zip(rows)
                .filter(|(_, row)| **row != NONE)
                .filter_map(move |(doc, row)| Some((DocAddress::new(segment, doc), self.vectors.row(*row)?)))
        })
    }

    /// The embedding of a document, when there is one and it is sound.
    pub(crate) fn get(&self, scope: FeatureScope, at: DocAddress) -> Option<&[f32]> {
        let row = *self.rows.get(&scope)?.get(at.segment_ord as usize)?.get(at.doc_id as usize)?;
        self.vectors.row(row)
    }
}
