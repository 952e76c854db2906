//! From older formats of a corpus folder to the newest.

use crate::document::Document;
use crate::hash::fnv;
use crate::index::{self, ROWS, Row, Rows, TextIndex, to_json};
use crate::manifest::{FORMAT, Manifest};
use crate::{CorpusError, Result, import};
use std::path::Path;
use tantivy::schema::Value;
use tantivy::{ReloadPolicy, TantivyDocument};

/// Where the new index is built, so that it has its name only when it is whole.
const DRAFT: &str = "fulltext.new";

/// Folder of an older format's index. Every format has a folder of its own, so that the manifest tells which one counts.
fn folder_of(format: u32) -> &'static str {
    match format {
        0 | 1 => "index",
        2 => "fulltext",
        _ => "fulltext-3",
    }
}

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
        Some(manifest) if manifest.format < FORMAT => upgrade(folder, manifest).map(Some),
        other => Ok(other),
    }
}

fn upgrade(folder: &Path, manifest: Manifest) -> Result<Manifest> {
    let name = manifest.name.as_str();
    tracing::info!(corpus = name, "bringing the corpus to format {FORMAT}");
    let old = folder.join(folder_of(manifest.format));
    let (draft, done) = (folder.join(DRAFT), folder.join(index::FOLDER));
    for leftover in [&draft, &done] {
        if leftover.exists() {
            std::fs::remove_dir_all(leftover).map_err(CorpusError::io(leftover))?;
        }
    }
    copy(&old, &draft, name)?;
    std::fs::rename(&draft, &done).map_err(CorpusError::io(&draft))?;
    let manifest = Manifest { format: FORMAT, ..manifest };
    manifest.write(folder)?;
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
        let column = |field: &str| segment.fast_fields().column_opt::<u64>(field).map_err(&failed);
        let mut columns = Vec::new();
        for (scope, row, sum) in ROWS {
            if let (Some(row), Some(sum)) = (column(row)?, column(sum)?) {
                columns.push((scope, row, sum));
            }
        }
        for doc in segment.doc_ids_alive() {
            let entry: TantivyDocument = store.get(doc).map_err(&failed)?;
            let text = entry.get_first(stored).and_then(|value| value.as_str()).unwrap_or_default();
            let document: Document = serde_json::from_str(text).map_err(|error| CorpusError::Index {
                name: name.to_owned(),
                why: format!("stored document: {error}"),
            })?;
            let row =
                |(scope, row, sum): &(_, tantivy::columnar::Column<u64>, tantivy::columnar::Column<u64>)| {
                    Some((*scope, Row { row: row.first(doc)?, sum: sum.first(doc)? }))
                };
            let rows: Rows = columns.iter().filter_map(row).collect();
            let json = to_json(&document);
            writer.put(&document, &json, fnv(json.as_bytes()), &rows, false)?;
        }
    }
    writer.commit(index::rows_of(&old.load_metas().map_err(&failed)?))?;
    writer.finish()
}
