//! Options of an import.

use super::Format;
use crate::backend::{BackendKind, FeatureScope};
use crate::manifest::Manifest;
use crate::{CorpusError, Result};
use std::path::PathBuf;

/// When documents are embedded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Embed {
    /// By the import, before it ends.
    #[default]
    Now,
    /// By [`Corpora::embed_pending`](crate::Corpora::embed_pending). Full-text search works meanwhile.
    Later,
}

/// How files are imported.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ImportOptions {
    /// Format of every file; `None` tells it from each file's beginning.
    pub format: Option<Format>,
    /// Scopes to embed documents in; an empty list for a corpus without embeddings. `None`: those that the corpus has,
    /// all of them for a new one.
    pub scopes: Option<Vec<FeatureScope>>,
    /// When to embed.
    pub embed: Embed,
    /// Remove documents whose only file is gone, from folders that are there and not empty.
    pub prune: bool,
    /// Where a new corpus is: here, or on the configured cluster of `OpenSearch`. `None`: where the corpus is, here for a
    /// new one.
    pub backend: Option<BackendKind>,
    /// Make a new index of the documents that a corpus on a cluster has, with the present embedder, and let it take the
    /// old one's place.
    pub rebuild: bool,
    /// Absolute paths of files that are left for another import, such as those still being written.
    pub except: Vec<PathBuf>,
}

impl ImportOptions {
    /// Whether the corpus is on a cluster.
    ///
    /// # Errors
    /// Another place than the one that the corpus has, and one that documents cannot be brought to.
    pub(super) fn is_on_cluster(&self, name: &str, stored: Option<&Manifest>) -> Result<bool> {
        let wrong =
            |why: String, expected: &str| Err(CorpusError::Search { why, expected: expected.to_owned() });
        let has = stored.map(|stored| match &stored.opensearch {
            Some(_) => BackendKind::OpenSearch,
            None => BackendKind::Embedded,
        });
        let chosen = self.backend.or(has).unwrap_or_default();
        if let Some(has) = has.filter(|has| *has != chosen) {
            let why = format!("corpus `{name}` is {has}, not {chosen}");
            return wrong(
                why,
                "leave the backend out, or export the corpus as JSONL and import that under another name",
            );
        }
        match chosen {
            BackendKind::Embedded if self.rebuild => {
                wrong(format!("corpus `{name}` is embedded"), "a rebuild is for corpora on a cluster")
            }
            BackendKind::Embedded => Ok(false),
            BackendKind::OpenSearch => Ok(true),
            BackendKind::Patentfield => {
                wrong("patentfield takes no documents".to_owned(), "use embedded or opensearch")
            }
        }
    }

    /// The scopes of the corpus after the import.
    pub(super) fn scopes_for(&self, name: &str, stored: Option<&Manifest>) -> Result<Vec<FeatureScope>> {
        let known = |stored: &Manifest| -> Vec<FeatureScope> {
            stored.scopes.iter().chain(&stored.pending).copied().collect()
        };
        let mut scopes = match (&self.scopes, stored) {
            (None, None) => FeatureScope::ALL.to_vec(),
            (None, Some(stored)) => known(stored),
            (Some(asked), None) => asked.clone(),
            (Some(asked), Some(stored)) if asked.is_empty() && !stored.scopes.is_empty() => {
                return Err(CorpusError::Search {
                    why: format!(
                        "corpus `{name}` has embeddings, and documents without would not be found by them"
                    ),
                    expected: "leave the scopes out, or remove the corpus first".to_owned(),
                });
            }
            (Some(asked), Some(_)) if asked.is_empty() => Vec::new(),
            (Some(asked), Some(stored)) => asked.iter().copied().chain(known(stored)).collect(),
        };
        scopes.sort_unstable();
        scopes.dedup();
        // Evidence compares the whole document: where there are embeddings at all, that one is there.
        if !scopes.is_empty() && !scopes.contains(&FeatureScope::Wide) {
            scopes.insert(0, FeatureScope::Wide);
        }
        Ok(scopes)
    }
}
