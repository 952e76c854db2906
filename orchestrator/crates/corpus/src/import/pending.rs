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
use crate::manifest::{Manifest, NEWEST};
use crate::remote::{Cluster, Shelf};
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
    cluster: Option<Cluster>,
    /// The last document on a cluster that had its turn.
    after: Option<String>,
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
    pub(crate) fn new(
        folder: &Path,
        name: &str,
        batching: Batching,
        check: bool,
        cluster: Option<&Cluster>,
    ) -> Self {
        let (folder, name, cluster) = (folder.to_owned(), name.to_owned(), cluster.cloned());
        Self { folder, name, batching, check, empty: HashSet::new(), cluster, after: None }
    }

    /// Embeds some documents; none are left after the last round.
    pub(crate) async fn next(&mut self, inference: &dyn Inference, holder: Holder) -> Result<Round> {
        let models = inference.models().await?;
        let most = ROUND.min(self.batching.commit.max(1));
        let manifest = {
            let (folder, name) = (self.folder.clone(), self.name.clone());
            blocking(move || Manifest::read(&folder, &name)).await?
        };
        if manifest.is_some_and(|manifest| manifest.format == NEWEST) {
            return self.next_there(inference, holder, most).await;
        }
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

impl Rounds {
    /// The same for a corpus on a cluster.
    async fn next_there(&mut self, inference: &dyn Inference, holder: Holder, most: usize) -> Result<Round> {
        let models = inference.models().await?;
        let (folder, name) = (self.folder.clone(), self.name.clone());
        let (lock, mut manifest) = blocking(move || {
            let lock = lock_as(&folder, &name, holder)?;
            let mut manifest = Manifest::read(&folder, &name)?.ok_or(CorpusError::NotFound { name })?;
            begin(&mut manifest, &models.embedder, models.dimension)?;
            Ok((lock, manifest))
        })
        .await?;
        let stop = tokio_util::sync::CancellationToken::new();
        let not_there = || CorpusError::NotFound { name: self.name.clone() };
        let shelf = Shelf::of(self.cluster.as_ref(), manifest.clone())?.ok_or_else(not_there)?;
        shelf.add_scopes(&manifest.scopes, manifest.dimension, &stop).await?;
        self.keep(&manifest).await?;
        shelf.refresh(&shelf.index, &stop).await?;
        let found = shelf.lacking(&manifest.scopes, self.after.as_deref(), most, &stop).await?;
        let ended = found.len() < most;
        self.after = found.last().map(|(document, _)| document.doc_id.clone());
        let mut pending = Vec::new();
        for (document, has) in found {
            let texts = texts(&document, &manifest.scopes);
            // A document is written with all its vectors at once: the field that names them is one.
            let lacks =
                |(scopes, _): &(Vec<FeatureScope>, String)| scopes.iter().any(|scope| !has.contains(scope));
            if texts.iter().any(lacks) {
                let json = to_json(&document);
                let hash = fnv(json.as_bytes());
                pending.push(Pending { document, json, hash, texts, replaces: true, from: None });
            }
        }
        let embedder = Embedder { inference, dimension: manifest.dimension, most: self.batching.embed };
        let embedded = embedder.embed(pending).await?;
        let count = embedded.len() as u64;
        let changes = embedded.into_iter().map(|(pending, own)| {
            let scopes = pending.texts.into_iter().map(|(scopes, _)| scopes);
            (pending.document.doc_id, scopes.zip(own).collect())
        });
        let refused = shelf.add_vectors(changes.collect(), &stop).await?;
        if let Some(first) = refused.first() {
            let why = format!(
                "{} embeddings were refused, the first of `{}`: {}",
                refused.len(),
                first.id,
                first.reason
            );
            return Err(shelf.cluster.error(why, false));
        }
        let left = match &self.after {
            Some(after) if !ended => {
                let lacking: Vec<_> = manifest
                    .scopes
                    .iter()
                    .map(|scope| serde_json::json!({"term": {"embedded": scope.name()}}))
                    .collect();
                let after = serde_json::json!({"range": {"id": {"gt": after}}});
                let query = serde_json::json!({"bool": {"must_not": [{"bool": {"filter": lacking}}], "filter": [after]}});
                shelf.count(&query, &stop).await?
            }
            _ => 0,
        };
        if left == 0 {
            shelf.refresh(&shelf.index, &stop).await?;
            manifest.pending = Vec::new();
            self.keep(&manifest).await?;
        }
        drop(lock);
        Ok(Round { embedded: count, left })
    }

    async fn keep(&self, manifest: &Manifest) -> Result<()> {
        let (folder, manifest) = (self.folder.clone(), manifest.clone());
        blocking(move || manifest.write(&folder)).await
    }
}

/// Whether documents lack embeddings; with `check`, also whether some are damaged.
pub(super) fn lacks(folder: &Path, name: &str, check: bool) -> Result<bool> {
    let Some(manifest) = Manifest::read(folder, name)? else { return Ok(false) };
    if !manifest.pending.is_empty() || !check || manifest.format == NEWEST {
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
    if begin(&mut manifest, embedder, dimension)? {
        manifest.write(folder)?;
    }
    let vectors = Vectors::open(folder, manifest.dimension, snapshot.rows)?;
    let Lacking { documents, left, damaged } = lacking(&manifest, &snapshot, &vectors, check, most, empty)?;
    Ok(Chunk { lock, manifest, index, documents, left, damaged })
}

/// Takes what is pending into what a corpus is embedded in, with this embedder. Whether that changed something.
fn begin(manifest: &mut Manifest, embedder: &str, dimension: usize) -> Result<bool> {
    if !manifest.scopes.is_empty() && (manifest.embedder != embedder || manifest.dimension != dimension) {
        let (name, stored) = (manifest.name.clone(), manifest.embedder.clone());
        return Err(CorpusError::ModelChanged { name, stored, now: embedder.to_owned() });
    }
    if !manifest.pending.is_empty() && manifest.scopes.is_empty() {
        (manifest.embedder, manifest.dimension) = (embedder.to_owned(), dimension);
        manifest.scopes = std::mem::replace(&mut manifest.pending, vec![FeatureScope::Wide]);
        return Ok(true);
    }
    if manifest.pending.iter().any(|scope| !manifest.scopes.contains(scope)) {
        manifest.scopes.extend(manifest.pending.iter().copied());
        manifest.scopes.sort_unstable();
        manifest.scopes.dedup();
        return Ok(true);
    }
    Ok(false)
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
        chosen.push((Pending { document, json, hash, texts, replaces: true, from: None }, kept));
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
