//! What a corpus has of documents that are read.

use super::Texts;
use super::reader::texts;
use crate::backend::FeatureScope;
use crate::corpora::wait;
use crate::hash::fnv_row;
use crate::index::{self, Snapshot};
use crate::remote::{Shelf, State};
use crate::vectors::Vectors;
use crate::{Document, Result};
use std::cell::RefCell;
use std::collections::HashMap;
use tokio_util::sync::CancellationToken;

/// What the corpus holds before the import.
pub(super) struct Known {
    pub(super) place: Place,
    /// Scopes that documents are embedded in now.
    pub(super) scopes: Vec<FeatureScope>,
}

/// Where it holds it.
#[expect(clippy::large_enum_variant, reason = "an import has one")]
pub(super) enum Place {
    Here {
        snapshot: Snapshot,
        vectors: Vectors,
    },
    There {
        shelf: Box<Shelf>,
        /// Nothing is there yet.
        is_empty: bool,
        /// What was asked about documents that come next.
        ahead: RefCell<HashMap<String, Option<State>>>,
    },
}

/// What the corpus has of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Had {
    Nothing,
    /// The same, with all embeddings.
    Same,
    /// Something else, or less.
    Other,
}

impl Known {
    /// Which parts of a document are embedded.
    pub(super) fn texts(&self, document: &Document) -> Texts {
        texts(document, &self.scopes)
    }

    /// Asks about documents that come next, all at once.
    pub(super) fn look_ahead(&self, ids: impl FnOnce() -> Vec<String>) -> Result<()> {
        let Place::There { shelf, is_empty: false, ahead } = &self.place else { return Ok(()) };
        let ids = ids();
        let mut found = wait(shelf.states(&shelf.index, &ids, &CancellationToken::new()))?;
        *ahead.borrow_mut() = ids.iter().map(|id| (id.clone(), found.remove(id))).collect();
        Ok(())
    }

    /// The stored document of an id.
    pub(super) fn stored(&self, id: &str) -> Result<Option<Document>> {
        match &self.place {
            Place::Here { snapshot, .. } => snapshot.stored(id),
            Place::There { is_empty: true, .. } => Ok(None),
            Place::There { shelf, .. } => {
                let ids = [id.to_owned()];
                Ok(wait(shelf.documents(&ids, &CancellationToken::new()))?.remove(id))
            }
        }
    }

    /// Documents whose titles have all words of this one, at most `most`. None on a cluster, where versions of a work are joined by
    /// identifiers alone.
    pub(super) fn titled(&self, title: &str, most: usize) -> Result<Vec<Document>> {
        match &self.place {
            Place::Here { snapshot, .. } => snapshot.titled(title, most),
            Place::There { .. } => Ok(Vec::new()),
        }
    }

    /// What the corpus has of a document with this checksum and these texts.
    pub(super) fn had(&self, id: &str, hash: u64, texts: &Texts) -> Result<Had> {
        let same = match &self.place {
            Place::Here { snapshot, vectors } => {
                let Some(entry) = snapshot.entry(id)? else { return Ok(Had::Nothing) };
                entry.hash == hash && is_sound(vectors, &entry, texts)
            }
            Place::There { is_empty: true, .. } => return Ok(Had::Nothing),
            Place::There { shelf, ahead, .. } => {
                let known = ahead.borrow().get(id).cloned();
                let state = if let Some(state) = known {
                    state
                } else {
                    let ids = [id.to_owned()];
                    wait(shelf.states(&shelf.index, &ids, &CancellationToken::new()))?.remove(id)
                };
                let Some((stored, scopes)) = state else { return Ok(Had::Nothing) };
                stored == hash && texts.iter().flat_map(|(of, _)| of).all(|scope| scopes.contains(scope))
            }
        };
        Ok(if same { Had::Same } else { Had::Other })
    }
}

/// Whether the entry has all its embeddings, and they are what was written.
fn is_sound(vectors: &Vectors, entry: &index::Entry, texts: &Texts) -> bool {
    texts.iter().flat_map(|(scopes, _)| scopes).all(|scope| {
        let row = entry.rows.iter().find(|(of, _)| of == scope).map(|(_, row)| row);
        row.is_some_and(|row| vectors.row(row.row).is_some_and(|numbers| fnv_row(numbers) == row.sum))
    })
}
