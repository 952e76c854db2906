//! Classification codes of the documents that were found.

use crate::backend::Codes;
use crate::index::{CODES, Snapshot};
use crate::{CorpusError, Result};
use tantivy::DocAddress;
use tantivy::columnar::StrColumn;

/// The codes of documents, in their order: each block of a dictionary is read once.
pub(super) fn of(snapshot: &Snapshot, documents: &[DocAddress]) -> Result<Vec<Codes>> {
    let failed = CorpusError::index(&snapshot.name);
    let mut codes = vec![Codes::default(); documents.len()];
    for (segment, reader) in (0_u32..).zip(snapshot.searcher.segment_readers()) {
        let here = || documents.iter().enumerate().filter(|(_, at)| at.segment_ord == segment);
        for (system, name) in CODES {
            let Some(column) = reader.fast_fields().str(name).map_err(&failed)? else { continue };
            let of_documents = here().map(|(place, at)| (place, column.term_ords(at.doc_id)));
            for (place, text) in texts(&column, of_documents).map_err(|error| failed(error.into()))? {
                codes[place].push(system, &text);
            }
        }
    }
    Ok(codes)
}

/// The texts of ordinals, each with the place it was asked for, in the order in which they were asked for.
fn texts<O: Iterator<Item = u64>>(
    column: &StrColumn,
    asked: impl Iterator<Item = (usize, O)>,
) -> std::io::Result<Vec<(usize, String)>> {
    let mut wanted: Vec<(u64, usize)> = Vec::new();
    let mut texts: Vec<(usize, String)> = Vec::new();
    for (place, ords) in asked {
        for ord in ords {
            wanted.push((ord, texts.len()));
            texts.push((place, String::new()));
        }
    }
    wanted.sort_unstable();
    let ords: Vec<u64> = wanted.iter().map(|(ord, _)| *ord).collect();
    let mut slots = wanted.into_iter().map(|(_, slot)| slot);
    column.dictionary().sorted_ords_to_term_cb(&ords, |bytes| {
        if let Some((_, text)) = slots.next().and_then(|slot| texts.get_mut(slot)) {
            *text = String::from_utf8_lossy(bytes).into_owned();
        }
    })?;
    Ok(texts)
}
