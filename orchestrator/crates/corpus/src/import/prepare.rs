//! What an import starts from, here and on a cluster.

use super::known::{self, Known};
use super::{Home, cluster, lock::lock};
use crate::backend::FeatureScope;
use crate::corpora::blocking;
use crate::index::TextIndex;
use crate::manifest::Manifest;
use crate::remote::{Cluster, Shelf};
use crate::vectors::Vectors;
use crate::{CorpusError, Result};
use std::fs::File;
use std::path::Path;
use tokio_util::sync::CancellationToken;

/// What an import starts from.
pub(super) struct Prepared {
    pub(super) lock: File,
    pub(super) manifest: Manifest,
    pub(super) home: Home,
    pub(super) known: Known,
    /// Documents that are there.
    pub(super) before: u64,
}

/// Locks a corpus on this machine, and brings its manifest to what is asked for.
pub(super) fn here(folder: &Path, fresh: Manifest, later: bool) -> Result<Prepared> {
    std::fs::create_dir_all(folder).map_err(CorpusError::io(folder))?;
    let name = fresh.name.clone();
    let lock = lock(folder, &name)?;
    let index = TextIndex::open(folder, &name)?;
    let snapshot = index.snapshot()?;
    let manifest = joined(Manifest::read(folder, &name)?, fresh, later, snapshot.count() > 0)?;
    manifest.write(folder)?;
    let vectors = Vectors::open(folder, manifest.dimension, snapshot.rows)?;
    let scopes = if later { Vec::new() } else { manifest.scopes.clone() };
    let before = snapshot.count();
    let known = Known { place: known::Place::Here { snapshot, vectors }, scopes };
    Ok(Prepared { lock, manifest, home: Home::Here(index), known, before })
}

/// The same for a corpus on a cluster. A new one of which no index can be made leaves nothing.
pub(super) async fn there(
    folder: &Path,
    cluster: &Cluster,
    fresh: Manifest,
    later: bool,
    stop: &CancellationToken,
) -> Result<Prepared> {
    let (lock, stored) = {
        let (folder, name) = (folder.to_owned(), fresh.name.clone());
        blocking(move || {
            std::fs::create_dir_all(&folder).map_err(CorpusError::io(&folder))?;
            Ok((lock(&folder, &name)?, Manifest::read(&folder, &name)?))
        })
        .await?
    };
    let is_new = stored.is_none();
    let has_documents = match &stored {
        None => false,
        Some(stored) => match Shelf::of(Some(cluster), stored.clone())? {
            Some(shelf) => {
                shelf.count(&serde_json::json!({"match_all": {}}), stop).await.is_ok_and(|count| count > 0)
            }
            None => false,
        },
    };
    let manifest = joined(stored, fresh, later, has_documents)?;
    match cluster::prepare(folder, cluster, manifest.clone(), is_new, stop).await {
        Ok((shelf, before)) => {
            let manifest = shelf.manifest.clone();
            let scopes = if later { Vec::new() } else { manifest.scopes.clone() };
            let known = cluster::known(&shelf, before, scopes);
            Ok(Prepared { lock, manifest, home: Home::There(Box::new(shelf)), known, before })
        }
        Err(error) => {
            drop(lock);
            if is_new {
                let folder = folder.to_owned();
                let removed =
                    blocking(move || std::fs::remove_dir_all(&folder).map_err(CorpusError::io(&folder)));
                if let Err(error) = removed.await {
                    tracing::debug!(%error, "the folder of the corpus stays");
                }
            }
            Err(error)
        }
    }
}

/// The manifest of a corpus with what an import asks for.
fn joined(stored: Option<Manifest>, fresh: Manifest, later: bool, has_documents: bool) -> Result<Manifest> {
    Ok(match stored {
        // Without embeddings so far, any model may begin.
        Some(stored) if stored.scopes.is_empty() => {
            let older = !fresh.scopes.is_empty() && has_documents;
            let pending = if older { vec![FeatureScope::Wide] } else { fresh.pending };
            Manifest { created: stored.created, opensearch: stored.opensearch, pending, ..fresh }
        }
        Some(stored) if later => {
            let added = fresh.pending.into_iter().filter(|scope| !stored.scopes.contains(scope));
            let pending =
                join_scopes(added.chain([FeatureScope::Wide]).chain(stored.pending.iter().copied()));
            Manifest { pending, ..stored }
        }
        Some(stored) if stored.embedder == fresh.embedder && stored.dimension == fresh.dimension => {
            let added = fresh.scopes.iter().filter(|scope| !stored.scopes.contains(scope)).copied();
            let pending = join_scopes(added.chain(stored.pending.iter().copied()));
            let pending = if has_documents { pending } else { Vec::new() };
            Manifest { scopes: fresh.scopes, pending, ..stored }
        }
        Some(stored) => {
            let name = fresh.name;
            return Err(CorpusError::ModelChanged { name, stored: stored.embedder, now: fresh.embedder });
        }
        None => fresh,
    })
}

fn join_scopes(scopes: impl Iterator<Item = FeatureScope>) -> Vec<FeatureScope> {
    scopes.collect::<std::collections::BTreeSet<_>>().into_iter().collect()
}
