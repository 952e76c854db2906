//! Metadata from sources outside, written into documents that are there.

use super::lock;
use crate::Result;
use crate::document::Completion;
use crate::hash::fnv;
use crate::index::{TextIndex, to_json};
use crate::ledger::{Entry, Ledger};
use std::collections::HashSet;
use std::path::Path;

/// Fills in what documents lack, and notes that sources were asked about them. Returns how many got something.
pub(crate) fn run(folder: &Path, name: &str, asked: Vec<(String, Option<Completion>)>) -> Result<u64> {
    let _lock = lock(folder, name)?;
    let index = TextIndex::open(folder, name)?;
    let snapshot = index.snapshot()?;
    let ids: HashSet<String> = asked.iter().map(|(id, _)| id.clone()).collect();
    let mut changed = Vec::new();
    for (id, completion) in asked {
        let Some(completion) = completion else { continue };
        let (Some(mut document), Some(entry)) = (snapshot.stored(&id)?, snapshot.entry(&id)?) else {
            continue;
        };
        if document.complete_with(completion) {
            changed.push((document, entry.rows));
        }
    }
    if !changed.is_empty() {
        let mut writer = index.writer()?;
        for (document, rows) in &changed {
            // No scope embeds what is filled in, so the embeddings stay.
            let json = to_json(document);
            writer.put(document, &json, fnv(json.as_bytes()), rows, true)?;
        }
        writer.commit(snapshot.rows)?;
        writer.finish()?;
    }
    let mut ledger = Ledger::read(folder)?;
    let affected = ledger.entries().filter(|entry| entry.incomplete.iter().any(|id| ids.contains(id)));
    let answered = affected.map(|entry| {
        let incomplete = entry.incomplete.iter().filter(|id| !ids.contains(*id)).cloned().collect();
        Entry { incomplete, ..entry.clone() }
    });
    let answered: Vec<Entry> = answered.collect();
    ledger.append(answered)?;
    Ok(changed.len() as u64)
}
