//! What the corpus has of the works that an import reads.

use crate::document::{Stage, Version};
use crate::import::files::Source;
use crate::import::known::Known;
use crate::import::library::{self, Naming, Slug};
use crate::ledger::{Entry, Kind, Ledger};
use crate::{Document, Result};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

/// Documents of one title that are looked at for the other version of a work.
const SAME_TITLE: usize = 8;

/// Documents of the corpus, found by what a work says of itself.
pub(super) struct Stored<'a> {
    known: &'a Known,
    ledger: Arc<Ledger>,
    /// Ids of documents by the addresses of items in Zotero that they were made of.
    items: HashMap<String, String>,
}

impl<'a> Stored<'a> {
    pub(super) fn new(
        known: &'a Known,
        sources: &[Source],
        files: &[Entry],
        ledger: &Arc<Ledger>,
    ) -> Result<Self> {
        Ok(Self { known, ledger: ledger.clone(), items: items(sources, files, ledger, known)? })
    }

    /// What the corpus has of a work, also under another of its ids, which it keeps; without the fields of sources that
    /// the work says itself. `origin` is where its file is.
    pub(super) fn of(&self, document: &Document, naming: Naming, origin: &Path) -> Result<Option<Document>> {
        let slug = Slug::of(document, naming, origin);
        let item = document.zotero.as_ref().and_then(|address| self.items.get(address));
        let own = Some(&document.doc_id)
            .filter(|id| !id.is_empty() && (naming == Naming::Earlier || **id != slug.plain));
        let sure = item.into_iter().chain(own).cloned().map(|id| (id, true));
        let other = library::identifying(document).into_iter().chain([slug.plain.clone(), slug.distinct]);
        for (id, is_sure) in sure.chain(other.map(|id| (id, false))) {
            let Some(stored) = self.known.stored(&id)? else { continue };
            let stored = stored.yielding_to(document);
            let known =
                |doi| stored.versions.iter().chain(&document.versions).any(|v| v.doi.as_ref() == Some(doi));
            let is_other = stored
                .doi
                .as_ref()
                .zip(document.doi.as_ref())
                .is_some_and(|(a, b)| a != b && !known(a) && !known(b));
            let agrees = || id != slug.plain || self.agrees(document, &stored, naming, origin);
            if is_sure || (!is_other && agrees()) {
                return Ok(Some(stored));
            }
        }
        self.versions(document)
    }

    /// Whether a stored document is the work that has the same plain id: it was read from the same file, or they have the
    /// same title, first author, and year. Works without a title must have the same text instead.
    fn agrees(&self, document: &Document, stored: &Document, naming: Naming, origin: &Path) -> bool {
        let before = self.ledger.get(origin).filter(|entry| entry.kind == Kind::Documents);
        let same_text = || match stored.desc.as_str() {
            "" => !stored.text.is_empty() && stored.text == document.text && document.desc.is_empty(),
            text => text == document.desc,
        };
        before.is_some_and(|entry| entry.documents.contains(&stored.doc_id))
            || match naming {
                Naming::File => same_text(),
                Naming::Earlier | Naming::Title => library::same_title(document, stored),
            }
    }

    /// A work that the corpus does not have, under an id that no other document has there.
    pub(super) fn named_apart(
        &self,
        mut document: Document,
        naming: Naming,
        origin: &Path,
    ) -> Result<Document> {
        let Slug { plain, distinct } = Slug::of(&document, naming, origin);
        if document.doc_id == plain && self.known.stored(&plain)?.is_some() {
            document.doc_id = distinct;
        }
        Ok(document)
    }

    /// What the corpus has of a work under the id of another version that it was joined with.
    fn versions(&self, document: &Document) -> Result<Option<Document>> {
        if document.doi.is_none() && document.identifiers.is_empty() {
            return Ok(None);
        }
        let titled = self.known.titled(&document.title, SAME_TITLE)?;
        let is_version = |version: &Version| {
            (document.doi.is_some() && version.doi == document.doi)
                || version.identifiers.iter().any(|id| document.identifiers.contains(id))
        };
        let stored = titled.into_iter().find(|stored| stored.versions.iter().any(is_version));
        Ok(stored.map(|stored| stored.yielding_to(document)))
    }

    /// A work that the corpus does not have, with the other version of it that an earlier import read: files that come
    /// one by one, as from a browser, name each its own identifier.
    pub(super) fn with_other_version(&self, document: Document, whole: bool) -> Result<Document> {
        let stage = if whole { document.stage() } else { document.stage_of_file() };
        let Some(stage) = stage.filter(|_| document.versions.is_empty()) else { return Ok(document) };
        for stored in self.known.titled(&document.title, SAME_TITLE)? {
            let Some(other) = library::stage_of_other(&document, stage, &stored) else { continue };
            let doc_id = stored.doc_id.clone();
            let (mut first, of_first, second, of_second) = match stage {
                Stage::Published => (document, stage, stored, other),
                Stage::Preprint => (stored, other, document, stage),
            };
            first.join(Some(of_first), second, Some(of_second));
            first.doc_id = doc_id;
            return Ok(first);
        }
        Ok(document)
    }
}

/// The documents that the items of Zotero became that are read again.
fn items(
    sources: &[Source],
    files: &[Entry],
    ledger: &Ledger,
    known: &Known,
) -> Result<HashMap<String, String>> {
    let mut items = HashMap::new();
    for source in sources.iter().filter(|source| source.is_zotero()) {
        let Some(before) = files.get(source.disk).and_then(|file| ledger.get(&file.path)) else { continue };
        for id in before.documents.iter().chain(&before.left) {
            if let Some(address) = known.stored(id)?.and_then(|stored| stored.zotero) {
                items.entry(address).or_insert_with(|| id.clone());
            }
        }
    }
    Ok(items)
}

/// A work that a reference describes, with what the corpus has of it.
pub(super) fn described(mut reference: Document, mut stored: Document) -> Document {
    if reference.zotero.is_some() && stored.zotero.is_some() {
        // What Zotero no longer has was removed there.
        stored.tags.clear();
        stored.collections.clear();
        stored.notes.clear();
        stored.annotations.clear();
    }
    reference.doc_id.clone_from(&stored.doc_id);
    let (own, other) = (reference.stage(), stored.stage());
    reference.join(own, stored, other);
    reference
}
