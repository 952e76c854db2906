//! The full-text index: writing, and a snapshot to read from.

mod schema;

pub(crate) use schema::{CODES, COLLECTIONS, FAMILIES, Fields, LaneField, ROWS, TAGS, day_number};

use crate::analyzer;
use crate::backend::{FeatureScope, IdType};
use crate::hash::fnv_row;
use crate::{CorpusError, Document, Result};
use lyra_text::{bigrams, content_words};
use std::path::Path;
use std::sync::OnceLock;
use tantivy::collector::TopDocs;
use tantivy::columnar::{Column, StrColumn};
use tantivy::directory::MmapDirectory;
use tantivy::indexer::LogMergePolicy;
use tantivy::query::{BooleanQuery, Occur, Query, TermQuery};
use tantivy::schema::{Field, IndexRecordOption, Value};
use tantivy::{
    DocAddress, DocSet, Executor, IndexWriter, ReloadPolicy, Searcher, TERMINATED, TantivyDocument,
    TantivyError, Term,
};

/// Folder of the index in a corpus folder.
pub(crate) const FOLDER: &str = "fulltext-4";
/// Memory that collects postings before a segment is written.
const WRITER_MEMORY: usize = 96 << 20;
/// Threads that search, at most.
const MOST_SEARCHERS: usize = 8;

/// Where an embedding stands, and its checksum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) row: u64,
    pub(crate) sum: u64,
}

/// The embeddings of a document.
pub(crate) type Rows = Vec<(FeatureScope, Row)>;

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
        Self::open_at(&folder.join(FOLDER), name)
    }

    /// Opens or creates an index in a folder of its own.
    pub(crate) fn open_at(path: &Path, name: &str) -> Result<Self> {
        std::fs::create_dir_all(path).map_err(CorpusError::io(path))?;
        let (schema, fields) = schema::schema();
        let failed = CorpusError::index(name);
        let directory = MmapDirectory::open(path).map_err(|error| failed(error.into()))?;
        let mut index = tantivy::Index::open_or_create(directory, schema).map_err(&failed)?;
        index.set_tokenizers(analyzer::manager());
        index.set_executor(searchers());
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
        inner.set_merge_policy(Box::new(LogMergePolicy::default()));
        Ok(Writer { name: self.name.clone(), fields: self.fields, inner })
    }
}

/// The threads that search the segments of an index side by side; all corpora share them.
fn searchers() -> Executor {
    static SEARCHERS: OnceLock<Executor> = OnceLock::new();
    let start = || {
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MOST_SEARCHERS);
        // If no threads can be started, the calling thread searches.
        Executor::multi_thread(threads, "search-").unwrap_or_else(|_| Executor::single_thread())
    };
    SEARCHERS.get_or_init(start).clone()
}

/// Embedding rows that the last commit counts.
pub(crate) fn rows_of(metas: &tantivy::IndexMeta) -> u64 {
    metas.payload.as_deref().and_then(|payload| payload.strip_prefix("rows=")?.parse().ok()).unwrap_or(0)
}

/// Adds and replaces documents.
pub(crate) struct Writer {
    name: String,
    fields: Fields,
    inner: IndexWriter,
}

impl Writer {
    /// Adds a document, in place of the one with its id if there is one. `json` is its stored form, `hash` that form's
    /// checksum.
    pub(crate) fn put(
        &mut self,
        document: &Document,
        json: &str,
        hash: u64,
        rows: &Rows,
        replace: bool,
    ) -> Result<()> {
        if replace {
            self.inner.delete_term(Term::from_field_text(self.fields.id, &document.doc_id));
        }
        let entry = self.fields.entry(document, json, hash, rows);
        let added = self.inner.add_document(entry).map(drop);
        added.map_err(|error| self.cause(error)).map_err(CorpusError::index(&self.name))
    }

    /// Removes the document with an id.
    pub(crate) fn delete(&mut self, id: &str) {
        self.inner.delete_term(Term::from_field_text(self.fields.id, id));
    }

    /// What stopped the indexing thread, such as a full disk. Only joining the thread tells: adding to a stopped one
    /// fails without a reason.
    fn cause(&mut self, error: TantivyError) -> TantivyError {
        match error {
            TantivyError::ErrorInThread(_) => self.inner.prepare_commit().map(drop).err().unwrap_or(error),
            _ => error,
        }
    }

    /// Makes everything so far durable, with the number of embedding rows that belong to it.
    pub(crate) fn commit(&mut self, rows: u64) -> Result<()> {
        let failed = CorpusError::index(&self.name);
        let mut commit = self.inner.prepare_commit().map_err(&failed)?;
        commit.set_payload(&format!("rows={rows}"));
        commit.commit().map_err(&failed)?;
        Ok(())
    }

    /// Ends, and leaves replaced documents to a later [`Self::finish`].
    pub(crate) fn end(self) -> Result<()> {
        self.inner.wait_merging_threads().map_err(CorpusError::index(&self.name))
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) hash: u64,
    pub(crate) rows: Rows,
}

impl Snapshot {
    /// Documents.
    pub(crate) fn count(&self) -> u64 {
        self.searcher.num_docs()
    }

    /// The documents with a number, ordered by document id.
    pub(crate) fn find(&self, id_type: IdType, number: &str) -> Result<Vec<DocAddress>> {
        self.with_term(self.fields.number(id_type), number)
    }

    /// The documents with an exact term, ordered by document id.
    pub(crate) fn with_term(&self, field: Field, text: &str) -> Result<Vec<DocAddress>> {
        let term = Term::from_field_text(field, text);
        let mut found = Vec::new();
        for (segment, reader) in (0_u32..).zip(self.searcher.segment_readers()) {
            let inverted = reader.inverted_index(field).map_err(CorpusError::index(&self.name))?;
            let postings = inverted
                .read_postings(&term, IndexRecordOption::Basic)
                .map_err(|error| CorpusError::index(&self.name)(error.into()))?;
            let Some(mut postings) = postings else { continue };
            let mut doc = postings.doc();
            while doc != TERMINATED {
                if !reader.is_deleted(doc) {
                    found.push(DocAddress::new(segment, doc));
                }
                doc = postings.advance();
            }
        }
        if found.len() > 1 {
            let ids = self.ids()?;
            let mut by_id = found
                .into_iter()
                .map(|at| Ok((ids.of(at)?, at)))
                .collect::<Result<Vec<(String, DocAddress)>>>()?;
            by_id.sort();
            found = by_id.into_iter().map(|(_, at)| at).collect();
        }
        Ok(found)
    }

    /// The entry of a document id.
    pub(crate) fn entry(&self, id: &str) -> Result<Option<Entry>> {
        let Some(at) = self.find(IdType::DocId, id)?.first().copied() else { return Ok(None) };
        let value = |name| -> Result<Option<u64>> {
            Ok(self.column(at.segment_ord, name)?.and_then(|column| column.first(at.doc_id)))
        };
        let hash = value("hash")?.unwrap_or(u64::MAX);
        let mut rows = Rows::new();
        for (scope, row, sum) in schema::ROWS {
            if let (Some(row), Some(sum)) = (value(row)?, value(sum)?) {
                rows.push((scope, Row { row, sum }));
            }
        }
        Ok(Some(Entry { hash, rows }))
    }

    /// Whether there is a document of this id.
    pub(crate) fn holds(&self, id: &str) -> Result<bool> {
        Ok(!self.find(IdType::DocId, id)?.is_empty())
    }

    /// Documents that have an embedding of a scope.
    pub(crate) fn embedded(&self, scope: FeatureScope) -> Result<u64> {
        let mut embedded = 0;
        self.rows_of(scope, |_, _| embedded += 1)?;
        Ok(embedded)
    }

    /// The stored document of an id.
    pub(crate) fn stored(&self, id: &str) -> Result<Option<Document>> {
        let found = self.find(IdType::DocId, id)?.first().copied();
        found.map(|at| self.document(at)).transpose()
    }

    /// Documents whose titles have all words of this one, at most `most`.
    pub(crate) fn titled(&self, title: &str, most: usize) -> Result<Vec<Document>> {
        let words = content_words(title).into_iter().map(|word| (self.fields.title, word));
        let pairs = bigrams(title).into_iter().map(|pair| (self.fields.cjk, pair.text));
        let mut clauses: Vec<(Occur, Box<dyn Query>)> = Vec::new();
        for (field, word) in words.chain(pairs) {
            let term = Term::from_field_text(field, &word);
            clauses.push((Occur::Must, Box::new(TermQuery::new(term, IndexRecordOption::Basic))));
        }
        if clauses.is_empty() {
            return Ok(Vec::new());
        }
        let collector = TopDocs::with_limit(most).order_by_score();
        let found = self.searcher.search(&BooleanQuery::new(clauses), &collector);
        let found = found.map_err(CorpusError::index(&self.name))?;
        found.into_iter().map(|(_, at)| self.document(at)).collect()
    }

    /// Calls `each` with every document that `accept` lets through, ordered by id, until it returns `false`. One document
    /// at a time is in memory.
    pub(crate) fn each_by_id(
        &self,
        accept: impl Fn(DocAddress) -> bool,
        mut each: impl FnMut(Document) -> Result<bool>,
    ) -> Result<()> {
        let failed = CorpusError::index(&self.name);
        let broken = |error: std::io::Error| CorpusError::index(&self.name)(error.into());
        let mut dictionaries = Vec::new();
        for reader in self.searcher.segment_readers() {
            dictionaries.push(reader.inverted_index(self.fields.id).map_err(&failed)?);
        }
        let mut streams = Vec::new();
        for dictionary in &dictionaries {
            let mut stream = dictionary.terms().stream().map_err(broken)?;
            let is_at_term = stream.advance();
            streams.push((stream, is_at_term));
        }
        // The segments' dictionaries are sorted, so that their first terms hold the smallest.
        while let Some(id) = streams.iter().filter(|(_, at)| *at).map(|(stream, _)| stream.key()).min() {
            let id = id.to_vec();
            for (segment, (stream, is_at_term)) in (0_u32..).zip(&mut streams) {
                if !*is_at_term || stream.key() != id {
                    continue;
                }
                let dictionary = &dictionaries[segment as usize];
                let mut postings = dictionary
                    .read_postings_from_terminfo(stream.value(), IndexRecordOption::Basic)
                    .map_err(broken)?;
                *is_at_term = stream.advance();
                let reader = self.searcher.segment_reader(segment);
                let mut doc = postings.doc();
                while doc != TERMINATED {
                    let at = DocAddress::new(segment, doc);
                    if !reader.is_deleted(doc) && accept(at) && !each(self.document(at)?)? {
                        return Ok(());
                    }
                    doc = postings.advance();
                }
            }
        }
        Ok(())
    }

    /// Calls `each` with every document that has an embedding of a scope.
    pub(crate) fn rows_of(&self, scope: FeatureScope, mut each: impl FnMut(DocAddress, Row)) -> Result<()> {
        let Some((_, row, sum)) = schema::ROWS.into_iter().find(|(of, ..)| *of == scope) else {
            return Ok(());
        };
        for (segment, reader) in (0_u32..).zip(self.searcher.segment_readers()) {
            let (Some(row), Some(sum)) = (self.column(segment, row)?, self.column(segment, sum)?) else {
                continue;
            };
            for doc in reader.doc_ids_alive() {
                if let (Some(row), Some(sum)) = (row.first(doc), sum.first(doc)) {
                    each(DocAddress::new(segment, doc), Row { row, sum });
                }
            }
        }
        Ok(())
    }

    /// The checksums of a scope's embeddings.
    pub(crate) fn checksums(&self, scope: FeatureScope) -> Result<Checksums> {
        let segments = 0..self.searcher.segment_readers().len() as u32;
        let Some((.., sum)) = schema::ROWS.into_iter().find(|(of, ..)| *of == scope) else {
            return Ok(Checksums(Vec::new()));
        };
        Ok(Checksums(segments.map(|segment| self.column(segment, sum)).collect::<Result<_>>()?))
    }

    /// Ids of documents.
    pub(crate) fn ids(&self) -> Result<Ids<'_>> {
        let readers = self.searcher.segment_readers().iter();
        let columns = readers.map(|reader| reader.fast_fields().str("id")).collect::<tantivy::Result<_>>();
        Ok(Ids { name: &self.name, columns: columns.map_err(CorpusError::index(&self.name))? })
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

    /// The keys of a document's family.
    pub(crate) fn family_keys(&self, at: DocAddress) -> Result<Vec<String>> {
        let Some(column) = self.texts(at.segment_ord, FAMILIES)? else { return Ok(Vec::new()) };
        let key = |ord| {
            let mut key = String::new();
            let failed = |error: std::io::Error| CorpusError::index(&self.name)(error.into());
            column.ord_to_str(ord, &mut key).map_err(failed)?;
            Ok(key)
        };
        column.term_ords(at.doc_id).map(key).collect()
    }

    /// A column of texts in a segment.
    pub(crate) fn texts(&self, segment: u32, field: &str) -> Result<Option<StrColumn>> {
        let fast = self.searcher.segment_reader(segment).fast_fields();
        fast.str(field).map_err(CorpusError::index(&self.name))
    }

    fn column(&self, segment: u32, field: &str) -> Result<Option<Column<u64>>> {
        let fast = self.searcher.segment_reader(segment).fast_fields();
        fast.column_opt(field).map_err(CorpusError::index(&self.name))
    }
}

/// The checksums of embeddings by segment, opened once for many documents.
pub(crate) struct Checksums(Vec<Option<Column<u64>>>);

impl Checksums {
    /// Whether these numbers are what was embedded for a document.
    pub(crate) fn match_row(&self, at: DocAddress, numbers: &[f32]) -> bool {
        let column = self.0.get(at.segment_ord as usize).and_then(Option::as_ref);
        column.and_then(|column| column.first(at.doc_id)) == Some(fnv_row(numbers))
    }
}

/// The column of ids, opened once for many documents.
pub(crate) struct Ids<'a> {
    name: &'a str,
    columns: Vec<Option<StrColumn>>,
}

impl Ids<'_> {
    /// The id of a document.
    pub(crate) fn of(&self, at: DocAddress) -> Result<String> {
        let mut id = String::new();
        if let Some(column) = self.columns.get(at.segment_ord as usize).and_then(Option::as_ref)
            && let Some(ord) = column.term_ords(at.doc_id).next()
        {
            column.ord_to_str(ord, &mut id).map_err(|error| CorpusError::index(self.name)(error.into()))?;
        }
        Ok(id)
    }
}

impl Ids<'_> {
    /// The ids of many documents, in their order: each block of the dictionary is read once.
    pub(crate) fn all(&self, documents: &[DocAddress]) -> Result<Vec<String>> {
        let failed = |error: std::io::Error| CorpusError::index(self.name)(error.into());
        let mut ids = vec![String::new(); documents.len()];
        for (segment, column) in (0_u32..).zip(&self.columns) {
            let Some(column) = column else { continue };
            let here = documents.iter().enumerate().filter(|(_, at)| at.segment_ord == segment);
            let (places, ords): (Vec<usize>, Vec<u64>) =
                here.filter_map(|(place, at)| Some((place, column.term_ords(at.doc_id).next()?))).unzip();
            for (place, id) in places.into_iter().zip(texts(column, &ords).map_err(failed)?) {
                ids[place] = id;
            }
        }
        Ok(ids)
    }
}

/// The texts of a column's ordinals, in their order: each block of the dictionary is read once.
pub(crate) fn texts(column: &StrColumn, ords: &[u64]) -> std::io::Result<Vec<String>> {
    let mut wanted: Vec<(u64, usize)> = ords.iter().copied().zip(0..).collect();
    wanted.sort_unstable();
    let sorted: Vec<u64> = wanted.iter().map(|(ord, _)| *ord).collect();
    let mut places = wanted.into_iter().map(|(_, place)| place);
    let mut texts = vec![String::new(); ords.len()];
    column.dictionary().sorted_ords_to_term_cb(&sorted, |bytes| {
        if let Some(text) = places.next().and_then(|place| texts.get_mut(place)) {
            *text = String::from_utf8_lossy(bytes).into_owned();
        }
    })?;
    Ok(texts)
}

/// The stored form of a document; its checksum tells whether the document changed.
pub(crate) fn to_json(document: &Document) -> String {
    // A struct of strings and numbers always serializes.
    serde_json::to_string(document).unwrap_or_default()
}

#[cfg(test)]
mod tests;
