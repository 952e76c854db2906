//! A corpus held in memory for searching.

use crate::hash::fnv_row;
use crate::index::{Snapshot, TextIndex};
use crate::manifest::Manifest;
use crate::vectors::Vectors;
use crate::{CorpusError, Result};
use std::path::Path;
use tantivy::DocAddress;

/// The committed state of a corpus: index snapshot, and every embedding.
pub(crate) struct Opened {
    pub(crate) manifest: Manifest,
    pub(crate) snapshot: Snapshot,
    pub(crate) vectors: Vectors,
    /// Documents whose embedding does not match its checksum.
    pub(crate) damaged: usize,
    index: TextIndex,
    version: Vec<String>,
    /// Row of each document, by segment and document number; `NONE` for deleted ones.
    rows: Vec<Vec<u64>>,
}

const NONE: u64 = u64::MAX;

impl Opened {
    /// Opens a corpus and checks every embedding.
    pub(crate) fn open(folder: &Path, name: &str) -> Result<Self> {
        let missing = || CorpusError::NotFound { name: name.to_owned() };
        let manifest = Manifest::read(folder, name)?.ok_or_else(missing)?;
        let index = TextIndex::open(folder, name)?;
        // Taken first: a commit in between makes the version look old, and the corpus is opened once more.
        let version = index.version()?;
        let snapshot = index.snapshot()?;
        let vectors = Vectors::read(folder, manifest.dimension, snapshot.rows)?;
        let mut rows: Vec<Vec<u64>> = snapshot
            .searcher
            .segment_readers()
            .iter()
            .map(|reader| vec![NONE; reader.max_doc() as usize])
            .collect();
        let mut damaged = 0;
        for entry in snapshot.entries()? {
            if vectors.row(entry.row).is_some_and(|row| fnv_row(row) == entry.row_sum) {
                rows[entry.address.segment_ord as usize][entry.address.doc_id as usize] = entry.row;
            } else {
                damaged += 1;
            }
        }
        if damaged > 0 {
            tracing::warn!(
                corpus = name,
                rows = damaged,
                "embeddings are damaged; importing the files again mends them"
            );
        }
        Ok(Self { manifest, snapshot, vectors, damaged, index, version, rows })
    }

    /// Whether this is still what is on disk.
    pub(crate) fn is_current(&self, folder: &Path) -> Result<bool> {
        let manifest = Manifest::read(folder, &self.manifest.name)?;
        Ok(manifest.as_ref() == Some(&self.manifest) && self.index.version()? == self.version)
    }

    /// Address and row of every document with a sound embedding.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (DocAddress, u64)> {
        (0_u32..).zip(&self.rows).flat_map(|(segment, rows)| {
            (0_u32..)
                .zip(rows)
                .filter(|(_, row)| **row != NONE)
                .map(move |(doc, row)| (DocAddress::new(segment, doc), *row))
        })
    }

    /// The embedding of a document, when it is sound.
    pub(crate) fn embedding(&self, address: DocAddress) -> Option<&[f32]> {
        let row = *self.rows.get(address.segment_ord as usize)?.get(address.doc_id as usize)?;
        self.vectors.row(row)
    }
}
