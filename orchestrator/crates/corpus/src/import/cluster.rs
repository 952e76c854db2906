//! What an import does on a cluster besides reading and writing: the index, its mapping, and a new index of the documents
//! that takes the place of the old one.

use super::known::{Known, Place};
use super::reader::texts;
use super::{Batching, Embedder, ImportOptions, ImportReport, LISTED, Pending, Rejected, Tally};
use crate::backend::FeatureScope;
use crate::corpora::blocking;
use crate::hash::fnv;
use crate::index::to_json;
use crate::manifest::{Building, Manifest, OnCluster};
use crate::remote::{Cluster, Put, Shelf};
use crate::{CorpusError, Result};
use lyra_research::ports::Inference;
use serde_json::json;
use std::cell::RefCell;
use std::path::Path;
use std::sync::PoisonError;
use tokio_util::sync::CancellationToken;

/// Documents per step of a rebuild.
const STEP: usize = 256;

/// Where a new corpus is on a cluster.
pub(super) async fn place(
    cluster: &Cluster,
    manifest: &Manifest,
    stop: &CancellationToken,
) -> Result<OnCluster> {
    let config = cluster.config();
    let greeting = cluster.greeting(stop).await?;
    tracing::debug!(version = greeting.version, "the cluster answers");
    // Names of indices are in lower case.
    let alias = format!("{}{}", config.prefix, manifest.name.to_lowercase());
    Ok(OnCluster {
        cluster: greeting.uuid.clone(),
        url: config.urls.first().cloned().unwrap_or_default(),
        index: name(&alias),
        alias,
        analyzer: config.analyzer,
        building: None,
    })
}

/// A name of an index that was not used before.
fn name(alias: &str) -> String {
    #[expect(clippy::disallowed_methods, reason = "tells indices of one corpus apart; nothing depends on it")]
    let now = jiff::Timestamp::now().as_millisecond();
    format!("{alias}-{now:x}")
}

/// The corpus with its index, which is made if it is new, and how many documents it has.
pub(super) async fn prepare(
    folder: &Path,
    cluster: &Cluster,
    mut manifest: Manifest,
    is_new: bool,
    stop: &CancellationToken,
) -> Result<(Shelf, u64)> {
    if is_new {
        manifest.opensearch = Some(place(cluster, &manifest, stop).await?);
    }
    let shelf = open(cluster, manifest.clone())?;
    shelf.check_cluster(stop).await?;
    if is_new {
        shelf.check_alias(stop).await?;
        // Written first: an index that exists is known.
        keep(folder, &manifest).await?;
        shelf.create(&shelf.index, &manifest.scopes, manifest.dimension, stop).await?;
    } else {
        let stored = {
            let (folder, name) = (folder.to_owned(), manifest.name.clone());
            blocking(move || Manifest::read(&folder, &name)).await?
        };
        let had = stored.map(|stored| stored.scopes).unwrap_or_default();
        // An interruption may have left a corpus that has no index yet.
        if shelf.count(&json!({"match_all": {}}), stop).await.is_err() {
            shelf.create(&shelf.index, &had, manifest.dimension, stop).await?;
        }
        shelf.check_mapping(&shelf.index, &had, manifest.dimension, stop).await?;
        if manifest.scopes.iter().any(|scope| !had.contains(scope)) {
            shelf.add_scopes(&manifest.scopes, manifest.dimension, stop).await?;
        }
        keep(folder, &manifest).await?;
    }
    shelf.point(&shelf.index, stop).await?;
    shelf.refresh(&shelf.index, stop).await?;
    let count = shelf.count(&json!({"match_all": {}}), stop).await?;
    Ok((shelf, count))
}

/// What is known about a corpus on a cluster.
pub(super) fn known(shelf: &Shelf, count: u64, scopes: Vec<FeatureScope>) -> Known {
    let place =
        Place::There { shelf: Box::new(shelf.clone()), is_empty: count == 0, ahead: RefCell::default() };
    Known { place, scopes }
}

/// That the cluster has all documents that it should have. It may have more: the last request of an import that was killed may be
/// written after this one began.
pub(super) fn verify(shelf: &Shelf, before: u64, report: &ImportReport, now: u64) -> Result<()> {
    let expected = (before + report.added).saturating_sub(report.files.pruned);
    if now >= expected {
        return Ok(());
    }
    let why = format!(
        "index `{}` has {now} documents where {expected} are expected ({before} before, {} added, {} removed): another program \
         deleted some, or the cluster lost them. Import the files again, which writes what is missing",
        shelf.index, report.added, report.files.pruned
    );
    Err(shelf.cluster.error(why, false))
}

/// Fills a new index with the documents of the corpus, embedded by the present embedder, lets it take the old one's place,
/// and deletes that. An interruption leaves the old one in place; the next call goes on.
#[expect(clippy::too_many_arguments, reason = "what an import has, handed on as it is")]
pub(super) async fn rebuild(
    folder: &Path,
    cluster: &Cluster,
    mut manifest: Manifest,
    options: &ImportOptions,
    inference: &dyn Inference,
    batching: Batching,
    tally: &Tally,
    stop: &CancellationToken,
) -> Result<Manifest> {
    let shelf = open(cluster, manifest.clone())?;
    shelf.check_cluster(stop).await?;
    let scopes = options.scopes_for(&manifest.name, Some(&manifest))?;
    let (embedder, dimension) = if scopes.is_empty() {
        (String::new(), 0)
    } else {
        let models = inference.models().await?;
        (models.embedder, models.dimension)
    };
    let Some(place) = manifest.opensearch.as_mut() else {
        return Err(cluster.error("the corpus is not on a cluster", false));
    };
    let analyzer = cluster.config().analyzer;
    let goes_on = place.building.as_ref().is_some_and(|building| {
        building.embedder == embedder && building.scopes == scopes && building.analyzer == analyzer
    });
    if !goes_on {
        if let Some(left) = &place.building {
            shelf.drop_index(&left.index, stop).await?;
        }
        let index = name(&place.alias);
        place.building = Some(Building { index, analyzer, embedder, dimension, scopes: scopes.clone() });
        keep(folder, &manifest).await?;
    }
    let Some(building) = manifest.opensearch.as_ref().and_then(|place| place.building.clone()) else {
        return Err(cluster.error("no index is being built", false));
    };
    let mut next = Manifest {
        embedder: building.embedder.clone(),
        dimension,
        scopes: scopes.clone(),
        pending: Vec::new(),
        ..manifest.clone()
    };
    if let Some(place) = next.opensearch.as_mut() {
        place.index.clone_from(&building.index);
        place.analyzer = building.analyzer;
        place.building = None;
    }
    let new = open(cluster, next.clone())?;
    new.create(&new.index, &scopes, dimension, stop).await?;
    shelf.refresh(&shelf.index, stop).await?;
    let refused = fill(&shelf, &new, inference, batching, tally, stop).await?;
    new.refresh(&new.index, stop).await?;
    let (old, now) = (
        shelf.count(&json!({"match_all": {}}), stop).await?,
        new.count(&json!({"match_all": {}}), stop).await?,
    );
    if now + refused != old {
        let why = format!(
            "the new index has {now} of {old} documents, and {refused} were refused: rebuild the corpus again"
        );
        return Err(cluster.error(why, false));
    }
    // Searches follow the manifest, other programs the alias. The old index goes when neither leads to it.
    new.point(&new.index, stop).await?;
    keep(folder, &next).await?;
    shelf.drop_index(&shelf.index, stop).await?;
    Ok(next)
}

/// Copies documents that the new index does not have yet. Returns how many the cluster refused.
async fn fill(
    old: &Shelf,
    new: &Shelf,
    inference: &dyn Inference,
    batching: Batching,
    tally: &Tally,
    stop: &CancellationToken,
) -> Result<u64> {
    let embedder = Embedder { inference, dimension: new.manifest.dimension, most: batching.embed };
    let mut pages = old.pages(&[], stop).await?;
    let mut refused = 0;
    loop {
        let page = pages.next(stop).await?;
        if page.is_empty() {
            return Ok(refused);
        }
        let ids: Vec<String> = page.iter().map(|document| document.doc_id.clone()).collect();
        let done = new.states(&new.index, &ids, stop).await?;
        let mut pending = Vec::new();
        for document in page {
            let json = to_json(&document);
            let hash = fnv(json.as_bytes());
            if done.get(&document.doc_id).is_none_or(|(stored, _)| *stored != hash) {
                let texts = texts(&document, &new.manifest.scopes);
                pending.push(Pending { document, json, hash, texts, replaces: false, from: None });
            }
        }
        while !pending.is_empty() {
            let rest = pending.split_off(pending.len().min(STEP));
            let step = std::mem::replace(&mut pending, rest);
            let embedded = embedder.embed(step).await?;
            let puts: Vec<Put<'_>> = embedded
                .iter()
                .map(|(pending, own)| {
                    let scopes = pending.texts.iter().map(|(scopes, _)| scopes.clone());
                    let vectors = scopes.zip(own.iter().cloned()).collect();
                    Put { document: &pending.document, hash: pending.hash, vectors }
                })
                .collect();
            let odd = new.put(&new.index, &puts, stop).await?.refused;
            refused += odd.len() as u64;
            let mut tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
            let (report, progress) = &mut *tally;
            progress.indexed += embedded.len() as u64 - odd.len() as u64;
            report.rejected_count += odd.len() as u64;
            let room = LISTED.saturating_sub(report.rejected.len());
            report.rejected.extend(odd.into_iter().take(room).map(|one| Rejected {
                file: std::path::PathBuf::new(),
                line: 0,
                reason: format!("`{}`: {}", one.id, one.reason),
            }));
        }
    }
}

fn open(cluster: &Cluster, manifest: Manifest) -> Result<Shelf> {
    let name = manifest.name.clone();
    Shelf::of(Some(cluster), manifest)?.ok_or(CorpusError::NotFound { name })
}

async fn keep(folder: &Path, manifest: &Manifest) -> Result<()> {
    let (folder, manifest) = (folder.to_owned(), manifest.clone());
    blocking(move || manifest.write(&folder)).await
}
