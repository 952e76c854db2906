//! Citations within a corpus: what cites a document, and what it cites.

use super::filters::{any, exact};
use crate::Result;
use crate::backend::{IdType, number, other_forms};
use crate::document::citation_key;
use crate::index::Snapshot;
use std::collections::BTreeSet;
use tantivy::DocAddress;
use tantivy::query::{BooleanQuery, Occur, Query};

/// Which end of a citation is sought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    /// Documents that cite the given one: forward.
    Citing,
    /// Documents that the given one cites: backward.
    Cited,
}

/// The documents at the other end of the citations of a document, without that document. It is named by its id, by a
/// number in any form, or by a DOI. What cites it is also found if the corpus does not have the document itself.
pub(super) fn citation(snapshot: &Snapshot, direction: Direction, named: &str) -> Result<Box<dyn Query>> {
    let fields = &snapshot.fields;
    let own = find(snapshot, named)?;
    let mut keys: BTreeSet<String> = BTreeSet::new();
    for at in &own {
        let document = snapshot.document(*at)?;
        keys.extend(match direction {
            Direction::Citing => document.cited_keys(),
            Direction::Cited => document.citing_keys(),
        });
    }
    if own.is_empty() && direction == Direction::Citing {
        keys.insert(citation_key(named));
    }
    let field = match direction {
        Direction::Citing => fields.cites,
        Direction::Cited => fields.cited_as,
    };
    let found = any(keys.iter().map(|key| exact(field, key)).collect());
    if own.is_empty() {
        return Ok(found);
    }
    let mut clauses = vec![(Occur::Must, found)];
    let ids = snapshot.ids()?;
    for at in own {
        clauses.push((Occur::MustNot, exact(fields.id, &ids.of(at)?)));
    }
    Ok(Box::new(BooleanQuery::new(clauses)))
}

/// The documents of an id, of a number in one of its forms, or of a publication's number without its kind.
fn find(snapshot: &Snapshot, named: &str) -> Result<Vec<DocAddress>> {
    for form in std::iter::once(named.to_owned()).chain(other_forms(named)) {
        let found = snapshot.find(IdType::DocId, &form)?;
        if !found.is_empty() {
            return Ok(found);
        }
    }
    let key = citation_key(named);
    let is_number = number::key(named).is_some() || key.starts_with("doi:");
    if is_number { snapshot.with_term(snapshot.fields.cited_as, &key) } else { Ok(Vec::new()) }
}
