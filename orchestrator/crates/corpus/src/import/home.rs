//! Where the documents of a corpus are, as an import sees it. Blocking.

use crate::backend::FeatureScope;
use crate::corpora::wait;
use crate::index::TextIndex;
use crate::manifest::Manifest;
use crate::remote::{Cluster, Shelf};
use crate::{CorpusError, Result};
use serde_json::json;
use std::collections::HashSet;
use std::path::Path;
use tokio_util::sync::CancellationToken;

/// Ids per question whether documents are there.
const IDS: usize = 1_000;

/// The place.
#[derive(Clone)]
#[expect(clippy::large_enum_variant, reason = "an import has one")]
pub(crate) enum Home {
    /// In the folder of the corpus.
    Here(TextIndex),
    /// On a cluster.
    There(Box<Shelf>),
}

impl Home {
    /// Of a corpus that is there.
    pub(crate) fn of(folder: &Path, name: &str, cluster: Option<&Cluster>) -> Result<Self> {
        let manifest =
            Manifest::read(folder, name)?.ok_or_else(|| CorpusError::NotFound { name: name.to_owned() })?;
        Ok(match Shelf::of(cluster, manifest)? {
            Some(shelf) => Self::There(Box::new(shelf)),
            None => Self::Here(TextIndex::open(folder, name)?),
        })
    }

    /// Which of these documents are there.
    pub(crate) fn present(&self, ids: Vec<String>) -> Result<Vec<String>> {
        match self {
            Self::Here(index) => {
                let snapshot = index.snapshot()?;
                let mut there = Vec::new();
                for id in ids {
                    if snapshot.holds(&id)? {
                        there.push(id);
                    }
                }
                Ok(there)
            }
            Self::There(shelf) => {
                let mut there: HashSet<String> = HashSet::new();
                for ids in ids.chunks(IDS) {
                    let stop = CancellationToken::new();
                    there.extend(wait(shelf.states(&shelf.index, ids, &stop))?.into_keys());
                }
                Ok(ids.into_iter().filter(|id| there.contains(id)).collect())
            }
        }
    }

    /// Removes documents.
    pub(crate) fn delete(&self, ids: &[String]) -> Result<()> {
        match self {
            Self::Here(index) => {
                let rows = index.snapshot()?.rows;
                let mut writer = index.writer()?;
                for id in ids {
                    writer.delete(id);
                }
                writer.commit(rows)?;
                writer.finish()
            }
            Self::There(shelf) => wait(async {
                let stop = CancellationToken::new();
                shelf.delete(ids, &stop).await?;
                shelf.refresh(&shelf.index, &stop).await
            }),
        }
    }

    /// Documents, and those of them that have an embedding.
    pub(crate) fn counts(&self) -> Result<(u64, u64)> {
        match self {
            Self::Here(index) => {
                let snapshot = index.snapshot()?;
                Ok((snapshot.count(), snapshot.embedded(FeatureScope::Wide)?))
            }
            Self::There(shelf) => wait(async {
                let stop = CancellationToken::new();
                shelf.refresh(&shelf.index, &stop).await?;
                let all = shelf.count(&json!({"match_all": {}}), &stop).await?;
                Ok((all, shelf.embedded(FeatureScope::Wide, &stop).await?))
            }),
        }
    }
}
