//! Options of an import.

use super::Format;
use crate::backend::FeatureScope;
use crate::manifest::Manifest;
use crate::{CorpusError, Result};

/// How files are imported.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ImportOptions {
    /// Format of every file; `None` tells it from each file's beginning.
    pub format: Option<Format>,
    /// Scopes to embed documents in; an empty list for a corpus without embeddings. `None`: those that the corpus has,
    /// all of them for a new one.
    pub scopes: Option<Vec<FeatureScope>>,
}

impl ImportOptions {
    /// The scopes of the corpus after the import.
    pub(super) fn scopes_for(&self, name: &str, stored: Option<&Manifest>) -> Result<Vec<FeatureScope>> {
        let mut scopes = match (&self.scopes, stored) {
            (None, None) => FeatureScope::ALL.to_vec(),
            (None, Some(stored)) => stored.scopes.clone(),
            (Some(asked), None) => asked.clone(),
            (Some(asked), Some(stored)) if asked.is_empty() && !stored.scopes.is_empty() => {
                return Err(CorpusError::Search {
                    why: format!(
                        "corpus `{name}` has embeddings, and documents without would not be found by them"
                    ),
                    expected: "leave the scopes out, or remove the corpus first".to_owned(),
                });
            }
            (Some(asked), Some(stored)) => asked.iter().chain(&stored.scopes).copied().collect(),
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
