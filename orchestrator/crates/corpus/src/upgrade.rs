//! From older formats of a corpus folder to the newest.

use crate::backend::FeatureScope;
use crate::document::Document;
use crate::hash::fnv;
use crate::index::{self, Row, TextIndex, to_json};
use crate::manifest::{FORMAT, Manifest};
use crate::{CorpusError, Result, import};
use std::path::Path;
use tantivy::schema::Value;
use tantivy::{ReloadPolicy, TantivyDocument};

/// Folder of format 1's index.
const FORMAT_1: &str = "index";
/// Where the new index is built, so that it has its name only when it is whole.
const DRAFT: &str = "fulltext.new";

/// The manifest of a corpus in the newest format; an older corpus is brought to it first. `None` when there is no
/// corpus.
///
/// Nothing is embedded again and no file of the user's is needed: the index holds the documents and names the rows of
/// their embeddings. An interruption leaves the old corpus as it was.
pub(crate) fn current(folder: &Path, name: &str) -> Result<Option<Manifest>> {
    match Manifest::read(folder, name)? {
        Some(manifest) if manifest.format < FORMAT => {}
        other => return Ok(other),
    }
    let _lock = import::lock(folder, name)?;
    match Manifest::read(folder, name)? {
        Some(manifest) if manifest.format < FORMAT => from_1(folder, manifest).map(Some),
        other => Ok(other),
    }
}

fn from_1(folder: &Path, manifest: Manifest) -> Result<Manifest> {
    let name = manifest.name.as_str();
    tracing::info!(corpus = name, "bringing the corpus to format {FORMAT}");
    let (draft, done) = (folder.join(DRAFT), folder.join(index::FOLDER));
    for leftover in [&draft, &done] {
        if leftover.exists() {
            std::fs::remove_dir_all(leftover).map_err(CorpusError::io(leftover))?;
        }
    }
    copy(&folder.join(FORMAT_1), &draft, name)?;
    std::fs::rename(&draft, &done).map_err(CorpusError::io(&draft))?;
    let manifest = Manifest { format: FORMAT, ..manifest };
    manifest.write(folder)?;
    let old = folder.join(FORMAT_1);
    std::fs::remove_dir_all(&old).map_err(CorpusError::io(&old))?;
    Ok(manifest)
}

/// Writes every document of the old index into a new one, in their order.
fn copy(from: &Path, to: &Path, name: &str) -> Result<()> {
    let failed = CorpusError::index(name);
    let old = tantivy::Index::open_in_dir(from).map_err(&failed)?;
    let reader = old.reader_builder().reload_policy(ReloadPolicy::Manual).try_into().map_err(&failed)?;
    let reader: tantivy::IndexReader = reader;
    let stored = old.schema().get_field("document").map_err(&failed)?;
    let mut writer = TextIndex::open_at(to, name)?.writer()?;
    for segment in reader.searcher().segment_readers() {
        let store = segment.get_store_reader(8).map_err(|error| failed(error.into()))?;
        let column = |field| segment.fast_fields().u64(field).map_err(&failed);
        let (rows, sums) = (column("row")?, column("row_sum")?);
        for doc in segment.doc_ids_alive() {
            let entry: TantivyDocument = store.get(doc).map_err(&failed)?;
            let text = entry.get_first(stored).and_then(|value| value.as_str()).unwrap_or_default();
            let document: Document = serde_json::from_str(text).map_err(|error| CorpusError::Index {
                name: name.to_owned(),
                why: format!("stored document: {error}"),
            })?;
            let row = rows.first(doc).zip(sums.first(doc)).map(|(row, sum)| Row { row, sum });
            let rows = row.map(|row| (FeatureScope::Wide, row)).into_iter().collect();
            let json = to_json(&document);
            writer.put(&document, &json, fnv(json.as_bytes()), &rows, false)?;
        }
    }
    writer.commit(index::rows_of(&old.load_metas().map_err(&failed)?))?;
    writer.finish()
}
