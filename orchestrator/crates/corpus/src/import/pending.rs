//! Embeddings that an import left for later, and those that were damaged.
//!
//! Work goes by rounds. Each holds the corpus' lock, embeds some documents, and commits them with their embeddings; an
//! interruption loses one round at most.

use super::reader::texts;
use super::{Batching, Embedded, Embedder, Holder, Pending, lock_as};
use crate::backend::FeatureScope;
use crate::corpora::blocking;
use crate::hash::{fnv, fnv_row};
use crate::index::{Row, Rows, Snapshot, TextIndex, to_json};
use crate::manifest::Manifest;
use crate::vectors::{VectorWriter, Vectors};
use crate::{CorpusError, Result};
use lyra_research::ports::Inference;
use std::collections::HashSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use tantivy::DocAddress;

/// Documents of a round.
const ROUND: usize = 256;

/// Rounds over one corpus.
pub(crate) struct Rounds {
    folder: PathBuf,
    name: String,
    batching: Batching,
    /// Whether rows that are there are compared with their checksums: by the first round, and while some are damaged.
    check: bool,
    /// Documents that have nothing to embed.
    empty: HashSet<String>,
}

/// What a round did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Round {
    /// Documents that it embedded.
    pub(crate) embedded: u64,
    /// Documents that are left.
    pub(crate) left: u64,
}

/// Documents to embed, under the lock.
struct Chunk {
    lock: File,
    manifest: Manifest,
    index: TextIndex,
    documents: Vec<(Pending, Rows)>,
    left: u64,
    damaged: bool,
}

impl Rounds {
    pub(crate) fn new(folder: &Path, name: &str, batching: Batching, check: bool) -> Self {
        let (folder, name) = (folder.to_owned(), name.to_owned());
        Self { folder, name, batching, check, empty: HashSet::new() }
    }

    /// Embeds some documents; none are left after the last round.
    pub(crate) async fn next(&mut self, inference: &dyn Inference, holder: Holder) -> Result<Round> {
        let models = inference.models().await?;
        let most = ROUND.min(self.batching.commit.max(1));
        let (folder, name, check) = (self.folder.clone(), self.name.clone(), self.check);
        let empty = std::mem::take(&mut self.empty);
        let (chunk, empty) = blocking(move || {
            let lock = lock_as(&folder, &name, holder)?;
            let embedder = (models.embedder.as_str(), models.dimension);
            let mut empty = empty;
            Ok((choose(&folder, &name, lock, embedder, check, most, &mut empty)?, empty))
        })
        .await?;
        self.empty = empty;
        let Chunk { lock, manifest, index, documents, left, damaged } = chunk;
        self.check = damaged;
        let (pending, kept): (Vec<Pending>, Vec<Rows>) = documents.into_iter().unzip();
        let most = self.batching.embed;
        let embedder = Embedder { inference, dimension: manifest.dimension, most };
        let embedded = embedder.embed(pending).await?;
        let round = Round { embedded: embedded.len() as u64, left };
        let folder = self.folder.clone();
        blocking(move || {
            write(&folder, &index, manifest, embedded, kept, left == 0)?;
            drop(lock);
            Ok(())
        })
        .await?;
        Ok(round)
    }
}

/// Whether documents lack embeddings; with `check`, also whether some are damaged.
pub(super) fn lacks(folder: &Path, name: &str, check: bool) -> Result<bool> {
    let Some(manifest) = Manifest::read(folder, name)? else { return Ok(false) };
    if !manifest.pending.is_empty() || !check {
        return Ok(!manifest.pending.is_empty());
    }
    let snapshot = TextIndex::open(folder, name)?.snapshot()?;
    let vectors = Vectors::open(folder, manifest.dimension, snapshot.rows)?;
    let mut damaged = false;
    for scope in &manifest.scopes {
        snapshot.rows_of(*scope, |_, row| damaged |= !is_sound(&vectors, row))?;
    }
    Ok(damaged)
}

fn is_sound(vectors: &Vectors, row: Row) -> bool {
    vectors.row(row.row).is_some_and(|numbers| fnv_row(numbers) == row.sum)
}

fn choose(
    folder: &Path,
    name: &str,
    lock: File,
    (embedder, dimension): (&str, usize),
    check: bool,
    most: usize,
    empty: &mut HashSet<String>,
) -> Result<Chunk> {
    let mut manifest =
        Manifest::read(folder, name)?.ok_or_else(|| CorpusError::NotFound { name: name.to_owned() })?;
    let index = TextIndex::open(folder, name)?;
    let snapshot = index.snapshot()?;
    if !manifest.scopes.is_empty() && (manifest.embedder != embedder || manifest.dimension != dimension) {
        let (stored, now) = (manifest.embedder, embedder.to_owned());
        return Err(CorpusError::ModelChanged { name: name.to_owned(), stored, now });
    }
    if !manifest.pending.is_empty() && manifest.scopes.is_empty() {
        (manifest.embedder, manifest.dimension) = (embedder.to_owned(), dimension);
        manifest.scopes = std::mem::replace(&mut manifest.pending, vec![FeatureScope::Wide]);
        manifest.write(folder)?;
    } else if manifest.pending.iter().any(|scope| !manifest.scopes.contains(scope)) {
        manifest.scopes.extend(manifest.pending.iter().copied());
        manifest.scopes.sort_unstable();
        manifest.scopes.dedup();
        manifest.write(folder)?;
    }
    let vectors = Vectors::open(folder, manifest.dimension, snapshot.rows)?;
    let Lacking { documents, left, damaged } = lacking(&manifest, &snapshot, &vectors, check, most, empty)?;
    Ok(Chunk { lock, manifest, index, documents, left, damaged })
}

/// Documents that lack an embedding, or have a damaged one.
struct Lacking {
    /// Some of them, with the embeddings that they keep.
    documents: Vec<(Pending, Rows)>,
    /// How many more there are.
    left: u64,
    /// Whether embeddings were found damaged.
    damaged: bool,
}

fn lacking(
    manifest: &Manifest,
    snapshot: &Snapshot,
    vectors: &Vectors,
    check: bool,
    most: usize,
    empty: &mut HashSet<String>,
) -> Result<Lacking> {
    let sound = |row: Row| is_sound(vectors, row);
    let segments = snapshot.searcher.segment_readers();
    let mut with_wide: Vec<Vec<bool>> =
        segments.iter().map(|reader| vec![false; reader.max_doc() as usize]).collect();
    let mut unsound: HashSet<DocAddress> = HashSet::new();
    for scope in &manifest.scopes {
        snapshot.rows_of(*scope, |at, row| {
            if *scope == FeatureScope::Wide {
                with_wide[at.segment_ord as usize][at.doc_id as usize] = true;
            }
            // A row that the file does not reach is cheap to notice.
            let is_fine = if check { sound(row) } else { vectors.row(row.row).is_some() };
            if !is_fine {
                unsound.insert(at);
            }
        })?;
    }
    let damaged = check && !unsound.is_empty();
    // A scope that was added later may be missing anywhere.
    let everywhere = manifest.pending.iter().any(|scope| *scope != FeatureScope::Wide);
    let alive = (0_u32..)
        .zip(segments)
        .flat_map(|(segment, reader)| reader.doc_ids_alive().map(move |doc| DocAddress::new(segment, doc)));
    let suspects = alive.filter(|at| {
        everywhere || !with_wide[at.segment_ord as usize][at.doc_id as usize] || unsound.contains(at)
    });
    let ids = snapshot.ids()?;
    let (mut chosen, mut left) = (Vec::new(), 0);
    for at in suspects {
        if !empty.is_empty() && empty.contains(&ids.of(at)?) {
            continue;
        }
        if chosen.len() >= most {
            left += 1;
            continue;
        }
        let document = snapshot.document(at)?;
        let stored = snapshot.entry(&document.doc_id)?.map(|entry| entry.rows).unwrap_or_default();
        let kept: Rows = stored.into_iter().filter(|(_, row)| sound(*row)).collect();
        let mut texts = texts(&document, &manifest.scopes);
        for (scopes, _) in &mut texts {
            scopes.retain(|scope| kept.iter().all(|(of, _)| of != scope));
        }
        texts.retain(|(scopes, _)| !scopes.is_empty());
        if texts.is_empty() {
            empty.insert(document.doc_id);
            continue;
        }
        let json = to_json(&document);
        let hash = fnv(json.as_bytes());
        chosen.push((Pending { document, json, hash, texts, replaces: true }, kept));
    }
    Ok(Lacking { documents: chosen, left, damaged })
}

fn write(
    folder: &Path,
    index: &TextIndex,
    mut manifest: Manifest,
    embedded: Embedded,
    kept: Vec<Rows>,
    last: bool,
) -> Result<()> {
    if !embedded.is_empty() {
        let mut vectors = VectorWriter::open(folder, manifest.dimension, index.snapshot()?.rows)?;
        let mut writer = index.writer()?;
        for ((pending, own), mut rows) in embedded.into_iter().zip(kept) {
            for ((scopes, _), vector) in pending.texts.iter().zip(&own) {
                let row = Row { row: vectors.append(vector)?, sum: fnv_row(vector) };
                rows.extend(scopes.iter().map(|scope| (*scope, row)));
            }
            writer.put(&pending.document, &pending.json, pending.hash, &rows, true)?;
        }
        writer.commit(vectors.sync()?)?;
        writer.end()?;
    }
    if last {
        index.writer()?.finish()?;
        manifest.pending = Vec::new();
        manifest.write(folder)?;
    }
    Ok(())
}
