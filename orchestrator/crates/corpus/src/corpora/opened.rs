//! A corpus held open for searching.

use crate::backend::FeatureScope;
use crate::hash::{fnv, fnv_row};
use crate::index::{Snapshot, TextIndex};
use crate::manifest::Manifest;
use crate::vectors::{ByteRows, Vectors};
use crate::{CorpusError, Result, search, upgrade};
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
    exact_vectors: usize,
    embeddings: OnceLock<Embeddings>,
    /// Held while the embeddings are read, so that they are read once.
    reading: Mutex<()>,
}

/// The embeddings of a corpus.
pub(crate) struct Embeddings {
    vectors: Vectors,
    /// The same with a byte per number, where there are too many to compare a query with all of them.
    pub(crate) bytes: Option<ByteRows>,
    /// Embeddings that do not match their checksums. Of those that were turned into bytes earlier it is not known.
    pub(crate) damaged: usize,
    /// Row of each document by scope, segment and document number; `NONE` for those without.
    rows: HashMap<FeatureScope, Vec<Vec<u64>>>,
}

const NONE: u64 = u64::MAX;
/// Documents of a part.
const PART: usize = 32_768;

impl Opened {
    /// Opens a corpus. Up to `exact_vectors` embeddings are all compared with a query, of more the likely ones.
    pub(crate) fn open(folder: &Path, name: &str, exact_vectors: usize) -> Result<Self> {
        let missing = || CorpusError::NotFound { name: name.to_owned() };
        let manifest = upgrade::current(folder, name)?.ok_or_else(missing)?;
        let index = TextIndex::open(folder, name)?;
        // Taken first: a commit in between makes the version look old, and the corpus is opened once more.
        let version = index.version()?;
        let snapshot = index.snapshot()?;
        let folder = folder.to_owned();
        let (embeddings, reading) = (OnceLock::new(), Mutex::new(()));
        Ok(Self { manifest, snapshot, folder, index, version, exact_vectors, embeddings, reading })
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

    /// What search by meaning does not find because its embeddings are still to be made.
    pub(crate) fn note(&self) -> Result<Option<String>> {
        if self.manifest.pending.is_empty() {
            return Ok(None);
        }
        let (all, embedded) = (self.snapshot.count(), self.snapshot.embedded(FeatureScope::Wide)?);
        Ok(Some(search::partly_embedded(&self.manifest.pending, embedded, all)))
    }

    /// Documents whose embeddings of a scope are still to be made.
    pub(crate) fn unembedded(&self, scope: FeatureScope) -> Result<u64> {
        // Those that wait for all their embeddings lack the one that every document has.
        let scope = if self.manifest.pending.contains(&scope) { scope } else { FeatureScope::Wide };
        if self.manifest.pending.is_empty() {
            return Ok(0);
        }
        Ok(self.snapshot.count().saturating_sub(self.snapshot.embedded(scope)?))
    }

    /// The embeddings, read and checked at the first call.
    pub(crate) fn embeddings(&self) -> Result<&Embeddings> {
        let _turn = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = self.embeddings.get() {
            return Ok(known);
        }
        let read = Embeddings::read(&self.folder, &self.manifest, &self.snapshot, self.exact_vectors)?;
        Ok(self.embeddings.get_or_init(|| read))
    }

    /// The embedding of a document, `None` when it has none or it does not match its checksum.
    pub(crate) fn embedding(&self, scope: FeatureScope, at: DocAddress) -> Result<Option<&[f32]>> {
        let embeddings = self.embeddings()?;
        let Some(numbers) = embeddings.get(scope, at) else { return Ok(None) };
        if embeddings.bytes.is_none() {
            // All were checked when they were opened.
            return Ok(Some(numbers));
        }
        Ok(self.snapshot.checksums(scope)?.match_row(at, numbers).then_some(numbers))
    }
}

impl Embeddings {
    fn read(folder: &Path, manifest: &Manifest, snapshot: &Snapshot, exact_vectors: usize) -> Result<Self> {
        let vectors = Vectors::open(folder, manifest.dimension, snapshot.rows)?;
        let many = snapshot.rows > exact_vectors as u64;
        // Rows are checked when they are first read, and again when they are compared exactly.
        let checked = if many { ByteRows::kept(folder, manifest.dimension) as u64 } else { 0 };
        let mut damaged = 0;
        let mut rows = HashMap::new();
        for scope in &manifest.scopes {
            let segments = snapshot.searcher.segment_readers();
            let mut of_scope: Vec<Vec<u64>> =
                segments.iter().map(|reader| vec![NONE; reader.max_doc() as usize]).collect();
            snapshot.rows_of(*scope, |at, row| {
                let sound = |numbers: &[f32]| row.row < checked || fnv_row(numbers) == row.sum;
                if vectors.row(row.row).is_some_and(sound) {
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
                "embeddings are damaged; import the files again to repair them"
            );
        }
        let bytes = (many && damaged == 0).then(|| ByteRows::of(folder, &vectors));
        Ok(Self { vectors, bytes, damaged, rows })
    }

    /// The documents that have an embedding of a scope and their rows, in parts that can be looked at side by side.
    pub(crate) fn parts(&self, scope: FeatureScope) -> Vec<Part<'_>> {
        let segments = self.rows.get(&scope).map(Vec::as_slice).unwrap_or_default();
        let mut parts = Vec::new();
        for (segment, rows) in (0_u32..).zip(segments) {
            let firsts = (0_u32..).step_by(PART);
            parts.extend(firsts.zip(rows.chunks(PART)).map(|(first, rows)| Part { segment, first, rows }));
        }
        parts
    }

    /// The numbers of a row.
    pub(crate) fn numbers(&self, row: u64) -> Option<&[f32]> {
        self.vectors.row(row)
    }

    /// The embedding of a document, when there is one.
    pub(crate) fn get(&self, scope: FeatureScope, at: DocAddress) -> Option<&[f32]> {
        let row = *self.rows.get(&scope)?.get(at.segment_ord as usize)?.get(at.doc_id as usize)?;
        self.numbers(row)
    }
}

/// Documents of a segment that stand side by side.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part<'a> {
    segment: u32,
    first: u32,
    rows: &'a [u64],
}

impl Part<'_> {
    /// Those that have an embedding, with its row.
    pub(crate) fn documents(&self) -> impl Iterator<Item = (DocAddress, u64)> {
        let addresses = (self.first..).map(|doc| DocAddress::new(self.segment, doc));
        addresses.zip(self.rows.iter().copied()).filter(|(_, row)| *row != NONE)
    }
}
