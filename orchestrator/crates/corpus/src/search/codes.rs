//! Classification codes of the documents that were found.

use crate::backend::Codes;
use crate::index::{self, CODES, Snapshot};
use crate::{CorpusError, Result};
use tantivy::DocAddress;

/// The codes of documents, in their order: each block of a dictionary is read once.
pub(super) fn of(snapshot: &Snapshot, documents: &[DocAddress]) -> Result<Vec<Codes>> {
    let failed = CorpusError::index(&snapshot.name);
    let mut codes = vec![Codes::default(); documents.len()];
    for (segment, reader) in (0_u32..).zip(snapshot.searcher.segment_readers()) {
        let here = || documents.iter().enumerate().filter(|(_, at)| at.segment_ord == segment);
        for (system, name) in CODES {
            let Some(column) = reader.fast_fields().str(name).map_err(&failed)? else { continue };
            let (places, ords): (Vec<usize>, Vec<u64>) = here()
                .flat_map(|(place, at)| column.term_ords(at.doc_id).map(move |ord| (place, ord)))
                .unzip();
            let texts = index::texts(&column, &ords).map_err(|error| failed(error.into()))?;
            for (place, text) in places.into_iter().zip(texts) {
                codes[place].push(system, &text);
            }
        }
    }
    Ok(codes)
}
