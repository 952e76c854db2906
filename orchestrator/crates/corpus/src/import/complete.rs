//! Metadata from sources outside, written into documents that are there.

use super::home::Home;
use super::lock;
use crate::Result;
use crate::corpora::wait;
use crate::document::Completion;
use crate::hash::fnv;
use crate::index::{TextIndex, to_json};
use crate::ledger::{Entry, Ledger};
use crate::remote::{Cluster, Shelf};
use std::collections::HashSet;
use std::path::Path;
use tokio_util::sync::CancellationToken;

/// Fills in what documents lack, and notes that sources were asked about them. Returns how many got something.
pub(crate) fn run(
    folder: &Path,
    name: &str,
    cluster: Option<&Cluster>,
    asked: Vec<(String, Option<Completion>)>,
) -> Result<u64> {
    let _lock = lock(folder, name)?;
    let ids: HashSet<String> = asked.iter().map(|(id, _)| id.clone()).collect();
    let answered = asked.into_iter().filter_map(|(id, completion)| Some((id, completion?)));
    let changed = match Home::of(folder, name, cluster)? {
        Home::Here(index) => here(&index, answered)?,
        Home::There(shelf) => there(&shelf, answered)?,
    };
    let mut ledger = Ledger::read(folder)?;
    let affected = ledger.entries().filter(|entry| entry.incomplete.iter().any(|id| ids.contains(id)));
    let answered = affected.map(|entry| {
        let incomplete = entry.incomplete.iter().filter(|id| !ids.contains(*id)).cloned().collect();
        Entry { incomplete, ..entry.clone() }
    });
    let answered: Vec<Entry> = answered.collect();
    ledger.append(answered)?;
    Ok(changed)
}

fn here(index: &TextIndex, answered: impl Iterator<Item = (String, Completion)>) -> Result<u64> {
    let snapshot = index.snapshot()?;
    let mut changed = Vec::new();
    for (id, completion) in answered {
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
    Ok(changed.len() as u64)
}

fn there(shelf: &Shelf, answered: impl Iterator<Item = (String, Completion)>) -> Result<u64> {
    wait(async {
        let stop = CancellationToken::new();
        let mut changed = 0;
        for (id, completion) in answered {
            let found = shelf.documents(std::slice::from_ref(&id), &stop).await?.remove(&id);
            let Some(mut document) = found else { continue };
            if document.complete_with(completion) {
                shelf.describe(&document, fnv(to_json(&document).as_bytes()), &stop).await?;
                changed += 1;
            }
        }
        shelf.refresh(&shelf.index, &stop).await?;
        Ok(changed)
    })
}
