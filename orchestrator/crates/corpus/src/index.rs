//! The full-text index: schema, writing, and a snapshot to read from.

use crate::analyzer::{self, BIGRAMS, WORDS};
use crate::{CorpusError, Document, Result};
use std::path::Path;
use tantivy::directory::MmapDirectory;
use tantivy::schema::{
    FAST, Field, IndexRecordOption, STORED, STRING, Schema, TextFieldIndexing, TextOptions, Value,
};
use tantivy::{DocAddress, DocSet, IndexWriter, ReloadPolicy, Searcher, TERMINATED, TantivyDocument, Term};

/// Folder of the index in a corpus folder.
const FOLDER: &str = "index";
/// Memory that collects postings before a segment is written.
const WRITER_MEMORY: usize = 64 << 20;

/// Fields of the schema.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fields {
    /// Document id: one term, and a column to order by.
    pub(crate) id: Field,
    /// Title by words.
    pub(crate) title: Field,
    /// Title and text by words.
    pub(crate) text: Field,
    /// Title and text by pairs of CJK characters.
    pub(crate) cjk: Field,
    /// The document as JSON.
    pub(crate) document: Field,
    /// Checksum of that JSON: an import skips what has not changed.
    pub(crate) hash: Field,
    /// Row in the embeddings file.
    pub(crate) row: Field,
    /// Checksum of that row.
    pub(crate) row_sum: Field,
}

fn schema() -> (Schema, Fields) {
    let by = |tokenizer: &str, record| {
        TextOptions::default().set_indexing_options(
            TextFieldIndexing::default().set_tokenizer(tokenizer).set_index_option(record),
        )
    };
    let mut schema = Schema::builder();
    let fields = Fields {
        id: schema.add_text_field("id", STRING | FAST),
        title: schema.add_text_field("title", by(WORDS, IndexRecordOption::WithFreqsAndPositions)),
        text: schema.add_text_field("text", by(WORDS, IndexRecordOption::WithFreqsAndPositions)),
        cjk: schema.add_text_field("cjk", by(BIGRAMS, IndexRecordOption::WithFreqs)),
        document: schema.add_text_field("document", STORED),
        hash: schema.add_u64_field("hash", FAST),
        row: schema.add_u64_field("row", FAST),
        row_sum: schema.add_u64_field("row_sum", FAST),
    };
    (schema.build(), fields)
}

/// The index of one corpus.
#[derive(Clone)]
pub(crate) struct TextIndex {
    name: String,
    index: tantivy::Index,
    fields: Fields,
}

impl TextIndex {
    /// Opens the index in a corpus folder, or creates it empty.
    pub(crate) fn open(folder: &Path, name: &str) -> Result<Self> {
        let path = folder.join(FOLDER);
        std::fs::create_dir_all(&path).map_err(CorpusError::io(&path))?;
        let (schema, fields) = schema();
        let failed = CorpusError::index(name);
        let directory = MmapDirectory::open(&path).map_err(|error| failed(error.into()))?;
        let mut index = tantivy::Index::open_or_create(directory, schema).map_err(&failed)?;
        index.set_tokenizers(analyzer::manager());
        Ok(Self { name: name.to_owned(), index, fields })
    }

    /// What is committed now.
    pub(crate) fn snapshot(&self) -> Result<Snapshot> {
        let failed = CorpusError::index(&self.name);
        let reader =
            self.index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into().map_err(&failed)?;
        let reader: tantivy::IndexReader = reader;
        let rows = rows_of(&self.index.load_metas().map_err(&failed)?);
        Ok(Snapshot { name: self.name.clone(), fields: self.fields, searcher: reader.searcher(), rows })
    }

    /// Changes with every commit and every merge.
    pub(crate) fn version(&self) -> Result<Vec<String>> {
        let metas = self.index.load_metas().map_err(CorpusError::index(&self.name))?;
        let mut version: Vec<String> = metas
            .segments
            .iter()
            .map(|segment| format!("{}:{:?}", segment.id().uuid_string(), segment.delete_opstamp()))
            .collect();
        version.push(rows_of(&metas).to_string());
        Ok(version)
    }

    /// The one writer; the caller holds the corpus' lock.
    pub(crate) fn writer(&self) -> Result<Writer> {
        let failed = CorpusError::index(&self.name);
        // One thread, so that documents stand in the order of the files.
        let inner = self.index.writer_with_num_threads(1, WRITER_MEMORY).map_err(failed)?;
        Ok(Writer { name: self.name.clone(), fields: self.fields, inner })
    }
}

/// Embedding rows that the last commit counts.
fn rows_of(metas: &tantivy::IndexMeta) -> u64 {
    metas.payload.as_deref().and_then(|payload| payload.strip_prefix("rows=")?.parse().ok()).unwrap_or(0)
}

/// Adds and replaces documents.
pub(crate) struct Writer {
    name: String,
    fields: Fields,
    inner: IndexWriter,
}

impl Writer {
    /// Adds a document, in place of the one with its id if there is one.
    pub(crate) fn put(
        &mut self,
        document: &Document,
        hash: u64,
        row: u64,
        row_sum: u64,
        replace: bool,
    ) -> Result<()> {
        let failed = CorpusError::index(&self.name);
        let fields = self.fields;
        if replace {
            self.inner.delete_term(Term::from_field_text(fields.id, &document.doc_id));
        }
        let mut entry = TantivyDocument::new();
        entry.add_text(fields.id, &document.doc_id);
        entry.add_text(fields.title, &document.title);
        for part in [&document.title, &document.text] {
            entry.add_text(fields.text, part);
            entry.add_text(fields.cjk, part);
        }
        entry.add_text(fields.document, to_json(document));
        entry.add_u64(fields.hash, hash);
        entry.add_u64(fields.row, row);
        entry.add_u64(fields.row_sum, row_sum);
        self.inner.add_document(entry).map_err(failed)?;
        Ok(())
    }

    /// Makes everything so far durable, with the number of embedding rows that belong to it.
    pub(crate) fn commit(&mut self, rows: u64) -> Result<()> {
        let failed = CorpusError::index(&self.name);
        let mut commit = self.inner.prepare_commit().map_err(&failed)?;
        commit.set_payload(&format!("rows={rows}"));
        commit.commit().map_err(&failed)?;
        Ok(())
    }

    /// Takes replaced documents out for good, so that they no longer weigh in term statistics, and ends.
    pub(crate) fn finish(mut self) -> Result<()> {
        let failed = CorpusError::index(&self.name);
        let segments = self.inner.index().searchable_segment_metas().map_err(&failed)?;
        let stale: Vec<_> =
            segments.iter().filter(|meta| meta.has_deletes()).map(tantivy::SegmentMeta::id).collect();
        if !stale.is_empty() {
            self.inner.merge(&stale).wait().map_err(&failed)?;
        }
        self.inner.wait_merging_threads().map_err(failed)
    }
}

/// The committed state of the index at one moment.
#[derive(Clone)]
pub(crate) struct Snapshot {
    pub(crate) name: String,
    pub(crate) fields: Fields,
    pub(crate) searcher: Searcher,
    /// Embedding rows that count.
    pub(crate) rows: u64,
}

/// What the index keeps about a document besides its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) address: DocAddress,
    pub(crate) hash: u64,
    pub(crate) row: u64,
    pub(crate) row_sum: u64,
}

impl Snapshot {
    /// Documents.
    pub(crate) fn count(&self) -> u64 {
        self.searcher.num_docs()
    }

    /// The entry of a document id.
    pub(crate) fn entry(&self, id: &str) -> Result<Option<Entry>> {
        let term = Term::from_field_text(self.fields.id, id);
        for (segment, reader) in (0_u32..).zip(self.searcher.segment_readers()) {
            let inverted = reader.inverted_index(self.fields.id).map_err(CorpusError::index(&self.name))?;
            let postings = inverted
                .read_postings(&term, IndexRecordOption::Basic)
                .map_err(|error| CorpusError::index(&self.name)(error.into()))?;
            let Some(mut postings) = postings else { continue };
            let mut doc = postings.doc();
            while doc != TERMINATED {
                if !reader.is_deleted(doc) {
                    let address = DocAddress::new(segment, doc);
                    return Ok(Some(self.columns(segment)?.entry(address)));
                }
                doc = postings.advance();
            }
        }
        Ok(None)
    }

    /// Entries of all documents.
    pub(crate) fn entries(&self) -> Result<Vec<Entry>> {
        let mut entries = Vec::new();
        for (segment, reader) in (0_u32..).zip(self.searcher.segment_readers()) {
            let columns = self.columns(segment)?;
            for doc in reader.doc_ids_alive() {
                entries.push(columns.entry(DocAddress::new(segment, doc)));
            }
        }
        Ok(entries)
    }

    /// The id of a document.
    pub(crate) fn id(&self, address: DocAddress) -> Result<String> {
        let reader = self.searcher.segment_reader(address.segment_ord);
        let failed = CorpusError::index(&self.name);
        let column = reader.fast_fields().str("id").map_err(&failed)?;
        let mut id = String::new();
        if let Some(column) = column
            && let Some(ord) = column.term_ords(address.doc_id).next()
        {
            column.ord_to_str(ord, &mut id).map_err(|error| failed(error.into()))?;
        }
        Ok(id)
    }

    /// The document.
    pub(crate) fn document(&self, address: DocAddress) -> Result<Document> {
        let stored: TantivyDocument = self.searcher.doc(address).map_err(CorpusError::index(&self.name))?;
        let json =
            stored.get_first(self.fields.document).and_then(|value| value.as_str()).unwrap_or_default();
        serde_json::from_str(json).map_err(|error| CorpusError::Index {
            name: self.name.clone(),
            why: format!("stored document: {error}"),
        })
    }

    fn columns(&self, segment: u32) -> Result<Columns> {
        let fast = self.searcher.segment_reader(segment).fast_fields();
        let column = |field: &str| fast.u64(field).map_err(CorpusError::index(&self.name));
        Ok(Columns { hash: column("hash")?, row: column("row")?, row_sum: column("row_sum")? })
    }
}

struct Columns {
    hash: tantivy::columnar::Column<u64>,
    row: tantivy::columnar::Column<u64>,
    row_sum: tantivy::columnar::Column<u64>,
}

impl Columns {
    fn entry(&self, address: DocAddress) -> Entry {
        let of = |column: &tantivy::columnar::Column<u64>| column.first(address.doc_id).unwrap_or(u64::MAX);
        Entry { address, hash: of(&self.hash), row: of(&self.row), row_sum: of(&self.row_sum) }
    }
}

/// The stored form of a document; its checksum tells whether the document changed.
pub(crate) fn to_json(document: &Document) -> String {
    // A struct of strings and numbers always serialises.
    serde_json::to_string(document).unwrap_or_default()
}
